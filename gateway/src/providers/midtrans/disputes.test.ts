// Goal: a dispute counts only where an inquiry says the same of the same transaction. Method: what an inquiry may answer, a line each.
import { describe, expect, test } from "vitest";
import { readTransaction } from "./answers.ts";
import { isDisputed } from "./disputes.ts";

const ID = "9aed5972-5b6a-401e-894b-a32c91ed1a3a";
const card = { payment_type: "credit_card", transaction_status: "chargeback" };
const transfer = {
  payment_type: "bank_transfer",
  transaction_status: "deny",
  settlement_time: "2021-06-23 11:42:03",
};
const chargeback = { id: `${ID}.chargeback`, status: "open" } as const;
const reversal = { id: `${ID}.reversal`, status: "lost" } as const;

function stands(change: object, code: string, dispute: typeof chargeback | typeof reversal | object): boolean {
  const body = { transaction_id: ID, order_id: "order-1", gross_amount: "150000.00", currency: "IDR", ...change };
  const ordered = { orderId: "order-1", amountMinor: 15_000_000n, currency: "IDR" };
  return isDisputed(readTransaction({ status: 200, body }, ordered), code, { ...chargeback, ...dispute });
}

describe("an inquiry confirms", () => {
  test("a card's chargeback", () => {
    expect(stands(card, "200", chargeback)).toBe(true);
  });

  test.each(["bank_transfer", "echannel"])("a %s that was settled and is denied", (payment_type) => {
    expect(stands({ ...transfer, payment_type }, "202", reversal)).toBe(true);
  });
});

test.each<[string, object, string, object]>([
  ["a chargeback of a settled card", { ...card, transaction_status: "settlement" }, "200", chargeback],
  [
    "a chargeback of the whole where a part is charged back",
    { ...card, transaction_status: "partial_chargeback" },
    "200",
    chargeback,
  ],
  ["a chargeback of a wallet", { ...card, payment_type: "gopay" }, "200", chargeback],
  ["a chargeback that is lost", card, "200", { status: "lost" }],
  ["a chargeback of another transaction", card, "200", { id: "another.chargeback" }],
  ["a dispute of another kind", card, "200", { id: `${ID}.inquiry` }],
  ["a reversal of a transfer that is settled", { ...transfer, transaction_status: "settlement" }, "200", reversal],
  ["a reversal with the code of a settlement", transfer, "200", reversal],
  ["a reversal of what was never settled", { ...transfer, settlement_time: null }, "202", reversal],
  ["a reversal of a card", { ...transfer, payment_type: "credit_card" }, "202", reversal],
  ["a reversal of another transaction", transfer, "202", { id: "another.reversal", status: "lost" }],
  ["a reversal that is open", transfer, "202", { ...reversal, status: "open" }],
])("an inquiry does not confirm %s", (_, change, code, dispute) => {
  expect(stands(change, code, dispute)).toBe(false);
});
