// Goal: nothing of an answer is believed beyond what was asked for. Method: their documented example, one change at a time.
import { expect, test } from "vitest";
import type { OpenRequest, RefundRequest } from "../../acquirers/acquirer.ts";
import { OtherMoney } from "../../acquirers/other-money.ts";
import { SECOND } from "../../ground/clock.ts";
import {
  among,
  checkEnded,
  disputeOf,
  fileIdOf,
  isLive,
  isSubmitted,
  pageOf,
  paymentIntentOf,
  refundOf,
} from "./answers.ts";
import { checkoutSession, dispute, paidIntent, refund } from "../../../test/stripe-fixtures.ts";

const account = { live: false, plainOnLoopback: false };
const request: OpenRequest = {
  reference: "pay_1",
  operationKey: "k1.stripe.1",
  amountMinor: 150_050n,
  currency: "IDR",
  method: "card",
  merchantName: "Toko",
  expiresAt: 1_795_442_400 * SECOND,
  payUrl: "https://pay.example/pay/abc",
  returnUrl: undefined,
  metadata: undefined,
  callbackUrl: "https://pay.example/acquirers/stripe/callbacks",
  round: 0,
  isOver: false,
  providerIds: undefined,
};
const open = checkoutSession({ metadata: { operation_key: "k1.stripe.1" }, amount_total: 150_050, currency: "idr" });
const paid = { ...open, status: "complete", payment_status: "paid", url: null, payment_intent: "pi_1" };

test("an open page waits, at its address", () => {
  expect(pageOf(open, request, account)).toEqual({
    id: open.id,
    isOpen: true,
    known: {
      known: true,
      instructions: {
        type: "redirect",
        value: open.url,
        redirect_url: open.url,
        expires_at: "2026-11-23T14:00:00Z",
      },
      state: { status: "waiting" },
      providerIds: { session: open.id },
    },
  });
});

test("a paid page gives its money, by the name of their payment", () => {
  const { known } = pageOf(paid, request, account);
  expect(known.state).toEqual({
    status: "paid",
    receipt: { transactionId: "pi_1", amountMinor: 150_050n, currency: "IDR" },
  });
  expect(known.providerIds).toEqual({ session: open.id, payment_intent: "pi_1", account: "pi_1" });
  expect(known.instructions.value).toBe(request.payUrl);
});

test.each([
  [
    "what was received counts, and a fee in the same currency",
    paidIntent({}),
    { amountMinor: 150_050n, feeMinor: 4_401n },
  ],
  ["a fee in another currency says nothing", paidIntent({ feeCurrency: "sgd" }), { amountMinor: 150_050n }],
  ["a fee that is not booked yet", paidIntent({ feeCurrency: undefined }), { amountMinor: 150_050n }],
  ["less than was asked for", paidIntent({ amount_received: 150_000 }), { amountMinor: 150_000n, feeMinor: 4_401n }],
])("%s", (_name, intent, expected) => {
  const { state } = pageOf({ ...paid, payment_intent: intent }, request, account).known;
  expect(state).toEqual({ status: "paid", receipt: { transactionId: "pi_1", currency: "IDR", ...expected } });
});

test.each([{ fee: -4_401 }, { fee: 4_401.5 }, { fee: null }, { currency: null }])(
  "a fee that cannot be read says nothing, and the money counts: %j",
  (change) => {
    const { latest_charge, ...intent } = paidIntent({}) as { latest_charge: { balance_transaction: object } };
    const balance_transaction = { ...latest_charge.balance_transaction, ...change };
    const page = { ...paid, payment_intent: { ...intent, latest_charge: { ...latest_charge, balance_transaction } } };
    const receipt = { transactionId: "pi_1", currency: "IDR", amountMinor: 150_050n };
    expect(pageOf(page, request, account).known.state).toEqual({ status: "paid", receipt });
  },
);

test("a fee that their units write finer than ours says nothing, and the money counts", () => {
  const krona = { ...paidIntent({ amount_received: 150_000, feeCurrency: "isk" }), currency: "isk" };
  const page = { ...paid, amount_total: 150_000, currency: "isk", payment_intent: krona };
  const { state } = pageOf(page, { ...request, amountMinor: 1_500n, currency: "ISK" }, account).known;
  expect(state).toEqual({ status: "paid", receipt: { transactionId: "pi_1", currency: "ISK", amountMinor: 1_500n } });
});

test.each([
  ["open", "unpaid", "waiting"],
  ["complete", "unpaid", "processing"],
  ["expired", "unpaid", "failed"],
])("a page that is %s and %s is %s", (status, payment_status, expected) => {
  expect(pageOf({ ...open, status, payment_status }, request, account).known.state).toEqual({ status: expected });
});

test.each([
  ["expired", "unpaid", undefined],
  ["open", "unpaid", "is waiting"],
  ["complete", "unpaid", "is processing"],
  ["complete", "paid", "is paid"],
])("a closing that is answered with a page that is %s and %s leaves: %s", (status, payment_status, left) => {
  const page = pageOf({ ...open, status, payment_status, payment_intent: "pi_1" }, request, account);
  const end = () => checkEnded(page, open.id);
  if (left === undefined) expect(end).not.toThrow();
  else expect(end).toThrow(left);
  expect(() => checkEnded(page, "cs_test_2")).toThrow("it is another one");
});

test("money of another amount or currency is given as they say it: it counts for nothing, and is seen", () => {
  const { state } = pageOf({ ...paid, amount_total: 1, currency: "usd" }, request, account).known;
  expect(state).toMatchObject({ receipt: { amountMinor: 1n, currency: "USD" } });
});

test("money in an unknown currency, in a part of its smallest unit or without a name is told to a person", () => {
  const intent = { id: "pi_1", status: "succeeded", amount_received: 150_050, currency: "idr" };
  for (const change of [{ currency: "xxx" }, { payment_intent: { ...intent, currency: "xxx" } }])
    expect(() => pageOf({ ...paid, ...change }, request, account)).toThrow(OtherMoney);
  const half = { ...paid, payment_intent: "pi_1", amount_total: 150, currency: "ugx" };
  expect(() => pageOf(half, request, account)).toThrow(OtherMoney);
  expect(() => pageOf({ ...paid, payment_intent: null }, request, account)).toThrow(OtherMoney);
  // Nothing was paid yet.
  expect(() => pageOf({ ...open, amount_total: 150_051 }, request, account)).not.toThrow(OtherMoney);
});

test.each([
  ["open", { status: "open" }],
  ["expired", { status: "expired" }],
  ["in a state that nobody has documented", { status: "frozen" }],
  ["of an amount that is none", { amount_total: null }],
  ["of an amount with decimals", { amount_total: Symbol("150050.00") }],
  ["of a currency that is none", { currency: null }],
  ["through something that is no payment", { payment_intent: { id: "pi_1", status: "succeeded" } }],
])("a page that is paid and %s is told to a person, if it is ours", (_which, change) => {
  const read = (more: object) => expect(() => pageOf({ ...paid, ...change, ...more }, request, account));
  read({}).toThrow(OtherMoney);
  read({ metadata: { operation_key: "k2.stripe.1" } }).not.toThrow(OtherMoney);
  read({ livemode: true }).not.toThrow(OtherMoney);
});

test.each([{ amount: 50_051 }, { currency: "usd" }, { currency: "xxx" }])(
  "a refund of other money is told to a person unless it failed: %j",
  (change) => {
    const read = (status: string) => () => refundOf({ ...refunded, ...change, status }, refundRequest);
    for (const status of ["pending", "requires_action", "succeeded"]) expect(read(status)).toThrow(OtherMoney);
    for (const status of ["failed", "canceled"]) expect(read(status)).toThrow("Stripe");
    expect(read("failed")).not.toThrow(OtherMoney);
    expect(() => refundOf({ ...refunded, ...change, metadata: {} }, refundRequest)).not.toThrow(OtherMoney);
  },
);

test.each([
  ["no object", undefined, "expected object"],
  ["an error", { error: { type: "api_error" } }, "id"],
  ["another object", { ...open, object: "setup_intent" }, "object"],
  ["another mode", { ...open, mode: "subscription" }, "mode"],
  ["another key", { ...open, metadata: { operation_key: "k2.stripe.1" } }, "operation_key is another one"],
  ["no metadata", { ...open, metadata: null }, "operation_key is another one"],
  ["live money", { ...open, livemode: true }, "livemode"],
  ["another amount", { ...open, amount_total: 150_051 }, "amount is another one"],
  ["another currency", { ...open, currency: "usd" }, "currency is another one"],
  ["a fraction", { ...open, amount_total: Symbol("1500.5") }, "amount_total"],
  ["a status that nobody has documented", { ...open, status: "frozen" }, "status"],
  [
    "a payment that was not required",
    { ...open, status: "complete", payment_status: "no_payment_required" },
    "it is complete and no_payment_required",
  ],
  ["an open page that is paid", { ...open, payment_status: "paid" }, "it is open and paid"],
  ["an expired page that is paid", { ...paid, status: "expired" }, "it is expired and paid"],
  ["money without a name", { ...paid, payment_intent: null }, "names no payment_intent"],
  [
    "money that is not there yet",
    { ...paid, payment_intent: paidIntent({ status: "processing" }) },
    "its payment_intent processing",
  ],
  ["an open page without an address", { ...open, url: null }, "no url"],
  ["an address that is no web page", { ...open, url: "javascript:alert(1)" }, "is no https address"],
  ["an address without TLS", { ...open, url: "http://127.0.0.1/pay" }, "is no https address"],
  ["a name that is too long", { ...open, id: `cs_${"x".repeat(253)}` }, "id"],
])("%s is not believed", (_name, body, reason) => {
  expect(() => pageOf(body as Record<string, unknown> | undefined, request, account)).toThrow(reason);
});

test("a page on this machine may be plain where the provider is a fake on this machine", () => {
  const url = "http://127.0.0.1:9/pay/cs_1";
  expect(pageOf({ ...open, url }, request, { ...account, plainOnLoopback: true }).known.instructions.value).toBe(url);
});

test("a refund needs the payment_intent of the right page", () => {
  expect(paymentIntentOf(paid, "k1.stripe.1", account)).toBe("pi_1");
  expect(() => paymentIntentOf(paid, "k2.stripe.1", account)).toThrow("not the paid page");
  expect(() => paymentIntentOf(open, "k1.stripe.1", account)).toThrow("not the paid page");
});

const refundRequest: RefundRequest = {
  operationKey: "r1.stripe.1",
  paymentOperationKey: "k1.stripe.1",
  paymentProviderIds: { session: "cs_1", payment_intent: "pi_1" },
  isOver: false,
  paymentAmountMinor: 150_050n,
  method: "card",
  amountMinor: 50_050n,
  currency: "IDR",
  callbackUrl: "https://pay.example/acquirers/stripe/callbacks",
  providerIds: undefined,
};
const refunded = refund({
  metadata: { operation_key: "r1.stripe.1" },
  amount: 50_050,
  currency: "idr",
  payment_intent: "pi_1",
});

test.each([
  ["pending", "pending"],
  ["requires_action", "pending"],
  ["succeeded", "succeeded"],
  ["failed", "failed"],
  ["canceled", "failed"],
])("a refund that is %s there is %s here", (theirs, status) => {
  expect(refundOf({ ...refunded, status: theirs }, refundRequest)).toEqual({
    status,
    providerIds: { refund: refunded.id },
  });
});

test.each([
  ["another key", { metadata: { operation_key: "r2" } }, "operation_key"],
  ["another amount", { amount: 50_051 }, "amount is another one"],
  ["another currency", { currency: "usd" }, "currency is another one"],
  ["another payment", { payment_intent: "pi_2" }, "another payment"],
  ["a status that nobody has documented", { status: "constructor" }, "status is not known"],
  ["no status", { status: null }, "status is not known"],
  ["another object", { object: "charge" }, "object"],
])("a refund with %s is not believed", (_name, change, reason) => {
  expect(() => refundOf({ ...refunded, ...change }, refundRequest)).toThrow(reason);
});

test("a refund is found in the list by our key, page after page", () => {
  const other = refund({ id: "re_9", metadata: {} });
  const list = (data: unknown[], has_more: boolean) => ({ object: "list", data, has_more });
  expect(among(list([other, refunded], true), "r1.stripe.1")).toEqual({ found: refunded });
  expect(among(list([other], true), "r1.stripe.1")).toEqual({ after: "re_9" });
  expect(among(list([other], false), "r1.stripe.1")).toEqual({});
  expect(among(list([], true), "r1.stripe.1")).toEqual({});
  expect(() => among({ object: "list", data: "?" }, "r1.stripe.1")).toThrow("a list");
});

test("a page is found in the list by our key", () => {
  const list = { object: "list", data: [checkoutSession({ id: "cs_9", metadata: null }), open], has_more: false };
  expect(among(list, "k1.stripe.1")).toEqual({ found: open });
  expect(among({ ...list, data: [list.data[0]], has_more: true }, "k1.stripe.1")).toEqual({ after: "cs_9" });
});

const contested = dispute({ payment_intent: "pi_1", amount: 150_050, currency: "idr", status: "needs_response" });

test.each([
  ["needs_response", "open"],
  ["under_review", "under_review"],
  ["appeal_needs_response", "appealed"],
  ["appeal_under_review", "appealed"],
  ["won", "won"],
  ["lost", "lost"],
])("a dispute that is %s there is %s here", (status, expected) => {
  expect(disputeOf({ ...contested, status }, account)).toEqual({
    paymentIntent: "pi_1",
    dispute: {
      id: contested.id,
      status: expected,
      amountMinor: 150_050n,
      currency: "IDR",
      reason: "general",
      respondBy: 1_723_679_999 * SECOND,
    },
  });
});

test.each(["warning_needs_response", "warning_under_review", "warning_closed"])(
  "%s moves no money, and is no dispute",
  (status) => {
    expect(disputeOf({ ...contested, status }, account)).toBeUndefined();
  },
);

test.each([
  ["fraudulent", "fraudulent"],
  ["product_not_received", "product_not_received"],
  ["unrecognized", "general"],
  ["subscription_canceled", "general"],
])("the reason %s is %s here", (reason, expected) => {
  expect(disputeOf({ ...contested, reason }, account)?.dispute.reason).toBe(expected);
});

test.each([0, null])("evidence that the bank does not take has no day (%s)", (due_by) => {
  const evidence_details = { due_by, submission_count: 0 };
  expect(disputeOf({ ...contested, evidence_details }, account)?.dispute.respondBy).toBeUndefined();
});

test.each([
  ["prevented", { status: "prevented" }, "status is not known"],
  ["live", { livemode: true }, "livemode"],
  ["in a currency nobody knows", { currency: "xxx" }, "not known"],
])("a dispute that is %s is not believed", (_name, change, reason) => {
  expect(() => disputeOf({ ...contested, ...change }, account)).toThrow(reason);
});

test("evidence counts as submitted only with our key and their count", () => {
  const asked = { disputeId: contested.id, operationKey: "d1" };
  const submitted = {
    ...contested,
    metadata: { operation_key: "d1" },
    evidence_details: { due_by: 1, submission_count: 1 },
  };
  expect(isSubmitted(submitted, asked)).toBe(true);
  expect(isSubmitted({ ...submitted, metadata: {} }, asked)).toBe(false);
  expect(isSubmitted({ ...submitted, evidence_details: { due_by: 1, submission_count: 0 } }, asked)).toBe(false);
  expect(() => isSubmitted(submitted, { ...asked, disputeId: "du_2" })).toThrow("another one");
});

test("a file that did not arrive whole is not handed on", () => {
  const file = { id: "file_1", object: "file", purpose: "dispute_evidence", size: 3 };
  expect(fileIdOf(file, Buffer.from("abc"))).toBe("file_1");
  expect(() => fileIdOf(file, Buffer.from("abcd"))).toThrow("size");
  expect(() => fileIdOf({ ...file, purpose: "identity_document" }, Buffer.from("abc"))).toThrow("purpose");
});

test("a balance says which mode the keys are of", () => {
  expect(isLive({ object: "balance", livemode: true, available: [] })).toBe(true);
  expect(() => isLive({ object: "account" })).toThrow("a balance");
});
