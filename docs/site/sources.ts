// Finds the pages among the Markdown files of the source tree, with the id, place and language of each.
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { downloadFolders, downloadOf } from "./downloads.ts";
import { type Language, type Page, languages } from "./page.ts";
import { sectionOfFolder, sections } from "./sections.ts";

/** Files outside docs/ that are also pages. */
const elsewhere: Readonly<Record<string, { id: string; section: string; order: number; title?: string }>> = {
  "CHANGELOG.md": { id: "changelog", section: "Reference", order: 90 },
  "SECURITY.md": { id: "security", section: "Run the service", order: 80 },
  "clients/python/README.md": { id: "python", section: "Take payments", order: 18 },
  "clients/php/README.md": { id: "php", section: "Take payments", order: 19 },
  "clients/README.md": { id: "clients", section: "Take payments", order: 18 },
  "sdk/vectors/README.md": { id: "vectors", section: "Take payments", order: 19 },
  "examples/README.md": { id: "examples", section: "Take payments", order: 17 },
  "deploy/README.md": { id: "deploy", section: "Run the service", order: 15 },
};

/** The files that developers take, by their paths from the root of the source tree. */
export function downloadFiles(root: string): string[] {
  return downloadFolders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map(
        (path) => `${folder}/${path.replaceAll("\\", "/")}`,
      ),
    )
    .filter((path) => downloadOf(path) !== undefined && statSync(join(root, path)).isFile())
    .sort();
}

/** Excludes the files of docs/ that are for its authors. */
const isPage = (path: string): boolean => path.endsWith(".md") && !path.startsWith("site/") && path !== "README.md";

/** The Markdown files of all pages, by their paths from the root of the source tree. */
export function pageFiles(root: string): string[] {
  const inDocs = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => !path.includes("node_modules/") && isPage(path))
    .sort();
  return [...inDocs.map((path) => `docs/${path}`), ...Object.keys(elsewhere)];
}

export function readPages(root: string): Page[] {
  return pageFiles(root).map((file) => pageOf(file, readFileSync(join(root, file), "utf8")));
}

/** A page from a file's text. Throws when the file has no title or names an unknown section. */
export function pageOf(source: string, text: string): Page {
  const { id, language, folder } = placeOf(source);
  const [, section, order] = /^<!-- docs: (.+?)(?: (\d+))? -->\n/.exec(text) ?? [];
  const place = elsewhere[source];
  const markdown = withoutComments(text);
  const [, heading] = /^# (.+)$/m.exec(markdown) ?? [];
  const title = place?.title ?? heading;
  if (title === undefined) throw new Error(`${source} has no title: a line that begins with "# "`);
  const chosen = section ?? place?.section ?? sectionOfFolder[folder] ?? "Reference";
  if (!sections.some(({ name }) => name === chosen))
    throw new Error(`${source} names the section ${chosen}: there is none`);
  return {
    id,
    language,
    section: chosen,
    order: Number(order ?? place?.order ?? 50),
    title: plain(title),
    markdown,
    source,
  };
}

/** Id, language and folder of a file: docs/guides/x.id.md is the page x in Indonesian; a README has the id of its folder. */
function placeOf(source: string): { id: string; language: Language; folder: string } {
  const known = elsewhere[source];
  if (known) return { id: known.id, language: "en", folder: "" };
  const path = source.replace(/^docs\//, "").replace(/\.md$/, "");
  const [, bare = path, suffix] = /^(.*)\.([a-z]{2})$/.exec(path) ?? [];
  const language = languages.find((one) => one === suffix) ?? "en";
  const named = language === "en" ? path : bare;
  const folder = named.includes("/") ? (named.split("/")[0] ?? "") : "";
  return { id: named.replace(/^guides\//, "").replace(/\/README$/, ""), language, folder };
}

/** Removes HTML comments, which are for authors, but not those in blocks of code. */
function withoutComments(text: string): string {
  return text
    .split(/(^```[\s\S]*?^```)/m)
    .map((part, at) => (at % 2 === 1 ? part : part.replaceAll(/<!--[\s\S]*?-->\n?/g, "")))
    .join("");
}

const plain = (title: string): string => title.replaceAll(/[`*]/g, "").replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1");
