// Goal: a process deletes and ends nothing while its clock is more than five seconds from the database's, and takes no request beyond a minute;
// and its time is whole microseconds. Method: a clock and a database that tell the times of a table.
import { expect, test, vi } from "vitest";
import { NOW } from "../../test/given.ts";
import { createLog } from "../ground/log.ts";
import type { Database } from "./database.ts";
import { DatabaseClock } from "./database-clock.ts";

// The way to the database and back takes time, so a clock that is ahead seems less so; one that is behind is known exactly.
test.each<[aheadMs: number, maySweep: boolean, mayServe: boolean]>([
  [0, true, true],
  [5_000, true, true],
  [5_900, false, true],
  [60_000, false, true],
  [60_900, false, false],
  [-5_000, true, true],
  [-5_001, false, true],
  [-60_000, false, true],
  [-60_001, false, false],
])("a clock that is %i ms ahead: it may delete %s, it may take requests %s", async (aheadMs, maySweep, mayServe) => {
  const database = { query: () => Promise.resolve([{ at: NOW - aheadMs * 1_000 }]) } as unknown as Database;
  const clock = new DatabaseClock({ now: () => NOW }, database, createLog("silent"));
  await clock.compare();
  expect([clock.maySweep, clock.mayServe]).toEqual([maySweep, mayServe]);
});

// A journal's hash includes its time, and the database keeps whole microseconds.
test("a clock that is ahead gives whole microseconds, however long the way to the database took", async () => {
  let stopwatch = 1_000;
  vi.spyOn(performance, "now").mockImplementation(() => (stopwatch += 0.123_45));
  const database = { query: () => Promise.resolve([{ at: NOW - 40_000_000 }]) } as unknown as Database;
  const clock = new DatabaseClock({ now: () => NOW }, database, createLog("silent"));
  await clock.compare();
  const readings = Array.from({ length: 100 }, () => [clock.now(), clock.awake.now()]).flat();
  vi.restoreAllMocks();
  expect(readings.filter((instant) => !Number.isInteger(instant))).toEqual([]);
});
