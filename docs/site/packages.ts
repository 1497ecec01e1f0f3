// Packs the client library and the command line, for developers to take from the documentation. Needs TypeScript, npm and their sources.
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { filesBelow } from "../../portal/builds.ts";
import type { packages } from "./downloads.ts";

const run = promisify(execFile);

type Packages = ReadonlyMap<keyof typeof packages, Buffer>;

/** What goes into the packages, by paths from the root. The command line takes its parser and its help from the service's. */
const sources = [
  "LICENSE",
  "tsconfig.json",
  "sdk/README.md",
  "sdk/vectors",
  "examples",
  "clients/python/gerbang.py",
  "clients/php/Gerbang.php",
  "gateway/src/cli",
  "gateway/src/ground/parent.ts",
  ...["sdk", "cli"].flatMap((name) =>
    ["package.json", "tsconfig.json", "build.js", "src"].map((part) => `${name}/${part}`),
  ),
];

/** The files that go into the packages, without tests. */
export function packageSources(root: string): string[] {
  return sources
    .map((path) => join(root, path))
    .filter((path) => existsSync(path))
    .flatMap((path) => (/\.\w+$|LICENSE$/.test(path) ? [path] : filesBelow(path)))
    .filter((path) => !/\.test\.ts$|\/node_modules\//.test(path));
}

/** Whether this installation can pack: one without development tools, or without the sources, cannot. */
export function canPack(root: string): boolean {
  if (!existsSync(join(root, "sdk/src")) || !existsSync(join(root, "cli/src"))) return false;
  try {
    createRequire(import.meta.url).resolve("typescript/package.json");
    return true;
  } catch {
    return false;
  }
}

/** Builds and packs both in a temporary folder. Throws what the compiler or npm says. */
export async function packPackages(root: string): Promise<Packages> {
  const place = mkdtempSync(join(tmpdir(), "gerbang-packages-"));
  try {
    const [sdk, cli] = [join(place, "sdk"), join(place, "cli")];
    mkdirSync(sdk);
    for (const part of ["package.json", "README.md", "vectors"])
      cpSync(join(root, "sdk", part), join(sdk, part), { recursive: true });
    await Promise.all([
      run(process.execPath, [join(root, "sdk/build.js"), join(sdk, "dist")]),
      run(process.execPath, [join(root, "cli/build.js"), cli]),
    ]);
    for (const folder of [sdk, cli]) cpSync(join(root, "LICENSE"), join(folder, "LICENSE"));
    const [library, commands] = await Promise.all([pack(sdk), pack(cli)]);
    return new Map([
      ["gerbang-sdk.tgz", library],
      ["gerbang-cli.tgz", commands],
    ]);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** The package of a folder. The same files give the same bytes: npm leaves out times and owners. */
async function pack(folder: string): Promise<Buffer> {
  const into = join(folder, "packed");
  mkdirSync(into);
  const isWindows = process.platform === "win32";
  const args = ["pack", "--silent", "--ignore-scripts", "--pack-destination", into];
  await run("npm", args, { cwd: folder, shell: isWindows });
  const [name] = readdirSync(into);
  if (name === undefined) throw new Error("npm packed nothing");
  return readFileSync(join(into, name));
}
