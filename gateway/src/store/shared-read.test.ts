// Goal: whoever asks gets the row of their own key, in few statements, and nobody hangs when the database fails.
// Method: many reads at once, of keys that are there, missing and asked twice, over real PostgreSQL.
import { afterAll, beforeAll, expect, test } from "vitest";
import { cloneDatabase, openDatabase } from "../../test/kit.ts";
import type { Database, Statement } from "./database.ts";
import { SharedRead } from "./shared-read.ts";

let database: Database;
beforeAll(async () => {
  database = openDatabase(await cloneDatabase(), 4);
});
afterAll(() => database.end());

function squares(asked: number[][], text: string): SharedRead<number> {
  return new SharedRead<number>(database, (keys): Statement => {
    asked.push([...keys]);
    return { text, values: [keys] };
  });
}

test("each gets its own row, in a statement for all who wait", async () => {
  const asked: number[][] = [];
  const reader = squares(
    asked,
    "select place::integer, n * n as square from unnest($1::integer[]) with ordinality as w(n, place) where n < 500 order by n",
  );
  const keys = Array.from({ length: 600 }, (_, index) => index % 550);
  const rows = await Promise.all(keys.map((key) => reader.read(key)));
  expect(rows.map((row) => row?.square)).toEqual(keys.map((key) => (key < 500 ? key * key : undefined)));
  expect(asked.length).toBe(5);
  expect(asked.flat()).toEqual(keys);
});

test("what the database throws reaches everyone, and the next are read again", async () => {
  const asked: number[][] = [];
  const reader = squares(
    asked,
    "select place::integer, 1 / n as square from unnest($1::integer[]) with ordinality as w(n, place)",
  );
  const all = await Promise.allSettled([0, 1, 2].map((key) => reader.read(key)));
  expect(all.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  expect((await reader.read(1))?.square).toBe(1);
});

test("ten thousand may wait, and those beyond are told to come back", async () => {
  const reader = squares([], "select place::integer from unnest($1::integer[]) with ordinality as w(n, place)");
  const all = await Promise.allSettled(Array.from({ length: 10_100 }, (_, index) => reader.read(index)));
  expect(all.filter(({ status }) => status === "rejected")).toHaveLength(100);
  expect(all.at(-1)).toMatchObject({ reason: { code: "SERVICE_UNAVAILABLE" } });
});
