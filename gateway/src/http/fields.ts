// Turns the issues of a schema into the interface's errors: the first field in order, its code, and its value as far as it may be shown.
import { z } from "zod";
import { type Fault, showable, validationFault } from "../ground/fault.ts";
import { inPlainWords, nearestIssues } from "../ground/plain-words.ts";

type Issue = z.core.$ZodIssue;

export interface FieldRules<Value> {
  schema: z.ZodType<Value>;
  /** Field names in the order in which their errors come first; other fields come after them. */
  order: readonly string[];
  /** Gives a field's own fault, or undefined for VALIDATION_ERROR. */
  faultFor?(field: string, value: unknown): Fault | undefined;
}

/** Rules of an endpoint that takes no query parameters, or no body. */
export const nothingAsked: FieldRules<Record<string, unknown>> = { schema: z.strictObject({}), order: [] };

interface FieldFault {
  /** Position of the field in the order of errors. */
  rank: number;
  fault: Fault;
}

/** What the rules of a body give: its value, or the fault of the first field that breaks one. */
export type Judged<Value> = { value: Value } | FieldFault;

/** Gives the parsed value, or the fault of the first field that breaks a rule, with the field's value in `sent`. */
export function judgeFields<Value>(rules: FieldRules<Value>, input: unknown, sent: unknown = input): Judged<Value> {
  const result = rules.schema.safeParse(input, inPlainWords);
  if (result.success) return { value: result.data };
  // Only the first is put into words: a body may have thousands of unknown fields.
  const broken = result.error.issues.flatMap(nearestIssues).flatMap((issue) => brokenBy(rules, issue));
  const first = broken.reduce((best, other) => (other.rank < best.rank ? other : best));
  return { rank: first.rank, fault: faultOf(rules, first, sent) };
}

/** Gives the parsed value. Throws the fault of the first field that breaks a rule. */
export function judged<Value>(rules: FieldRules<Value>, input: unknown): Value {
  const found = judgeFields(rules, input);
  if ("fault" in found) throw found.fault;
  return found.value;
}

/** The same as `judgeFields` for a body, in which an optional field that is `null` counts as left out. */
export function judgeBody<Value>(rules: FieldRules<Value>, input: unknown): Judged<Value> {
  return judgeFields(rules, withoutNulls(rules.schema, input), input);
}

/** True when a body with these rules may be left out, because an empty object passes them. */
export function allOptional(rules: FieldRules<unknown>): boolean {
  return rules.schema.safeParse({}).success;
}

type Schema = z.core.$ZodType;

/** Optional fields of an object in which `null` counts as left out, and the schemas of the objects inside it. */
interface Nulls {
  left: ReadonlySet<string>;
  inside: ReadonlyMap<string, Schema>;
}
const nullsOf = new WeakMap<Schema, Nulls | undefined>();

/** Removes optional fields that are null, also in nested objects. Null stays where the schema accepts it as a value. */
function withoutNulls(schema: Schema, input: unknown): unknown {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return input;
  const nulls = nullsIn(schema);
  if (!nulls) return input;
  const fields = Object.entries(input);
  const kept = fields.filter(([name, value]) => value !== null || !nulls.left.has(name));
  const inside = kept.map(([name, value]) => {
    const own = nulls.inside.get(name);
    return [name, own ? withoutNulls(own, value) : value] as const;
  });
  const same = kept.length === fields.length && inside.every(([, value], index) => value === kept[index]?.[1]);
  return same ? input : Object.fromEntries(inside);
}

/** The fields that `judgeBody` treats as left out when null; undefined when the schema is no object. The OpenAPI document uses this too. */
export function nullsIn(schema: Schema): Nulls | undefined {
  const object = unwrapped(schema);
  if (!nullsOf.has(object)) nullsOf.set(object, object instanceof z.ZodObject ? nullsOfObject(object) : undefined);
  return nullsOf.get(object);
}

function nullsOfObject(object: z.ZodObject): Nulls {
  const fields = Object.entries(object.shape) as [string, z.ZodType][];
  const isOptional = (field: z.ZodType): boolean =>
    field.safeParse(undefined).success && !field.safeParse(null).success;
  return {
    left: new Set(fields.filter(([, field]) => isOptional(field)).map(([name]) => name)),
    inside: new Map(fields.filter(([, field]) => unwrapped(field) instanceof z.ZodObject)),
  };
}

function unwrapped(schema: Schema): Schema {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodPrefault ? unwrapped(schema.def.innerType) : schema;
}

/** The position of a field, by its path, in the order of errors; behind all others where it is not in it. */
export function rankOf(order: readonly string[], field: string): number {
  const at = order.indexOf(field.split(".")[0] ?? "");
  return at < 0 ? order.length : at;
}

interface Broken {
  rank: number;
  path: readonly PropertyKey[];
  issue: Issue;
}

function brokenBy<Value>({ order }: FieldRules<Value>, issue: Issue): Broken[] {
  const paths = issue.code === "unrecognized_keys" ? issue.keys.map((key) => [...issue.path, key]) : [issue.path];
  return paths.map((path) => ({ rank: rankOf(order, path.map(String).join(".")), path, issue }));
}

function faultOf<Value>(rules: FieldRules<Value>, { path, issue }: Broken, input: unknown): Fault {
  const field = showable(path.map(String).join(".")) as string;
  const value = valueAt(input, path);
  return rules.faultFor?.(field, value) ?? validationFault(field, value, messageOf(issue, field, value));
}

function messageOf(issue: Issue, field: string, value: unknown): string {
  if (issue.code === "unrecognized_keys") return `Unknown field ${field}. Remove it, or check its spelling.`;
  if (typeof value === "symbol")
    return `${field}: numbers are plain integers, without a fraction or an exponent, and at most 9007199254740991.`;
  return `${field}: ${issue.message}`;
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const part of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[part];
  }
  return value;
}
