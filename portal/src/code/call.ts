// A signed call in example code, and the parts that all languages share: addresses, keys, and texts without invisible characters.

export interface SignedCall {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** The full address: `https://pay.example/v1/payments`. */
  url: string;
  /** A JSON object. */
  body?: object | undefined;
  /** The idempotency key, one for each intent and the same on every retry. Printable ASCII. */
  key?: string | undefined;
}

/** The address of an API path. The base address ends with /v1. */
export function addressOf(baseUrl: string, path: string): string {
  return baseUrl.replace(/\/v1\/?$/, "") + path;
}

/** An idempotency key that is derived from the merchant's reference, so that a repeated order has the same key. */
export function keyOf(intent: string, referenceId: string): string {
  const encoded = encodeURIComponent(referenceId.toWellFormed()).replaceAll(
    /[!'()*%]/g,
    (sign) => `_${sign.charCodeAt(0).toString(16)}`,
  );
  return `${intent}-${encoded}`.slice(0, 255);
}

/** Characters that are invisible or change the direction of a line. */
const hidden = /[\u007F-\u009F\u00AD\u061C\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF]/g;

/** A double-quoted text that JSON, JavaScript, Python, Go and Java all read. Invisible characters are escaped. */
export function quoted(text: string): string {
  return JSON.stringify(text.toWellFormed()).replaceAll(
    hidden,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** A language's notation of objects. */
interface Notation {
  text: (text: string) => string;
  name: (name: string) => string;
  open: string;
  close: string;
  /** Opens a nested object. */
  openInner?: string;
  /** Whether a comma follows the last part of a list. */
  trailing: boolean;
  indent: string;
}

/** An object in a language's notation, one field on each line; `depth` is its level of indentation. */
export function written(value: object, notation: Notation, depth = 0, inner = false): string {
  const { text, name, open, close, openInner = open, trailing, indent } = notation;
  const lines = Object.entries(value).map(([field, one]: [string, unknown]) => {
    const shown =
      typeof one === "string"
        ? text(one)
        : typeof one === "object" && one !== null
          ? written(one, notation, depth + 1, true)
          : String(one);
    return `${indent.repeat(depth + 1)}${name(field)}${shown}`;
  });
  if (lines.length === 0) return `${inner ? openInner : open}${close}`;
  return `${inner ? openInner : open}\n${lines.join(",\n")}${trailing ? "," : ""}\n${indent.repeat(depth)}${close}`;
}

/** JSON with one field on each line, for languages without a notation of objects. */
export function jsonOf(body: object): string {
  return written(body, {
    text: quoted,
    name: (name) => `${quoted(name)}: `,
    open: "{",
    close: "}",
    trailing: false,
    indent: "  ",
  });
}
