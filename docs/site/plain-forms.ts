// The documentation as plain text: each page as Markdown, /llms.txt, and all English pages in one file. Pure.
import { ROOTS } from "./code/request.ts";
import { markdownHrefOf } from "./links.ts";
import type { Drawn, Surroundings } from "./markdown.ts";
import { inOrder } from "./navigation.ts";
import { type Page, markdownAddressOf } from "./page.ts";
import { sections } from "./sections.ts";

/** The service replaces this address with its own. */
export const ROOT_IN_BUILDS = "https://gerbang.invalid";

/** A page's Markdown, with links that lead to other pages' Markdown, and pictures by their addresses. Code is left unchanged. */
export function asMarkdown(page: Page, around: Surroundings): string {
  const text = page.markdown
    .split(/(^```[\s\S]*?^```)/m)
    .map((part, at) => (at % 2 === 1 ? part : withMarkdownLinks(part, page, around)))
    .join("");
  return `${isProgram.test(page.source) ? text.replaceAll(ROOTS, ROOT_IN_BUILDS).trim() : text.trim()}\n`;
}

/** Pages of programs and clients: who reads them as text has commands with the service's own address. */
const isProgram = /^(?:examples|clients|sdk)\//;

/** Code in a line, or a link or picture. A label may hold code, a picture, or brackets of its own. */
const linked = /`[^`\n]+`|(!?)\[((?:`[^`\n]+`|[^[\]`]|\[[^[\]]*\])*)\]\(([^)\s]+)\)/g;

function withMarkdownLinks(text: string, page: Page, around: Surroundings): string {
  return text.replaceAll(linked, (whole, mark?: string, label = "", href = "") => {
    if (mark === undefined) return whole;
    const target = around.links.target(page, href);
    if (mark !== "") return `![${label}](${target.kind === "file" ? around.picture(target.path).address : href})`;
    const inner = withMarkdownLinks(label, page, around);
    const to = markdownHrefOf(target);
    // A file of the source tree that is not published: the reader of this page cannot follow it.
    return to === undefined ? inner : `[${inner}](${to})`;
  });
}

export interface DrawnPage {
  page: Page;
  drawn: Drawn;
}

/** /llms.txt, the list of pages for programs: every page with its summary and the address of its Markdown. */
export function llmsText(pages: readonly DrawnPage[]): string {
  const drawnOf = new Map(pages.map(({ page, drawn }) => [page, drawn]));
  const ordered = inOrder(pages.map(({ page }) => page));
  const parts = sections.map(({ name }) => {
    const rows = ordered
      .filter((page) => page.section === name)
      .map((page) => {
        const language = page.language === "en" ? "" : " (in Indonesian)";
        return `- [${page.title}${language}](${ROOT_IN_BUILDS}${markdownAddressOf(page)}): ${drawnOf.get(page)?.summary ?? ""}\n`;
      });
    return rows.length === 0 ? "" : `\n## ${name}\n\n${rows.join("")}`;
  });
  return `# Gerbang

> A payment gateway: a signed HTTP API for merchants, several acquirers, a double-entry ledger, signed webhooks, and a sandbox. These pages say how to be paid by it and how to run it.

Amounts are integers in the smallest unit of their currency. Every page is Markdown at the addresses below; all of them are in [one file](${ROOT_IN_BUILDS}/llms-full.txt).
The contract is [OpenAPI 3.1](${ROOT_IN_BUILDS}/openapi.json).
${parts.join("")}`;
}

/** /llms-full.txt: every English page, one after the other. */
export function llmsFullText(pages: readonly Page[], around: Surroundings): string {
  return inOrder(pages.filter(({ language }) => language === "en"))
    .map((page) => `<!-- ${ROOT_IN_BUILDS}${markdownAddressOf(page)} -->\n\n${asMarkdown(page, around)}`)
    .join("\n\n");
}
