// Goal: a process deletes and ends nothing while its clock is more than five seconds from the database's, or when both were just set ahead, and
// takes no request beyond a minute; and its time is whole microseconds. Method: a clock and a database that tell the times of a table.
import { expect, test, vi } from "vitest";
import { NOW } from "../../test/given.ts";
import { SECOND } from "../ground/clock.ts";
import { ClockSteps } from "../ground/clock-steps.ts";
import { type Log, createLog } from "../ground/log.ts";
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

// A service and its embedded database are on one machine, and have one clock.
test("when both clocks are set ahead, the process goes on, and deletes nothing until the time has stood or is set back", async () => {
  let ahead = 0;
  let running = 0;
  const own = { now: () => NOW + running + ahead };
  const database = { query: () => Promise.resolve([{ at: own.now() }]) } as unknown as Database;
  const lines: unknown[] = [];
  const log = { error: (line: unknown) => lines.push(line), info: (line: unknown) => lines.push(line) };
  const clock = new DatabaseClock(own, database, log as unknown as Log, new ClockSteps(own, { now: () => running }));
  await clock.compare();
  expect(clock.maySweep).toBe(true);
  ahead = 8 * 86_400 * SECOND;
  expect([clock.maySweep, clock.mayServe]).toEqual([false, true]); // also before the next comparison
  await clock.compare();
  await clock.compare();
  expect([clock.maySweep, clock.mayServe]).toEqual([false, true]);
  ahead = 0;
  expect(clock.maySweep).toBe(true);
  await clock.compare();
  ahead = 3_600 * SECOND;
  await clock.compare();
  running = 600 * SECOND;
  await clock.compare();
  expect(clock.maySweep).toBe(true);
  const words = "the clock was set ahead: for ten minutes nothing is ended or deleted; set it by NTP";
  expect(lines).toEqual([words, "the clock is believed again", words, "the clock is believed again"]);
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
