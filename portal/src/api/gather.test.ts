// Goal: a page that hears of many things asks once for all of them, and hears the answer however slow it is. Method: a clock of the test's.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { gather } from "./gather.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Keeps the runs, of which each ends when the test says so. */
function kept() {
  const runs: { wishes: readonly string[]; end: () => void }[] = [];
  const work = (wishes: readonly string[]): Promise<void> =>
    new Promise((end) => void runs.push({ wishes, end: () => end() }));
  return { runs, gathering: gather(work, 1_500, 15_000) };
}

test("what is wished within a while is done together, and once", async () => {
  const { runs, gathering } = kept();
  gathering.add(["payments", "balances"]);
  await vi.advanceTimersByTimeAsync(1_000);
  gathering.add(["payments", "refunds"]);
  await vi.advanceTimersByTimeAsync(499);
  expect(runs).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(runs.map(({ wishes }) => wishes)).toEqual([["payments", "balances", "refunds"]]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(runs).toHaveLength(1);
});

test("a slow run is not cut off by what is wished meanwhile: that is done a while after it ends", async () => {
  const { runs, gathering } = kept();
  gathering.add(["payments"]);
  await vi.advanceTimersByTimeAsync(1_500);
  for (let second = 0; second < 10; second++) {
    gathering.add(["refunds"]);
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(runs).toHaveLength(1);
  runs[0]?.end();
  await vi.advanceTimersByTimeAsync(1_499);
  expect(runs).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(runs.map(({ wishes }) => wishes)).toEqual([["payments"], ["refunds"]]);
});

test("a run that never ends is waited for no longer than patience lasts", async () => {
  const { runs, gathering } = kept();
  gathering.add(["payments"]);
  await vi.advanceTimersByTimeAsync(1_500);
  gathering.add(["refunds"]);
  await vi.advanceTimersByTimeAsync(15_000 + 1_499);
  expect(runs).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(runs).toHaveLength(2);
});

test("nothing is done after the end, not even what was wished while a run was under way", async () => {
  const { runs, gathering } = kept();
  gathering.add(["payments"]);
  await vi.advanceTimersByTimeAsync(1_500);
  gathering.add(["refunds"]);
  gathering.end();
  runs[0]?.end();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(runs).toHaveLength(1);
});
