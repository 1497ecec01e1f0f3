// Goal: the documentation is built once for one state of its sources, quickly, and the service shows what was built.
// Method: a build into a folder of its own, and the service's own reader of builds on it.
import { execFile, execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { openDocs } from "../../gateway/src/docs/docs.routes.ts";
import { bareServer } from "../../gateway/test/bare-server.ts";
import { slowness } from "../../gateway/test/slowness.ts";
import { filesBelow } from "../../portal/builds.ts";
import { buildDocs, sourceHash } from "./build.ts";
import { ROOT } from "./code/request.ts";
import { packages } from "./downloads.ts";
import { examplePages } from "./example-pages.ts";
import { treeRoot } from "./site.ts";

const into = mkdtempSync(join(tmpdir(), "docs-"));
afterAll(() => rmSync(into, { recursive: true, force: true }));

/** It took 1.4 s, alone on a machine of two processors, and twice as much beside other tests. */
const CPU_SECONDS_MAX = 5;

test("it is quick, and does nothing where nothing changed", async () => {
  const said: string[] = [];
  const before = process.cpuUsage();
  await buildDocs((text) => said.push(text), into);
  const { user, system } = process.cpuUsage(before);
  expect(said).toEqual([
    "Building the pages of the documentation …",
    expect.stringMatching(/^The pages of the documentation are built, in \d+\.\d s\.$/),
  ]);
  expect((user + system) / 1e6).toBeLessThan(CPU_SECONDS_MAX * slowness());
  await buildDocs((text) => said.push(text), into);
  expect(said).toHaveLength(2);
  expect(readFileSync(join(into, "current"), "utf8")).toBe(sourceHash());
});

test("the service shows what was built: a page, its parts, what programs read", async () => {
  await buildDocs(() => undefined, into);
  const server = bareServer();
  openDocs(server, { root: () => "https://pay.toko.example", folder: into });
  const { body, headers } = await server.inject("/docs/api/create-payment");
  expect(headers["content-type"]).toBe("text/html; charset=utf-8");
  const parts = [...body.matchAll(/(?:src|href|data-run|data-search|data-index)="(\/docs\/assets\/[^"]+)"/g)].map(
    ([, one = ""]) => one,
  );
  expect(parts.length).toBeGreaterThan(7);
  for (const part of parts) {
    const answer = await server.inject({ url: part, headers: { "accept-encoding": "br" } });
    expect([part, answer.statusCode, answer.headers["cache-control"]]).toEqual([
      part,
      200,
      "public, max-age=31536000, immutable",
    ]);
    if (!part.endsWith(".woff2")) expect([part, answer.headers["content-encoding"]]).toEqual([part, "br"]);
  }
  const llms = await server.inject("/llms.txt");
  expect(llms.body).toContain("(https://pay.toko.example/docs/api/create-payment.md)");
  const shop = (await server.inject("/docs/examples/shops/express.md")).body;
  expect(shop).toContain("npm install https://pay.toko.example/docs/files/gerbang-sdk.tgz");
  expect((await server.inject("/docs/changelog.rss")).body).not.toContain("gerbang.invalid");
});

test("it has the packages, which npm installs and which run", async () => {
  await buildDocs(() => undefined, into);
  const files = join(into, sourceHash(), "docs/files");
  const shop = mkdtempSync(join(tmpdir(), "docs-shop-"));
  try {
    const all = Object.keys(packages).map((name) => join(files, name));
    const run = (program: string, ...args: string[]): string =>
      execFileSync(program, args, { cwd: shop, encoding: "utf8", stdio: "pipe" });
    run("npm", "install", "--offline", "--no-audit", "--no-fund", ...all);
    expect(run(process.execPath, "node_modules/@gerbang/cli/cli/src/main.js", "version")).toMatch(/^gerbang \d/);
    const program = 'import("@gerbang/sdk").then(({ GerbangError }) => console.log(typeof GerbangError))';
    expect(run(process.execPath, "-e", program)).toBe("function\n");
    expect(readdirSync(join(shop, "node_modules/@gerbang/sdk")).toSorted()).toEqual(
      ["LICENSE", "README.md", "dist", "package.json", "vectors"].toSorted(),
    );
  } finally {
    rmSync(shop, { recursive: true, force: true });
  }
});

test.skipIf(spawnSync("curl", ["--version"]).status !== 0)(
  "the line of each example takes its files, all of them and no others",
  async () => {
    await buildDocs(() => undefined, into);
    const server = bareServer();
    openDocs(server, { root: () => ROOT, folder: into });
    const origin = await server.listen({ host: "127.0.0.1", port: 0 });
    const place = mkdtempSync(join(tmpdir(), "docs-examples-"));
    try {
      const pages = examplePages(treeRoot);
      expect(pages.length).toBeGreaterThan(10);
      for (const { id, markdown } of pages) {
        const [line = ""] = /^curl -fsS --create-dirs .+$/m.exec(markdown) ?? [];
        const folder = join(place, id);
        mkdirSync(folder, { recursive: true });
        await promisify(execFile)("sh", ["-c", line.replace(ROOT, origin)], { cwd: folder });
        const expected = filesBelow(join(treeRoot, id))
          .map((path) => relative(join(treeRoot, id), path))
          .filter((path) => path !== "README.md" && !path.startsWith("node_modules/"));
        const taken = filesBelow(folder).map((path) => relative(folder, path));
        expect([id, taken.toSorted()]).toEqual([id, expected.toSorted()]);
        for (const path of taken)
          expect(readFileSync(join(folder, path), "utf8")).toBe(readFileSync(join(treeRoot, id, path), "utf8"));
      }
    } finally {
      await server.close();
      rmSync(place, { recursive: true, force: true });
    }
  },
  30_000,
);

test("a part of the tree that is not there is a sentence, and stops no start", async () => {
  await expect(buildDocs(() => undefined, "/dev/null/nowhere")).rejects.toThrow(/ENOTDIR|not a directory/);
  expect(existsSync("/dev/null/nowhere")).toBe(false);
});
