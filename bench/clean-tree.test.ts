// Goal: a result is kept only where its commit says what was measured. Method: small repositories that change in every way; skipped where there is no
// git, without which nothing is kept.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, mkdirSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CleanTree } from "./clean-tree.ts";

let root: string;
const bench = (): string => join(root, "bench");
const git = (...args: string[]): string =>
  execFileSync("git", ["-c", "user.name=test", "-c", "user.email=test@localhost", ...args], {
    cwd: root,
    encoding: "utf8",
  });

describe.runIf(spawnSync("git", ["--version"]).status === 0)("a tree", () => {
  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "gerbang-tree-")));
    mkdirSync(join(bench(), "results"), { recursive: true });
    writeFileSync(join(bench(), "case.ts"), "1");
    writeFileSync(join(bench(), "results", "create.json"), "{}");
    git("init", "-q");
    git("add", "-A");
    git("commit", "-qm", "first");
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  test("what the run itself has written is no change, new or known", () => {
    const tree = new CleanTree(bench());
    expect(tree.commit).toBe(git("rev-parse", "--short", "HEAD").trim());
    expect(tree.unclean()).toBeUndefined();
    tree.write("results/create.json", "{1}");
    tree.write("results/new.json", "{}");
    expect(tree.unclean()).toBeUndefined();
  });

  test.each<[string, string, () => void]>([
    ["changed", "bench/case.ts", () => writeFileSync(join(bench(), "case.ts"), "2")],
    ["new", "notes of mine.txt", () => writeFileSync(join(root, "notes of mine.txt"), "")],
    ["staged", "bench/case.ts", () => (writeFileSync(join(bench(), "case.ts"), "2"), git("add", "-A"))],
    ["removed", "bench/case.ts", () => rmSync(join(bench(), "case.ts"))],
    [
      "renamed",
      "bench/case.ts, bench/other.ts",
      () => (renameSync(join(bench(), "case.ts"), join(bench(), "other.ts")), git("add", "-A")),
    ],
    [
      "a result that another run wrote",
      "bench/results/create.json",
      () => writeFileSync(join(bench(), "results", "create.json"), "{2}"),
    ],
  ])("%s: not clean, whether it was so at the start or came meanwhile", (_, names, change) => {
    const before = new CleanTree(bench());
    change();
    expect(before.unclean()).toBe(`the tree is not clean (${names})`);
    const after = new CleanTree(bench());
    git("stash", "--include-untracked", "-q");
    expect(after.unclean()).toBe(`the tree is not clean (${names})`);
  });

  test("another commit meanwhile, or no repository at all", () => {
    const tree = new CleanTree(bench());
    git("commit", "-q", "--allow-empty", "-m", "second");
    expect(tree.unclean()).toBe("another commit was checked out meanwhile");
    rmSync(join(root, ".git"), { recursive: true });
    expect(new CleanTree(bench()).unclean()).toBe("git does not tell which commit this is");
  });
});
