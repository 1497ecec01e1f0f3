// Rejects requests before they are sent if the API would reject them: by the contract's rules, with the API's codes and messages.
import { GerbangError } from "./errors.ts";
import { judge } from "./judge.ts";
import { type BodyName, rules } from "./rules.ts";

const AMOUNT = /^(amount|minimum|maximum)_minor$/;

/** Throws a GerbangError with the API's code and message for a body that breaks the contract. `undefined` and `null` count as a field left out. */
export function checkBody(name: BodyName, body: unknown): void {
  const finding = judge(rules[name], body, "");
  if (finding === undefined) return;
  const { field, problem } = finding;
  const details = { field, value: showable(finding.value) };
  if (AMOUNT.test(field)) {
    const message = `${field} must be a positive integer within the limit for one transaction.`;
    throw new GerbangError({ code: "INVALID_AMOUNT", message, details });
  }
  const message = /^(The|Unknown) /.test(problem) ? problem : `${field}: ${problem}`;
  if (field === "currency" && typeof finding.value === "string")
    throw new GerbangError({ code: "CURRENCY_NOT_SUPPORTED", message });
  throw new GerbangError({ code: "VALIDATION_ERROR", message, details });
}

/** A value as error details show it: shortened, and without the contents of objects and arrays. */
function showable(value: unknown): unknown {
  if (typeof value === "string") return value.replace(/^(.{100}).+$/su, "$1…");
  if (Array.isArray(value)) return "(array)";
  return typeof value === "object" && value !== null ? "(object)" : (value ?? null);
}

/** Throws IDEMPOTENCY_KEY_INVALID for a key that the API would reject. */
export function checkIdempotencyKey(key: string | undefined): void {
  if (key === undefined || /^[\x21-\x7e][\x20-\x7e]{6,253}[\x21-\x7e]$/.test(key)) return;
  throw new GerbangError({
    code: "IDEMPOTENCY_KEY_INVALID",
    message: "Idempotency-Key must be 8 to 255 ASCII characters.",
  });
}

/** An id as it stands in a path. Throws VALIDATION_ERROR for an empty text, dots alone, half a character, and what is no string. */
export function checkIdentity(identity: unknown): string {
  if (typeof identity === "string" && /[^.]/.test(identity)) return encoded("reference", identity);
  const message = `Name the object by its identity, not by "${String(showable(identity))}".`;
  throw new GerbangError({ code: "VALIDATION_ERROR", message, details: { field: "reference" } });
}

/** A text as it stands in an address. Throws VALIDATION_ERROR for half a character, which would become another text. */
export function encoded(field: string, text: string): string {
  // `fetch` itself writes an apostrophe of a query so, after it was signed.
  if (!/\p{Surrogate}/u.test(text)) return encodeURIComponent(text).replaceAll("'", "%27");
  const message = `${field}: must be Unicode text`;
  throw new GerbangError({ code: "VALIDATION_ERROR", message, details: { field } });
}
