// What a notification of Midtrans makes us do: it is verified first, and then only says where to look.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Fault } from "../../ground/fault.ts";
import { notification } from "./notification.ts";
import { orderIdOf, refundKeyOf } from "./names.ts";
import { signatureKeyOf } from "./signature.ts";

const KEY = "SB-Mid-server-1";
const PAYMENT = "pay01ksz3v0fm8m2k2ry6e5q4t7ag.01ksz3v0fnf7krx6a1b2c3d4e5.s1";
const REFUND = "rfd01ksz3v0fp8m2k2ry6e5q4t7ag.01ksz3v0fnf7krx6a1b2c3d4e5.s2";

// https://docs.midtrans.com/docs/https-notification-webhooks, "BNI VA", with an order of ours.
const fields = {
  va_numbers: [{ va_number: "3333000000111111", bank: "bni" }],
  transaction_time: "2021-06-23 11:41:33",
  transaction_status: "settlement",
  transaction_id: "9aed5972-5b6a-401e-894b-a32c91ed1a3a",
  status_message: "midtrans payment notification",
  status_code: "200",
  settlement_time: "2021-06-23 11:42:03",
  payment_type: "bank_transfer",
  payment_amounts: [{ paid_at: "2021-06-23 11:42:02", amount: "150000.00" }],
  order_id: orderIdOf(PAYMENT),
  merchant_id: "G141532850",
  gross_amount: "150000.00",
  fraud_status: "accept",
  currency: "IDR",
};
function signed(change: object = {}): Buffer {
  const body = { ...fields, ...change };
  return Buffer.from(JSON.stringify({ ...body, signature_key: signatureKeyOf(body, KEY) }));
}
function reportsOf(body: Buffer): unknown {
  const heard = notification(body, [KEY]);
  return heard.kind === "reports" ? heard.reports : heard;
}

describe("a notification that is signed", () => {
  test.each(["pending", "settlement", "capture", "expire", "cancel", "deny", "something new"])(
    "of status %s only says that its payment is to be asked about",
    (transaction_status) => {
      const body = signed({ transaction_status, settlement_time: undefined });
      expect(reportsOf(body)).toEqual([{ kind: "look", operationKey: PAYMENT }]);
    },
  );

  test("of refunds says which of ours are to be asked about, each once", () => {
    const refunds = [
      { refund_key: refundKeyOf(REFUND), refund_amount: "5000.00" },
      { refund_key: refundKeyOf(REFUND), refund_amount: "5000.00", bank_confirmed_at: "2021-06-24 11:42:02" },
      { refund_key: "made in their dashboard" },
      null,
      7,
    ];
    expect(reportsOf(signed({ transaction_status: "partial_refund", refunds }))).toEqual([
      { kind: "look", operationKey: PAYMENT },
      { kind: "look", operationKey: REFUND },
    ]);
  });

  test("of a thousand refunds looks at the last fifty", () => {
    const refunds = Array.from({ length: 1_000 }, (_, at) => ({ refund_key: `rfd${at}` }));
    expect(reportsOf(signed({ refunds }))).toHaveLength(51);
  });

  test("of a card's chargeback opens a dispute, and is asked about", () => {
    const body = signed({ transaction_status: "chargeback", payment_type: "credit_card" });
    const dispute = {
      id: "9aed5972-5b6a-401e-894b-a32c91ed1a3a.chargeback",
      status: "open",
      amountMinor: 15_000_000n,
      currency: "IDR",
      reason: "general",
    };
    // The dispute first: whoever looks afterwards knows of it.
    expect(reportsOf(body)).toEqual([
      { kind: "dispute", paymentOperationKey: PAYMENT, dispute },
      { kind: "look", operationKey: PAYMENT },
    ]);
    const elsewhere = signed({ transaction_status: "chargeback", payment_type: "qris" });
    expect(reportsOf(elsewhere)).toEqual([{ kind: "look", operationKey: PAYMENT }]);
  });

  test("of a transfer that the bank took back after it was settled is a dispute that is lost", () => {
    const body = signed({ transaction_status: "deny", status_code: "202", payment_type: "echannel" });
    expect(reportsOf(body)).toContainEqual({
      kind: "dispute",
      paymentOperationKey: PAYMENT,
      dispute: {
        id: "9aed5972-5b6a-401e-894b-a32c91ed1a3a.reversal",
        status: "lost",
        amountMinor: 15_000_000n,
        currency: "IDR",
        reason: "general",
      },
    });
  });

  test("of a transfer that was denied before it was ever settled takes nothing back", () => {
    const denied = { transaction_status: "deny", status_code: "202", payment_type: "echannel" };
    for (const settlement_time of [undefined, null])
      expect(reportsOf(signed({ ...denied, settlement_time }))).toEqual([{ kind: "look", operationKey: PAYMENT }]);
  });

  test.each([
    ["denied transfer", { transaction_status: "deny" }],
    ["denied bill", { transaction_status: "deny", payment_type: "echannel", transaction_id: "another" }],
  ])("of a settlement that somebody has rewritten as a %s takes nothing back: its code is signed", (_, change) => {
    const genuine = JSON.parse(signed().toString()) as object;
    const rewritten = Buffer.from(JSON.stringify({ ...genuine, ...change }));
    expect(reportsOf(rewritten)).toEqual([{ kind: "look", operationKey: PAYMENT }]);
  });

  test.each<[string, object]>([
    ["a number for its name", { transaction_id: 7 }],
    ["a name of two words", { transaction_id: "chargeback 1" }],
    ["a name too long to keep", { transaction_id: "x".repeat(51) }],
    ["an amount with three decimals", { gross_amount: "150000.000" }],
    ["an amount below zero", { gross_amount: "-150000.00" }],
  ])("of a chargeback with %s is looked into, and is no dispute by itself", (_, change) => {
    const chargeback = { transaction_status: "chargeback", payment_type: "credit_card" };
    expect(reportsOf(signed({ ...chargeback, ...change }))).toMatchObject([{ kind: "look" }]);
  });

  test("of an order that is none of ours is told under its own name, which nobody knows", () => {
    expect(reportsOf(signed({ order_id: "Order-5100" }))).toEqual([{ kind: "look", operationKey: "Order-5100" }]);
  });

  test("leaves words for people to read", () => {
    const { message } = notification(signed(), [KEY]);
    expect(message).toMatchObject({ about: "notification settlement", status: undefined });
    expect(message?.text).toContain('"transaction_id"');
    const odd = notification(signed({ transaction_status: "<script>" }), [KEY]);
    expect(odd.message?.about).toBe("notification ?script?");
  });

  test("may be signed with the key before", () => {
    expect(notification(signed(), ["the new key", KEY]).kind).toBe("reports");
  });
});

describe("a notification that is not", () => {
  const body = (change: object): Buffer =>
    Buffer.from(JSON.stringify({ ...(JSON.parse(signed().toString()) as object), ...change }));
  test.each<[string, Buffer, string]>([
    ["no JSON", Buffer.from("<html>"), "MALFORMED_JSON"],
    ["empty", Buffer.alloc(0), "MALFORMED_JSON"],
    ["with a field twice", Buffer.from('{"order_id":"a","order_id":"b"}'), "MALFORMED_JSON"],
    ["without a signature", body({ signature_key: undefined }), "SIGNATURE_MISSING"],
    ["with another amount", body({ gross_amount: "1.00" }), "SIGNATURE_INVALID"],
    ["with another order", body({ order_id: "order-2" }), "SIGNATURE_INVALID"],
    ["with another code", body({ status_code: "201" }), "SIGNATURE_INVALID"],
    ["with an amount that is a number", body({ gross_amount: 150000 }), "SIGNATURE_INVALID"],
    ["with a signature that is an object", body({ signature_key: {} }), "SIGNATURE_INVALID"],
    ["with an order of megabytes", body({ order_id: "x".repeat(300) }), "SIGNATURE_INVALID"],
  ])("valid is refused: %s", (_, given, code) => {
    expect(() => notification(given, [KEY])).toThrow(expect.objectContaining({ code }) as Error);
  });

  test("signed with our key but another's is refused", () => {
    expect(() => notification(signed(), ["another key"])).toThrow(
      expect.objectContaining({ code: "SIGNATURE_INVALID" }) as Error,
    );
  });

  test("JSON of any form is refused with a code of the interface, and nothing else is thrown", () => {
    const value = fc.oneof(
      fc.json(),
      fc.string(),
      fc.json().map((text) => `{"signature_key":${text},"order_id":${text}}`),
    );
    fc.assert(
      fc.property(value, (text) => {
        try {
          notification(Buffer.from(text), [KEY]);
          return false;
        } catch (error) {
          return error instanceof Fault;
        }
      }),
    );
  });
});
