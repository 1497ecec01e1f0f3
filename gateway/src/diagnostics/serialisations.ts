// Writes JSON as other programs would: texts that a client may have signed although it sent other bytes.

/** Escapes text as JavaScript, Python's json.dumps, PHP's json_encode or Go's json.Marshal do. */
const escapes = [
  (json: string) => json,
  (json: string) => ascii(json),
  (json: string) => ascii(json.replaceAll("/", String.raw`\/`)),
  (json: string) => json.replaceAll("/", String.raw`\/`),
  (json: string) => json.replaceAll(/[<>&\u2028\u2029]/g, escaped),
] as const;

/** A text with and without white space around it, as editors, shells and frameworks add or trim it. */
export function respaced(text: string): string[] {
  return [`${text}\n`, `${text}\r\n`, text.trimEnd(), text.trim(), text.replace(/^\uFEFF/, "")];
}

interface Layout {
  /** Separators between items, used without an indent, and between a key and its value. */
  comma: string;
  colon: string;
  indent: string;
}

const layouts: readonly Layout[] = [
  { comma: ",", colon: ":", indent: "" },
  { comma: ", ", colon: ": ", indent: "" },
  { comma: ",", colon: ": ", indent: "  " },
  { comma: ",", colon: ": ", indent: "    " },
  { comma: ",", colon: ": ", indent: "\t" },
];

/** Longest body in characters that is examined: longer ones cost too much time for an unlikely result. */
const LENGTH_MAX = 8_192;
const DEPTH_MAX = 64;

/** Yields other serialisations of the JSON in `text`, each once; none when `text` is not JSON, too long or too deep. */
export function* serialisationsOf(text: string): Generator<string> {
  if (text.length > LENGTH_MAX) return;
  let value: unknown;
  try {
    // Numbers stay as they were written, because 1.0 and 1 are different bytes.
    value = JSON.parse(text, (_key, part: unknown, context?: { source?: string }) =>
      typeof part === "number" ? new Literal(context?.source ?? String(part)) : part,
    );
  } catch {
    return; // not JSON, or nested too deep for the parser
  }
  const known = new Set([text]);
  for (const sorted of [false, true]) {
    for (const escape of escapes) {
      for (const layout of layouts) {
        const written = write(value, layout, sorted, 0);
        if (written === undefined) return;
        const other = escape(written);
        if (!known.has(other)) yield other;
        known.add(other);
      }
    }
  }
}

/** A number as it was written in the text. */
class Literal {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Undefined when the value is nested too deep. */
function write(value: unknown, style: Layout, sorted: boolean, depth: number): string | undefined {
  if (depth > DEPTH_MAX) return undefined;
  if (value instanceof Literal) return value.text;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const isArray = Array.isArray(value);
  const [open, close] = isArray ? ["[", "]"] : ["{", "}"];
  const entries = isArray ? value.map((item: unknown): [string, unknown] => ["", item]) : Object.entries(value);
  if (entries.length === 0) return open + close;
  if (sorted && !isArray) entries.sort(([a], [b]) => (a < b ? -1 : 1));
  const parts: string[] = [];
  for (const [key, item] of entries) {
    const written = write(item, style, sorted, depth + 1);
    if (written === undefined) return undefined;
    parts.push(isArray ? written : JSON.stringify(key) + style.colon + written);
  }
  if (style.indent === "") return open + parts.join(style.comma) + close;
  const inner = `\n${style.indent.repeat(depth + 1)}`;
  return `${open}${inner}${parts.join(`${style.comma}${inner}`)}\n${style.indent.repeat(depth)}${close}`;
}

/** Escapes each character beyond ASCII as its UTF-16 units, in lower-case hexadecimal. */
function ascii(json: string): string {
  return json.replaceAll(/[\u007f-\uffff]/g, escaped);
}

function escaped(unit: string): string {
  return String.raw`\u` + unit.charCodeAt(0).toString(16).padStart(4, "0");
}
