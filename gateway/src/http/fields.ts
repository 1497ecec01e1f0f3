// From a schema's findings to the interface's errors: which field first, which code, and the value as far as it may be shown.
import { z } from "zod";
import { type Fault, showable, validationFault } from "../ground/fault.ts";

type Issue = z.core.$ZodIssue;

export interface FieldRules<Value> {
  schema: z.ZodType<Value>;
  /** Field names in the order in which their errors prevail; fields not named come after them. */
  order: readonly string[];
  /** A code of its own for a field, or undefined for VALIDATION_ERROR. */
  faultFor?(field: string, value: unknown): Fault | undefined;
}

export interface FieldFault {
  field: string;
  /** The place in the order of prevalence. */
  rank: number;
  fault: Fault;
}

/** The value, or the first field that breaks a rule, with its value as it was in `sent`. */
export function judgeFields<Value>(
  rules: FieldRules<Value>,
  input: unknown,
  sent: unknown = input,
): { value: Value } | FieldFault {
  const result = rules.schema.safeParse(input);
  if (result.success) return { value: result.data };
  const faults = result.error.issues.flatMap((issue) => faultsOf(rules, issue, sent));
  faults.sort((a, b) => a.rank - b.rank);
  return faults[0] as FieldFault;
}

/** The same of a body, where `null` in an optional field is the field left out. */
export function judgeBody<Value>(rules: FieldRules<Value>, input: unknown): { value: Value } | FieldFault {
  return judgeFields(rules, withoutNulls(rules.schema, input), input);
}

/** True when a body of these rules may be left out: it would be an empty object. */
export function allOptional(rules: FieldRules<unknown>): boolean {
  return rules.schema.safeParse({}).success;
}

type Schema = z.core.$ZodType;

/** Fields of an object whose `null` means nothing, and what is known of the objects inside it. */
export interface Nulls {
  left: ReadonlySet<string>;
  inside: ReadonlyMap<string, Schema>;
}
const nullsOf = new WeakMap<Schema, Nulls | undefined>();

/** The input without the optional fields that are null, also in objects inside it. Where null has a meaning of its own it stays. */
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

/** What `judgeBody` reads `null` as absent in; undefined for what is no object. The contract says the same by it. */
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

export function rankOf(order: readonly string[], field: string): number {
  const at = order.indexOf(field.split(".")[0] ?? "");
  return at < 0 ? order.length : at;
}

function faultsOf<Value>(rules: FieldRules<Value>, issue: Issue, input: unknown): FieldFault[] {
  const paths = issue.code === "unrecognized_keys" ? issue.keys.map((key) => [...issue.path, key]) : [issue.path];
  return paths.map((path) => {
    const field = showable(path.map(String).join(".")) as string;
    const value = valueAt(input, path);
    const fault = rules.faultFor?.(field, value) ?? validationFault(field, value, messageOf(issue, field, value));
    return { field, rank: rankOf(rules.order, field), fault };
  });
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
