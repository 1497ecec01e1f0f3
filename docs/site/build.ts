// Builds the documentation when its sources changed since the last build: `npm start` runs this first, `npm run build` runs only this.
// Each build is a folder under dist/, named by the hash of its sources; dist/current names the build to serve.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { buildOnce, compress, filesBelow, hashOfFiles } from "../../portal/builds.ts";
import { packages } from "./downloads.ts";
import { canPack, packPackages, packageSources } from "./packages.ts";
import { downloadFiles, pageFiles } from "./sources.ts";

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
  const downloads = downloadFiles(root).map((path) => join(root, path));
  return hashOfFiles(root, [...new Set([...files, ...program, ...pictures, ...downloads, ...packageSources(root)])]);
}

/** Builds the documentation unless the last build has these sources. Broken links are reported and do not stop the build. */
export function buildDocs(say: (text: string) => void, dist: string): Promise<void> {
  const packed = canPack(root) ? Object.keys(packages) : [];
  return buildOnce({
    dist,
    name: sourceHash(),
    what: "the pages of the documentation",
    mustHave: ["docs/index.html", ...packed.map((name) => `docs/files/${name}`)],
    say,
    make: async (folder) => {
      // Loaded only when something must be built, so that a start does not wait for it.
      const { drawSite } = await import("./site.ts");
      const { files, problems } = drawSite();
      for (const problem of problems) say(`The documentation: ${problem}.`);
      const made = packed.length === 0 ? "npm ci installs what builds them" : await packPackages(root).catch(reasonOf);
      if (typeof made === "string")
        say(`The packages of the client library and the command line are left out: ${made}.`);
      const packs = typeof made === "string" ? [] : [...made].map(([name, bytes]) => [`files/${name}`, bytes] as const);
      for (const [path, content] of [...files, ...packs]) {
        const file = join(folder, "docs", path);
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, content);
        if (!/\.(woff2|png|tgz)$/.test(file)) compress(file, COMPRESSION);
      }
    },
  });
}

/** What a compiler or npm said, in one line. */
function reasonOf(error: unknown): string {
  const { message, stdout = "", stderr = "" } = error as Error & { stdout?: string; stderr?: string };
  return [message, stdout, stderr].join(" ").trim().replaceAll(/\s+/g, " ");
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
