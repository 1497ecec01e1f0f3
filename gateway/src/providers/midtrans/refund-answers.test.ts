// What became of a refund: from the lists of the documentation's examples, and what must not be believed.
import { describe, expect, test } from "vitest";
import { OtherMoney } from "../../acquirers/other-money.ts";
import { type Transaction, readTransaction } from "./answers.ts";
import { listsLess, refundDenied, refundIn, refundTaken } from "./refund-answers.ts";

// https://docs.midtrans.com/reference/get-transaction-status, "Refunded Trx - Bank Confirmed", one refund still open.
const refunds = [
  {
    refund_chargeback_id: 1,
    refund_amount: "5000.00",
    created_at: "2015-02-27 00:14:20",
    reason: "some reason",
    refund_key: "reference1",
    refund_method: "online",
    bank_confirmed_at: "2015-02-27 02:30:20",
  },
  {
    refund_chargeback_id: 2,
    refund_amount: "7000.00",
    created_at: "2015-02-28 01:23:15",
    reason: "",
    refund_key: "reference2",
  },
];
function transaction(change: object): Transaction {
  const body = {
    transaction_id: "249fc620-6017-4540-af7c-5a1c25788f46",
    order_id: "example-1424936368",
    payment_type: "credit_card",
    gross_amount: "30000.00",
    transaction_status: "partial_refund",
    ...change,
  };
  const ordered = { orderId: "example-1424936368", amountMinor: 3_000_000n, currency: "IDR" };
  return readTransaction({ status: 200, body }, ordered);
}
const sought = { refundKey: "reference1", amountMinor: 500_000n, paymentAmountMinor: 3_000_000n, accepted: false };

describe("a refund in a transaction", () => {
  test("has succeeded when the bank has confirmed it, and is pending before", () => {
    expect(refundIn(transaction({ refunds }), sought)).toBe("succeeded");
    const second = { ...sought, refundKey: "reference2", amountMinor: 700_000n };
    expect(refundIn(transaction({ refunds }), second)).toBe("pending");
  });

  test("of another amount is not believed", () => {
    const read = () => refundIn(transaction({ refunds }), { ...sought, amountMinor: 500_100n });
    expect(read).toThrow("another amount");
    expect(read).toThrow(OtherMoney);
  });

  test("that was never taken is not there", () => {
    const third = { ...sought, refundKey: "reference3" };
    expect(refundIn(transaction({ refunds }), third)).toBeUndefined();
    expect(refundIn(transaction({ transaction_status: "settlement" }), third)).toBeUndefined();
  });

  test.each([
    ["as before it", { transaction_status: "settlement" }],
    ["a capture", { transaction_status: "capture" }],
    ["with refunds of others", { refunds }],
    ["all given back, without a list", { transaction_status: "refund" }],
  ])("that was taken and is not listed is no failure, but unknown: the payment is %s", (_, change) => {
    const third = { ...sought, refundKey: "reference3", accepted: true };
    expect(() => refundIn(transaction(change), third)).toThrow("without a refund");
  });

  test("of the whole has succeeded when the capture is cancelled; a part has not", () => {
    const cancelled = transaction({ transaction_status: "cancel" });
    expect(refundIn(cancelled, { ...sought, amountMinor: 3_000_000n })).toBe("succeeded");
    expect(refundIn(cancelled, sought)).toBeUndefined();
  });
});

test.each([
  ["refund", undefined, true],
  ["refund", [{ refund_key: "a", refund_amount: "29999.00" }], true],
  ["refund", [{ refund_key: "a", refund_amount: "30000.00" }], false],
  ["partial_refund", undefined, true],
  ["partial_refund", refunds, false],
  ["settlement", undefined, false],
])("of status %s with the list %j more was given back than is listed: %s", (transaction_status, list, expected) => {
  expect(listsLess(transaction({ transaction_status, refunds: list }))).toBe(expected);
});

describe("the answer to a refund", () => {
  const asked = { orderId: "vtcc05", refundKey: "reference1", amountMinor: 500_000n };
  // https://docs.midtrans.com/reference/refund-transaction
  const taken = {
    status_code: "200",
    status_message: "Success, refund request is approved",
    transaction_id: "447e846a-403e-47db-a5da-d7f3f06375d6",
    order_id: "vtcc05",
    payment_type: "credit_card",
    transaction_time: "2015-06-15 13:36:24",
    transaction_status: "partial_refund",
    gross_amount: "10000.00",
    refund_chargeback_id: 1,
    refund_amount: "5000.00",
    refund_key: "reference1",
  };
  const answer = (change: object = {}) => ({ status: 200, body: { ...taken, ...change } });

  test("is pending until the bank has confirmed it", () => {
    expect(refundTaken(answer(), asked)).toEqual({ status: "pending", providerIds: { refund: "1" } });
  });

  test("may tell the sum of all refunds, as one of two pages has it, and never less than this one", () => {
    expect(refundTaken(answer({ refund_amount: "9000.00" }), asked).status).toBe("pending");
    expect(() => refundTaken(answer({ refund_amount: "4999.00" }), asked)).toThrow("another amount: 4999.00");
    expect(() => refundTaken(answer({ refund_amount: "4999.00" }), asked)).toThrow(OtherMoney);
  });

  test("has failed when the bank denies it", () => {
    // https://docs.midtrans.com/reference/direct-refund-transaction, "Rejected Direct Refund"
    const denied = { status_code: "202", transaction_status: "settlement", refund_amount: "0.00" };
    expect(refundDenied(answer(denied), asked)).toEqual({ status: "failed", providerIds: { refund: "1" } });
    const unnamed = answer({ ...denied, refund_chargeback_id: undefined });
    expect(refundDenied(unnamed, asked).providerIds).toEqual({ refund: "reference1" });
    expect(() => refundDenied(answer({ status_code: "202" }), asked)).toThrow("has an amount");
  });

  test.each([
    ["of another order", { order_id: "vtcc06" }],
    ["of another refund", { refund_key: "reference2" }],
    ["without a key", { refund_key: undefined }],
    ["with an amount that is a number", { refund_amount: 5000 }],
  ])("is not believed %s", (_, change) => {
    expect(() => refundTaken(answer(change), asked)).toThrow("Midtrans answered with");
    expect(() => refundDenied(answer(change), asked)).toThrow("Midtrans answered with");
  });
});
