// A page of the documentation before it is drawn: its address, its place in the navigation, its Markdown. Pure.

export const languages = ["en", "id"] as const;
export type Language = (typeof languages)[number];

export interface Page {
  /** Its address below /docs, of an Indonesian page below /docs/id: "webhooks", "api/create-payment"; "index" is the first page. */
  id: string;
  language: Language;
  /** A name of sections.ts. */
  section: string;
  /** Its place in the section; pages of one place are sorted by their titles. */
  order: number;
  title: string;
  markdown: string;
  /** The file it was written in, from the root of the tree. Of a page made from the contract: that. */
  source: string;
  /** The group that it is listed under while one reads in it: operations, events and errors are many. */
  group?: string;
  /** A heading in that list, which pages of one share. */
  kind?: string;
  /** What the navigation calls it, where its title is long. */
  short?: string;
}

/** The address of a page, as links have it. */
export function addressOf({ id, language }: Pick<Page, "id" | "language">): string {
  const folder = language === "en" ? "/docs/" : `/docs/${language}/`;
  return id === "index" ? folder : folder + id;
}

/** The file of a page in a build, without its ending. */
export function fileOf({ id, language }: Pick<Page, "id" | "language">): string {
  return language === "en" ? id : id === "index" ? language : `${language}/${id}`;
}

/** The address of its Markdown. */
export const markdownAddressOf = (page: Pick<Page, "id" | "language">): string => `/docs/${fileOf(page)}.md`;
