// Goal: what is copied from the examples and the guides agrees with itself. Each example is copied alone, so some files are there several times.
// Method: read them.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { treeRoot } from "./site.ts";

const read = (path: string): string => readFileSync(join(treeRoot, path), "utf8");
const files = globSync("{examples,docs,clients}/**/*.{js,ts,py,php,md}", {
  cwd: treeRoot,
  exclude: ["**/node_modules/**", "docs/site/**", "clients/*/test/**"],
}).filter((path) => !/gerbang\.(py|php)$/i.test(path)); // the clients themselves

test("the receivers of JavaScript keep events alike", () => {
  const [first = "", ...others] = ["express", "fastify", "hono", "next"].map((name) =>
    read(`examples/receivers/${name}/inbox.js`),
  );
  expect(first).toContain("on conflict do nothing");
  for (const other of others) expect(other).toBe(first);
});

test("the webhook's secret has one name in the environment", () => {
  expect(files.filter((path) => read(path).includes("GERBANG_WEBHOOK_SECRET")).length).toBeGreaterThan(20);
  expect(files.filter((path) => /(?<!\w)WEBHOOK_SECRET\b/.test(read(path)))).toEqual([]);
});

test("every shop asks the service for fifteen seconds at most: a payer is waiting", () => {
  const shops = files.filter((path) => /^(?:[^/]+\/)*(?:express-shop|php-card-page|shop)\.\w+$/.test(path));
  expect(shops).toHaveLength(8);
  for (const path of shops)
    expect([
      path,
      /new Gerbang\(\)|= Gerbang\(\)|Client\(\)|deadline(?:Ms)?\W+15(?:_000)?\b/.exec(read(path))?.[0],
    ]).toEqual([path, expect.stringContaining("15")]);
});

test("a shop to try is sixty lines at most, blank ones included", () => {
  const shops = files.filter((path) => /^examples\/shops\/\w+\/shop\.\w+$/.test(path));
  expect(shops).toHaveLength(5);
  for (const path of shops) expect([path, Math.max(60, read(path).split("\n").length - 1)]).toEqual([path, 60]);
});

test("a delivery that is not genuine is answered with 401 by every receiver", () => {
  const answering = files.filter((path) =>
    /\b(?:catch|except) ?\(?(?:Gerbang\\)?Webhook(?:Error|Exception)\b|instanceof Gerbang\\WebhookException/.test(
      read(path),
    ),
  );
  expect(answering.length).toBeGreaterThan(8);
  for (const path of answering)
    expect([path, /\b401\b/.test(read(path)), /\b400\b/.test(read(path))]).toEqual([path, true, false]);
});
