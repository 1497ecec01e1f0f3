// Goal: the documentation is built once for one state of its sources, quickly, and the service shows what was built.
// Method: a build into a folder of its own, and the service's own reader of builds on it.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { openDocs } from "../../gateway/src/docs/docs.routes.ts";
import { bareServer } from "../../gateway/test/bare-server.ts";
import { buildDocs, sourceHash } from "./build.ts";

const into = mkdtempSync(join(tmpdir(), "docs-"));
afterAll(() => rmSync(into, { recursive: true, force: true }));

/** It took 1.4 s, alone on a machine of two processors; twice as much beside other tests. */
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
  expect((user + system) / 1e6).toBeLessThan(CPU_SECONDS_MAX);
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
  expect((await server.inject("/docs/changelog.rss")).body).not.toContain("gerbang.invalid");
});

test("a part of the tree that is not there is a sentence, and stops no start", async () => {
  await expect(buildDocs(() => undefined, "/dev/null/nowhere")).rejects.toThrow(/ENOTDIR|not a directory/);
  expect(existsSync("/dev/null/nowhere")).toBe(false);
});
