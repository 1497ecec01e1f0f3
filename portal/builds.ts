// Builds as folders: each is named by the hash of its sources, and the file `current` names the one to serve. Concurrent builders take turns.
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
import { hash } from "node:crypto";
import { join, relative } from "node:path";
import { constants, brotliCompressSync, gzipSync } from "node:zlib";

/** Browsers that stay open over an upgrade still request files of earlier builds. */
const BUILDS_KEPT = 3;

export interface Build {
  /** The folder of the builds. */
  dist: string;
  /** The hash of the sources, which names the build. */
  name: string;
  /** The thing that is built, as messages call it: "the portal's pages". */
  what: string;
  /** Files that a complete build contains, by their paths in its folder. */
  mustHave: readonly string[];
  say: (text: string) => void;
  /** Writes the build into a folder that is empty or does not exist. */
  make: (folder: string) => Promise<void>;
}

/** Every file below a folder, sorted by path. */
export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** A hash of files: of their paths below a root and their contents. */
export function hashOfFiles(root: string, files: readonly string[]): string {
  const parts = files.map((file) => `${relative(root, file)}\0${hash("sha256", readFileSync(file))}`);
  return hash("sha256", parts.join("\n")).slice(0, 20);
}

/** Builds unless the last build has this name. Concurrent callers take turns, and the later ones find the build done. */
export async function buildOnce({ dist, name, what, mustHave, say, make }: Build): Promise<void> {
  const isMade = (): boolean => mustHave.every((file) => existsSync(join(dist, name, file)));
  const isFresh = (): boolean => {
    const current = join(dist, "current");
    return isMade() && existsSync(current) && readFileSync(current, "utf8") === name;
  };
  if (isFresh()) return;
  mkdirSync(dist, { recursive: true });
  const release = await takeTurn(dist);
  try {
    if (isFresh()) return;
    const begun = performance.now();
    say(`Building ${what} …`);
    if (!isMade()) await makeWhole({ dist, name, make });
    const draft = join(dist, `current.${process.pid}`);
    writeFileSync(draft, name);
    renameSync(draft, join(dist, "current"));
    utimesSync(join(dist, name), new Date(), new Date());
    removeOld(dist, name);
    const sentence = `${what} are built, in ${((performance.now() - begun) / 1000).toFixed(1)} s.`;
    say(sentence.charAt(0).toUpperCase() + sentence.slice(1));
  } finally {
    release();
  }
}

/** Makes the build in a draft folder and renames it into place, so that no incomplete build is served. */
async function makeWhole({ dist, name, make }: Pick<Build, "dist" | "name" | "make">): Promise<void> {
  const draft = join(dist, `draft-${process.pid}`);
  rmSync(draft, { recursive: true, force: true });
  await make(draft);
  rmSync(join(dist, name), { recursive: true, force: true });
  renameSync(draft, join(dist, name));
}

/** Writes compressed copies, so that no request has to compress; by default at Brotli's highest quality. */
export function compress(file: string, quality = 11): void {
  const bytes = readFileSync(file);
  writeFileSync(
    `${file}.br`,
    brotliCompressSync(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
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

/** Waits until no other process builds. The lock of a dead process does not count. Throws when the folder is removed meanwhile. */
async function takeTurn(dist: string): Promise<() => void> {
  const lock = join(dist, "lock");
  for (let tookOver = false; ;) {
    if (mine(lock)) {
      // Two processes may remove the same dead lock, and one of them this process's new lock. After a pause the lock names its real holder.
      if (tookOver) await pause(300);
      if (!tookOver || holderOf(lock) === String(process.pid)) return () => rmSync(lock, { force: true });
    }
    tookOver = !isHeld(lock);
    if (tookOver) rmSync(lock, { force: true });
    else await pause(100);
  }
}

/** Creates the lock file; false when there is one already. */
function mine(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** The process id in the lock file; undefined when there is none. */
function holderOf(lock: string): string | undefined {
  try {
    return readFileSync(lock, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function isHeld(lock: string): boolean {
  try {
    const pid = Number(readFileSync(lock, "utf8"));
    // A new lock may still be empty: it counts as held for two seconds.
    if (pid === 0) return performance.timeOrigin + performance.now() - statSync(lock).mtimeMs < 2000;
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
