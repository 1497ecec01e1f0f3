// How a settlement schedule is written, by example.
import { expect, test } from "vitest";
import { closedOn } from "./settlement-days.ts";

test.each([
  [[], "no weekday"],
  [[0], "Sunday"],
  [[0, 6], "Saturday, Sunday"],
  [[0, 5, 1], "Monday, Friday, Sunday"],
])("the closed days %j are written as %s", (days, written) => {
  expect(closedOn(days)).toBe(written);
});
