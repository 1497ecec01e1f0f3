// Goal: the same request is the same bytes each time, and says what Stripe's reference asks for. Method: tables.
import { expect, test } from "vitest";
import type { OpenRequest, RefundRequest } from "../../acquirers/acquirer.ts";
import { type Micros, SECOND } from "../../ground/clock.ts";
import { newId } from "../../ground/ids.ts";
import { headers, isPageEnd, pageEnd, pageOrder, refundOrder, refundsPath, sessionsPath } from "./requests.ts";

const MADE: Micros = 1_795_442_400 * SECOND;
const MINUTE = 60 * SECOND;
const REFERENCE = newId("payment", MADE);

const request: OpenRequest = {
  reference: REFERENCE,
  operationKey: "k1.stripe.1",
  amountMinor: 150_050n,
  currency: "IDR",
  method: "card",
  merchantName: "Toko & Co = 1",
  expiresAt: MADE + 60 * MINUTE,
  payUrl: "https://pay.example/pay/abc",
  returnUrl: undefined,
  metadata: { note: "private" },
  callbackUrl: "https://pay.example/acquirers/stripe/callbacks",
  round: 0,
  isOver: false,
  providerIds: undefined,
};
const fields = (form: string): Record<string, string> => Object.fromEntries(new URLSearchParams(form));

test("a page is ordered for one card payment, with our key wherever it will be looked for", () => {
  expect(fields(pageOrder(request, "automatic", MADE + 60 * MINUTE))).toEqual({
    mode: "payment",
    ui_mode: "hosted_page",
    "payment_method_types[0]": "card",
    "payment_method_options[card][request_three_d_secure]": "automatic",
    "adaptive_pricing[enabled]": "false",
    "automatic_tax[enabled]": "false",
    allow_promotion_codes: "false",
    "line_items[0][quantity]": "1",
    "line_items[0][price_data][currency]": "idr",
    "line_items[0][price_data][unit_amount]": "150050",
    "line_items[0][price_data][product_data][name]": "Toko & Co = 1",
    client_reference_id: REFERENCE,
    "metadata[operation_key]": "k1.stripe.1",
    "metadata[reference]": REFERENCE,
    "payment_intent_data[capture_method]": "automatic",
    "payment_intent_data[description]": REFERENCE,
    "payment_intent_data[metadata][operation_key]": "k1.stripe.1",
    "payment_intent_data[metadata][reference]": REFERENCE,
    success_url: "https://pay.example/pay/abc",
    cancel_url: "https://pay.example/pay/abc",
    expires_at: String((MADE + 60 * MINUTE) / SECOND),
  });
});

test("what the merchant wrote and whom it is about stay with us", () => {
  const form = pageOrder({ ...request, returnUrl: "https://shop.example/thanks?order=1" }, "any", undefined);
  expect(fields(form)).toMatchObject({
    success_url: "https://shop.example/thanks?order=1",
    cancel_url: "https://pay.example/pay/abc",
    "payment_method_options[card][request_three_d_secure]": "any",
  });
  expect(fields(form)).not.toHaveProperty("expires_at");
  expect(form).not.toContain("private");
});

test("a repetition says the same, whatever is known by then", () => {
  const later = { ...request, providerIds: { session: "cs_test_1" } };
  const end = pageEnd(request);
  expect(pageEnd(later)).toBe(end);
  expect(pageOrder(later, "automatic", end)).toBe(pageOrder(request, "automatic", end));
});

test.each([
  [1, 35],
  [30, 35],
  [35, 35],
  [36, 36],
  [1440, 1440],
])("the page of a payment of %i minutes closes %i minutes after it was made", (lifetime, closes) => {
  expect(pageEnd({ reference: REFERENCE, expiresAt: MADE + lifetime * MINUTE })).toBe(MADE + closes * MINUTE);
});

test("a reference that tells no time gives the payment's own end", () => {
  expect(pageEnd({ reference: "order-1", expiresAt: MADE })).toBe(MADE);
});

test.each([
  [30 * 60 + 29, false],
  [30 * 60 + 30, true],
  [24 * 3600 - 30, true],
  [24 * 3600 - 29, false],
  [-1, false],
])("a page that ends in %i seconds is taken by them: %s", (seconds, taken) => {
  expect(isPageEnd(MADE + seconds * SECOND, MADE)).toBe(taken);
});

const refund: RefundRequest = {
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

test("a refund names the payment, its amount and our key", () => {
  expect(fields(refundOrder(refund, "pi_1"))).toEqual({
    payment_intent: "pi_1",
    amount: "50050",
    "metadata[operation_key]": "r1.stripe.1",
  });
  expect(refundsPath("pi_1", undefined)).toBe("/v1/refunds?payment_intent=pi_1&limit=100");
  expect(refundsPath("pi_1", "re_9")).toBe("/v1/refunds?payment_intent=pi_1&limit=100&starting_after=re_9");
  expect(sessionsPath("cs_9")).toBe("/v1/checkout/sessions?limit=100&starting_after=cs_9");
});

test("each request has the key, the pinned version, and the idempotency key where it makes something", () => {
  expect(headers("sk_test_1", "k1.stripe.1")).toEqual({
    authorization: "Bearer sk_test_1",
    "stripe-version": "2026-10-28.endive",
    accept: "application/json",
    "idempotency-key": "k1.stripe.1",
  });
  expect(headers("sk_test_1")).not.toHaveProperty("idempotency-key");
});
