// Goal: a change that is committed stands, whether or not it can be read back. Method: a watch over a database that fails when it is told to.
import { expect, test, vi } from "vitest";
import { createLog } from "../ground/log.ts";
import type { Database } from "./database.ts";
import { SettingsWatch } from "./settings-watch.ts";

const reads: ((epoch: bigint | Error, server?: number) => void)[] = [];
const database = {
  query: () =>
    new Promise((resolve, reject) =>
      reads.push((epoch, server = 1) => (epoch instanceof Error ? reject(epoch) : resolve([{ epoch, server }]))),
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

test.each([
  ["succeeds", 7n],
  ["fails", new Error("of the reading")],
])("a stop waits for the reading under way, which %s", async (_, answer) => {
  const watch = new SettingsWatch(database, createLog("silent"));
  const changed = watch.changed();
  await settled();
  const order: string[] = [];
  const stopped = watch.stop().then(() => order.push("stopped"));
  await settled();
  order.push("read");
  reads.shift()?.(answer);
  await Promise.all([changed, stopped]);
  expect(order).toEqual(["read", "stopped"]);
});

test.each([
  ["the same server, at the same epoch", 7n, 1, []],
  ["the same server, further", 8n, 1, [7n]],
  ["an earlier epoch, as of a restored database", 6n, 1, [-1n]],
  ["another server, such as a standby, at the same epoch by a change of its own", 7n, 2, [-1n]],
  ["another server, further by changes of its own", 9n, 2, [-1n]],
])("after %s, no lost change counts as seen, and another server is told of", async (_, epoch, server, expected) => {
  const log = createLog("silent");
  const warn = vi.spyOn(log, "warn").mockReturnValue(undefined);
  const watch = new SettingsWatch(database, log);
  const seen: bigint[] = [];
  const asks = async (answer: bigint, by: number): Promise<void> => {
    const asked = watch.ask();
    await settled();
    reads.shift()?.(answer, by);
    await asked;
  };
  await asks(7n, 1);
  watch.subscribe(async (since) => void seen.push(since));
  expect(warn).not.toHaveBeenCalled();
  await asks(epoch, server);
  expect(seen).toEqual(expected);
  const told = server === 1 ? [] : [["the database's server has begun anew, or is another one"]];
  expect(warn.mock.calls).toEqual(told);
});

test("another server is told of once, and everything is read anew until that succeeds", async () => {
  const log = createLog("silent");
  const warn = vi.spyOn(log, "warn").mockReturnValue(undefined);
  const watch = new SettingsWatch(database, log);
  const seen: bigint[] = [];
  const asks = async (by: number): Promise<void> => {
    const asked = watch.ask();
    await settled();
    reads.shift()?.(7n, by);
    await asked;
  };
  await asks(1);
  watch.subscribe(async (since) => {
    seen.push(since);
    if (seen.length === 1) throw new Error("it hung up");
  });
  await expect(asks(2)).rejects.toThrow("it hung up");
  await asks(2);
  await asks(2);
  expect(seen).toEqual([-1n, -1n]);
  expect(warn).toHaveBeenCalledTimes(1);
});
