// Goal: late work is told of once, and work that ended leaves nothing behind, however it ended. Method: timers that the test moves.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { withDeadline } from "./deadline.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("work that fails in time leaves no timer, and is not told of as late", async () => {
  const whenLate = vi.fn();
  await expect(withDeadline(Promise.reject(new Error("the pool is gone")), 7_000, whenLate)).rejects.toThrow("pool");
  expect(vi.getTimerCount()).toBe(0);
  await vi.advanceTimersByTimeAsync(7_000);
  expect(whenLate).not.toHaveBeenCalled();
});

test("work that ends in time leaves no timer; work that does not is waited for no longer", async () => {
  const whenLate = vi.fn();
  await withDeadline(Promise.resolve(), 7_000, whenLate);
  expect(vi.getTimerCount()).toBe(0);
  const waited = withDeadline(new Promise(() => undefined), 7_000, whenLate);
  await vi.advanceTimersByTimeAsync(7_000);
  await waited;
  expect(whenLate).toHaveBeenCalledOnce();
});
