// JSON as money needs it: UTF-8 or nothing, one value per key, and no number that was rounded into an integer.

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const integer = /^-?(0|[1-9]\d*)$/;

export class MalformedJson extends Error {}

/** Deeper than any shape of the interface, and shallow enough for whatever walks a value by recursion. */
const DEPTH_MAX = 2_000;

/**
 * Reads a JSON object. Throws `MalformedJson` for bad UTF-8, bad JSON, another top-level value, a duplicate
 * key, a key named `__proto__` (which means something else to JavaScript), or a depth beyond reason.
 * A number written with a fraction or an exponent that would read as an integer becomes NaN, so no schema accepts it.
 */
export function parseObject(bytes: Uint8Array): Record<string, unknown> {
  let text: string;
  let value: unknown;
  try {
    text = utf8.decode(bytes);
    value = JSON.parse(text);
  } catch (error) {
    throw new MalformedJson("not JSON in UTF-8", { cause: error });
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new MalformedJson("not an object");
  const { objection, fraction } = scan(text);
  if (objection !== undefined) throw new MalformedJson(objection);
  if (!fraction) return value as Record<string, unknown>;
  return JSON.parse(text, (_key, part: unknown, context?: { source?: string }) =>
    typeof part === "number" && Number.isInteger(part) && !integer.test(context?.source ?? "") ? Number.NaN : part,
  ) as Record<string, unknown>;
}

/** Walks text that is already known to be JSON. Iterative: depth costs memory, never the stack. */
function scan(text: string): { objection: string | undefined; fraction: boolean } {
  const open: (Set<string> | null)[] = []; // a set of keys for an object, null for an array
  let keys: Set<string> | null = null;
  let fraction = false;
  let expectKey = false;
  for (let at = 0; at < text.length; at++) {
    if (open.length > DEPTH_MAX) return { objection: "too deep", fraction };
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
          if (keys.has(key)) return { objection: "duplicate key", fraction };
          if (key === "__proto__") return { objection: "key __proto__", fraction };
          keys.add(key);
          expectKey = false;
        }
        break;
      }
      case 0x2e: // . e E stand outside strings only in numbers, and the e of true and false
        fraction = true;
        break;
      case 0x65:
      case 0x45: {
        const before = text.charCodeAt(at - 1);
        if (before >= 0x30 && before <= 0x39) fraction = true;
        break;
      }
    }
  }
  return { objection: undefined, fraction };
}
