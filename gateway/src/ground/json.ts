// Strict JSON: valid UTF-8 only, no duplicate keys, and no number whose value differs from what was written.
import { Fault } from "./fault.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Deeper than any schema of the interface, and shallow enough for recursive functions. */
const DEPTH_MAX = 2_000;

/** Why bytes are no JSON object, in words for whoever sent them. */
const objections = {
  not_json: "The body is empty, or not JSON in UTF-8 (without a byte order mark).",
  not_an_object: "The body is JSON, but not an object.",
  duplicate_key: "An object in the body has the same key twice.",
  too_deep: `The body is nested deeper than ${DEPTH_MAX} levels.`,
};
type Malformed = keyof typeof objections;

/**
 * Reads a JSON object. A number that JavaScript would write in another way, such as 1800.0, 1e3 or one that it rounds, becomes a symbol with its
 * text: no schema accepts a symbol, and an error can show the text that was sent. A key `__proto__` is an ordinary property.
 */
export function readObject(bytes: Uint8Array): { object: Record<string, unknown> } | { malformed: Malformed } {
  let text: string;
  let value: unknown;
  try {
    text = utf8.decode(bytes);
    value = JSON.parse(text);
  } catch {
    return { malformed: "not_json" };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return { malformed: "not_an_object" };
  const { malformed, unusualNumber } = scan(text);
  if (malformed !== undefined) return { malformed };
  if (!unusualNumber) return { object: value as Record<string, unknown> };
  const object = JSON.parse(text, (_key, part: unknown, context?: { source?: string }) =>
    typeof part === "number" && String(part) !== context?.source ? Symbol(context?.source) : part,
  ) as Record<string, unknown>;
  return { object };
}

/** As `readObject`; undefined for what is no object. */
export function objectOf(bytes: Uint8Array): Record<string, unknown> | undefined {
  const read = readObject(bytes);
  return "object" in read ? read.object : undefined;
}

/** As `readObject`. Throws MALFORMED_JSON, with the reason in its message, for what is no object. */
export function parseObject(bytes: Uint8Array): Record<string, unknown> {
  const read = readObject(bytes);
  if ("malformed" in read) throw new Fault("MALFORMED_JSON", { message: objections[read.malformed] });
  return read.object;
}

/** JavaScript may round a number of this many characters or more. */
const LONG_NUMBER = 16;
const plainInteger = /^(0|-?[1-9]\d*)$/;

/** Scans text that is known to be JSON. Iterative, so that depth costs memory and not stack. */
function scan(text: string): { malformed: Malformed | undefined; unusualNumber: boolean } {
  const open: (Set<string> | null)[] = []; // a set of keys for an object, null for an array
  let keys: Set<string> | null = null;
  let unusualNumber = false;
  let expectKey = false;
  for (let at = 0; at < text.length; at++) {
    if (open.length > DEPTH_MAX) return { malformed: "too_deep", unusualNumber };
    switch (text.charCodeAt(at)) {
      case 0x7b: // {
        open.push(keys);
        keys = new Set();
        expectKey = true;
        break;
      case 0x5b: // [
        open.push(keys);
        keys = null;
        expectKey = false;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        keys = open.pop() ?? null;
        expectKey = false;
        break;
      case 0x2c: // ,
        expectKey = keys !== null;
        break;
      case 0x22: {
        const start = at;
        for (at++; text.charCodeAt(at) !== 0x22; at++) if (text.charCodeAt(at) === 0x5c) at++;
        if (expectKey && keys) {
          const raw = text.slice(start + 1, at);
          const key = raw.includes("\\") ? (JSON.parse(`"${raw}"`) as string) : raw;
          if (keys.has(key)) return { malformed: "duplicate_key", unusualNumber };
          keys.add(key);
          expectKey = false;
        }
        break;
      }
      default: {
        // Outside strings only numbers have digits; a minus sign before the digits belongs to the number.
        if (!isDigit(text.charCodeAt(at))) break;
        const start = text.charCodeAt(at - 1) === 0x2d ? at - 1 : at;
        while (isNumberPart(text.charCodeAt(at + 1))) at++;
        const number = text.slice(start, at + 1);
        unusualNumber ||= number.length >= LONG_NUMBER || !plainInteger.test(number);
      }
    }
  }
  return { malformed: undefined, unusualNumber };
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** True for digits and the other characters of fractions and exponents. */
function isNumberPart(code: number): boolean {
  return isDigit(code) || code === 0x2e || code === 0x65 || code === 0x45 || code === 0x2b || code === 0x2d;
}
