// Draws the whole documentation: every file of a build with its content, and the problems that were found.
import { hash } from "node:crypto";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { createRequire, stripTypeScriptTypes } from "node:module";
import { basename, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { downloadOf } from "./downloads.ts";
import { examplePages } from "./example-pages.ts";
import { changelogFeed } from "./feed.ts";
import { type Assets, missingHtml, pageHtml } from "./layout.ts";
import { Links } from "./links.ts";
import { draw } from "./markdown.ts";
import { inOrder } from "./navigation.ts";
import { type Page, addressOf, fileOf } from "./page.ts";
import { sizeOf } from "./pictures.ts";
import { type DrawnPage, asMarkdown, llmsFullText, llmsText } from "./plain-forms.ts";
import { errorPages, withLinkedCodes } from "./reference/error-pages.ts";
import { eventPages } from "./reference/event-pages.ts";
import { operationPages } from "./reference/operation-pages.ts";
import { searchIndex } from "./search-index.ts";
import { downloadFiles, readPages } from "./sources.ts";

export const treeRoot = join(import.meta.dirname, "../..");
const browserFolder = join(import.meta.dirname, "browser");

export interface Site {
  pages: readonly DrawnPage[];
  /** By their paths below /docs. The names of files in `assets/` contain a hash of their content. */
  files: ReadonlyMap<string, string | Buffer>;
  problems: readonly string[];
}

/** All pages, written and generated from the contract. Throws when two pages have the same address. */
export function allPages(root = treeRoot): Page[] {
  const written = readPages(root);
  const errors = written.find(({ id, language }) => id === "errors" && language === "en");
  if (!errors) throw new Error("docs/errors/README.md is missing");
  const rest = written.map((page) =>
    page === errors ? withLinkedCodes(errors) : page.id === "changelog" ? withFeed(page) : page,
  );
  const pages = inOrder([...rest, ...examplePages(root), ...operationPages(), ...eventPages(), ...errorPages(errors)]);
  const seen = new Map<string, string>();
  for (const page of pages) {
    const address = addressOf(page);
    const other = seen.get(address);
    if (other !== undefined) throw new Error(`${page.source} and ${other} would both be at ${address}`);
    seen.set(address, page.source);
  }
  return pages;
}

function withFeed(changelog: Page): Page {
  const sentence =
    "What changed, release by release. What your programs may notice is also [a feed](/docs/changelog.rss).";
  return { ...changelog, markdown: changelog.markdown.replace(/^# .+$/m, (title) => `${title}\n\n${sentence}`) };
}

export function drawSite(pages = allPages()): Site {
  const files = new Map<string, string | Buffer>();
  const asset = (name: string, content: string | Buffer): string => {
    const ending = extname(name);
    const path = `assets/${basename(name, ending)}.${hash("sha256", content).slice(0, 12)}${ending}`;
    files.set(path, content);
    return `/docs/${path}`;
  };
  const links = new Links(pages, (path) => !path.startsWith("..") && existsSync(join(treeRoot, path)));
  const picture = (path: string) => {
    const bytes = readFileSync(join(treeRoot, path));
    return { address: asset(basename(path), bytes), size: sizeOf(bytes) };
  };
  const around = { links, picture };
  const drawn = pages.map((page) => ({ page, drawn: draw(page, around) }));
  const index = searchIndex(drawn.map(({ page, drawn: { passages } }) => ({ page, passages })));
  const frame = { assets: { ...ownAssets(asset), index: asset("search.json", index) }, pages };
  for (const one of drawn) {
    files.set(`${fileOf(one.page)}.html`, pageHtml(one.page, one.drawn, frame));
    files.set(`${fileOf(one.page)}.md`, asMarkdown(one.page, around));
  }
  for (const path of downloadFiles(treeRoot))
    files.set(String(downloadOf(path)).slice("/docs/".length), readFileSync(join(treeRoot, path)));
  files.set("404.html", missingHtml(frame));
  files.set("llms.txt", llmsText(drawn));
  files.set("llms-full.txt", llmsFullText(pages, around));
  files.set("changelog.rss", changelogFeed(readFileSync(join(treeRoot, "CHANGELOG.md"), "utf8")));
  return { pages: drawn, files, problems: [...drawn.flatMap((one) => one.drawn.problems), ...brokenAnchors(drawn)] };
}

/** The pages' own styles, scripts and fonts. */
function ownAssets(asset: (name: string, content: string | Buffer) => string): Omit<Assets, "index"> {
  const require = createRequire(import.meta.url);
  const fontFile = (range: string): Buffer =>
    readFileSync(require.resolve(`@fontsource-variable/ibm-plex-sans/files/ibm-plex-sans-${range}-wght-normal.woff2`));
  const font = asset("plex.woff2", fontFile("latin"));
  const fontMore = asset("plex-more.woff2", fontFile("latin-ext"));
  const colours = readFileSync(join(treeRoot, "portal/src/colours.css"), "utf8");
  const own = readFileSync(join(browserFolder, "docs.css"), "utf8");
  const style = (colours + own)
    .replaceAll("plex.woff2", basename(font))
    .replaceAll("plex-more.woff2", basename(fontMore));
  const script = (name: string, replaced: Readonly<Record<string, string>> = {}): string => {
    const source = readFileSync(join(browserFolder, `${name}.ts`), "utf8");
    const code = stripTypeScriptTypes(source, { mode: "strip" });
    return asset(
      `${name}.js`,
      Object.entries(replaced).reduce((text, [from, to]) => text.replaceAll(from, to), code),
    );
  };
  const library = asset(
    "minisearch.js",
    withoutMap(readFileSync(fileURLToPath(import.meta.resolve("minisearch")), "utf8")),
  );
  return {
    style: asset("docs.css", style),
    font,
    icon: asset("favicon.svg", readFileSync(join(treeRoot, "portal/public/favicon.svg"))),
    head: script("head"),
    page: script("page"),
    run: script("run"),
    search: script("search", {
      '"minisearch"': JSON.stringify(`./${basename(library)}`),
      '"./ranking.ts"': JSON.stringify(`./${basename(script("ranking"))}`),
    }),
  };
}

const withoutMap = (code: string): string => code.replace(/\n\/\/# sourceMappingURL=.*\s*$/, "\n");

/** Links to headings that do not exist. */
function brokenAnchors(pages: readonly DrawnPage[]): string[] {
  const anchors = new Map(
    pages.map(({ page, drawn }) => [addressOf(page), new Set(drawn.headings.map(({ anchor }) => anchor))]),
  );
  return pages.flatMap(({ page, drawn }) =>
    drawn.links.flatMap((href) => {
      const [path = "", anchor] = href.split("#");
      const known = anchors.get(path);
      if (anchor === undefined || anchor === "" || !known || known.has(decodeURIComponent(anchor))) return [];
      return [`${page.source} links to ${href}: there is no such heading`];
    }),
  );
}

/** The paths of the scripts and styles in browser/. */
export const browserFiles = (): string[] => readdirSync(browserFolder).map((name) => join(browserFolder, name));
