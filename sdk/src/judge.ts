// Checks a value against a rule of the contract, and reports the first violation in the API's words.
import type { Rule } from "./rules.ts";

export interface Finding {
  /** Dotted path. */
  field: string;
  value: unknown;
  problem: string;
}

/** The first violation in the order of the contract's fields; undefined when the value is valid. */
export function judge(rule: Rule, value: unknown, field: string): Finding | undefined {
  if (rule.type === "object")
    return rule.others === undefined ? judgeFields(rule, value, field) : judgePairs(rule, value, field);
  if (rule.type === "array") return judgeList(rule, value, field);
  const problem = problemOf(rule, value);
  return problem === undefined ? undefined : { field, value, problem };
}

function problemOf(rule: Rule, value: unknown): string | undefined {
  if (rule.options !== undefined)
    return rule.options.includes(value as string) ? undefined : `must be one of "${rule.options.join('", "')}"`;
  if (rule.type === "integer") return integerProblem(rule, value);
  if (typeof value !== (rule.type ?? "string")) return expected(rule.type ?? "string");
  return typeof value === "string" ? textProblem(rule, value) : undefined;
}

function integerProblem({ least = -Infinity, most = Infinity }: Rule, value: unknown): string | undefined {
  if (typeof value !== "number" || !Number.isInteger(value)) return expected("integer");
  if (value < least) return `must be at least ${least}`;
  return value > most ? `must be at most ${most}` : undefined;
}

/** The API measures an address by its UTF-16 units, and every other text by its code points. */
function textProblem({ least = 0, most = Infinity, pattern, problem }: Rule, text: string): string | undefined {
  const isAddress = pattern?.includes("://") === true;
  const length = isAddress ? text.length : [...text].length;
  if (length < least || length > most)
    return isAddress ? `must have at most ${most} characters` : `must have ${least} to ${most} characters`;
  return pattern === undefined || new RegExp(pattern).test(text) ? undefined : problem;
}

function judgeList({ least = 0, most = Infinity, items }: Rule, value: unknown, field: string): Finding | undefined {
  const found = (problem: string): Finding => ({ field, value, problem });
  if (!Array.isArray(value)) return found(expected("array"));
  if (value.length < least) return found(`must have at least ${least} item`);
  if (value.length > most) return found(`must have at most ${most} items`);
  if (items?.options && new Set(value).size < value.length) return found("must name each method once");
  return first(value, (item, at) => items && judge(items, item, `${field}.${at}`));
}

/** An object with named fields. `undefined` and `null` count as an optional field left out. */
function judgeFields({ fields = {}, required = [] }: Rule, value: unknown, field: string): Finding | undefined {
  if (!isObject(value)) return { field, value, problem: expected("object") };
  const at = (name: string): string => (field === "" ? name : `${field}.${name}`);
  const broken = first(Object.entries(fields), ([name, rule]) => {
    const given = value[name];
    const isRequired = required.includes(name);
    if (given !== undefined && (given !== null || isRequired)) return judge(rule, given, at(name));
    return isRequired ? { field: at(name), value: undefined, problem: "is required" } : undefined;
  });
  if (broken !== undefined) return broken;
  const unknown = Object.keys(value).find((name) => value[name] !== undefined && !Object.hasOwn(fields, name));
  if (unknown === undefined) return undefined;
  const problem = `Unknown field ${at(unknown)}. Remove it, or check its spelling.`;
  return { field: at(unknown), value: value[unknown], problem };
}

/** An object with names of the caller's choice, such as metadata. */
function judgePairs({ others, most = Infinity }: Rule, value: unknown, field: string): Finding | undefined {
  if (!isObject(value) || others === undefined) return { field, value, problem: "must be an object of texts" };
  const pairs = Object.entries(value).filter(([, each]) => each !== undefined); // as JSON leaves them out
  if (pairs.length > most) return { field, value, problem: `must have at most ${most} pairs` };
  return first(pairs, ([name, each]) => {
    const key = judge(others.names, name, `${field}.${name}`);
    return key === undefined ? judge(others.values, each, `${field}.${name}`) : { ...key, value: each };
  });
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const NOUNS: Record<string, string> = {
  string: "a string",
  integer: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
};
const expected = (type: string): string => `must be ${NOUNS[type]}`;

function first<Item>(
  items: readonly Item[],
  find: (item: Item, at: number) => Finding | undefined,
): Finding | undefined {
  for (const [at, item] of items.entries()) {
    const finding = find(item, at);
    if (finding !== undefined) return finding;
  }
  return undefined;
}
