// Converts zod schemas to JSON Schema. Each schema with an `id` becomes a component of the document.
import { z } from "zod";
import { nullsIn } from "./fields.ts";

/** A part of a document. Fields that are undefined are left out when the document is written. */
export type Json = Record<string, unknown>;

const INT32_MAX = 2 ** 31 - 1;

/** The components of a document, by kind and name. */
export class Components {
  private readonly kinds = new Map<string, Map<string, Json>>();
  /** Schemas by name. Schemas of requests refuse unknown fields; schemas of answers do not, because answers may gain fields. */
  private readonly shapes = new Map<string, { definition: Json; isSent: boolean }>();
  /** Names of schemas whose examples are components of their own. */
  private readonly shown = new Set<string>();
  /** What schemas of answers became: errors, which most operations share, would take half of the time. */
  private readonly outputs = new Map<z.ZodType, Json>();

  /** Adds a component and gives a reference to it. Throws when the name has another value already. */
  keep(kind: string, name: string, value: Json): Json {
    const named = this.kinds.getOrInsertComputed(kind, () => new Map<string, Json>());
    refuseSecond(kind, name, value, named.get(name));
    named.set(name, value);
    return { $ref: `#/components/${kind}/${name}` };
  }

  output(schema: z.ZodType): Json {
    return this.outputs.getOrInsertComputed(schema, () => this.convert(schema, "output", false));
  }

  /** The schema of a body or a parameter. With `nullIsAbsent`, optional fields may be null, as in `judgeBody`. */
  input(schema: z.ZodType, nullIsAbsent = false): Json {
    return this.convert(schema, "input", nullIsAbsent);
  }

  /** Leaves the examples out of this schema, because they stand elsewhere in the document. */
  showsElsewhere(name: string): void {
    this.shown.add(name);
  }

  /** All components, each kind in alphabetical order. */
  toJson(): Json {
    const shapes = [...this.shapes].map(([name, { definition, isSent }]): [string, Json] => {
      const { examples, ...shape } = isSent ? definition : open(definition);
      return [name, { ...shape, examples: this.shown.has(name) ? undefined : examples }];
    });
    return Object.fromEntries(
      [["schemas", shapes] as const, ...this.kinds].map(([kind, named]) => [
        kind,
        Object.fromEntries([...named].sort(([a], [b]) => (a < b ? -1 : 1))),
      ]),
    );
  }

  private convert(schema: z.ZodType, io: "input" | "output", nullIsAbsent: boolean): Json {
    // Wrapped in a tuple, because zod makes a named schema a reference only inside another schema.
    const { prefixItems, $defs = {} } = z.toJSONSchema(z.tuple([schema]), {
      target: "draft-2020-12",
      unrepresentable: "any",
      io,
      override: ({ zodSchema, jsonSchema }) => addDiscriminator(zodSchema, jsonSchema as Json),
    }) as unknown as { prefixItems: [Json]; $defs?: Record<string, Json> };
    if (nullIsAbsent) admitNulls(schema, prefixItems[0], $defs);
    for (const [name, untidy] of Object.entries($defs)) {
      const definition = tidy(untidy);
      const kept = this.shapes.get(name);
      refuseSecond("schemas", name, open(definition), kept && open(kept.definition));
      this.shapes.set(name, { definition, isSent: io === "input" || kept?.isSent === true });
    }
    return tidy(prefixItems[0]);
  }
}

function refuseSecond(kind: string, name: string, value: Json, known: Json | undefined): void {
  if (known && JSON.stringify(known) !== JSON.stringify(value)) throw new Error(`two ${kind} are called ${name}`);
}

/** Adds the discriminator of a discriminated union: its field, and the schema of each value. */
function addDiscriminator(schema: z.core.$ZodType, json: Json): void {
  if (!(schema instanceof z.ZodDiscriminatedUnion)) return;
  const propertyName = schema.def.discriminator;
  const targets = (schema.options as z.ZodObject[]).flatMap((option) => {
    const field = option.shape[propertyName] as z.ZodLiteral | z.ZodEnum;
    const values = field instanceof z.ZodLiteral ? [...field.values] : field.options;
    return values.map((value) => [value, `#/components/schemas/${option.meta()?.id}`]);
  });
  Object.assign(json, { discriminator: { propertyName, mapping: Object.fromEntries(targets) } });
}

/** Allows `null` in every field in which the service treats it as left out, also in nested objects. */
function admitNulls(schema: z.core.$ZodType, shape: Json, named: Record<string, Json>): void {
  const nulls = nullsIn(schema);
  if (!nulls) return;
  const { $ref } = shape;
  const object = typeof $ref === "string" ? named[$ref.replace("#/$defs/", "")] : shape;
  const { properties } = object as { properties: Record<string, Json> };
  for (const [name, own] of nulls.inside) admitNulls(own, properties[name] ?? {}, named);
  for (const name of nulls.left) properties[name] = { anyOf: [properties[name], { type: "null" }] };
}

/** Simplifies a schema to the form that a person would write, with references into the document. */
function tidy(schema: Json): Json {
  const { $ref, anyOf, additionalProperties, propertyNames, ...rest } = inside(schema, tidy);
  const tidied: Json = { ...rest };
  if (typeof $ref === "string") tidied.$ref = $ref.replace("#/$defs/", "#/components/schemas/");
  if (additionalProperties !== undefined)
    tidied.additionalProperties = JSON.stringify(additionalProperties) === "{}" ? true : additionalProperties;
  // Property names are always strings, so this schema of them is redundant.
  if (propertyNames !== undefined && JSON.stringify(propertyNames) !== '{"type":"string"}')
    tidied.propertyNames = propertyNames;
  if (tidied.type === "integer") tidied.format = isInt32(tidied) ? "int32" : "int64";
  return inOrder(Array.isArray(anyOf) ? { ...nullable(anyOf as Json[]), ...tidied } : tidied);
}

/** Puts title and description first, examples last. */
function inOrder({ title, description, examples, ...rest }: Json): Json {
  return { title, description, ...rest, examples };
}

const isInt32 = ({ minimum = 0, maximum = Infinity }: { minimum?: number; maximum?: number }): boolean =>
  minimum >= -INT32_MAX && maximum <= INT32_MAX;

/** Merges `anyOf: [X, null]` into X with `type: [x, null]`, where X has a type. */
function nullable(anyOf: Json[]): Json {
  const [shape, other] = anyOf;
  if (anyOf.length !== 2 || !shape || JSON.stringify(other) !== '{"type":"null"}') return { anyOf };
  const { type, description, examples, ...rest } = shape;
  if (typeof type !== "string" || rest.const !== undefined)
    return { description, examples, anyOf: [{ type, ...rest }, { type: "null" }] };
  const values = Array.isArray(rest.enum) ? { enum: [...(rest.enum as unknown[]), null] } : {};
  return { description, examples, type: [type, "null"], ...rest, ...values };
}

/** Removes the refusal of unknown fields from a schema. */
function open(schema: Json): Json {
  const { additionalProperties, ...rest } = inside(schema, open);
  return additionalProperties === undefined || additionalProperties === false
    ? rest
    : { ...rest, additionalProperties };
}

/** Applies `change` to the schemas directly inside a schema. Values such as examples stay unchanged. */
function inside(schema: Json, change: (inner: Json) => Json): Json {
  const isSchema = (value: unknown): value is Json => typeof value === "object" && value !== null;
  const changeAll = (properties: Json): Json =>
    Object.fromEntries(Object.entries(properties).map(([name, own]) => [name, change(own as Json)]));
  return Object.fromEntries(
    Object.entries(schema).map(([word, value]) => {
      if (["anyOf", "oneOf", "allOf", "prefixItems"].includes(word)) return [word, (value as Json[]).map(change)];
      if (word === "properties") return [word, changeAll(value as Json)];
      const one = ["items", "additionalProperties", "propertyNames", "contentSchema", "not", "then"].includes(word);
      return [word, one && isSchema(value) ? change(value) : value];
    }),
  );
}
