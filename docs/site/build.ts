// Builds the documentation when its sources changed since the last build: `npm start` runs this first, `npm run build` runs only this.
// Each build is a folder under dist/, named by the hash of its sources; dist/current names the build to serve.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { parseArgs } from "node:util";
import { buildOnce, compress, filesBelow, hashOfFiles } from "../../portal/builds.ts";
import { downloadFolders, downloadOf } from "./downloads.ts";
import { pageFiles } from "./sources.ts";

const here = import.meta.dirname;
const root = join(here, "../..");

/** Brotli quality: the whole documentation compresses in a second. It changes more often than the portal's pages. */
const COMPRESSION = 8;

/** The sources of the pages besides their Markdown and this program. */
const ingredients = [
  "openapi/merchant.json",
  "openapi/portal.json",
  "portal/builds.ts",
  "portal/public/favicon.svg",
  "portal/src/colours.css",
  ...["call", "curl", "go", "php", "python", "typescript"].map((name) => `portal/src/code/${name}.ts`),
  "package-lock.json",
];

/** A hash of all sources: Markdown, ingredients, this program and the pictures. */
export function sourceHash(): string {
  const program = filesBelow(here).filter(
    (file) => !/\/(dist|node_modules)\//.test(file) && !file.endsWith(".test.ts"),
  );
  const pictures = filesBelow(join(root, "docs")).filter((file) => /\.(svg|png)$/.test(file) && !file.startsWith(here));
  const files = [...pageFiles(root), ...ingredients].map((path) => join(root, path)).filter((file) => existsSync(file));
  const downloads = downloadFolders
    .map((folder) => join(root, folder))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
    .filter((file) => downloadOf(relative(root, file).replaceAll("\\", "/")) !== undefined);
  return hashOfFiles(root, [...new Set([...files, ...program, ...pictures, ...downloads])]);
}

/** Builds the documentation unless the last build has these sources. Broken links are reported and do not stop the build. */
export function buildDocs(say: (text: string) => void, dist: string): Promise<void> {
  return buildOnce({
    dist,
    name: sourceHash(),
    what: "the pages of the documentation",
    mustHave: ["docs/index.html"],
    say,
    make: async (folder) => {
      // Loaded only when something must be built, so that a start does not wait for it.
      const { drawSite } = await import("./site.ts");
      const { files, problems } = drawSite();
      for (const problem of problems) say(`The documentation: ${problem}.`);
      for (const [path, content] of files) {
        const file = join(folder, "docs", path);
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, content);
        if (!/\.(woff2|png)$/.test(file)) compress(file, COMPRESSION);
      }
    },
  });
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      "before-start": { type: "boolean", default: false },
      into: { type: "string", default: join(here, "dist") },
    },
  });
  const say = (text: string): void => void process.stderr.write(`${text}\n`);
  try {
    await buildDocs(say, values.into);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason =
      code === "ERR_MODULE_NOT_FOUND" ? "the tools that build it are not installed (npm ci installs them)" : message;
    say(`The documentation could not be built: ${reason}`);
    say("The API needs none. `npm run build` tries again, and the service shows it as soon as it is there.");
    // With --before-start a failed build does not stop the start of the service.
    process.exitCode = values["before-start"] ? 0 : 1;
  }
}
