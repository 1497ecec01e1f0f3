// HTML from templates: whatever is put in is text, unless it was made here. Pure.

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

/** A template: texts and numbers are escaped, pieces are put in as they are, false and undefined are nothing. Attributes are quoted by `"`. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { [made]: strings.map((text, at) => (at === 0 ? text : written(parts[at - 1]) + text)).join("") };
}

/** A page as it is sent. */
export function pageText(page: Html): string {
  return page[made];
}
