// What Midtrans' answers mean: examples of its documentation, every status, and what must not be believed.
import { describe, expect, test } from "vitest";
import { OtherMoney } from "../../acquirers/other-money.ts";
import { type Answer, type Transaction, madeAt, minorOf, readTransaction, stateOf, statusCodeOf } from "./answers.ts";

const ordered = { orderId: "order03", amountMinor: 27_500_000n, currency: "IDR" };
// https://docs.midtrans.com/reference/qris
const pending = {
  status_code: "201",
  status_message: "QRIS transaction is created",
  transaction_id: "0d8178e1-c6c7-4ab4-81a6-893be9d924ab",
  order_id: "order03",
  merchant_id: "M099098",
  gross_amount: "275000.00",
  currency: "IDR",
  payment_type: "qris",
  transaction_time: "2020-09-29 11:46:13",
  transaction_status: "pending",
  fraud_status: "accept",
  acquirer: "gopay",
};
const answer = (change: object = {}, status = 200): Answer => ({ status, body: { ...pending, ...change } });
const transaction = (change: object = {}): Transaction => readTransaction(answer(change), ordered);

describe("the status code", () => {
  test("stands in the body, whatever HTTP says beside it", () => {
    expect(statusCodeOf(answer({ status_code: "406" }, 200))).toBe("406");
    expect(statusCodeOf(answer({ status_code: "404" }, 404))).toBe("404");
    expect(statusCodeOf(answer({ status_code: "202" }, 202))).toBe("202");
  });

  test.each<[string, Answer]>([
    ["a page of HTML", { status: 200, body: undefined }],
    ["a redirect", { status: 302, body: undefined }],
    ["a body without it", answer({ status_code: undefined })],
    ["a number", answer({ status_code: 200 })],
    ["a code of another length", answer({ status_code: "20" })],
    ["an error of HTTP over a code that says success", answer({}, 500)],
    ["an equal request that is still at work", answer({}, 202)],
  ])("is none in %s", (_, given) => {
    expect(() => statusCodeOf(given)).toThrow("Midtrans");
  });
});

describe("a transaction", () => {
  test("is read with fields that are new to us", () => {
    expect(transaction({ something_new: { a: 1 } }).transaction_id).toBe("0d8178e1-c6c7-4ab4-81a6-893be9d924ab");
  });

  test("may have null where it says nothing", () => {
    const nothing = { currency: null, fraud_status: null, va_numbers: null, qr_string: null, payment_amounts: null };
    const refund = { refund_key: "r", refund_amount: "1.00", bank_confirmed_at: null };
    const read = transaction({ ...nothing, refunds: [refund], transaction_status: "settlement" });
    expect(read.refunds?.[0]?.bank_confirmed_at).toBeUndefined();
    expect(stateOf(read, false).status).toBe("paid");
  });

  test("may leave the currency out, as GoPay's does", () => {
    expect(transaction({ currency: undefined }).order_id).toBe("order03");
  });

  test.each([
    ["of another order", { order_id: "order04" }, "another order"],
    ["of another amount", { gross_amount: "275001.00" }, "another amount"],
    ["of a hundredth of the amount", { gross_amount: "2750.00" }, "another amount"],
    ["in another currency", { currency: "USD" }, "another currency"],
    ["with an amount that is a number", { gross_amount: 275000 }, "gross_amount"],
    ["with a negative amount", { gross_amount: "-275000.00" }, "gross_amount"],
    ["without an identity", { transaction_id: undefined }, "transaction_id"],
    ["with an identity that is too long", { transaction_id: "x".repeat(65) }, "transaction_id"],
    ["without a status", { transaction_status: undefined }, "transaction_status"],
    ["with an account number that is none", { va_numbers: [{ bank: "bca", va_number: "<b>" }] }, "va_number"],
  ])("is not believed %s", (_, change, message) => {
    expect(() => transaction(change)).toThrow(message);
  });
});

describe("money that is not the ordered one", () => {
  const other = [
    { gross_amount: "275001.00" },
    { currency: "USD" },
    { gross_amount: 275_000 },
    { gross_amount: "275000.5" },
  ];
  test.each(["settlement", "capture", "refund", "partial_refund", "chargeback"])(
    "is told, where %s says it was paid",
    (status) => {
      for (const change of other) {
        expect(() => transaction({ ...change, transaction_status: status })).toThrow(OtherMoney);
        expect(() => transaction({ ...change, transaction_status: status, fraud_status: "accept" })).toThrow(
          OtherMoney,
        );
      }
    },
  );

  test.each([
    [{ transaction_status: "pending" }],
    [{ transaction_status: "expire" }],
    [{ transaction_status: "capture", fraud_status: "challenge" }],
    [{ transaction_status: "settlement", order_id: "order04" }],
  ])("is not told of %j: nothing was paid, or not for this order", (change) => {
    for (const one of other) expect(() => transaction({ ...one, ...change })).not.toThrow(OtherMoney);
    for (const one of other) expect(() => transaction({ ...one, ...change })).toThrow("Midtrans");
  });
});

describe("the state", () => {
  const receipt = { transactionId: pending.transaction_id, amountMinor: 27_500_000n, currency: "IDR" };
  const paid = { status: "paid", receipt };
  test.each([
    ["pending", undefined, { status: "waiting" }],
    ["PENDING", undefined, { status: "waiting" }],
    ["authorize", "accept", { status: "processing" }],
    ["capture", "accept", paid],
    ["capture", "challenge", { status: "processing", isUnderReview: true }],
    ["capture", "deny", { status: "failed" }],
    ["capture", undefined, paid],
    ["settlement", "accept", paid],
    ["settlement", undefined, paid],
    ["deny", "accept", { status: "failed" }],
    ["deny", "deny", { status: "failed" }],
    ["cancel", "accept", { status: "failed" }],
    ["expire", "accept", { status: "failed" }],
    ["failure", undefined, { status: "failed" }],
    ["refund", "accept", paid],
    ["partial_refund", "accept", paid],
    ["chargeback", "accept", paid],
    ["partial_chargeback", "accept", paid],
  ])("of %s with fraud status %s", (transaction_status, fraud_status, expected) => {
    expect(stateOf(transaction({ transaction_status, fraud_status }), false)).toEqual(expected);
  });

  test.each([
    ["a status that is not documented", { transaction_status: "paid" }],
    ["a settlement that fraud detection questions", { transaction_status: "settlement", fraud_status: "challenge" }],
    ["a settlement that fraud detection denies", { transaction_status: "settlement", fraud_status: "deny" }],
    ["a capture with an unknown fraud status", { transaction_status: "capture", fraud_status: "perhaps" }],
  ])("of %s is unknown", (_, change) => {
    expect(() => stateOf(transaction(change), false)).toThrow("Midtrans answered with status");
  });

  test("of a card that is denied on a page which lives is waiting: the payer may try another", () => {
    for (const transaction_status of ["deny", "expire", "failure"]) {
      expect(stateOf(transaction({ transaction_status }), true)).toEqual({ status: "waiting" });
    }
    expect(stateOf(transaction({ transaction_status: "cancel" }), true)).toEqual({ status: "failed" });
    expect(stateOf(transaction({ transaction_status: "capture" }), true)).toEqual(paid);
  });

  test("of a transfer is paid with the sum of what came, where the bank tells it", () => {
    const payment_amounts = [
      { paid_at: "2021-06-23 11:42:02", amount: "150000.00" },
      { paid_at: "2021-06-23 11:43:02", amount: "100000.00" },
    ];
    const state = stateOf(transaction({ transaction_status: "settlement", payment_amounts }), false);
    expect(state).toEqual({ status: "paid", receipt: { ...receipt, amountMinor: 25_000_000n } });
    const none = stateOf(transaction({ transaction_status: "settlement", payment_amounts: [] }), false);
    expect(none).toEqual(paid);
  });
});

test("amounts have their two decimals or none", () => {
  expect(minorOf("10000.00")).toBe(1_000_000n);
  expect(minorOf("10000")).toBe(1_000_000n);
  expect(minorOf("0.05")).toBe(5n);
});

test("their times are of Jakarta, without saying so", () => {
  expect(madeAt(transaction())).toBe(Date.UTC(2020, 8, 29, 4, 46, 13) * 1_000);
  expect(madeAt(transaction({ transaction_time: undefined }))).toBeUndefined();
  expect(madeAt(transaction({ transaction_time: "yesterday" }))).toBeUndefined();
});
