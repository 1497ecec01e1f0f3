// Makes `src/rules.ts`: what bodies must keep to, out of the contract, in a form that is small enough to travel with the client.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

interface Schema {
  $ref?: string;
  type?: string | string[];
  anyOf?: Schema[];
  enum?: (string | null)[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  maxProperties?: number;
  pattern?: string;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  propertyNames?: Schema;
}

const contract = JSON.parse(readFileSync(join(import.meta.dirname, "../openapi/merchant.json"), "utf8")) as {
  paths: Record<string, Record<string, { requestBody?: { content: Record<string, { schema: Schema }> } }>>;
  components: { schemas: Record<string, Schema> };
};

const nameOf = (ref: string): string => ref.split("/").at(-1) ?? "";

/** A schema in the form of `Rule`. */
function ruleOf(schema: Schema): object {
  if (schema.$ref !== undefined) return ruleOf(contract.components.schemas[nameOf(schema.$ref)] as Schema);
  if (schema.anyOf !== undefined) {
    const one = schema.anyOf.filter(({ type }) => type !== "null");
    if (one.length !== 1) throw new Error("a body with alternatives needs a rule of its own");
    return ruleOf(one[0] as Schema);
  }
  if (schema.enum !== undefined) return { options: schema.enum.filter((option) => option !== null) };
  const [type] = [schema.type ?? []].flat().filter((each) => each !== "null");
  if (type === "object") return objectRule(schema);
  if (type === "array") {
    const items = schema.items && ruleOf(schema.items);
    // What judge.ts says of every list: that it has "at least 1 item"; and of a list of options, which are methods, that it names each once.
    const isKnown = (schema.minItems ?? 1) <= 1 && (!(items && "options" in items) || schema.uniqueItems === true);
    if (!isKnown) throw new Error("a list that needs several items, or may repeat options, needs words");
    return { type, least: schema.minItems, most: schema.maxItems, ...(items && { items }) };
  }
  if (type === "integer") return { type, least: schema.minimum, most: schema.maximum };
  if (type === "string") return { least: schema.minLength, most: schema.maxLength, ...patternRule(schema.pattern) };
  return { type };
}

/** What the API says of a text that does not fit a pattern; of the part alone that it says that of, where it has other words for the rest. */
const problems: [part: string, problem: string, pattern?: string][] = [
  [
    "^[^\\u0000]*$",
    "must be Unicode text without NUL",
    String.raw`^(?:[^\0\ud800-\udfff]|[\ud800-\udbff][\udc00-\udfff])*$`,
  ],
  ["@", "must have exactly one @"],
  ["^\\+\\d", "must be + and 8 to 15 digits"],
  ["^[hH]", "The address must begin with https:// and have no spaces."],
  [
    "^(https://",
    "must be an https address",
    String.raw`^(https://[^/?#]+|http://(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?)([/?#].*)?$`,
  ],
  ["^[A-Z]{3}$", "must be a code of ISO 4217, in upper case"],
  ["^(19[7-9]", "must be a date or a time, such as 2026-11-01 or 2026-11-01T00:00:00Z"],
];

/** An identity that has not its form is no error of its own to the API: nothing has it. */
const identity = /^\^[a-z]{3}_/;

function patternRule(pattern: string | undefined): object {
  if (pattern === undefined || identity.test(pattern)) return {};
  const found = problems.find(([part]) => pattern.includes(part));
  if (found === undefined) throw new Error(`the pattern ${pattern} needs words`);
  return { pattern: found[2] ?? pattern, problem: found[1] };
}

function objectRule({ properties = {}, required, additionalProperties, propertyNames, maxProperties }: Schema): object {
  if (typeof additionalProperties === "object") {
    const others = { names: ruleOf({ type: "string", ...propertyNames }), values: ruleOf(additionalProperties) };
    return { type: "object", most: maxProperties, others };
  }
  const fields = Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, ruleOf(each)]));
  return { type: "object", fields, required };
}

/** The text of `src/rules.ts`. */
export function rulesText(): string {
  const bodies = Object.values(contract.paths)
    .flatMap((methods) => Object.values(methods))
    .map((operation) => operation.requestBody?.content["application/json"]?.schema.$ref)
    .filter((ref) => ref !== undefined)
    .map(nameOf);
  const named = [...new Set(bodies)].toSorted().map((name) => [name, ruleOf({ $ref: `#/${name}` })]);
  return `// Rules of bodies, made from the contract by \`npm run sdk:types\`. Not edited by hand.

export interface Rule {
  /** A text where it is absent. */
  type?: "object" | "array" | "integer" | "boolean";
  options?: readonly string[];
  /** Of a number its value; of a text or a list its length; of an object its properties. */
  least?: number;
  most?: number;
  pattern?: string;
  problem?: string;
  items?: Rule;
  fields?: Record<string, Rule>;
  required?: readonly string[];
  /** Properties that have no name of their own. */
  others?: { names: Rule; values: Rule };
}

export const rules = ${JSON.stringify(Object.fromEntries(named))} as const;

export type BodyName = keyof typeof rules;
`;
}

if (process.argv[1] === import.meta.filename) writeFileSync(join(import.meta.dirname, "src/rules.ts"), rulesText());
