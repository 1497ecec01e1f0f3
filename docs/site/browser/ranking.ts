// What the search compares, and how it ranks what it finds. The build and the browser share this. Pure.
import type MiniSearch from "minisearch";
import type { Options, SearchOptions, SearchResult } from "minisearch";

/** English words that nearly every passage has. */
const fillers = new Set(["a", "an", "and", "by", "in", "is", "of", "on", "the", "to"]);

/** An index can only be loaded with the options that it was made with. */
export const INDEX_OPTIONS: Options = {
  fields: ["title", "page", "text", "code"],
  storeFields: ["title", "page", "section", "url", "language", "weight"],
  // A name such as opened_from is a term as a whole, beside its parts.
  tokenize: (text) => [
    ...text.split(/[\n\r\p{Z}\p{P}]+/u),
    ...(text.match(/[\p{L}\p{N}]+(?:_[\p{L}\p{N}]+)+/gu) ?? []),
  ],
  processTerm: (term) => (fillers.has(term.toLowerCase()) ? undefined : term.toLowerCase()),
};

const FIND: SearchOptions = {
  prefix: true,
  // One wrong letter makes another word of a short one: lost, list, cost.
  fuzzy: (term) => term.length > 4 && 0.2,
  boost: { title: 4, page: 2, code: 0.2 },
  combineWith: "AND",
};

/** Factor on the rank of a page in another language: a word that is the same in both, such as webhook, is rare in one of them and would rank high. */
const OTHER_LANGUAGE = 0.25;

/** What fits, best first: passages with all of the words, and where there is none, with some of them. The reader's language ranks higher. */
export function ranked(index: MiniSearch, text: string, language: string): SearchResult[] {
  const boostDocument = (_id: unknown, _term: string, stored?: Record<string, unknown>): number =>
    (stored?.language === language ? 1 : OTHER_LANGUAGE) * Number(stored?.weight ?? 1);
  const found = index.search(text, { ...FIND, boostDocument });
  return found.length > 0 ? found : index.search(text, { ...FIND, boostDocument, combineWith: "OR" });
}
