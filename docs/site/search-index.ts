// The search index: a passage for each heading, with its page and section. Pure.
import MiniSearch from "minisearch";
import { INDEX_OPTIONS } from "./browser/ranking.ts";
import type { Passage } from "./markdown.ts";
import { type Language, type Page, addressOf } from "./page.ts";
import { sectionName } from "./sections.ts";

interface Entry {
  id: number;
  title: string;
  page: string;
  section: string;
  text: string;
  code: string;
  url: string;
  language: Language;
  /** Factor on the rank: how likely the passage is what a shop's developer looks for. */
  weight: number;
}

/** The index as JSON. Pages come in a fixed order, so that the same pages give the same bytes. */
export function searchIndex(pages: readonly { page: Page; passages: readonly Passage[] }[]): string {
  const index = new MiniSearch<Entry>(INDEX_OPTIONS);
  const groups = new Map(
    pages.map(({ page }) => [page.id, `${sectionName(page.section, page.language)} · ${page.title}`]),
  );
  let id = 0;
  for (const { page, passages } of pages) {
    for (const { heading, text, code } of page.group === undefined ? passages : [wholeOf(passages)]) {
      if (heading === undefined && text.trim() + code === "") continue;
      const isPage = heading === undefined || heading.level === 1;
      index.add({
        id: id++,
        title: isPage ? page.title : heading.text,
        page: page.title,
        section: groups.get(page.group ?? "") ?? sectionName(page.section, page.language),
        text,
        code,
        url: addressOf(page) + (isPage ? "" : `#${heading.anchor}`),
        language: page.language,
        weight: weightOf(page),
      });
    }
  }
  return JSON.stringify(index);
}

/**
 * Explanations rank above lists of fields and of commands, and merchants' pages above operators' pages and above what changed. The runbook of operators
 * ranks nearly as high as merchants' pages: it is searched in a hurry, in the words that a merchant said.
 */
function weightOf({ id, section, group }: Page): number {
  if (id === "on-call") return 0.8;
  if (section === "Run the service" || section === "Decisions" || id === "changelog") return 0.4;
  return group === undefined && section !== "Tools" ? 1 : 0.6;
}

/** The page of an operation, event or error as one passage: all such pages have the same headings, so these are not searched separately. */
function wholeOf(passages: readonly Passage[]): Passage {
  return {
    heading: undefined,
    text: passages.map(({ heading, text }) => `${heading?.text ?? ""}\n${text}`).join("\n"),
    code: passages.map(({ code }) => code).join("\n"),
  };
}
