// Builds the pages when their sources changed since the last build: `npm start` runs this first, `npm run build` runs only this.
// Each build is a folder under dist/, named by the hash of its sources, with a folder for each face; dist/current names the build to serve.
import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildOnce, compress, filesBelow, hashOfFiles } from "./builds.ts";

const root = import.meta.dirname;
/** The merchants' pages and the operators', each with the HTML file that all its addresses show. */
const faces = { portal: "index.html", console: "console.html" };

/** A hash of the sources, and of everything else that goes into the pages. */
export function sourceHash(): string {
  const single = [
    ...Object.values(faces),
    "vite.config.ts",
    "build.ts",
    "builds.ts",
    "package.json",
    "../package-lock.json",
  ];
  const files = [
    ...filesBelow(join(root, "src")),
    ...filesBelow(join(root, "public")),
    ...single.map((name) => join(root, name)),
  ];
  return hashOfFiles(
    root,
    files.filter((file) => !file.endsWith(".test.ts") && existsSync(file)),
  );
}

/** Builds the pages unless the last build has these sources. */
export function buildPages(say: (text: string) => void, dist: string): Promise<void> {
  const mustHave = Object.keys(faces).map((face) => `${face}/index.html`);
  return buildOnce({ dist, name: sourceHash(), what: "the portal's pages", mustHave, say, make });
}

async function make(draft: string): Promise<void> {
  // The pages are those for production, whatever the environment of this process says.
  process.env.NODE_ENV = "production";
  const { build } = await import("vite");
  for (const [face, index] of Object.entries(faces)) {
    const outDir = join(draft, face);
    await build({
      root,
      base: `/${face}/`,
      configFile: join(root, "vite.config.ts"),
      logLevel: "warn",
      build: { outDir, emptyOutDir: true, rolldownOptions: { input: join(root, index) } },
    });
    if (index !== "index.html") renameSync(join(outDir, index), join(outDir, "index.html"));
  }
  for (const file of filesBelow(draft)) if (/\.(js|css|html|svg|json)$/.test(file)) compress(file);
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      "before-start": { type: "boolean", default: false },
      into: { type: "string", default: join(root, "dist") },
    },
  });
  const say = (text: string): void => void process.stderr.write(`${text}\n`);
  try {
    await buildPages(say, values.into);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason =
      code === "ERR_MODULE_NOT_FOUND" ? "the tools that build them are not installed (npm ci installs them)" : message;
    say(`The portal's pages could not be built: ${reason}`);
    say("The API needs no pages. `npm run build` tries again, and the service shows them as soon as they are there.");
    // With --before-start a failed build does not stop the start of the service.
    process.exitCode = values["before-start"] ? 0 : 1;
  }
}
