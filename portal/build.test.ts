// Goal: the pages are built once for one state of their sources, whoever starts at the same time, and a builder that was killed holds up nobody.
// Method: the program itself, into a folder of its own.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { buildOnce } from "./builds.ts";

const program = join(import.meta.dirname, "build.ts");

async function build(into: string): Promise<{ code: number | null; words: string }> {
  const child = spawn(process.execPath, [program, "--into", into], { stdio: ["ignore", "ignore", "pipe"] });
  let words = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => void (words += text));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, words };
}

test("two starts at once build once, and a fresh build is left alone", { timeout: 60_000 }, async () => {
  const into = mkdtempSync(join(tmpdir(), "pages-"));
  // What a builder left that was killed.
  const dead = spawnSync(process.execPath, ["-e", "process.stdout.write(String(process.pid))"], { encoding: "utf8" });
  writeFileSync(join(into, "lock"), dead.stdout);

  const both = await Promise.all([build(into), build(into)]);
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  expect(
    both
      .map(({ words }) => words)
      .join("")
      .match(/are built/g),
  ).toHaveLength(1);
  const name = readFileSync(join(into, "current"), "utf8");
  expect(readdirSync(into).sort()).toEqual([name, "current"].sort());
  for (const face of ["portal", "console"]) {
    const index = readFileSync(join(into, name, face, "index.html"), "utf8");
    const files = [...index.matchAll(new RegExp(`"/${face}/(assets/[^"]+)"`, "g"))].map(([, file]) =>
      join(into, name, face, file ?? ""),
    );
    expect(files.length).toBeGreaterThan(1);
    for (const file of files)
      expect([file, existsSync(`${file}.br`), existsSync(`${file}.gz`)]).toEqual([file, true, true]);
    // The Content-Security-Policy would refuse them.
    expect(index).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\sstyle=/);
  }

  expect(await build(into)).toEqual({ code: 0, words: "" });
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
  const { code, words } = await build("/dev/null/nowhere");
  expect(code).toBe(1);
  expect(words).toMatch(/^The portal's pages could not be built: .+\nThe API needs no pages/);
});
