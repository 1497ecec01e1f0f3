// Goal: a shortened amount says nothing untrue of the amount.
import { expect, test } from "vitest";
import { amount } from "./words.ts";

test.each([
  [6_654_431_300, 2, "66.5M", "66.6M"],
  [50, 3, "0.1", "0.1"],
  [4, 2, "0", "0.1"],
  [999_999, 0, "1M", "1M"],
  [150_000_000, 2, "1.5M", "1.5M"],
  [0, 2, "0", "0"],
])("%i with exponent %i is %s, and at most %s", (minor, exponent, near, most) => {
  expect([amount(minor, exponent, "en"), amount(minor, exponent, "en", true)]).toEqual([near, most]);
});

test("an Indonesian page has its own words and marks", () => {
  expect([amount(6_654_431_300, 2, "id"), amount(6_654_431_300, 2, "id", true)]).toEqual([
    "66,5\u00a0jt",
    "66,6\u00a0jt",
  ]);
});
