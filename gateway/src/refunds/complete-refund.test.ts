// Goal: a pending refund ends once, and a failed one gives everything back. Method: the pure command over refunds in every state.
import { expect, test } from "vitest";
import { NOW, given, ownerWith, row } from "../../test/given.ts";
import { aPayment } from "../../test/payments.ts";
import { aRefund, owning } from "../../test/refunds.ts";
import { deliveries, events } from "../events/outbox.sql.ts";
import { exampleIds } from "../http/examples.ts";
import type { Payment } from "../payments/payment.ts";
import { payments } from "../payments/payments.sql.ts";
import { type Refund, createdRefundView, refundView } from "./refund.ts";
import { completeRefund } from "./refunds.ts";
import { refunds } from "./refunds.sql.ts";

const owner = ownerWith();
const waiting = aPayment({ status: "succeeded", refundPendingMinor: 100_000n });

function withRefund(payment: Payment, refund: Refund) {
  return given({
    rows: [row(payments, payment), row(refunds, refund)],
    balances: owning({ available: 893_000n }),
  });
}
const complete = (refund: Refund, outcome: "succeeded" | "failed") =>
  completeRefund(owner, { uuid: refund.uuid, paymentReference: refund.paymentReference }, outcome);

test("succeeded: what was pending is refunded, and nothing is posted again", () => {
  const refund = aRefund(waiting);
  withRefund(waiting, refund)
    .when(complete(refund, "succeeded"))
    .then((changes, answer) => {
      expect(answer).toMatchObject({ status: "succeeded", completedAt: NOW });
      expect(changes.updated(payments)).toMatchObject([
        { status: "partially_refunded", refundedMinor: 100_000n, refundPendingMinor: 0n },
      ]);
      expect(changes.journals).toEqual([]);
      expect(changes.events).toEqual(["refund.succeeded"]);
    });
});

test("failed: a reversing journal gives the funds back, and the payment is as it was", () => {
  const refund = aRefund(waiting);
  withRefund(waiting, refund)
    .when(complete(refund, "failed"))
    .then((changes, answer) => {
      expect(answer).toMatchObject({ status: "failed", completedAt: NOW });
      expect(changes.updated(payments)).toMatchObject([
        { status: "succeeded", refundedMinor: 0n, refundPendingMinor: 0n },
      ]);
      expect(changes.journals).toEqual([
        {
          kind: "refund_returned",
          entries: { "merchant:available IDR": -100_000n, "acquirer:nusantara:receivable IDR": 100_000n },
        },
      ]);
      expect(changes.events).toEqual(["refund.failed"]);
    });
});

test.each(["succeeded", "failed"] as const)(
  "the event of one that %s tells of the refund, at the payment's own address",
  (outcome) => {
    const own = "https://shop.example/refunds";
    const payment: Payment = { ...waiting, callbackUrl: own };
    const refund = aRefund(payment);
    withRefund(payment, refund)
      .when(complete(refund, outcome))
      .then((changes, answer) => {
        const [event] = changes.inserted(events);
        expect(event).toMatchObject({ type: `refund.${outcome}`, subjectId: refund.uuid });
        expect(JSON.parse(event?.body ?? "")).toMatchObject({ data: refundView(answer) });
        expect(changes.inserted(deliveries)).toMatchObject([{ url: own, ownUrl: true }]);
      });
  },
);

test("each answer, and each event, shows the refund's own values", () => {
  const refund = { ...aRefund(waiting, { currency: "KWD", reason: "broken" }), referenceId: "order-77" };
  const created = {
    uuid: refund.uuid,
    payment_reference: waiting.reference,
    reference_id: "order-77",
    status: "pending",
    amount_minor: 100_000,
    currency: "KWD",
    exponent: 3,
    environment: "sandbox",
    created_at: "2027-01-15T07:59:59Z",
  };
  expect(createdRefundView(refund, 7n)).toEqual({ ...created, remaining_refundable_minor: 7, reason: "broken" });
  expect(createdRefundView({ ...refund, reason: undefined }, 0n)).toMatchObject({ reason: null });
  expect(refundView(refund)).toEqual({ ...created, completed_at: null, settlement_uuid: null });
  const settlement = exampleIds.settlement;
  expect(refundView({ ...refund, status: "succeeded", completedAt: NOW, settlement })).toEqual({
    ...created,
    status: "succeeded",
    completed_at: "2027-01-15T08:00:00Z",
    settlement_uuid: settlement,
  });
});

test("the last pending part that succeeds makes the payment refunded", () => {
  const payment = aPayment({ status: "partially_refunded", refundedMinor: 900_000n, refundPendingMinor: 100_000n });
  const refund = aRefund(payment);
  withRefund(payment, refund)
    .when(complete(refund, "succeeded"))
    .then((changes) => expect(changes.updated(payments)).toMatchObject([{ status: "refunded" }]));
});

test.each(["succeeded", "failed"] as const)("a refund that is %s ends in no other way", (status) => {
  const refund = aRefund(waiting, { status, completedAt: NOW });
  for (const outcome of ["succeeded", "failed"] as const)
    withRefund(waiting, refund).when(complete(refund, outcome)).refuses("PAYMENT_NOT_PAYABLE", { status });
});

test("one that the merchant does not have is not found, and one of the other environment is a mismatch", () => {
  const refund = aRefund(waiting);
  given()
    .when(completeRefund(owner, { uuid: refund.uuid, paymentReference: undefined }, "failed"))
    .refuses("REFUND_NOT_FOUND");
  given().when(complete(refund, "failed")).refuses("ENVIRONMENT_MISMATCH");
});
