// A signed call as code shows it, and what all languages need for it: its address, its headers, and texts that hide nothing.

export interface SignedCall {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Whole: `https://pay.example/v1/payments`. */
  url: string;
  /** A JSON object. */
  body?: object | undefined;
  /** One for each intent: the same on every retry. Printable ASCII. */
  key?: string | undefined;
}

/** The address of a path of the API, which the base address ends with the version of. */
export function addressOf(baseUrl: string, path: string): string {
  return baseUrl.replace(/\/v1\/?$/, "") + path;
}

/** An idempotency key that an order of a merchant gives by itself. */
export function keyOf(intent: string, referenceId: string): string {
  const encoded = encodeURIComponent(referenceId.toWellFormed()).replaceAll(
    /[!'()*%]/g,
    (sign) => `_${sign.charCodeAt(0).toString(16)}`,
  );
  return `${intent}-${encoded}`.slice(0, 255);
}

/** Characters that cannot be seen, or that make a line read as another. */
const hidden = /[\u007F-\u009F\u00AD\u061C\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF]/g;

/** A text in double quotes, as JSON, JavaScript, Python, Go and Java read it. Nothing in it is invisible. */
export function quoted(text: string): string {
  return JSON.stringify(text.toWellFormed()).replaceAll(
    hidden,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** How a language writes the parts of an object. */
interface Notation {
  text: (text: string) => string;
  name: (name: string) => string;
  open: string;
  close: string;
  /** Of an object in another one. */
  openInner?: string;
  /** Whether the last part of a list has a comma as well. */
  trailing: boolean;
  indent: string;
}

/** An object as a language writes it, a field a line; `depth` is how far it is indented. */
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
  return `${inner ? openInner : open}\n${lines.join(",\n")}${trailing ? "," : ""}\n${indent.repeat(depth)}${close}`;
}

/** JSON of a field a line. It is what is sent by languages that have no JSON of their own. */
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
