// What the API must refuse is refused before it is sent, by the contract's own rules and with the API's codes and words.
import { GerbangError } from "./errors.ts";
import { type BodyName, type Rule, rules } from "./rules.ts";

interface Finding {
  field: string;
  value: unknown;
  problem: string;
}

/** Codes of their own, where a field has one (interface, section 7.3). */
const codes: [field: RegExp, code: string, message: string][] = [
  [
    /^(amount|minimum|maximum)_minor$/,
    "INVALID_AMOUNT",
    "amount_minor must be a positive integer within the limit for one transaction.",
  ],
  [/^currency$/, "CURRENCY_NOT_SUPPORTED", "This currency is not enabled for the merchant."],
];

/** Throws a GerbangError, as the API would answer, for a body that breaks the contract. `undefined` and `null` are a field left out. */
export function checkBody(name: BodyName, body: unknown): void {
  const rule = rules[name] as Rule;
  const finding = judge(rule, body, "");
  if (finding === undefined) return;
  const { field, value, problem } = finding;
  const [, code, message] = codes.find(([fields]) => fields.test(field)) ?? [
    undefined,
    "VALIDATION_ERROR",
    `${field}: ${problem}`,
  ];
  throw new GerbangError({ code, message, details: { field, ...(value !== undefined && { value }) } });
}

/** Throws IDEMPOTENCY_KEY_INVALID for a key that the API must refuse. */
export function checkIdempotencyKey(key: string | undefined): void {
  if (key === undefined || /^[\x21-\x7e][\x20-\x7e]{6,253}[\x21-\x7e]$/.test(key)) return;
  throw new GerbangError({
    code: "IDEMPOTENCY_KEY_INVALID",
    message: "Idempotency-Key must be 8 to 255 ASCII characters.",
  });
}

/** Throws for an identity that no path can have. */
export function checkIdentity(identity: unknown): string {
  if (typeof identity === "string" && /[^.]/.test(identity)) return identity;
  const message = `Name the object by its identity; this is ${identity === "" ? "an empty text" : typeof identity}.`;
  throw new GerbangError({ code: "VALIDATION_ERROR", message, details: { field: "reference" } });
}

function judge(rule: Rule, value: unknown, field: string): Finding | undefined {
  const found = (problem: string): Finding => ({ field, value, problem });
  if (rule.options !== undefined) {
    const isOption = rule.options.includes(value as string);
    return isOption
      ? undefined
      : found(`Invalid option: expected one of ${rule.options.map((option) => `"${option}"`).join("|")}`);
  }
  if (rule.type === "object") return judgeObject(rule, value, field);
  if (rule.type === "array") {
    if (!Array.isArray(value)) return found(expected("array", value));
    const size = sizeProblem("array", "items", value.length, rule);
    if (size !== undefined) return found(size);
    return first(value, (item, at) => (rule.items ? judge(rule.items, item, `${field}.${at}`) : undefined));
  }
  if (rule.type === "integer") {
    if (typeof value !== "number" || Number.isNaN(value)) return found(expected("number", value));
    if (!Number.isSafeInteger(value))
      return found(
        Number.isInteger(value) ? bound("Too big", "int", "<=", Number.MAX_SAFE_INTEGER) : expected("int", value),
      );
    if (rule.least !== undefined && value < rule.least) return found(bound("Too small", "number", ">=", rule.least));
    if (rule.most !== undefined && value > rule.most) return found(bound("Too big", "number", "<=", rule.most));
    return undefined;
  }
  if (typeof value !== (rule.type ?? "string")) return found(expected(rule.type ?? "string", value));
  if (typeof value !== "string") return undefined;
  // The API counts UTF-16 units as JavaScript does.
  const size = sizeProblem("string", "characters", value.length, rule);
  if (size !== undefined) return found(size);
  if (rule.pattern !== undefined && !new RegExp(rule.pattern, "u").test(value))
    return found(rule.problem ?? `Invalid string: must match pattern /${rule.pattern}/`);
  return undefined;
}

function judgeObject(rule: Rule, value: unknown, field: string): Finding | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { field, value, problem: expected("object", value) };
  const at = (name: string): string => (field === "" ? name : `${field}.${name}`);
  const { fields = {}, required = [], others, most } = rule;
  const given = Object.entries(value).filter(
    ([name, each]) => each !== undefined && !(each === null && name in fields && !required.includes(name)),
  );
  const known = new Map(given);
  const broken = first(Object.entries(fields), ([name, each]) => {
    if (known.has(name)) return judge(each, known.get(name), at(name));
    return required.includes(name) ? { field: at(name), value: undefined, problem: missing(each) } : undefined;
  });
  if (broken !== undefined) return broken;
  const more = given.filter(([name]) => !Object.hasOwn(fields, name));
  if (others === undefined) {
    const [unknown] = more;
    return (
      unknown && {
        field: at(unknown[0]),
        value: unknown[1],
        problem: `Unknown field ${at(unknown[0])}. Remove it, or check its spelling.`,
      }
    );
  }
  if (most !== undefined && more.length > most)
    return { field, value: undefined, problem: `Too big: expected record to have <=${most} properties` };
  return first(more, ([name, each]) => judge(others.names, name, at(name)) ?? judge(others.values, each, at(name)));
}

function missing(rule: Rule): string {
  if (rule.options !== undefined)
    return `Invalid option: expected one of ${rule.options.map((option) => `"${option}"`).join("|")}`;
  return expected(rule.type === "integer" ? "number" : (rule.type ?? "string"), undefined);
}

function sizeProblem(what: string, of: string, size: number, { least, most }: Rule): string | undefined {
  if (least !== undefined && size < least) return `Too small: expected ${what} to have >=${least} ${of}`;
  if (most !== undefined && size > most) return `Too big: expected ${what} to have <=${most} ${of}`;
  return undefined;
}

const bound = (what: string, type: string, sign: string, limit: number): string =>
  `${what}: expected ${type} to be ${sign}${limit}`;
const typeOf = (value: unknown): string =>
  value === null ? "null" : Array.isArray(value) ? "array" : Number.isNaN(value) ? "NaN" : typeof value;
const expected = (type: string, value: unknown): string => `Invalid input: expected ${type}, received ${typeOf(value)}`;

function first<Item>(
  items: readonly Item[],
  judge: (item: Item, at: number) => Finding | undefined,
): Finding | undefined {
  for (const [at, item] of items.entries()) {
    const finding = judge(item, at);
    if (finding !== undefined) return finding;
  }
  return undefined;
}
