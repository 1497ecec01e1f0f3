// Goal: work takes no more than its share in the long run, and little work waits for nothing. Method: a stopwatch that the test moves.
import fc from "fast-check";
import { expect, test } from "vitest";
import { SAVED_MAX_MS, SHARE, TimeBudget } from "./time-budget.ts";

test("a little work now and then is never rested for", () => {
  let now = 1_000;
  const budget = new TimeBudget(now);
  for (let n = 0; n < 1_000; n++) {
    now += 1_000;
    expect(budget.spend(now - 5, now)).toBe(0);
  }
});

test("however long each piece takes, all together take their share and what was saved", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 2_000 }), { minLength: 50, maxLength: 100 }), (pieces) => {
      let now = 0;
      let worked = 0;
      const budget = new TimeBudget(now);
      for (const piece of pieces) {
        const begun = now;
        now += piece;
        worked += piece;
        now += budget.spend(begun, now);
      }
      expect(worked).toBeLessThanOrEqual(now * SHARE + SAVED_MAX_MS + 0.001);
    }),
  );
});
