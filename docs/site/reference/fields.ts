// The fields of a schema as rows of a table: name, type, meaning and rules. Pure.
import { type Schema, followed } from "./contract.ts";

interface Field {
  /** The path of the field: dots for nested fields, `[]` for the items of a list. */
  name: string;
  type: string;
  isRequired: boolean;
  /** Its description and its rules, as Markdown. */
  meaning: string;
}

/** Schemas below this depth are only named, since deeper tables are hard to read. */
const DEPTH_MAX = 3;

/** Every field of an object, each followed by the fields of the object in it. */
export function fieldsOf(schema: Schema, prefix = "", depth = 0): Field[] {
  const { properties = {}, required = [] } = followed<Schema>(schema);
  return Object.entries(properties).flatMap(([name, field]) => {
    const { schema: inner, isNullable } = withoutNull(field);
    const path = `${prefix}${name}`;
    const { type, items } = typeOf(inner);
    const row: Field = {
      name: path,
      type: isNullable ? `${type} or null` : type,
      isRequired: required.includes(name),
      meaning: meaningOf(field, inner),
    };
    if (depth >= DEPTH_MAX) return [row];
    const below = items ? fieldsOf(items, `${path}[].`, depth + 1) : fieldsOf(inner, `${path}.`, depth + 1);
    return [row, ...below, ...variantsOf(inner, path, depth)];
  });
}

/** The fields of the variants of a `oneOf`, each once: what it means in all of them, or what it means in which of them. */
function variantsOf(schema: Schema, path: string, depth: number): Field[] {
  const variants = followed<Schema>(schema).oneOf ?? [];
  const seen = new Map<string, { field: Field; variantsByMeaning: Map<string, string[]> }>();
  for (const variant of variants) {
    const [whose = ""] = (followed<Schema>(variant).description ?? "").split(/[:.]/);
    for (const field of fieldsOf(variant, `${path}.`, depth + 1)) {
      const isConstant = field.type.startsWith("`");
      const { variantsByMeaning } = seen.getOrInsertComputed(field.name, () => ({
        field: { ...field, type: isConstant ? "text" : field.type, isRequired: false },
        variantsByMeaning: new Map(),
      }));
      variantsByMeaning.getOrInsert(isConstant ? `${field.type}.` : field.meaning, []).push(whose);
    }
  }
  return [...seen.values()].map(({ field, variantsByMeaning }) => {
    const meanings = [...variantsByMeaning].map(([meaning, those]) =>
      those.length === variants.length
        ? meaning
        : [`${listed(those)}${meaning === "" ? "." : ":"}`, meaning].join(" ").trim(),
    );
    return { ...field, meaning: meanings.join(" ") };
  });
}

/** "Of `va`" and "Of `qris`" as "Of `va`, of `qris`". */
const listed = (whose: readonly string[]): string => whose.join(", ").replaceAll(", Of ", ", of ");

/** Splits nullability from a schema. */
function withoutNull(field: Schema): { schema: Schema; isNullable: boolean } {
  const { anyOf, type } = followed<Schema>(field);
  const kinds = anyOf?.filter((one) => one.type !== "null");
  if (anyOf && kinds?.length === 1 && kinds.length < anyOf.length)
    return { schema: kinds[0] ?? field, isNullable: true };
  if (Array.isArray(type) && type.includes("null")) {
    const [only] = type.filter((one) => one !== "null");
    return { schema: { ...followed<Schema>(field), type: only ?? "null" }, isNullable: true };
  }
  return { schema: field, isNullable: false };
}

function typeOf(field: Schema): { type: string; items?: Schema } {
  const schema = followed<Schema>(field);
  if (schema.const !== undefined) return { type: code(schema.const) };
  if (schema.type === "array" && schema.items)
    return { type: `list of ${pluralOf(typeOf(schema.items).type)}`, items: schema.items };
  if (schema.oneOf || schema.anyOf) return { type: "object, one of several" };
  if (schema.type === "object" && !schema.properties) return { type: "object of texts" };
  return {
    type:
      schema.type === "string" ? "text" : schema.type === "boolean" ? "true or false" : String(schema.type ?? "any"),
  };
}

const pluralOf = (type: string): string => (/^(text|object)$/.test(type) ? `${type}s` : type);

/** The description, followed by the rules. */
function meaningOf(field: Schema, inner: Schema): string {
  const schema = followed<Schema>(inner);
  const description = field.description ?? followed<Schema>(field).description ?? schema.description ?? "";
  return [description, ...rulesOf(schema)].filter(Boolean).join(" ");
}

function rulesOf(schema: Schema): string[] {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, format, default: fallback } = schema;
  const values = schema.enum?.filter((one) => one !== null);
  return [
    ...(values ? [`One of ${values.map(code).join(", ")}.`] : []),
    ...between("", minimum, maximum, ""),
    ...between("", minLength, maxLength, " characters"),
    ...between("", minItems, maxItems, " items"),
    ...(format === "date-time" ? ["A timestamp in UTC: `2026-11-22T03:45:00Z`."] : []),
    ...(fallback === undefined ? [] : [`${code(fallback)} when absent.`]),
    ...(values === undefined && exampleOf(schema) !== undefined && format !== "date-time"
      ? [`Such as ${code(exampleOf(schema))}.`]
      : []),
  ];
}

const exampleOf = ({ examples, type }: Schema): unknown =>
  type === "object" || type === "array" ? undefined : examples?.[0];

function between(before: string, least: number | undefined, most: number | undefined, unit: string): string[] {
  if (least === undefined && most === undefined) return [];
  if (least === undefined) return [`${before}At most ${grouped(most)}${unit}.`];
  if (most === undefined) return [`${before}At least ${grouped(least)}${unit}.`];
  return [`${before}${grouped(least)} to ${grouped(most)}${unit}.`];
}

/** Digits in groups of three, without a locale. */
const grouped = (count: number | undefined): string => String(count ?? "").replaceAll(/\B(?=(\d{3})+(?!\d))/g, ",");

const code = (value: unknown): string => `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;

/** The rows as a Markdown table. `withRequired`: marks the fields that callers must send. */
export function fieldTable(fields: readonly Field[], withRequired: boolean): string {
  const rows = fields.map(({ name, type, isRequired, meaning }) => {
    const about = withRequired && isRequired ? `**Required.** ${meaning}` : meaning;
    return `| \`${name}\` | ${type} | ${about.replaceAll("|", String.raw`\|`).replaceAll("\n", " ")} |\n`;
  });
  return `| field | type | meaning |\n|---|---|---|\n${rows.join("")}`;
}
