// Builds the pages when their sources changed since the last build: `npm start` runs it first, `npm run build` by itself.
// A build is a folder of its own under dist/, named by the hash of its sources, with a folder for each face; dist/current names the one to serve.
import { hash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { constants, brotliCompressSync, gzipSync } from "node:zlib";

const root = import.meta.dirname;
/** The merchants' pages and the operators': each with the file of its own that every address shows. */
const faces = { portal: "index.html", console: "console.html" };
/** Who is open over an upgrade still asks for files of the build before. */
const BUILDS_KEPT = 3;

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** Names a state of the sources, and of the parts from others that go into the pages. */
export function sourceHash(): string {
  const files = [
    ...filesBelow(join(root, "src")),
    ...filesBelow(join(root, "public")),
    ...[...Object.values(faces), "vite.config.ts", "build.ts", "package.json", "../package-lock.json"].map((name) =>
      join(root, name),
    ),
  ].filter((file) => !file.endsWith(".test.ts") && existsSync(file));
  const parts = files.map((file) => `${relative(root, file)}\0${hash("sha256", readFileSync(file))}`);
  return hash("sha256", parts.join("\n")).slice(0, 20);
}

function isFresh(dist: string, name: string): boolean {
  const current = join(dist, "current");
  return isMade(dist, name) && existsSync(current) && readFileSync(current, "utf8") === name;
}

const isMade = (dist: string, name: string): boolean =>
  Object.keys(faces).every((face) => existsSync(join(dist, name, face, "index.html")));

/** Builds unless the last build is of these sources. Two at a time take turns, and the second finds nothing left to do. */
export async function buildPages(say: (text: string) => void, dist: string): Promise<void> {
  const name = sourceHash();
  if (isFresh(dist, name)) return;
  mkdirSync(dist, { recursive: true });
  const release = await takeTurn(dist);
  try {
    if (isFresh(dist, name)) return;
    const begun = performance.now();
    say("Building the portal's pages …");
    if (!isMade(dist, name)) await make(dist, name);
    const draft = join(dist, `current.${process.pid}`);
    writeFileSync(draft, name);
    renameSync(draft, join(dist, "current"));
    utimesSync(join(dist, name), new Date(), new Date());
    removeOld(dist, name);
    say(`The portal's pages are built, in ${((performance.now() - begun) / 1000).toFixed(1)} s.`);
  } finally {
    release();
  }
}

async function make(dist: string, name: string): Promise<void> {
  // Whatever the service runs as: these are the pages that people get.
  process.env.NODE_ENV = "production";
  const draft = join(dist, `draft-${process.pid}`);
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
  rmSync(join(dist, name), { recursive: true, force: true });
  renameSync(draft, join(dist, name));
}

/** Compressed once, as well as it goes, rather than at each request. */
function compress(file: string): void {
  const bytes = readFileSync(file);
  writeFileSync(
    `${file}.br`,
    brotliCompressSync(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
    }),
  );
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
}

function removeOld(dist: string, name: string): void {
  const builds = readdirSync(dist)
    .map((entry) => join(dist, entry))
    .filter((path) => path !== join(dist, name) && statSync(path).isDirectory())
    .sort((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs);
  for (const old of builds.slice(BUILDS_KEPT - 1)) rmSync(old, { recursive: true, force: true });
}

/** Waits until no other process builds. What a process left that died counts for nothing. */
async function takeTurn(dist: string): Promise<() => void> {
  const lock = join(dist, "lock");
  for (let tookOver = false; ;) {
    try {
      writeFileSync(lock, String(process.pid), { flag: "wx" });
      // Another one may have judged the same dead lock, and removed ours in its place: the later of the two has it.
      if (tookOver) await pause(300);
      if (!tookOver || readFileSync(lock, "utf8") === String(process.pid)) return () => rmSync(lock, { force: true });
    } catch (error) {
      if (!["EEXIST", "ENOENT"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    }
    tookOver = !isHeld(lock);
    if (tookOver) rmSync(lock, { force: true });
    else await pause(100);
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function isHeld(lock: string): boolean {
  try {
    const pid = Number(readFileSync(lock, "utf8"));
    // One that was made a moment ago may not be written yet.
    if (pid === 0) return performance.timeOrigin + performance.now() - statSync(lock).mtimeMs < 2000;
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
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
    // Before a start it is no reason not to start.
    process.exitCode = values["before-start"] ? 0 : 1;
  }
}
