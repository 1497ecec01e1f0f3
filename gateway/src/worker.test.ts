// Goal: work that fails again and again is counted each time and written into the log once in a while. Method: a loop without a database.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Log } from "./ground/log.ts";
import { createMetrics } from "./ground/metrics.ts";
import { Loop } from "./worker.ts";

beforeEach(() => vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] }));
afterEach(() => vi.useRealTimers());

test("a loop whose runs fail says so once a minute, and at once when it fails anew", async () => {
  const said: string[] = [];
  const metrics = createMetrics();
  const log = { warn: ({ err }: { err: Error }) => said.push(err.message) } as unknown as Log;
  let problem: string | undefined = "away";
  const loop = new Loop("expiry", 250, { log, metrics }, async () => {
    if (problem !== undefined) throw new Error(problem);
  });
  loop.start();
  await vi.advanceTimersByTimeAsync(59_000);
  expect(said).toEqual(["away"]);
  const { values } = await metrics.roundsFailed.get();
  expect(values).toMatchObject([{ labels: { loop: "expiry" }, value: 236 }]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(said).toEqual(["away", "away"]);
  problem = undefined;
  await vi.advanceTimersByTimeAsync(500);
  problem = "away again";
  await vi.advanceTimersByTimeAsync(1_000);
  expect(said).toEqual(["away", "away", "away again"]);
  await loop.stop();
});
