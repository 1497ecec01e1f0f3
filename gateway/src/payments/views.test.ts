// Goal: each answer shows what the interface lists, no more and no less. Method: payments in every state, through the contract's own schemas.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { creating } from "../../test/creations.ts";
import { NOW, given } from "../../test/given.ts";
import { aPayment } from "../../test/payments.ts";
import { events } from "../events/outbox.sql.ts";
import { SECOND, wireTime } from "../ground/clock.ts";
import { exampleIds } from "../http/examples.ts";
import { paymentMethods } from "../merchants/settings.ts";
import { type Payment, awaitsSettlement, canceledView, createdView, eventView, statusView } from "./payment.ts";
import {
  canceledPaymentSchema,
  createdPaymentSchema,
  paymentEventSchema,
  paymentStatusSchema,
} from "./payments.schema.ts";
import { isPaid, paymentStatuses } from "./states.ts";

/** What was estimated. */
const DAY = "2027-01-16";
/** Where its payer pays. */
const PAGE = "https://pay.test/page";

test.each(paymentMethods)("creation by %s answers the fields of section 4.2", (method) => {
  const { payment } = given().when(creating({ payment_method: method, description: "Kopi" })).answer;
  const view = createdPaymentSchema.parse(createdView(payment, PAGE));
  expect(view).toMatchObject({
    reference: payment.reference,
    status: "pending",
    amount_minor: 1_000_000,
    currency: "IDR",
    exponent: 2,
    fee_minor: Number(payment.feeMinor),
    net_minor: 1_000_000 - Number(payment.feeMinor),
    refunded_minor: 0,
    payment_method: method,
    reference_id: "order-1",
    description: "Kopi",
    gateway_code: payment.gatewayCode,
    environment: "sandbox",
    instructions: payment.instructions,
    expires_at: "2027-01-15T08:30:00Z",
    metadata: {},
    created_at: "2027-01-15T08:00:00Z",
    updated_at: "2027-01-15T08:00:00Z",
  });
});

test("each answer, and each event, shows the payment's own values", () => {
  const payment = aPayment({
    status: "partially_refunded",
    currency: "KWD",
    gatewayCode: "merapi",
    method: "card",
    referenceId: "order-77",
    description: "Teh",
    returnUrl: "https://shop.example/back",
    metadata: { table: "4" },
    link: { uuid: exampleIds.link, reusable: false },
    risk: { decision: "review", score: 41, reasons: [] },
    updatedAt: NOW,
  });
  const everywhere = {
    reference: payment.reference,
    status: "partially_refunded",
    amount_minor: 1_000_000,
    currency: "KWD",
    exponent: 3,
    fee_minor: 7_000,
    net_minor: 993_000,
    payment_method: "card",
    reference_id: "order-77",
    gateway_code: "merapi",
  };
  const times = { created_at: "2027-01-15T07:58:00Z", updated_at: "2027-01-15T08:00:00Z" };
  const answers = { ...everywhere, ...times, refunded_minor: 400_000, environment: "sandbox" };
  expect(createdView(payment, PAGE)).toEqual({
    ...answers,
    description: "Teh",
    risk: { decision: "review", score: 41 },
    instructions: payment.instructions,
    checkout_url: PAGE,
    expires_at: "2027-01-15T08:30:00Z",
    return_url: "https://shop.example/back",
    metadata: { table: "4" },
  });
  const paidAt = { payment_link: exampleIds.link, paid_at: "2027-01-15T07:59:00Z" };
  expect(statusView(payment, DAY)).toEqual({
    ...answers,
    ...paidAt,
    settlement_uuid: null,
    settlement: { status: "pending", estimated_date: DAY },
  });
  expect(eventView(payment)).toEqual({ ...everywhere, ...paidAt, metadata: { table: "4" } });
});

test.each(paymentStatuses)("a %s payment awaits its settlement if it is paid and in no batch", (status) => {
  const batch = { uuid: exampleIds.settlement, status: "processing", payoutDate: DAY } as const;
  expect(awaitsSettlement(aPayment({ status }))).toBe(isPaid(status));
  expect(awaitsSettlement(aPayment({ status, batch }))).toBe(false);
});

test("a status shows where its payer pays, while that is possible", () => {
  expect(statusView(aPayment({ status: "pending" }), null, PAGE).checkout_url).toBe(PAGE);
  for (const status of ["processing", "succeeded", "expired", "canceled"] as const)
    expect(statusView(aPayment({ status }), DAY, PAGE)).not.toHaveProperty("checkout_url");
});

test("why the risk engine decided so is not shown, nor how the payment was routed", () => {
  const reasons = [{ sign: "large_amount", points: 30 }];
  const payment = aPayment({ risk: { decision: "approve", score: 30, reasons } });
  expect(createdView(payment, PAGE).risk).toEqual({ decision: "approve", score: 30 });
  for (const view of [createdView(payment, PAGE), statusView(payment, DAY), eventView(payment)])
    expect(JSON.stringify(view)).not.toMatch(/large_amount|routing|candidates|customer/);
});

test("what was not given is null, or what the interface says", () => {
  const bare = aPayment({
    description: undefined,
    metadata: undefined,
    gatewayCode: undefined,
    instructions: undefined,
  });
  const view = createdView(bare, PAGE);
  expect(view).toMatchObject({
    description: null,
    return_url: null,
    metadata: {},
    gateway_code: null,
    instructions: null,
  });
  expect(statusView(bare, DAY).gateway_code).toBeNull();
});

describe.each(paymentStatuses)("the status of a %s payment", (status) => {
  const payment = aPayment({ status });
  const view = paymentStatusSchema.parse(statusView(payment, DAY));

  test("is shown with when it was paid and how it settles, once it is paid", () => {
    expect(view.status).toBe(status);
    expect(view.paid_at).toBe(isPaid(status) ? wireTime(NOW - 60 * SECOND) : undefined);
    expect(view.settlement).toEqual(isPaid(status) ? { status: "pending", estimated_date: DAY } : undefined);
    expect(view.settlement_uuid).toBe(isPaid(status) ? null : undefined);
  });

  test("has the fields of section 4.3, and of no other answer", () => {
    const timely = new Set(["paid_at", "settlement_uuid", "settlement", "instructions", "expires_at"]);
    const shown = Object.keys(view).filter((field) => !timely.has(field));
    expect(shown).toEqual([
      "reference",
      "status",
      "amount_minor",
      "currency",
      "exponent",
      "fee_minor",
      "net_minor",
      "refunded_minor",
      "payment_method",
      "reference_id",
      "gateway_code",
      "environment",
      "created_at",
      "updated_at",
    ]);
    expect(view.refunded_minor).toBe({ partially_refunded: 400_000, refunded: 1_000_000 }[status as string] ?? 0);
  });

  test("is what events say", () => {
    const event = paymentEventSchema.parse(eventView(payment));
    expect(event).toMatchObject({ reference: payment.reference, status, net_minor: 993_000, metadata: {} });
    expect(event.paid_at).toBe(view.paid_at);
  });
});

test.each(["processing", "paid"] as const)(
  "a payment whose batch is %s says so, and the batch's own date",
  (status) => {
    const batch = { uuid: exampleIds.settlement, status, payoutDate: "2027-02-01" };
    const view = statusView({ ...aPayment({ status: "succeeded" }), batch }, DAY);
    expect(view.settlement).toEqual({ status, estimated_date: "2027-02-01" });
    expect(view.settlement_uuid).toBe(exampleIds.settlement);
  },
);

test("a payment that no batch can take has no date", () => {
  const view = paymentStatusSchema.parse(statusView(aPayment({ status: "succeeded" }), null));
  expect(view.settlement).toEqual({ status: "pending", estimated_date: null });
});

test.each(paymentStatuses)(
  "how a %s payment is paid is shown while it can be, and in no answer after that; an expired one says when its time ended",
  (status) => {
    const payment = aPayment({ status });
    for (const view of [statusView(payment, DAY), eventView(payment)]) {
      expect([view.instructions, view.expires_at]).toEqual([
        status === "pending" ? payment.instructions : undefined,
        status === "pending" || status === "expired" ? "2027-01-15T08:30:00Z" : undefined,
      ]);
    }
  },
);

test("a pending payment whose acquirer has not answered says that there is no way to pay it yet", () => {
  expect(statusView(aPayment({ instructions: undefined }), DAY).instructions).toBeNull();
});

test.each([
  ["IDR", 2],
  ["JPY", 0],
  ["KWD", 3],
  ["CLF", 4],
])("%s has exponent %i", (currency, exponent) => {
  for (const view of [(one: Payment) => createdView(one, PAGE), eventView])
    expect(view(aPayment({ currency }))).toMatchObject({ currency, exponent });
});

test.each([
  ["its reason", "out of stock", "out of stock"],
  ["none", undefined, null],
])("a cancel answers four fields, with %s", (_what, cancelReason, reason) => {
  const payment = aPayment({ status: "canceled", cancelReason });
  expect(canceledPaymentSchema.parse(canceledView(payment))).toEqual({
    reference: payment.reference,
    status: "canceled",
    canceled_at: wireTime(NOW - 60 * SECOND),
    reason,
  });
  expect(() => canceledView(aPayment())).toThrow(/is not canceled/);
});

test("whatever the amount, amounts are exact and add up, and times have whole seconds", () => {
  const amounts = fc.bigInt({ min: 1n, max: 9_007_199_254_740_991n });
  fc.assert(
    fc.property(amounts, fc.nat(10_000), fc.nat(999_999), (amountMinor, share, micros) => {
      const feeMinor = (amountMinor * BigInt(share)) / 10_000n;
      const at = NOW + micros;
      const payment = aPayment({
        amountMinor,
        feeMinor,
        createdAt: at,
        updatedAt: at,
        expiresAt: at,
        status: "failed",
      });
      const view = createdPaymentSchema.parse(JSON.parse(JSON.stringify(createdView(payment, PAGE))));
      expect(BigInt(view.amount_minor)).toBe(amountMinor);
      expect(BigInt(view.fee_minor) + BigInt(view.net_minor)).toBe(amountMinor);
      for (const time of [view.created_at, view.updated_at, view.expires_at]) expect(time).toBe("2027-01-15T08:00:00Z");
    }),
  );
});

test("the event of a creation carries the payment's view in the envelope of section 6.2", () => {
  given()
    .when(creating({ metadata: { table: "4" } }))
    .then((changes, { payment }) => {
      const [event] = changes.inserted(events);
      expect(JSON.parse(event?.body ?? "")).toEqual({
        id: event?.eventId,
        type: "payment.created",
        created_at: "2027-01-15T08:00:00Z",
        environment: "sandbox",
        api_version: "v1",
        data: eventView(payment),
      });
      expect(event?.subjectId).toBe(payment.reference);
      expect(paymentEventSchema.parse(eventView(payment)).metadata).toEqual({ table: "4" });
    });
});
