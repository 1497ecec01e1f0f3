// Makes a page for each folder of examples: its README, with the line that takes its files before the other commands, and each file below.
import { readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { ROOT } from "./code/request.ts";
import { downloadOf } from "./downloads.ts";
import type { Page } from "./page.ts";
import { downloadFiles } from "./sources.ts";

/** The kinds of examples in the order of the navigation, by their folders. */
const kinds: Readonly<Record<string, string>> = { receivers: "Receivers of webhooks", shops: "Shops" };

/** The pages of all folders of examples, by kind and name. */
export function examplePages(root: string): Page[] {
  const folders = new Map<string, string[]>();
  for (const path of downloadFiles(root)) {
    const [, folder] = /^(examples\/\w+\/\w+)\//.exec(path) ?? [];
    if (folder !== undefined) folders.set(folder, [...(folders.get(folder) ?? []), path]);
  }
  return [...folders].map(([folder, files], at) => pageOf(root, folder, files, at));
}

function pageOf(root: string, folder: string, files: readonly string[], at: number): Page {
  const [, kind = "", name = ""] = folder.split("/");
  const source = `${folder}/README.md`;
  const readme = readFileSync(join(root, source), "utf8");
  const [, title] = /^# (.+)$/m.exec(readme) ?? [];
  if (title === undefined) throw new Error(`${source} has no title: a line that begins with "# "`);
  const atCommands = readme.search(/^```/m);
  const [intro, commands] = [readme.slice(0, atCommands), readme.slice(atCommands)];
  const own = files.filter((path) => path !== source);
  const names = own.map((path) => path.slice(folder.length + 1));
  const listed = own.map((path, index) => shownFile(names[index] ?? "", path, readFileSync(join(root, path), "utf8")));
  return {
    id: folder,
    language: "en",
    section: "Take payments",
    order: 2000 + at,
    group: "examples",
    kind: kinds[kind] ?? kind,
    title,
    short: name,
    markdown: `${intro.trimEnd()}

Take the files into an empty folder:

\`\`\`sh
curl -fsS --create-dirs "${ROOT}/docs/files/${folder}/{${names.join(",")}}" -o "#1"
\`\`\`

Then:

${commands.trimEnd()}

## The files

${listed.join("\n")}`,
    source,
  };
}

/** A file under its name, with the address to take it from. Empty files have no text to show. */
function shownFile(name: string, path: string, text: string): string {
  const heading = `### ${name}\n\n[Take this file](${downloadOf(path)}).\n\n`;
  if (text.trim() === "") return `${heading}It is empty.\n`;
  return `${heading}\`\`\`${extname(name).slice(1)}\n${text.trimEnd()}\n\`\`\`\n`;
}
