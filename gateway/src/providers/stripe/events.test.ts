// Goal: an event tells where to look, and hardly anything else. Method: every type that their page lists for us, and its odd forms.
import { expect, test } from "vitest";
import { Fault } from "../../ground/fault.ts";
import { eventTypes, heardOf } from "./events.ts";
import { checkoutSession, dispute, refund } from "../../../test/stripe-fixtures.ts";

const account = { live: false, plainOnLoopback: false };
const event = (type: string, object: Record<string, unknown>, change: Record<string, unknown> = {}): Buffer =>
  Buffer.from(JSON.stringify({ id: "evt_1", object: "event", type, livemode: false, data: { object }, ...change }));

function reports(body: Buffer): unknown {
  const heard = heardOf(body, account);
  return heard.kind === "reports" ? heard.reports : heard.kind;
}

const page = checkoutSession({ metadata: { operation_key: "k1.stripe.1" } });

test.each([
  "checkout.session.completed",
  "checkout.session.async_payment_succeeded",
  "checkout.session.async_payment_failed",
  "checkout.session.expired",
])("%s is looked at before it is believed", (type) => {
  const paid = { ...page, status: "complete", payment_status: "paid" };
  expect(reports(event(type, paid))).toEqual([{ kind: "look", operationKey: "k1.stripe.1" }]);
});

const ours = refund({ metadata: { operation_key: "r1.stripe.1" } });

test.each([
  ["refund.created", "pending", { kind: "look", operationKey: "r1.stripe.1" }],
  ["refund.updated", "succeeded", { kind: "look", operationKey: "r1.stripe.1" }],
  ["charge.refund.updated", "succeeded", { kind: "look", operationKey: "r1.stripe.1" }],
  ["refund.updated", "something_new", { kind: "look", operationKey: "r1.stripe.1" }],
  ["refund.updated", "canceled", { kind: "refund", operationKey: "r1.stripe.1", status: "failed" }],
  ["refund.failed", "failed", { kind: "refund", operationKey: "r1.stripe.1", status: "failed" }],
])("%s of a refund that is %s", (type, status, expected) => {
  expect(reports(event(type, { ...ours, status }))).toEqual([expected]);
});

const theirs = refund({ metadata: {}, payment_intent: "pi_1" });

test.each([
  ["made in their dashboard", theirs],
  ["of another program", { ...theirs, metadata: { operation_key: "No!" } }],
  ["without metadata", refund({ payment_intent: "pi_1" })],
  ["that is pending", { ...theirs, status: "pending" }],
  ["of no status", { ...theirs, status: null }],
])("a refund %s is told by their name for its payment", (_name, object) => {
  expect(reports(event("refund.created", object))).toEqual([
    { kind: "refund_elsewhere", paymentOperationKey: "pi_1", refundId: theirs.id },
  ]);
});

const contested = dispute({ payment_intent: "pi_1", amount: 100, currency: "idr", status: "needs_response" });

test.each([
  "charge.dispute.created",
  "charge.dispute.updated",
  "charge.dispute.closed",
  "charge.dispute.funds_withdrawn",
  "charge.dispute.funds_reinstated",
])("%s tells how the dispute of their payment stands", (type) => {
  expect(reports(event(type, contested))).toMatchObject([
    {
      kind: "dispute",
      paymentOperationKey: "pi_1",
      dispute: { id: contested.id, status: "open" },
    },
  ]);
});

test.each([
  ["a page of another program", "checkout.session.completed", checkoutSession({ metadata: {} })],
  ["a page of nobody", "checkout.session.completed", checkoutSession({})],
  ["a key that is none of ours", "checkout.session.completed", checkoutSession({ metadata: { operation_key: "No!" } })],
  ["a refund of a charge without a payment_intent", "refund.created", { ...theirs, payment_intent: null }],
  ["a refund made in their dashboard that has failed", "refund.created", { ...theirs, status: "failed" }],
  ["what becomes of such a refund", "refund.updated", theirs],
  ["an inquiry of a bank", "charge.dispute.created", { ...contested, status: "warning_needs_response" }],
  ["a dispute of a charge without a payment_intent", "charge.dispute.created", { ...contested, payment_intent: null }],
  ["an event nobody asked for", "customer.created", { metadata: { operation_key: "k1.stripe.1" } }],
])("%s is answered and changes nothing", (_name, type, object) => {
  const heard = heardOf(event(type, object), account);
  expect(heard).toMatchObject({ kind: "reply", reply: { status: 200, body: '{"received":true}' } });
});

test("whatever becomes of a report, they need not repeat it", () => {
  const heard = heardOf(event("checkout.session.completed", page), account);
  if (heard.kind !== "reports") throw new Error("no report");
  for (const taken of ["taken", "unknown operation", "refused"] as const) expect(heard.reply?.(taken).status).toBe(200);
});

test.each([
  ["no JSON", Buffer.from("<html>"), "MALFORMED_JSON"],
  ["a key that is there twice", Buffer.from('{"id":"evt_1","id":"evt_2"}'), "MALFORMED_JSON"],
  ["no event", Buffer.from('{"object":"v2.core.event"}'), "VALIDATION_ERROR"],
  ["live money at a test address", event("checkout.session.completed", page, { livemode: true }), "VALIDATION_ERROR"],
  ["no object", event("checkout.session.completed", page, { data: {} }), "VALIDATION_ERROR"],
  ["a dispute that cannot be read", event("charge.dispute.created", { id: "du_1" }), "VALIDATION_ERROR"],
  [
    "a dispute of a status nobody has documented",
    event("charge.dispute.updated", { ...contested, status: "prevented" }),
    "VALIDATION_ERROR",
  ],
])("%s is refused with %s", (_name, body, code) => {
  let fault: unknown;
  try {
    heardOf(body, account);
  } catch (error) {
    fault = error;
  }
  expect(fault).toBeInstanceOf(Fault);
  expect((fault as Fault).code).toBe(code);
});

test("the guide's list of events is the code's", () => {
  expect(eventTypes).toHaveLength(13);
});
