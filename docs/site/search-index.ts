// The index that the pages' search loads: a passage for each heading, with its page and its section. Pure.
import MiniSearch from "minisearch";
import type { Passage } from "./markdown.ts";
import { type Language, type Page, addressOf } from "./page.ts";
import { sectionName } from "./sections.ts";

/** What the search must know as well, to read the index. */
export const INDEX_OPTIONS = {
  fields: ["title", "page", "text"],
  storeFields: ["title", "page", "section", "url", "language"],
};

interface Entry {
  id: number;
  title: string;
  page: string;
  section: string;
  text: string;
  url: string;
  language: Language;
}

/** The index as JSON. Pages come in their order, so the same pages give the same bytes. */
export function searchIndex(pages: readonly { page: Page; passages: readonly Passage[] }[]): string {
  const index = new MiniSearch<Entry>(INDEX_OPTIONS);
  let id = 0;
  for (const { page, passages } of pages) {
    for (const { heading, text } of passages) {
      const isWhole = heading === undefined || heading.level === 1;
      if (isWhole && text.trim() === "" && heading === undefined) continue;
      index.add({
        id: id++,
        title: heading?.text ?? page.title,
        page: page.title,
        section: sectionName(page.section, page.language),
        text,
        url: addressOf(page) + (isWhole ? "" : `#${heading.anchor}`),
        language: page.language,
      });
    }
  }
  return JSON.stringify(index);
}
