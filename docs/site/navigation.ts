// The navigation beside a page: sections with their pages, and the previous and next page. Pure.
import { type Language, type Page, addressOf } from "./page.ts";
import { type Section, sections } from "./sections.ts";

export interface Entry {
  page: Page;
  isCurrent: boolean;
  /** The pages of a group, shown only while the reader is in that group. */
  below: readonly Entry[];
}

interface Listed {
  section: Section;
  isOpen: boolean;
  entries: readonly Entry[];
}

/** Titles of decisions begin with numbers: 2 comes before 10. */
const { compare } = new Intl.Collator("en", { numeric: true });

/** The pages in the order of the navigation. A group stays together, after the pages of its section that are in none. */
export function inOrder(pages: readonly Page[]): Page[] {
  const rank = new Map(sections.map(({ name }, at) => [name, at]));
  return pages.toSorted(
    (a, b) =>
      (rank.get(a.section) ?? 0) - (rank.get(b.section) ?? 0) ||
      compare(a.group ?? "", b.group ?? "") ||
      a.order - b.order ||
      compare(a.title, b.title),
  );
}

/** The sections and pages beside the current page. Pages that lack the language are shown in English. */
export function navigationOf(current: Page | undefined, pages: readonly Page[], language: Language): Listed[] {
  const shown = inOrder(inLanguage(pages, language)).filter(({ id }) => id !== "index");
  return sections
    .map((section) => {
      const all = shown.filter((page) => page.section === section.name);
      const entries = all
        .filter(({ group }) => group === undefined)
        .map((page): Entry => {
          const isHere = current !== undefined && (current.group ?? current.id) === page.id;
          const below = isHere ? all.filter(({ group }) => group === page.id) : [];
          return { page, isCurrent: isSame(page, current), below: below.map((one) => leaf(one, current)) };
        });
      return { section, isOpen: section.folded !== true || current?.section === section.name, entries };
    })
    .filter(({ entries }) => entries.length > 0);
}

const leaf = (page: Page, current: Page | undefined): Entry => ({ page, isCurrent: isSame(page, current), below: [] });

const isSame = (page: Page, current: Page | undefined): boolean =>
  current !== undefined && addressOf(page) === addressOf(current);

/** One page for each id: in the language where it exists, else in English. */
function inLanguage(pages: readonly Page[], language: Language): Page[] {
  const own = new Set(pages.filter((page) => page.language === language).map(({ id }) => id));
  return pages.filter((page) => page.language === language || (page.language === "en" && !own.has(page.id)));
}

/** The previous and next page within the same section and group. */
export function neighboursOf(current: Page, pages: readonly Page[]): { before?: Page; next?: Page } {
  const row = inOrder(
    inLanguage(pages, current.language).filter(
      ({ section, group, id }) => section === current.section && group === current.group && id !== "index",
    ),
  );
  const at = row.findIndex((page) => isSame(page, current));
  const [before, next] = [row[at - 1], row[at + 1]];
  return { ...(at > 0 && before ? { before } : {}), ...(at >= 0 && next ? { next } : {}) };
}
