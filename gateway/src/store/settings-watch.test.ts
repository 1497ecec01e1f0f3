// Goal: a change that is committed stands, whether or not it can be read back. Method: a watch over a database that fails when it is told to.
import { expect, test } from "vitest";
import { createLog } from "../ground/log.ts";
import type { Database } from "./database.ts";
import { SettingsWatch } from "./settings-watch.ts";

const reads: ((epoch: bigint | Error) => void)[] = [];
const database = {
  query: () =>
    new Promise((resolve, reject) =>
      reads.push((epoch) => (epoch instanceof Error ? reject(epoch) : resolve([{ epoch }]))),
    ),
} as unknown as Database;
const settled = () => new Promise((resolve) => setImmediate(resolve));

test("a change whose reading fails is no failure, and is seen with the next reading", async () => {
  const watch = new SettingsWatch(database, createLog("silent"));
  const seen: bigint[] = [];
  watch.subscribe(async (since) => void seen.push(since));
  const earlier = watch.ask();
  await settled();
  const changed = watch.changed();
  await settled();
  reads.shift()?.(new Error("of the earlier reading"));
  await expect(earlier).rejects.toThrow("earlier");
  await settled();
  expect(reads).toHaveLength(1);
  reads.shift()?.(new Error("of its own"));
  await changed;
  expect(seen).toEqual([]);
  const next = watch.ask();
  await settled();
  reads.shift()?.(7n);
  await next;
  expect(seen).toEqual([-1n]);
  expect(reads).toEqual([]);
});
