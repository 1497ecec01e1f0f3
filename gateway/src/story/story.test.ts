// Goal: what can be contested of a payment is told apart from what can be refunded. Method: the view of payments, by table.
import { expect, test } from "vitest";
import { aPayment } from "../../test/payments.ts";
import type { Payment } from "../payments/payment.ts";
import { wholeView } from "./story.ts";

test.each<[string, Partial<Payment>, number]>([
  ["of a paid payment all of it, also where its acquirer refunds nothing", { status: "succeeded" }, 1_000_000],
  ["what is not given back", { status: "partially_refunded", refundedMinor: 400_000n }, 600_000],
  ["nothing before it is paid", { status: "pending" }, 0],
  ["nothing in a running dispute", { status: "succeeded", disputeStatus: "needs_response" }, 0],
  ["nothing after a lost one", { status: "succeeded", disputeStatus: "lost", lostMinor: 300_000n }, 0],
])("a dispute can be about %s", (_what, changes, contestable) => {
  const { refundable_minor, contestable_minor } = wholeView(
    { payment: aPayment(changes), customer: undefined },
    null,
    0n,
  );
  expect([refundable_minor, contestable_minor]).toEqual([0, contestable]);
});
