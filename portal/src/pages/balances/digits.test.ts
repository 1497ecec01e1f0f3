// Goal: a sum of amounts is exact, or said to be unknown.
import { expect, test } from "vitest";
import { sumOf } from "./digits.tsx";

const LARGE = 5_000_000_000_000_001;

test.each([
  [[], 0n],
  [[LARGE, LARGE + 1, -LARGE, -LARGE - 1], 0n],
  [[LARGE, LARGE + 1], 10_000_000_000_000_003n],
  [[1, null], null],
])("the sum of %s is %s", (minors, sum) => {
  expect(sumOf(minors)).toBe(sum);
});
