// A page of the documentation before it is drawn: its address, its place in the navigation and its Markdown. Pure.

export const languages = ["en", "id"] as const;
export type Language = (typeof languages)[number];

export interface Page {
  /** Its address below /docs, or below /docs/id for Indonesian: "webhooks", "api/create-payment"; "index" is the first page. */
  id: string;
  language: Language;
  /** The name of a section in sections.ts. */
  section: string;
  /** The page's place in its section; pages with equal places are sorted by title. */
  order: number;
  title: string;
  markdown: string;
  /** The path of the page's file from the root of the source tree; for generated pages the contract. */
  source: string;
  /** The group under which the navigation lists the page while the reader is in it. Operations, events and errors have groups, being many. */
  group?: string;
  /** A heading within the group's list, shared by several pages. */
  kind?: string;
  /** A shorter title for the navigation. */
  short?: string;
}

export function addressOf({ id, language }: Pick<Page, "id" | "language">): string {
  const folder = language === "en" ? "/docs/" : `/docs/${language}/`;
  return id === "index" ? folder : folder + id;
}

/** The file of a page in a build, without its extension. */
export function fileOf({ id, language }: Pick<Page, "id" | "language">): string {
  return language === "en" ? id : id === "index" ? language : `${language}/${id}`;
}

/** The address of the page's Markdown. */
export const markdownAddressOf = (page: Pick<Page, "id" | "language">): string => `/docs/${fileOf(page)}.md`;
