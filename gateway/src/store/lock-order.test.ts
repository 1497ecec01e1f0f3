// Goal: the lock order names every table of the lanes, once, and nothing else.
// Method: every declaration of a table in the source is found by its type or by the function that makes it, and held against the list.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { type LockedTable, byLockOrder, lockOrder } from "./lock-order.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const declaration =
  /(?:: (?:Table<[^=]*>|typeof \w+) = \{|\b(?:batchMarks|velocityTable)\()\s*(?:\.\.\.\w+,\s*)?(?:name: )?"([^"]+)"/g;

test("every table of the source is in the list once, and the list has no other", () => {
  const declared = readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .flatMap((file) => [...readFileSync(join(root, file), "utf8").matchAll(declaration)].map(([, name]) => name ?? ""));
  expect(declared.sort()).toEqual([...lockOrder].sort());
});

test("tables are sorted into the order of the list", () => {
  const named = (...names: LockedTable[]): { name: LockedTable }[] => names.map((name) => ({ name }));
  expect(named("events", "payments", "book heads", "used nonces").sort(byLockOrder)).toEqual(
    named("used nonces", "book heads", "payments", "events"),
  );
});
