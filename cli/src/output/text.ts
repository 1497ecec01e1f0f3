// Text that may be printed. What comes from elsewhere is text in it and nothing else: it moves no cursor, changes no colours, turns no letters around
// and begins no line of its own. Pure.
import { UnexpectedAnswer } from "../answers.ts";

/** Control characters, and characters that turn the direction of the text after them. */
const HARMFUL = /[\p{Cc}\p{Bidi_Control}]/gu;
/** The same without those that end a line or a column. */
const HARMFUL_IN_LINES = /(?!\r\n|[\n\t])[\p{Cc}\p{Bidi_Control}]/gu;
/** Those that `JSON.stringify` leaves as they are. */
const HARMFUL_IN_JSON = /[\u007F-\u009F\p{Bidi_Control}]/gu;

/** Characters that take no column of a terminal, and those that take two. */
const NARROW = /[\p{Mn}\p{Me}\p{Cf}]/gu;
const WIDE =
  /(?![\uFF61-\uFFDC])[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{Emoji_Presentation}\uFF01-\uFFE6]/gu;

/** Width in columns of a terminal. */
export const widthOf = (text: string): number => {
  const visible = text.replaceAll(NARROW, "");
  return [...visible].length + (visible.match(WIDE)?.length ?? 0);
};

/** A text from elsewhere, in one line. */
export const shown = (text: string): string => text.replaceAll(HARMFUL, "\ufffd");

/** Most characters that are shown of what a receiver said. */
const GIST_MAX = 300;

const entities: Readonly<Record<string, string>> = {
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&#x27;": "'",
  "&amp;": "&",
};
const letterOf = (entity: string): string => entities[entity] ?? entity;

/** The beginning of what a receiver said, in one line; of a page of HTML its text. */
export function gistOf(said: string): string {
  const isPage = /^\s*<(?:!doctype|html)\b/i.test(said);
  const text = isPage
    ? said.replaceAll(/<(style|script)\b.*?<\/\1>|<[^>]*>|&nbsp;/gis, " ").replaceAll(/&\W?\w+;/g, letterOf)
    : said;
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > GIST_MAX ? `${line.slice(0, GIST_MAX)}…` : line;
}

class Made {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

/** What can be printed. A string cannot: the functions of this file make every output, so that none contains a harmful character. */
export type Printable = Made;

export type Value = string | number | Printable;

/** Throws `UnexpectedAnswer` for a value of an answer that is not what its type says. */
function textOf(value: unknown): string {
  if (value instanceof Made) return value.toString();
  if (typeof value === "string" || typeof value === "number") return shown(String(value));
  throw new UnexpectedAnswer("a text is missing");
}

/** Our own words as they stand, and the values between them in one line each: words`Signed in: ${name}`. */
export function words(own: TemplateStringsArray, ...values: readonly Value[]): Printable {
  return new Made(own.reduce((made, text, at) => made + textOf(values[at - 1]) + text));
}

export const joined = (parts: readonly Printable[], between: string): Printable => new Made(parts.join(between));

/** One line of an output, with spaces between its parts and none at its end. */
export const lineOf = (parts: readonly Printable[]): Printable => new Made(`${parts.join("  ").trimEnd()}\n`);

/** A text from elsewhere that has several lines. */
export const linesOf = (text: string): Printable => new Made(text.replaceAll(HARMFUL_IN_LINES, "\ufffd"));

/** A line of JSON. A program reads the value as it was sent. */
export function jsonOf(value: object): Printable {
  const text = JSON.stringify(value).replaceAll(
    HARMFUL_IN_JSON,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return new Made(`${text}\n`);
}

/** A value in a style of ECMA-48, such as 31 for red. */
export const styled = (style: number, value: Value): Printable => new Made(`\u001B[${style}m${textOf(value)}\u001B[0m`);

/** Lines that a terminal cuts at its edge, so that each takes one row. */
export const cut = (lines: Printable): Printable => new Made(`\u001B[?7l${lines.toString()}\u001B[?7h`);

/** Empties the terminal. */
export const cleared: Printable = new Made("\u001B[H\u001B[2J");
