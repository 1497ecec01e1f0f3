// Draws a page's Markdown as HTML, with anchors on headings, resolved links, scrolling tables, coloured code and examples in tabs.
// HTML in a document is escaped, so that it reaches the browser as text only.
import MarkdownIt, { type Token } from "markdown-it";
import { type Example, callsIn, exampleOf } from "./code/request.ts";
import { programsOf } from "./code/programs.ts";
import { type Panel, codeBlock, exampleBlock } from "./blocks.ts";
import { languageOf } from "./highlight.ts";
import { escaped } from "./html.ts";
import { type Links, hrefOf } from "./links.ts";
import type { Page } from "./page.ts";
import type { Size } from "./pictures.ts";
import { Slugs } from "./slugs.ts";

export interface Heading {
  level: number;
  text: string;
  anchor: string;
}

/** The text under one heading, or before the first one. */
export interface Passage {
  heading: Heading | undefined;
  text: string;
  /** Its blocks of code. */
  code: string;
}

export interface Drawn {
  html: string;
  headings: readonly Heading[];
  passages: readonly Passage[];
  /** The addresses that the page links to. */
  links: readonly string[];
  /** Broken links and examples, one sentence each. */
  problems: readonly string[];
  /** The first paragraph, as text. */
  summary: string;
}

export interface Surroundings {
  links: Links;
  /** Adds a picture from the source tree to the build; gives its address there and its size. */
  picture: (path: string) => { address: string; size: Size | undefined };
}

/** Languages whose adjacent blocks of code become tabs. */
const tabbed: Readonly<Record<string, [language: string, label: string]>> = {
  bash: ["curl", "curl"],
  typescript: ["typescript", "TypeScript"],
  python: ["python", "Python"],
  php: ["php", "PHP"],
  go: ["go", "Go"],
};

const parser = new MarkdownIt({ html: false, linkify: false, typographer: false });

/** Draws one page. Never throws for mistakes in it: `problems` lists them. */
export function draw(page: Page, surroundings: Surroundings): Drawn {
  return new Drawing(page, surroundings).drawn();
}

class Drawing {
  private readonly page: Page;
  private readonly around: Surroundings;
  private readonly slugs = new Slugs();
  private readonly headings: Heading[] = [];
  private readonly passages: Passage[] = [{ heading: undefined, text: "", code: "" }];
  private readonly hrefs: string[] = [];
  private readonly problems: string[] = [];
  private examples = 0;

  constructor(page: Page, around: Surroundings) {
    this.page = page;
    this.around = around;
  }

  drawn(): Drawn {
    const tokens = parser.parse(this.page.markdown, {});
    const html = this.blocks(tokens);
    const { headings, passages, hrefs: links, problems } = this;
    return { html, headings, passages, links, problems, summary: summaryOf(tokens) };
  }

  private blocks(tokens: Token[]): string {
    const parts: string[] = [];
    for (let at = 0; at < tokens.length; at++) {
      const token = tokens[at];
      if (token === undefined) continue;
      if (token.type === "fence" || token.type === "code_block") {
        const group = this.groupFrom(tokens, at);
        parts.push(group.length > 1 ? this.tabs(group) : this.fence(token));
        at += Math.max(group.length, 1) - 1;
      } else if (token.type === "heading_open") {
        parts.push(this.heading(token, tokens[at + 1]));
        at += 2;
      } else if (token.type === "inline") {
        parts.push(this.inline(token));
      } else if (token.type === "table_open") {
        parts.push('<div class="table"><table>');
      } else if (token.type === "table_close") {
        parts.push("</table></div>");
      } else {
        // Markdown-it writes alignment as an inline style, which the Content-Security-Policy forbids, so it becomes a class.
        const [, aligned] = /^text-align:(\w+)$/.exec(String(token.attrGet("style") ?? "")) ?? [];
        // An empty header cell is drawn as a plain cell.
        const isEmptyHead = token.type === "th_open" && tokens[at + 1]?.content === "";
        for (const part of isEmptyHead ? [token, tokens[at + 2]] : []) if (part) part.tag = "td";
        if (aligned !== undefined) token.attrs = [["class", `at-${aligned}`]];
        parts.push(parser.renderer.renderToken(tokens, at, parser.options));
      }
    }
    return parts.join("");
  }

  private heading(open: Token, inline: Token | undefined): string {
    const text = textOf(inline);
    const level = Number(open.tag.slice(1));
    const heading = { level, text, anchor: this.slugs.of(text) };
    this.headings.push(heading);
    this.passages.push({ heading, text: "", code: "" });
    const inner = inline ? this.inlineHtml(inline) : "";
    if (level === 1) return `<h1>${inner}</h1>`;
    return `<${open.tag} id="${escaped(heading.anchor)}">${inner} <a class="anchor" href="#${escaped(heading.anchor)}" aria-label="Link to: ${escaped(text)}">#</a></${open.tag}>`;
  }

  private inline(token: Token): string {
    this.note("text", textOf(token));
    return this.inlineHtml(token);
  }

  private note(as: "text" | "code", text: string): void {
    const passage = this.passages.at(-1);
    if (passage) passage[as] += `${text}\n`;
  }

  private inlineHtml(token: Token): string {
    const children = token.children ?? [];
    const opened: string[] = [];
    return children
      .map((child, at) => {
        if (child.type === "link_open") {
          const [open, close] = this.link(String(child.attrGet("href") ?? ""));
          opened.push(close);
          return open;
        }
        if (child.type === "link_close") return opened.pop() ?? "";
        if (child.type === "image") return this.image(child);
        const rule = parser.renderer.rules[child.type];
        return rule
          ? rule(children, at, parser.options, {}, parser.renderer)
          : parser.renderer.renderToken(children, at, parser.options);
      })
      .join("");
  }

  private link(href: string): [open: string, close: string] {
    const target = this.around.links.target(this.page, decoded(href));
    if (target.kind === "broken") this.problems.push(`${this.page.source} links to ${href}: ${target.why}`);
    const to = hrefOf(target);
    if (to === undefined) {
      const title = target.kind === "file" ? ` title="${escaped(target.path)}, in the source tree"` : "";
      return [`<span class="in-tree"${title}>`, "</span>"];
    }
    this.hrefs.push(to);
    return [`<a href="${escaped(to)}">`, "</a>"];
  }

  private image(token: Token): string {
    const source = String(token.attrGet("src") ?? "");
    const target = this.around.links.target(this.page, source);
    if (target.kind !== "file") {
      this.problems.push(`${this.page.source} shows ${source}: there is no such picture in the tree`);
      return "";
    }
    const { address, size } = this.around.picture(target.path);
    const place = size ? ` width="${size.width}" height="${size.height}"` : "";
    return `<img src="${address}" alt="${escaped(token.content)}"${place} loading="lazy">`;
  }

  /** The adjacent blocks of code from here on that form one group of tabs, each in a different tabbed language. */
  private groupFrom(tokens: Token[], at: number): Token[] {
    const group: Token[] = [];
    const seen = new Set<string>();
    for (let next = at; tokens[next]?.type === "fence"; next++) {
      const token = tokens[next];
      const [language] = tabbed[languageOf(infoOf(token))] ?? [];
      if (token === undefined || language === undefined || seen.has(language)) break;
      seen.add(language);
      group.push(token);
    }
    return group;
  }

  private tabs(group: Token[]): string {
    const panels = group.map((token): Panel => {
      const info = infoOf(token);
      const [language = "", label = ""] = tabbed[languageOf(info)] ?? [];
      return { language, label, code: token.content, info };
    });
    this.note("code", panels.map(({ code }) => code).join("\n"));
    return exampleBlock(this.page.language, this.nextId(), panels);
  }

  private fence(token: Token): string {
    const info = infoOf(token);
    this.note("code", token.content);
    const example = info === "http" ? this.example(token.content) : undefined;
    const calls = languageOf(info) === "bash" ? this.calls(token.content) : [];
    if (!example) return codeBlock(this.page.language, token.content, info, calls);
    const panels = programsOf(example).map((one) => ({ ...one, info: one.language }));
    return exampleBlock(this.page.language, this.nextId(), panels, example);
  }

  private example(text: string): Example | undefined {
    return this.tried(() => exampleOf(text));
  }

  private calls(shell: string): Example[] {
    return this.tried(() => callsIn(shell)) ?? [];
  }

  private tried<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      this.problems.push(`${this.page.source} has an example that is wrong: ${(error as Error).message}`);
      return undefined;
    }
  }

  private nextId(): string {
    return `example-${++this.examples}`;
  }
}

const infoOf = (token: Token | undefined): string => token?.info.trim().split(/\s/)[0] ?? "";

/** A link as the author wrote it: the parser percent-encodes non-ASCII characters. */
function decoded(href: string): string {
  try {
    return decodeURI(href);
  } catch {
    return href; // a lone % sign leads to no page, and is reported as broken
  }
}

/** The readable text of an inline token. */
function textOf(token: Token | undefined): string {
  return (token?.children ?? [])
    .map((child) => (child.type === "softbreak" || child.type === "hardbreak" ? " " : child.content))
    .join("");
}

function summaryOf(tokens: readonly Token[]): string {
  const at = tokens.findIndex((token, index) => token.type === "paragraph_open" && token.level === 0 && index > 0);
  const text = at < 0 ? "" : textOf(tokens[at + 1]);
  const [sentences = text] = /^.{40,200}?[.!?:](?= |$)/.exec(text) ?? [];
  return sentences.length > 200 ? `${sentences.slice(0, 197)}…` : sentences.replace(/:$/, ".");
}
