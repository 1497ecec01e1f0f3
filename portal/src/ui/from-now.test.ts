// Goal: times from now read as people say them. Method: by example.
import { expect, test } from "vitest";
import { fromNow } from "./from-now.ts";

const DAY = 86_400;

test.each([
  [3 * DAY, "in 3 days"],
  [3 * DAY - 20, "in 3 days"],
  [3 * DAY - 40, "in 2 days"],
  [DAY, "tomorrow"],
  [3_599, "in 1 hour"],
  [61, "in 1 minute"],
  [59, "in 59 seconds"],
  [15, "now"],
  [0, "now"],
  [-4, "4 seconds ago"],
  [-3 * DAY, "3 days ago"],
])("%i seconds from now are %s", (seconds, words) => {
  expect(fromNow(seconds)).toBe(words);
});

test("what ticks tells each second as it is", () => {
  expect([15, 3, 0, 119].map((seconds) => fromNow(seconds, true))).toEqual([
    "in 15 seconds",
    "in 3 seconds",
    "now",
    "in 1 minute",
  ]);
});
