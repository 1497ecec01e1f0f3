// From a schema's findings to the interface's errors: which field first, which code, and the value as far as it may be shown.
import type { z } from "zod";
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

/** The value, or the first field that breaks a rule. */
export function judgeFields<Value>(rules: FieldRules<Value>, input: unknown): { value: Value } | FieldFault {
  const result = rules.schema.safeParse(input);
  if (result.success) return { value: result.data };
  const faults = result.error.issues.flatMap((issue) => faultsOf(rules, issue, input));
  faults.sort((a, b) => a.rank - b.rank);
  return faults[0] as FieldFault;
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
    const fault = rules.faultFor?.(field, value) ?? validationFault(field, value, messageOf(issue, field));
    return { field, rank: rankOf(rules.order, field), fault };
  });
}

function messageOf(issue: Issue, field: string): string {
  if (issue.code === "unrecognized_keys") return `Unknown field ${field}. Remove it, or check its spelling.`;
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
