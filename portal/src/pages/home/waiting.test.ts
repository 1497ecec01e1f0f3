// Goal: what waits is counted as the amounts on the page are written. Method: a table.
import { expect, test } from "vitest";
import { number } from "./waiting.tsx";

test.each([
  [1, false, "1", "1"],
  [1_000, false, "1,000", "1.000"],
  [1_000, true, "over 1,000", "over 1.000"],
])("%d, more: %s", (count, has_more, english, indonesian) => {
  expect([number(count, { has_more }, "en"), number(count, { has_more }, "id")]).toEqual([english, indonesian]);
});
