// Goal: the transitions are those of the interface, and no others. Method: every pair, beside the interface's own list written out.
import { expect, test } from "vitest";
import { assertTransition, isPaid, paymentStatuses } from "./states.ts";

/** Section 3.1 of the interface, in short. */
const listed = [
  "pending > processing",
  "processing > succeeded",
  "processing > failed",
  "pending > succeeded",
  "pending > failed",
  "pending > expired",
  "pending > canceled",
  "succeeded > partially_refunded",
  "partially_refunded > refunded",
  "succeeded > refunded",
];

const pairs = paymentStatuses.flatMap((from) => paymentStatuses.map((to) => [from, to] as const));

test.each(pairs)("%s > %s", (from, to) => {
  const step = (): void => assertTransition(from, to);
  if (listed.includes(`${from} > ${to}`)) expect(step).not.toThrow();
  else expect(step).toThrow(`a payment cannot go from ${from} to ${to}`);
});

test("who has been paid stays paid", () => {
  for (const step of listed) {
    const [from, to] = step.split(" > ").map((name) => paymentStatuses.find((status) => status === name));
    if (from && to && isPaid(from)) expect(isPaid(to)).toBe(true);
  }
  expect(paymentStatuses.filter(isPaid)).toEqual(["succeeded", "partially_refunded", "refunded"]);
});
