// Goal: a notification says what happened and nothing more. Method: documented ones, each mistake by itself, and what is not ours.
import { expect, test } from "vitest";
import {
  KEY,
  PAYMENT,
  PAYMENT_REQUEST,
  REFUND,
  REFUND_KEY,
  dispute,
  event,
  payment,
  paymentRequest,
  refund,
  session,
} from "../../../test/xendit-fixtures.ts";
import { disputeStatuses, readWebhook } from "./webhooks.ts";

/** A notification without its words. */
function read(body: Buffer) {
  const { message: _, ...heard } = readWebhook(body);
  return heard;
}

const look = (operationKey: string) => ({ kind: "reports", reports: [{ kind: "look", operationKey }] });

test.for<[string, Record<string, unknown>, string]>([
  ["payment.capture", payment(), KEY],
  ["payment.failure", payment({ status: "FAILED", failure_code: "INSUFFICIENT_BALANCE" }), KEY],
  ["payment.authorization", payment({ status: "AUTHORIZED", channel_code: "CARDS" }), KEY],
  ["payment_session.completed", session({ status: "COMPLETED", payment_id: PAYMENT }), KEY],
  ["payment_session.expired", session({ status: "EXPIRED" }), KEY],
  ["payment_request.expiry", paymentRequest({ status: "EXPIRED" }), KEY],
  ["refund.succeeded", refund({ status: "SUCCEEDED" }), REFUND_KEY],
  ["refund.failed", refund({ status: "FAILED", failure_code: "REFUND_FAILED" }), REFUND_KEY],
])("%s says where to look, and is not believed: nothing signs it", ([name, data, key]) => {
  expect(read(event(name, data))).toEqual(look(key));
});

test.for([
  ["a name of theirs", { reference_id: "90392F42-d98a-49ef-a7f3-abcezas123" }],
  ["a name that has the form of ours, and not of a refund", { reference_id: KEY }],
  ["no name", { reference_id: null }],
] as const)(
  "a refund under %s was made in their dashboard, and is told by their name for its payment",
  ([, change]) => {
    expect(read(event("refund.succeeded", refund({ status: "SUCCEEDED", ...change })))).toMatchObject({
      kind: "reports",
      reports: [{ kind: "refund_elsewhere", paymentOperationKey: PAYMENT, refundId: REFUND }],
    });
  },
);

test("of a refund that nobody here knows they need not tell again", () => {
  const heard = read(event("refund.succeeded", refund({ reference_id: null })));
  if (heard.kind !== "reports") throw new Error("no report");
  expect(heard.reply?.("unknown operation").status).toBe(200);
});

test.for<[string, Record<string, unknown>, string]>([
  ["another's name", { reference_id: "ref-123456" }, PAYMENT],
  ["another's name of letters and digits alone", { reference_id: "order5123" }, PAYMENT],
  ["no name", { reference_id: null }, PAYMENT],
  ["no name, and no payment", { reference_id: null, payment_id: null }, ""],
  ["no name, and a payment that cannot be read", { reference_id: null, payment_id: "p y" }, ""],
])("a dispute under %s is told by their name for its payment, and kept where that is not known", ([, change, key]) => {
  const heard = read(dispute({ payment_id: PAYMENT, ...change }));
  expect(heard).toMatchObject({ kind: "reports", reports: [{ kind: "dispute", paymentOperationKey: key }] });
  if (heard.kind === "reports") expect(heard.reply?.("unknown operation").status).toBe(200);
});

test.for([{ payment_id: null }, { payment_id: "p y" }])(
  "a refund of others that names no payment is kept: %j",
  (change) => {
    const heard = read(event("refund.succeeded", refund({ reference_id: null, ...change })));
    expect(heard).toMatchObject({ reports: [{ kind: "refund_elsewhere", paymentOperationKey: "" }] });
    if (heard.kind === "reports") expect(heard.reply?.("unknown operation").status).toBe(200);
  },
);

test("an envelope inside the envelope is opened, as the page on refunds shows it", () => {
  const inner = { event: "refund.succeeded", business_id: "5f27a14a9bf05c73dd040bc8", data: refund() };
  expect(read(event("refund.succeeded", inner))).toEqual(look(REFUND_KEY));
});

test.for<[string, Buffer]>([
  ["an event that is not known", event("payment_token.activation", payment())],
  ["a refund of others that has failed", event("refund.failed", refund({ reference_id: null }))],
  ["a reference of another form", event("payment.capture", payment({ reference_id: "90392F42-d98a" }))],
  ["no reference", event("payment.capture", payment({ reference_id: undefined }))],
  ["no data", Buffer.from('{"event":"payment.capture"}')],
])("%s concerns nothing of ours, and is taken so that it is not sent again", ([, body]) => {
  expect(read(body)).toEqual({ kind: "reply", reply: { status: 200, body: '{"received":true}' } });
});

test.for<[string, Buffer, string]>([
  ["MALFORMED_JSON", Buffer.from("<html>"), "no JSON"],
  ["MALFORMED_JSON", Buffer.from("[]"), "no object"],
  ["MALFORMED_JSON", Buffer.from('{"event":"a","event":"b"}'), "a field twice"],
  ["VALIDATION_ERROR", Buffer.from("{}"), "no event"],
  ["VALIDATION_ERROR", Buffer.from('{"event":7}'), "an event that is no text"],
  ["VALIDATION_ERROR", dispute({ status: "REOPENED" }), "a status that is not known"],
  ["VALIDATION_ERROR", dispute({ amount: { initial: "ten" } }), "no amount"],
  ["VALIDATION_ERROR", dispute({ id: "" }), "no id"],
])("%s: %s", ([code, body]) => {
  expect(() => readWebhook(body)).toThrow(expect.objectContaining({ code }));
});

test("what was said is kept for people, without what names or reaches the payer", () => {
  const { message } = readWebhook(event("payment.capture", payment()));
  expect(message).toMatchObject({ about: "notification payment.capture", status: undefined });
  expect(message?.text).toContain(PAYMENT_REQUEST);
  for (const personal of ["John Doe", "2876783233"]) expect(message?.text).not.toContain(personal);
});

test("a dispute is reported with its amount and until when it can be answered", () => {
  expect(read(dispute())).toEqual({
    kind: "reports",
    reports: [
      {
        kind: "dispute",
        paymentOperationKey: KEY,
        dispute: {
          id: "mi-dspt-f44d259f-fd9d-4de9-80de-1eef3f1506b7",
          status: "open",
          amountMinor: 1_000_000n,
          currency: "IDR",
          reason: "fraudulent",
          respondBy: Date.UTC(2026, 2, 15, 19, 50, 51, 724) * 1_000,
        },
      },
    ],
  });
});

test.for([
  [{ status: "ACTION_REQUIRED" }, "open", "fraudulent"],
  [{ status: "UNDER_REVIEW", category: null }, "under_review", "general"],
  [{ status: "WON", status_reason: "CHALLENGED" }, "won", "fraudulent"],
  [{ status: "WON", status_reason: "WITHDRAWN", category: { name: "not_received" } }, "withdrawn", "general"],
  [{ status: "LOST", status_reason: "EXCEEDED_DEADLINE" }, "lost", "fraudulent"],
  [{ status: "LOST", status_reason: "WITHDRAWN" }, "lost", "fraudulent"],
] as const)("a dispute of %o is %s for a reason that is %s", ([change, status, reason]) => {
  expect(read(dispute(change))).toMatchObject({ reports: [{ dispute: { status, reason } }] });
  expect(Object.keys(disputeStatuses)).toContain(change.status);
});
