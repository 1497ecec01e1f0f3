// Goal: a pause ends by its signal without an error, and hides no other one.
import { expect, test } from "vitest";
import { pause } from "./pause.ts";

test("a pause ends by its time, by its signal, and at once where that has come already", async () => {
  const stop = new AbortController();
  await pause(1, stop.signal);
  const waiting = pause(1_000_000, stop.signal);
  stop.abort();
  await waiting;
  await pause(1_000_000, stop.signal);
  expect(stop.signal.aborted).toBe(true);
});

test("what goes wrong otherwise is told", async () => {
  await expect(pause("soon" as never, new AbortController().signal)).rejects.toThrow(TypeError);
});
