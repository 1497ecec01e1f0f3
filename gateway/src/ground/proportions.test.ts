// Goal: intervals are those of the literature. Method: the tables of Newcombe's two papers of 1998, and properties.
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Proportion, difference, moreToDistinguish, wilson } from "./proportions.ts";

const of = (succeeded: number, of: number): Proportion => ({ succeeded, of });

// Statistics in Medicine 17, 857-872, table I, method 3.
test.each([
  [81, 263, 0.2553, 0.3662],
  [15, 148, 0.0624, 0.1605],
  [0, 20, 0, 0.1611],
  [1, 29, 0.0061, 0.1718],
])("the interval of %i of %i is that of the table", (succeeded, all, low, high) => {
  const interval = wilson(of(succeeded, all));
  expect(interval?.low).toBeCloseTo(low, 4);
  expect(interval?.high).toBeCloseTo(high, 4);
});

// Statistics in Medicine 17, 873-890, table II, method 10.
test.each([
  [56, 70, 48, 80, 0.0524, 0.3339],
  [9, 10, 3, 10, 0.1705, 0.809],
  [6, 7, 2, 7, 0.0582, 0.8062],
  [5, 56, 0, 29, -0.0381, 0.1926],
  [0, 10, 0, 20, -0.1611, 0.2775],
  [0, 10, 0, 10, -0.2775, 0.2775],
  [10, 10, 0, 20, 0.6791, 1],
  [10, 10, 0, 10, 0.6075, 1],
])("the interval of %i of %i minus %i of %i is that of the table", (a, ofA, b, ofB, low, high) => {
  const interval = difference(of(a, ofA), of(b, ofB));
  expect(interval?.low).toBeCloseTo(low, 4);
  expect(interval?.high).toBeCloseTo(high, 4);
});

test("of nothing there is no interval", () => {
  expect(wilson(of(0, 0))).toBeUndefined();
  expect(difference(of(1, 2), of(0, 0))).toBeUndefined();
  expect(difference(of(0, 0), of(1, 2))).toBeUndefined();
  expect(moreToDistinguish(of(0, 0), of(1, 2), 0.5)).toBeUndefined();
  expect(moreToDistinguish(of(1, 2), of(2, 4), 0.5)).toBeUndefined();
});

const proportion = fc
  .tuple(fc.integer({ min: 0, max: 5_000 }), fc.integer({ min: 0, max: 5_000 }))
  .filter(([good, bad]) => good + bad > 0)
  .map(([good, bad]) => of(good, good + bad));

test("property: an interval holds its estimate, lies within bounds, and turns over with its sides", () => {
  fc.assert(
    fc.property(proportion, proportion, (a, b) => {
      const one = difference(a, b);
      const other = difference(b, a);
      if (!one || !other) throw new Error("there is no interval");
      expect(one.low).toBeGreaterThanOrEqual(-1 - 1e-9);
      expect(one.high).toBeLessThanOrEqual(1 + 1e-9);
      expect(one.low).toBeLessThanOrEqual(one.estimate);
      expect(one.high).toBeGreaterThanOrEqual(one.estimate);
      expect(other.low).toBeCloseTo(-one.high, 9);
      expect(other.high).toBeCloseTo(-one.low, 9);
    }),
  );
});

test.each([
  [of(90, 100), of(84, 100), 0.5],
  [of(93, 100), of(850, 900), 0.1],
  [of(150, 300), of(364, 700), 0.3],
])("with about as many more as it says two shares can be told apart (case %#)", (a, b, shareOfA) => {
  const more = moreToDistinguish(a, b, shareOfA) as number;
  const tellsApart = (factor: number): boolean => {
    const by = 1 + (factor * more) / (a.of + b.of);
    const apart = difference(of(a.succeeded * by, a.of * by), of(b.succeeded * by, b.of * by));
    return apart !== undefined && (apart.low > 0 || apart.high < 0);
  };
  expect([tellsApart(0.6), tellsApart(1.4)]).toEqual([false, true]);
});
