// What an error of validation says where the schema has no words of its own: what the value must be. The client libraries say the same.
import type { z } from "zod";

const nouns: Record<string, string> = {
  string: "a string",
  number: "a whole number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};
const units: Record<string, string> = { string: "character", array: "item" };

/** For `safeParse`, as its second argument. */
export const inPlainWords = { error: wordsFor };

/** Undefined leaves an issue to zod's own words. */
function wordsFor(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined) return "is required";
  if (issue.code === "invalid_type") return `must be ${nouns[issue.expected] ?? issue.expected}`;
  if (issue.code === "invalid_value")
    return `must be ${issue.values.length > 1 ? "one of " : ""}${issue.values.map((value) => JSON.stringify(value)).join(", ")}`;
  const exact = "exact" in issue && issue.exact ? "exactly" : undefined;
  if (issue.code === "too_small") return bounded(exact ?? "at least", issue.minimum, issue.origin);
  if (issue.code === "too_big") return bounded(exact ?? "at most", issue.maximum, issue.origin);
  return undefined;
}

function bounded(side: string, bound: number | bigint, origin: string): string {
  const unit = units[origin];
  return unit ? `must have ${side} ${bound} ${unit}${bound === 1 ? "" : "s"}` : `must be ${side} ${bound}`;
}

/** Of a value that may have several shapes: the issues of the shape that it comes nearest to, or what each shape asks where it is like none. */
export function nearestIssues(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== "invalid_union" || issue.errors.length === 0) return [issue];
  const depth = (issues: readonly z.core.$ZodIssue[]): number => Math.max(...issues.map(({ path }) => path.length));
  const nearest = issue.errors.reduce((best, other) => (depth(other) > depth(best) ? other : best));
  if (depth(nearest) > 0) return nearest.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
  const asked = new Set(issue.errors.map(([first]) => first?.message));
  return [{ ...issue, message: [...asked].join(", or ") }];
}
