// HTML from templates: inserted values are escaped as text, unless this file made them. Pure.

const made = Symbol("html");

/** A piece of a page that needs no escaping. */
export interface Html {
  readonly [made]: string;
}

type Part = Html | string | number | false | undefined | readonly Part[];

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

function written(part: Part): string {
  if (part === false || part === undefined) return "";
  if (typeof part === "string" || typeof part === "number") return escaped(String(part));
  return made in part ? part[made] : part.map(written).join("");
}

/** Template tag: escapes texts and numbers, inserts `Html` as it is, and skips false and undefined. Attributes must be quoted by `"`. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { [made]: strings.map((text, at) => (at === 0 ? text : written(parts[at - 1]) + text)).join("") };
}

/** The text of a page, ready to send. */
export function pageText(page: Html): string {
  return page[made];
}
