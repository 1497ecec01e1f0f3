// Goal: no page says of a payment that it can be paid before its payer has a way to. Method: every status, with and without instructions.
import { expect, test } from "vitest";
import { type Begun, beforePayer } from "./before-payer.ts";

const payment = (changes: Partial<Begun>): Begun => ({
  status: "pending",
  risk: { decision: "approve", score: 5 },
  instructions: null,
  ...changes,
});

test("a pending payment without instructions waits for its review, or for its acquirer", () => {
  expect(beforePayer(payment({ risk: { decision: "review", score: 70 } }))).toBe("review");
  expect(beforePayer(payment({}))).toBe("acquirer");
});

test("with instructions it waits for its payer, whatever fraud detection said of it", () => {
  const instructions = { type: "qr_string" };
  expect(beforePayer(payment({ instructions }))).toBeUndefined();
  expect(beforePayer(payment({ instructions, risk: { decision: "review", score: 70 } }))).toBeUndefined();
});

test.each(["processing", "succeeded", "failed", "expired", "canceled", "partially_refunded", "refunded"] as const)(
  "a payment that is %s is past that",
  (status) => {
    expect(beforePayer(payment({ status, risk: { decision: "review", score: 70 } }))).toBeUndefined();
  },
);
