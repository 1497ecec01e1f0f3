// Goal: work that is not urgent leaves most of the time to others, and ends at once when it is told to. Method: steps of known
// length, measured by the clock with room for a busy machine.
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { Throttle, eachInTurn, inTurns } from "./throttle.ts";
import { slowness, waiting } from "../../test/slowness.ts";

test("a step is followed by a rest of four times its length, and gives what it gave", async () => {
  const begun = performance.now();
  expect(await new Throttle().step(() => pause(30, "done"))).toBe("done");
  expect(performance.now() - begun).toBeGreaterThanOrEqual(5 * 29);
});

test("whoever is told to end does not rest first, and takes no further step", async () => {
  const ending = new AbortController();
  const throttle = new Throttle(ending.signal);
  setTimeout(() => ending.abort(), 250);
  expect(throttle.isOver).toBe(false);
  const took = await waiting(async () => {
    expect(await throttle.step(() => pause(200, "done"))).toBe("done"); // would rest for 800 ms
  });
  expect(took).toBeLessThan(700 * slowness());
  expect(throttle.isOver).toBe(true);
});

test("a step that fails says so", async () => {
  await expect(new Throttle().step(() => Promise.reject(new Error("away")))).rejects.toThrow("away");
});

test("steps of several kinds take turns until none has more; none is taken when the round is over", async () => {
  const taken: string[] = [];
  const kind = (name: string, steps: number) => (): Promise<boolean> => {
    taken.push(name);
    return Promise.resolve(taken.filter((other) => other === name).length < steps);
  };
  await inTurns(new Throttle(), [kind("long", 4), kind("short", 1), kind("middle", 2)]);
  expect(taken).toEqual(["long", "short", "middle", "long", "middle", "long", "long"]);
  await inTurns(new Throttle(AbortSignal.abort()), [kind("late", 1)]);
  expect(taken).not.toContain("late");
});

test("work that fails for one is done for all others, and the first failure is told", async () => {
  const done: number[] = [];
  const work = async (one: number): Promise<void> => {
    if (one % 2 === 0) throw new Error(`of ${one}`);
    done.push(one);
  };
  await expect(eachInTurn([1, 2, 3, 4, 5], work)).rejects.toThrow("of 2");
  expect(done).toEqual([1, 3, 5]);
});
