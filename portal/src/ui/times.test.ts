// Goal: a count reads as a person would say it. Method: by example.
import { expect, test } from "vitest";
import { times } from "./times.ts";

test("what happened once is not told as 1 times", () => {
  expect([1, 2, 1_000].map(times)).toEqual(["once", "2 times", "1,000 times"]);
});
