// Goal: the pages are built once for one state of their sources, whoever starts at the same time, and a builder that was killed holds up nobody.
// Method: builders of a small thing as processes of their own, in a folder of theirs; the program itself where every start has it build, since a whole
// build takes ten seconds.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { buildOnce } from "./builds.ts";

const program = join(import.meta.dirname, "build.ts");

/** Builds one file, in the time that another builder takes to begin. */
const smallBuilder = (dist: string): string => `
import { mkdirSync, writeFileSync } from "node:fs";
import { buildOnce } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, "builds.ts")).href)};
const make = async (folder) => {
  await new Promise((resolve) => setTimeout(resolve, 500));
  mkdirSync(folder);
  writeFileSync(folder + "/index.html", "made");
};
const say = (text) => process.stderr.write(text + "\\n");
await buildOnce({ dist: ${JSON.stringify(dist)}, name: "a", what: "pages", mustHave: ["index.html"], say, make });
`;

async function run(...args: string[]): Promise<{ code: number | null; words: string }> {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"] });
  let words = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => void (words += text));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, words };
}

test("two starts at once build once, and a fresh build is left alone", async () => {
  const into = mkdtempSync(join(tmpdir(), "pages-"));
  // What a builder left that was killed.
  const dead = spawnSync(process.execPath, ["-e", "process.stdout.write(String(process.pid))"], { encoding: "utf8" });
  writeFileSync(join(into, "lock"), dead.stdout);
  const build = () => run("--input-type=module", "-e", smallBuilder(into));

  const both = await Promise.all([build(), build()]);
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  expect(
    both
      .map(({ words }) => words)
      .join("")
      .match(/are built/g),
  ).toHaveLength(1);
  expect([readFileSync(join(into, "current"), "utf8"), readdirSync(into).sort()]).toEqual(["a", ["a", "current"]]);
  expect(await build()).toEqual({ code: 0, words: "" });
});

test("a build has every file that its pages ask for, compressed too, and is left alone while it is fresh", async () => {
  expect((await run(program)).code).toBe(0);
  const dist = join(import.meta.dirname, "dist");
  const name = readFileSync(join(dist, "current"), "utf8");
  for (const face of ["portal", "console"]) {
    const index = readFileSync(join(dist, name, face, "index.html"), "utf8");
    const files = [...index.matchAll(new RegExp(`"/${face}/(assets/[^"]+)"`, "g"))].map(([, file]) =>
      join(dist, name, face, file ?? ""),
    );
    expect(files.length).toBeGreaterThan(1);
    for (const file of files)
      expect([file, existsSync(`${file}.br`), existsSync(`${file}.gz`)]).toEqual([file, true, true]);
    // The Content-Security-Policy would refuse them.
    expect(index).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\sstyle=/);
  }
  expect(await run(program)).toEqual({ code: 0, words: "" });
});

test("a builder that waits gives up when its folder goes", async () => {
  const dist = mkdtempSync(join(tmpdir(), "pages-"));
  // It waits for us.
  writeFileSync(join(dist, "lock"), String(process.pid));
  const make = (): Promise<void> => Promise.reject(new Error("it was not its turn"));
  const waiting = buildOnce({ dist, name: "a", what: "pages", mustHave: ["index.html"], say: () => undefined, make });
  rmSync(dist, { recursive: true });
  await expect(waiting).rejects.toMatchObject({ code: "ENOENT" });
});

test("what cannot be built is a sentence, not a stack", async () => {
  const { code, words } = await run(program, "--into", "/dev/null/nowhere");
  expect(code).toBe(1);
  expect(words).toMatch(/^The portal's pages could not be built: .+\nThe API needs no pages/);
});
