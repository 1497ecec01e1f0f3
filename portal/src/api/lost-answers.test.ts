// Goal: a change whose answer was lost is not made twice, and another change is never taken for it. Method: the keys over time.
import { expect, test } from "vitest";
import { LostAnswers } from "./lost-answers.ts";

const MINUTE = 60_000;

test("a change without an answer keeps its key for a quarter of an hour, and for no other change", () => {
  const lost = new LostAnswers();
  lost.keep("refund 50", "first", 0);
  expect(lost.keyOf("refund 50", "second", 15 * MINUTE - 1)).toBe("first");
  expect(lost.keyOf("refund 51", "second", 0)).toBe("second");
  expect(lost.keyOf("refund 50", "second", 15 * MINUTE)).toBe("second");
});

test("once it is answered the same change is another wish", () => {
  const lost = new LostAnswers();
  lost.keep("refund 50", "first", 0);
  lost.forget("refund 50");
  expect(lost.keyOf("refund 50", "second", 1)).toBe("second");
});

test("of very many the oldest are forgotten; one that is lost again is the newest", () => {
  const lost = new LostAnswers();
  for (let change = 0; change < 100; change++) lost.keep(`refund ${change}`, `key ${change}`, 0);
  lost.keep("refund 0", "key 0", 0);
  lost.keep("refund 100", "key 100", 0);
  expect(["refund 0", "refund 1", "refund 2"].map((change) => lost.keyOf(change, "new", 1))).toEqual([
    "key 0",
    "new",
    "key 2",
  ]);
});
