// What moved at Midtrans without us: over lists as their documentation shows them, and every status.
import { expect, test } from "vitest";
import type { Unrequested } from "../../acquirers/acquirer.ts";
import { readTransaction } from "./answers.ts";
import { unrequestedIn } from "./unrequested-movements.ts";
import { refundKeyOf } from "./names.ts";

const OURS = refundKeyOf("rfd01ksz3v0fp8m2k2ry6e5q4t7ag.01ksz3v0fnf7krx6a1b2c3d4e5.s2");
const THEIRS = "447e846a-403e-47db-a5da-d7f3f06375d6";
const refund = (refund_key: string, refund_amount = "5000.00"): object => ({ refund_key, refund_amount });

test.each<[string, object, Unrequested[]]>([
  ["settlement", {}, []],
  ["settlement", { refunds: [] }, []],
  ["expire", {}, []],
  ["deny", {}, []],
  ["partial_refund", { refunds: [refund(OURS)] }, []],
  ["refund", { refunds: [refund(OURS, "30000.00")] }, []],
  ["partial_refund", { refunds: [refund(OURS), refund(THEIRS)] }, [{ refundId: THEIRS }]],
  ["refund", { refunds: [refund(THEIRS, "30000.00")] }, [{ refundId: THEIRS }]],
  ["REFUND", { refunds: [refund("reference1", "30000.00")] }, [{ refundId: "reference1" }]],
  [
    "partial_refund",
    { refunds: [refund(THEIRS), refund("2".repeat(255))] },
    [{ refundId: THEIRS }, { refundId: "2".repeat(64) }],
  ],
  // The name of a payment of ours is no name of a refund.
  ["partial_refund", { refunds: [refund("pay1_s1")] }, [{ refundId: "pay1_s1" }]],
  ["refund", { refunds: [refund(OURS)] }, ["unlisted_refund"]],
  ["refund", { refunds: [refund(THEIRS)] }, [{ refundId: THEIRS }, "unlisted_refund"]],
  ["partial_refund", {}, ["unlisted_refund"]],
  ["cancel", { payment_type: "credit_card" }, ["unlisted_refund"]],
  ["partial_chargeback", { payment_type: "credit_card" }, ["dispute"]],
  ["partial_chargeback", { payment_type: "credit_card", refunds: [refund(THEIRS)] }, ["dispute", { refundId: THEIRS }]],
  // That of a card opens a dispute by itself.
  ["chargeback", { payment_type: "credit_card" }, ["dispute"]],
  ["chargeback", { payment_type: "gopay" }, ["dispute"]],
])("a transaction of status %s, with %o", (transaction_status, change, unrequested) => {
  const body = {
    transaction_id: "249fc620-6017-4540-af7c-5a1c25788f46",
    order_id: "example-1424936368",
    payment_type: "qris",
    gross_amount: "30000.00",
    transaction_status,
    ...change,
  };
  const ordered = { orderId: "example-1424936368", amountMinor: 3_000_000n, currency: "IDR" };
  expect(unrequestedIn(readTransaction({ status: 200, body }, ordered))).toEqual(unrequested);
});
