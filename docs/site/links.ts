// What a link in a document means: another page, a picture, a file of the tree that is no page, somewhere else, or nothing. Pure.
import { posix } from "node:path";
import { type Language, type Page, addressOf, markdownAddressOf } from "./page.ts";

export type Target =
  | { kind: "page"; page: Page; anchor: string }
  | { kind: "elsewhere"; href: string }
  /** An address of the service that is none of ours: the portal, the contract. */
  | { kind: "service"; href: string }
  | { kind: "file"; path: string }
  | { kind: "broken"; why: string };

const service = /^\/(portal|status|openapi\.json|llms(-full)?\.txt|docs\/changelog\.rss)([/#?]|$)/;

export class Links {
  private readonly bySource: Map<string, Page>;
  private readonly byAddress: Map<string, Page>;
  private readonly isInTree: (path: string) => boolean;

  /** `isInTree` tells whether a path from the root of the tree is a file or a folder. */
  constructor(pages: readonly Page[], isInTree: (path: string) => boolean) {
    // Of several pages made from one file the first is the one that shows it.
    this.bySource = new Map(pages.toReversed().map((page) => [page.source, page]));
    this.byAddress = new Map(pages.map((page) => [addressOf(page), page]));
    this.isInTree = isInTree;
  }

  /** The page of an address; of a language where it is in it, else in English. */
  page(id: string, language: Language = "en"): Page | undefined {
    return this.byAddress.get(addressOf({ id, language })) ?? this.byAddress.get(addressOf({ id, language: "en" }));
  }

  target(from: Page, href: string): Target {
    if (/^(https?|mailto):/.test(href)) return { kind: "elsewhere", href };
    if (/^[a-z][a-z0-9+.-]*:/i.test(href) || href.startsWith("//"))
      return { kind: "broken", why: "no such kind of address" };
    const [path = "", anchor = ""] = href.split("#");
    if (path === "") return { kind: "page", page: from, anchor };
    if (path.startsWith("/")) {
      const page = this.byAddress.get(path);
      if (page) return { kind: "page", page, anchor };
      return service.test(href) ? { kind: "service", href } : { kind: "broken", why: "no page has this address" };
    }
    const file = posix.join(posix.dirname(from.source), path).replace(/\/$/, "");
    const page = this.bySource.get(file) ?? this.bySource.get(`${file}/README.md`);
    if (page) return { kind: "page", page, anchor };
    return this.isInTree(file) ? { kind: "file", path: file } : { kind: "broken", why: `there is no ${file}` };
  }
}

/** How a target is written in HTML; undefined where it is nothing that one can go to. */
export function hrefOf(target: Target): string | undefined {
  if (target.kind === "page") return addressOf(target.page) + (target.anchor === "" ? "" : `#${target.anchor}`);
  return target.kind === "elsewhere" || target.kind === "service" ? target.href : undefined;
}

/** The same in a page's Markdown: it leads to Markdown. */
export function markdownHrefOf(target: Target): string | undefined {
  if (target.kind !== "page") return hrefOf(target);
  return markdownAddressOf(target.page) + (target.anchor === "" ? "" : `#${target.anchor}`);
}
