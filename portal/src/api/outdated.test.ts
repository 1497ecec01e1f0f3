// Goal: no page shows an old figure beside the word "Live". Method: every path that the portal's pages read is named here or goes out of date with an event.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { outdatedBy } from "./outdated.ts";

const nouns = ["payment", "refund", "settlement", "dispute"];

/** Not changed by an event: settings, people and keys; or asked for again by the page's own clock, or with each thing that is typed. */
const others = [
  "/v1/audit",
  "/v1/credentials",
  "/v1/idempotency-keys",
  "/v1/person",
  "/v1/request-log",
  "/v1/requests",
  "/v1/sandbox/clock",
  "/v1/sandbox/webhook/misbehave",
  "/v1/search",
  "/v1/session",
  "/v1/settings",
  "/v1/team",
];

const beginsWithOneOf = (path: string, beginnings: readonly string[]): boolean =>
  beginnings.some((beginning) => path.startsWith(beginning));

test("every answer that a page shows is refetched after an event that changes it", () => {
  const files = globSync("{api,pages,shell}/**/*.{ts,tsx}", { cwd: join(import.meta.dirname, "..") });
  const read = files.flatMap((file) => {
    const text = readFileSync(join(import.meta.dirname, "..", file), "utf8");
    return [...text.matchAll(/\.read\(\s*"(\/v1\/[^"]*)"/g)].map(([, path = ""]) => path);
  });
  expect(read).toContain("/v1/statements/{currency}");
  const changed = nouns.flatMap((noun) => outdatedBy(noun));
  expect(read.filter((path) => !beginsWithOneOf(path, [...changed, ...others]))).toEqual([]);
});

test.each(nouns)("a journal may come with a %s, so what shows the ledger is refetched", (noun) => {
  for (const path of ["/v1/balances", "/v1/accounts/{currency}/entries", "/v1/journals", "/v1/statements/{currency}"])
    expect(beginsWithOneOf(path, outdatedBy(noun)), path).toBe(true);
});

test.each(["/v1/payments/search", "/v1/refunds/{uuid}", "/v1/disputes"])(
  "a batch is named by what is in it: %s is refetched after a settlement",
  (path) => {
    expect(beginsWithOneOf(path, outdatedBy("settlement"))).toBe(true);
  },
);

test("after a connection that may have missed events everything is refetched", () => {
  expect(outdatedBy("")).toEqual([""]);
});
