// Goal: what is asked of Xendit is what its documentation shows, and the same each time. Method: one request of each kind, whole.
import { expect, test } from "vitest";
import { AcquirerRefused } from "../../acquirers/acquirer.ts";
import { KEY, PAYMENT_REQUEST, REFUND_KEY, opening, refunding } from "../../../test/xendit-fixtures.ts";
import { displayName, endingOf, inquiries, openingOf, refundOf } from "./requests.ts";

const options = { qrisExpiry: true };
const asked = (request: Parameters<typeof opening>[0], channel?: string) =>
  openingOf(opening(request), channel, options);

test("a QR code is asked for by a payment request of the version 2024-11-11, under our key", () => {
  expect(asked({})).toEqual({
    method: "POST",
    path: "/v3/payment_requests",
    headers: { "api-version": "2024-11-11", "idempotency-key": KEY },
    body: {
      reference_id: KEY,
      type: "PAY",
      country: "ID",
      currency: "IDR",
      request_amount: 10_000,
      capture_method: "AUTOMATIC",
      channel_code: "QRIS",
      channel_properties: { qr_string_type: "DYNAMIC", expires_at: "2026-11-23T10:00:00Z" },
      description: "Toko Rimba: pay_01arz3ndektsv4rrffq69g5fav",
      metadata: { reference: "pay_01arz3ndektsv4rrffq69g5fav" },
    },
  });
});

test("an account that takes no expiry for QR codes is given none", () => {
  expect(openingOf(opening(), undefined, { qrisExpiry: false }).body?.channel_properties).toEqual({
    qr_string_type: "DYNAMIC",
  });
});

test.for([
  ["va", "bca", "BCA_VIRTUAL_ACCOUNT", { display_name: "Toko Rimba", expires_at: "2026-11-23T10:00:00Z" }],
  ["va", "mandiri", "MANDIRI_VIRTUAL_ACCOUNT", { display_name: "Toko Rimba", expires_at: "2026-11-23T10:00:00Z" }],
  ["ewallet", "ovo", "OVO", { success_return_url: "https://pay.rimba.example/pay/abc" }],
  ["ewallet", "dana", "DANA", { success_return_url: "https://pay.rimba.example/pay/abc" }],
  ["ewallet", "linkaja", "LINKAJA", { success_return_url: "https://pay.rimba.example/pay/abc" }],
  ["ewallet", "shopeepay", "SHOPEEPAY", { success_return_url: "https://pay.rimba.example/pay/abc" }],
] as const)("%s by %s is the channel %s", ([method, channel, code, properties]) => {
  expect(asked({ method }, channel).body).toMatchObject({ channel_code: code, channel_properties: properties });
});

test("a card is paid on Xendit's own page, and no card is asked about", () => {
  const { path, headers, body } = asked({ method: "card", returnUrl: "https://rimba.example/thanks" });
  expect({ path, headers }).toEqual({ path: "/sessions", headers: { "idempotency-key": KEY } });
  expect(body).toEqual({
    reference_id: KEY,
    session_type: "PAY",
    mode: "PAYMENT_LINK",
    allow_save_payment_method: "DISABLED",
    country: "ID",
    currency: "IDR",
    amount: 10_000,
    capture_method: "AUTOMATIC",
    allowed_payment_channels: ["CARDS"],
    expires_at: "2026-11-23T10:00:00Z",
    success_return_url: "https://rimba.example/thanks",
    cancel_return_url: "https://rimba.example/thanks",
    description: "Toko Rimba: pay_01arz3ndektsv4rrffq69g5fav",
    metadata: { reference: "pay_01arz3ndektsv4rrffq69g5fav" },
  });
});

test("our key fits where Xendit allows 64 characters", () => {
  expect(KEY.length).toBeLessThanOrEqual(64);
  expect(asked({ operationKey: "k".repeat(64), method: "card" }).body?.reference_id).toHaveLength(64);
});

test("a return address longer than Xendit takes gives way to the payer's page", () => {
  const long = `https://rimba.example/${"a".repeat(240)}`;
  expect(asked({ method: "ewallet", returnUrl: long }, "ovo").body?.channel_properties).toEqual({
    success_return_url: "https://pay.rimba.example/pay/abc",
  });
});

test("the same request is the same bytes, so that it may be repeated under its key", () => {
  expect(JSON.stringify(asked({ method: "va" }, "bni"))).toBe(JSON.stringify(asked({ method: "va" }, "bni")));
});

test.for([
  [{ amountMinor: 150_050n }, undefined, "whole rupiah"],
  [{ amountMinor: 1n, method: "card" as const }, undefined, "whole rupiah"],
  [{ method: "va" as const }, "ovo", "no va"],
  [{ method: "va" as const }, undefined, "no va"],
  [{ method: "ewallet" as const }, "bca", "no ewallet"],
  [{ method: "bank_transfer" as const }, "bca", "no bank_transfer"],
] as const)("%o by %s is refused before anything is sent", ([change, channel, why]) => {
  expect(() => asked(change, channel)).toThrow(AcquirerRefused);
  expect(() => asked(change, channel)).toThrow(why);
});

test("a refund names the payment, the amount and our key", () => {
  expect(refundOf(refunding(), PAYMENT_REQUEST)).toEqual({
    method: "POST",
    path: "/refunds",
    headers: { "idempotency-key": REFUND_KEY },
    body: {
      reference_id: REFUND_KEY,
      payment_request_id: PAYMENT_REQUEST,
      currency: "IDR",
      amount: 4_000,
      reason: "REQUESTED_BY_CUSTOMER",
    },
  });
});

test("an id of theirs stays one step of a path, whatever it holds", () => {
  expect(inquiries.paymentRequest("../refunds?x").path).toBe("/v3/payment_requests/..%2Frefunds%3Fx");
  expect(inquiries.refunds("pr-1&limit=1", "a b").path).toBe(
    "/refunds?payment_request_id=pr-1%26limit%3D1&limit=50&after_id=a%20b",
  );
});

test.for([
  ["Toko Rimba", "Toko Rimba"],
  ["Café “Élan” & Söhne, 3ème", "Cafe Elan Sohne 3eme"],
  ["東京", "Pembayaran"],
  ["  ", "Pembayaran"],
  ["x".repeat(60), "x".repeat(40)],
] as const)("a bank shows %s as %s", ([name, shown]) => {
  expect(displayName(name)).toBe(shown);
});

test("an end names what was opened, in the version that opened it, and carries no key", () => {
  expect(endingOf({ method: "qris" }, "pr-1/../x")).toEqual({
    method: "POST",
    path: "/v3/payment_requests/pr-1%2F..%2Fx/cancel",
    headers: { "api-version": "2024-11-11" },
  });
  expect(endingOf({ method: "card" }, "ps-1")).toEqual({ method: "POST", path: "/sessions/ps-1/cancel", headers: {} });
});
