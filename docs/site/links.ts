// Resolves links in documents: to a page, a picture, a file in the source tree, an external address, or nothing. Pure.
import { posix } from "node:path";
import { downloadOf, packages } from "./downloads.ts";
import { type Language, type Page, addressOf, markdownAddressOf } from "./page.ts";

type Target =
  | { kind: "page"; page: Page; anchor: string }
  | { kind: "elsewhere"; href: string }
  /** An address of the service outside the pages, such as the portal, the contract or a file to take. */
  | { kind: "service"; href: string }
  | { kind: "file"; path: string }
  | { kind: "broken"; why: string };

const service = /^\/(portal|status|openapi\.json|llms(-full)?\.txt|docs\/changelog\.rss)([/#?]|$)/;

/** True for the address of a package, or of a published file; whether the file is there is for whoever lists them. */
function isDownload(address: string): boolean {
  const [, name] = /^\/docs\/files\/(.+)$/.exec(address) ?? [];
  return name !== undefined && (name in packages || downloadOf(name) !== undefined);
}

export class Links {
  private readonly bySource: Map<string, Page>;
  private readonly byAddress: Map<string, Page>;
  private readonly isInTree: (path: string) => boolean;

  /** `isInTree` says whether a path from the root of the source tree is a file or a folder. */
  constructor(pages: readonly Page[], isInTree: (path: string) => boolean) {
    // When several pages come from one file, links to the file lead to the first of them.
    this.bySource = new Map(pages.toReversed().map((page) => [page.source, page]));
    this.byAddress = new Map(pages.map((page) => [addressOf(page), page]));
    this.isInTree = isInTree;
  }

  /** The page with an id, in the given language if it exists there, else in English. */
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
      return isDownload(path) || service.test(href)
        ? { kind: "service", href }
        : { kind: "broken", why: "no page has this address" };
    }
    const file = posix.join(posix.dirname(from.source), path).replace(/\/$/, "");
    const page = this.bySource.get(file) ?? this.bySource.get(`${file}/README.md`);
    if (page) return { kind: "page", page, anchor };
    if (!this.isInTree(file)) return { kind: "broken", why: `there is no ${file}` };
    const download = downloadOf(file);
    return download === undefined ? { kind: "file", path: file } : { kind: "service", href: download };
  }
}

/** The target as an HTML address; undefined for files and broken links. */
export function hrefOf(target: Target): string | undefined {
  if (target.kind === "page") return addressOf(target.page) + (target.anchor === "" ? "" : `#${target.anchor}`);
  return target.kind === "elsewhere" || target.kind === "service" ? target.href : undefined;
}

/** The target as an address in Markdown pages, which links to other pages' Markdown. */
export function markdownHrefOf(target: Target): string | undefined {
  if (target.kind !== "page") return hrefOf(target);
  return markdownAddressOf(target.page) + (target.anchor === "" ? "" : `#${target.anchor}`);
}
