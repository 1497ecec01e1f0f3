// What we ask of Midtrans, method by method, as its documentation's examples ask it.
import { describe, expect, test } from "vitest";
import { AcquirerRefused } from "../../acquirers/acquirer.ts";
import { type Micros, SECOND } from "../../ground/clock.ts";
import { type Order, chargeBody, headersOf, jakartaTime, pageBody, refundBody } from "./requests.ts";

/** 2026-11-23T14:07:00Z. */
const NOW: Micros = 1_795_442_820 * SECOND;
const MINUTE = 60 * SECOND;

const order: Order = {
  orderId: "exam.1.s1",
  reference: "pay_01ksz3v0fm8m2k2ry6e5q4t7ag",
  method: "qris",
  channel: "gopay",
  amountMinor: 15_000_000n,
  currency: "IDR",
  expiresAt: NOW + 60 * MINUTE,
  finishUrl: "https://pay.example/p/1",
};
const common = {
  transaction_details: { order_id: "exam.1.s1", gross_amount: 150_000 },
  custom_expiry: { order_time: "2026-11-23 21:07:00 +0700", expiry_duration: 3_600, unit: "second" },
  custom_field1: "pay_01ksz3v0fm8m2k2ry6e5q4t7ag",
};

describe("a charge", () => {
  test.each([
    ["qris", "gopay", { payment_type: "qris", qris: { acquirer: "gopay" } }],
    ["qris", "shopeepay", { payment_type: "qris", qris: { acquirer: "airpay shopee" } }],
    ["va", "bca", { payment_type: "bank_transfer", bank_transfer: { bank: "bca" } }],
    ["va", "bni", { payment_type: "bank_transfer", bank_transfer: { bank: "bni" } }],
    ["va", "bri", { payment_type: "bank_transfer", bank_transfer: { bank: "bri" } }],
    ["va", "permata", { payment_type: "bank_transfer", bank_transfer: { bank: "permata" } }],
    ["va", "cimb", { payment_type: "bank_transfer", bank_transfer: { bank: "cimb" } }],
    [
      "va",
      "mandiri",
      {
        payment_type: "echannel",
        echannel: { bill_info1: "Payment:", bill_info2: "pay_01ksz3v0fm8m2k2ry6e5q4t7ag" },
      },
    ],
    [
      "ewallet",
      "gopay",
      { payment_type: "gopay", gopay: { enable_callback: true, callback_url: "https://pay.example/p/1" } },
    ],
    ["ewallet", "shopeepay", { payment_type: "shopeepay", shopeepay: { callback_url: "https://pay.example/p/1" } }],
  ] as const)("by %s through %s", (method, channel, expected) => {
    expect(chargeBody({ ...order, method, channel }, NOW)).toEqual({ ...expected, ...common });
  });

  test.each([
    ["a part of a rupiah", { amountMinor: 15_005_001n }, "whole rupiah only"],
    ["another currency", { currency: "USD" }, "no USD"],
    ["less than twenty seconds", { expiresAt: NOW + 20 * SECOND - 1 }, "less than 20 seconds"],
    ["a payment that is over", { expiresAt: NOW - 1 }, "less than 20 seconds"],
    ["a card", { method: "card", channel: "card" }, "no card"],
  ] as const)("is refused before anything is sent for %s", (_, change, message) => {
    const refused = (): object => chargeBody({ ...order, ...change }, NOW);
    expect(refused).toThrow(AcquirerRefused);
    expect(refused).toThrow(message);
  });

  test("ends with the payment, and not a second before", () => {
    const body = chargeBody({ ...order, expiresAt: NOW + 90_200_000 }, NOW) as typeof common;
    expect(body.custom_expiry.expiry_duration).toBe(91);
  });
});

describe("a page for a card", () => {
  test("takes a card alone, with 3-D Secure, and leads back", () => {
    expect(pageBody({ ...order, method: "card", channel: "card" }, NOW)).toEqual({
      transaction_details: common.transaction_details,
      enabled_payments: ["credit_card"],
      credit_card: { secure: true },
      callbacks: { finish: "https://pay.example/p/1" },
      expiry: { start_time: "2026-11-23 21:07:00 +0700", unit: "minutes", duration: 60 },
      custom_field1: common.custom_field1,
    });
  });

  test.each([
    [1, "2026-11-23 21:03:00 +0700", 5],
    [5, "2026-11-23 21:07:00 +0700", 5],
    [1440, "2026-11-23 21:07:00 +0700", 1440],
  ])("of a payment of %i minutes ends when it does, though a page lives at least five", (minutes, start, duration) => {
    const body = pageBody({ ...order, expiresAt: NOW + minutes * MINUTE }, NOW) as { expiry: object };
    expect(body.expiry).toEqual({ start_time: start, unit: "minutes", duration });
  });

  test("is refused for a payment that is over, and for what is no whole rupiah", () => {
    expect(() => pageBody({ ...order, expiresAt: NOW }, NOW)).toThrow(AcquirerRefused);
    expect(() => pageBody({ ...order, amountMinor: 150_050n + 1n }, NOW)).toThrow(AcquirerRefused);
  });
});

test("a refund names its key and whole rupiah", () => {
  expect(refundBody("exam_1_s1", 500_000n, "IDR")).toEqual({
    refund_key: "exam_1_s1",
    amount: 5_000,
    reason: "refund",
  });
  expect(() => refundBody("exam_1_s1", 500_050n, "IDR")).toThrow("whole rupiah only");
});

test("a time is written as of Jakarta, over midnight too", () => {
  expect(jakartaTime(NOW + 3 * 3_600 * SECOND)).toBe("2026-11-24 00:07:00 +0700");
});

test("the server key is the user name of Basic authentication, with an empty password", () => {
  // https://docs.midtrans.com/docs/api-authorization-headers: base64 of the key and a colon.
  const headers = headersOf("SB-Mid-server-abc123cde456", { idempotencyKey: "k", notifyUrl: "https://g.example/cb" });
  expect(headers).toEqual({
    accept: "application/json",
    "content-type": "application/json",
    authorization: "Basic U0ItTWlkLXNlcnZlci1hYmMxMjNjZGU0NTY6",
    "idempotency-key": "k",
    "x-override-notification": "https://g.example/cb",
  });
  expect(Object.keys(headersOf("key"))).toEqual(["accept", "content-type", "authorization"]);
});

test.each([
  ["http://127.0.0.1:41234/acquirers/examined/callbacks", false, undefined],
  ["http://g.example/cb", false, undefined],
  ["https://g.example/cb", false, "https://g.example/cb"],
  ["http://127.0.0.1:41234/cb", true, "http://127.0.0.1:41234/cb"],
])("of the address %s for notifications (a fake: %s) they are told %s", (notifyUrl, plain, expected) => {
  expect(headersOf("k", { notifyUrl, plain })["x-override-notification"]).toBe(expected);
});
