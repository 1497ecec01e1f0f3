// Goal: a share is written as the amounts beside it, and never as all or none where that is not so.
import { expect, test } from "vitest";
import { shareOf } from "./figures.tsx";

test.each([
  [7, 8, "87.5 %", "87,5 %"],
  [1, 3, "33.3 %", "33,3 %"],
  [1, 2, "50 %", "50 %"],
  [8, 8, "100 %", "100 %"],
  [0, 8, "0 %", "0 %"],
  [9_999, 10_000, "> 99.9 %", "> 99,9 %"],
  [1, 10_000, "< 0.1 %", "< 0,1 %"],
  [0, 0, "–", "–"],
])("%i of %i is %s in English and %s in Indonesian", (part, whole, en, id) => {
  expect([shareOf(part, whole, "en"), shareOf(part, whole, "id")]).toEqual([en, id]);
});
