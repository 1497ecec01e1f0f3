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

export interface DocumentParts {
  language: string;
  title: string;
  /** What follows the title in the head. */
  head?: Html | false;
  body: Html;
}

/** A whole HTML document, ready to send. */
export function documentText({ language, title, head, body }: DocumentParts): string {
  return `<!doctype html>\n${pageText(
    html`<html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        ${head}
      </head>
      ${body}
    </html>`,
  )}\n`;
}

/** The text of a piece of markup. */
export function pageText(page: Html): string {
  return page[made];
}
