// A page as HTML: the frame with navigation and contents around the drawn text. Only search, running and switching need scripts. Pure.
import { escaped } from "./html.ts";
import type { Drawn, Heading } from "./markdown.ts";
import { type Entry, navigationOf, neighboursOf } from "./navigation.ts";
import { type Language, type Page, addressOf, markdownAddressOf } from "./page.ts";
import { sectionName } from "./sections.ts";
import { words } from "./words.ts";

/** The addresses of the files that every page needs. */
export interface Assets {
  style: string;
  /** The script that runs before anything is drawn. */
  head: string;
  page: string;
  font: string;
  icon: string;
  /** The modules and the index that are loaded when a reader searches or runs an example. */
  search: string;
  run: string;
  index: string;
}

interface Frame {
  assets: Assets;
  pages: readonly Page[];
}

export function pageHtml(page: Page, drawn: Drawn, frame: Frame): string {
  const { language } = page;
  const text = words[language];
  const twin = frame.pages.find((one) => one.id === page.id && one.language !== language);
  const contents = contentsOf(drawn.headings, language);
  const article = `<article>
${page.id === "index" ? "" : `<p class="where">${escaped(sectionName(page.section, language))}</p>`}
${drawn.html}
<footer>${around(page, frame.pages)}<p><a href="${markdownAddressOf(page)}">${text.asMarkdown}</a></p></footer>
</article>`;
  return html({
    language,
    title: page.id === "index" ? "Gerbang · Docs" : `${page.title} · Gerbang`,
    head: [
      `<meta name="description" content="${escaped(drawn.summary)}">`,
      `<link rel="alternate" type="text/markdown" href="${markdownAddressOf(page)}">`,
      ...(page.id === "changelog"
        ? ['<link rel="alternate" type="application/rss+xml" href="/docs/changelog.rss">']
        : []),
      ...(twin ? [`<link rel="alternate" hreflang="${twin.language}" href="${addressOf(twin)}">`] : []),
    ],
    frame,
    current: page,
    twin,
    main: article + contents,
  });
}

/** The page for an address that does not exist. */
export function missingHtml(frame: Frame): string {
  const text = words.en;
  const main = `<article><h1>${text.notHere}</h1><p>${text.notHereLong}</p><p><a href="/docs/">${text.first}</a></p></article>`;
  return html({
    language: "en",
    title: `${text.notHere} · Gerbang`,
    head: [],
    frame,
    current: undefined,
    twin: undefined,
    main,
  });
}

interface Parts {
  language: Language;
  title: string;
  head: readonly string[];
  frame: Frame;
  current: Page | undefined;
  twin: Page | undefined;
  main: string;
}

function html({ language, title, head, frame, current, twin, main }: Parts): string {
  const { assets, pages } = frame;
  const text = words[language];
  const other = twin
    ? `<a href="${addressOf(twin)}" lang="${twin.language}" hreflang="${twin.language}">${text.other}</a>`
    : "";
  const faces = `${other}<a href="/portal">${text.portal}</a><a href="/status">${text.status}</a>`;
  return `<!doctype html>
<html lang="${language}" data-search="${assets.search}" data-run="${assets.run}" data-index="${assets.index}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<script src="${assets.head}"></script>
<link rel="preload" href="${assets.font}" as="font" type="font/woff2" crossorigin>
<link rel="stylesheet" href="${assets.style}">
<link rel="icon" href="${assets.icon}" type="image/svg+xml">
${head.join("\n")}
<script type="module" src="${assets.page}"></script>
</head>
<body>
<a class="skip" href="#text">${text.skip}</a>
<header>
<button type="button" class="menu" popovertarget="menu">${text.menu}</button>
<a class="brand" href="${addressOf({ id: "index", language: twinned("index", language, pages) })}">Gerbang <span>${text.docs}</span></a>
<search><input type="search" id="search" placeholder="${text.searchHint}" aria-label="${text.search}" autocomplete="off" spellcheck="false"></search>
<nav class="faces" aria-label="Gerbang">${faces}</nav>
<button type="button" class="theme" aria-label="${text.theme}"><span aria-hidden="true">◐</span></button>
</header>
<div class="columns">
<nav id="menu" popover aria-label="${text.documentation}"><p class="faces">${faces}</p>${navigation(current, pages, language)}</nav>
<main id="text" tabindex="-1">${main}</main>
</div>
</body>
</html>
`;
}

/** The language of a link to another language: English when the page does not exist in this one. */
function twinned(id: string, language: Language, pages: readonly Page[]): Language {
  return pages.some((page) => page.id === id && page.language === language) ? language : "en";
}

function navigation(current: Page | undefined, pages: readonly Page[], language: Language): string {
  return navigationOf(current, pages, language)
    .map(
      ({ section, isOpen, entries }) =>
        `<details${isOpen ? " open" : ""}><summary>${escaped(sectionName(section.name, language))}</summary>${list(entries, language)}</details>`,
    )
    .join("");
}

function list(entries: readonly Entry[], language: Language): string {
  const items = entries.map(({ page, isCurrent, below }, at) => {
    const { kind } = page;
    const heading =
      kind !== undefined && kind !== entries[at - 1]?.page.kind ? `<li class="kind">${escaped(kind)}</li>` : "";
    const foreign = page.language === language ? "" : ` lang="${page.language}"`;
    const link = `<a href="${addressOf(page)}"${isCurrent ? ' aria-current="page"' : ""}${foreign}>${escaped(page.short ?? page.title)}</a>`;
    return `${heading}<li>${link}${below.length > 0 ? list(below, language) : ""}</li>`;
  });
  return `<ul>${items.join("")}</ul>`;
}

function contentsOf(headings: readonly Heading[], language: Language): string {
  const shown = headings.filter(({ level }) => level === 2 || level === 3);
  if (shown.length < 2) return "";
  const items = shown.map(
    ({ level, text, anchor }) => `<li class="level-${level}"><a href="#${escaped(anchor)}">${escaped(text)}</a></li>`,
  );
  return `<nav class="contents" aria-label="${words[language].onThisPage}"><p>${words[language].onThisPage}</p><ul>${items.join("")}</ul></nav>`;
}

function around(page: Page, pages: readonly Page[]): string {
  const { before, next } = neighboursOf(page, pages);
  if (!before && !next) return "";
  const text = words[page.language];
  const link = (to: Page | undefined, label: string, rel: string): string =>
    to ? `<a class="${rel}" rel="${rel}" href="${addressOf(to)}"><span>${label}</span> ${escaped(to.title)}</a>` : "";
  return `<nav class="around" aria-label="${text.around}">${link(before, text.before, "prev")}${link(next, text.next, "next")}</nav>`;
}
