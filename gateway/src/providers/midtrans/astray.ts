// What of a transaction's money was moved at Midtrans without us, as far as an inquiry tells it. Pure.
import type { Astray } from "../../acquirers/acquirer.ts";
import type { Transaction } from "./answers.ts";
import { operationKeyOfRefund } from "./names.ts";
import { listsLess } from "./refund-answers.ts";

/**
 * A listed refund whose key is none of ours was made in their dashboard. What was given back and is not listed may be a refund of ours, since
 * the list may be late; so may a capture that is cancelled. No amount is told of a part that is charged back, and nothing by which another
 * payment than a card's could be contested.
 */
export function astrayIn(transaction: Transaction): readonly Astray[] {
  const { transaction_status, payment_type, refunds = [] } = transaction;
  const status = transaction_status.toLowerCase();
  if (status === "partial_chargeback" || (status === "chargeback" && payment_type !== "credit_card"))
    return ["dispute", ...refundIn(refunds)];
  const isUnlisted = status === "cancel" || listsLess(transaction);
  return [...refundIn(refunds), ...(isUnlisted ? (["unlisted_refund"] as const) : [])];
}

function refundIn(refunds: NonNullable<Transaction["refunds"]>): Astray[] {
  const isOurs = (key: string): boolean => operationKeyOfRefund(key)?.startsWith("rfd") === true;
  return refunds.some(({ refund_key }) => !isOurs(refund_key)) ? ["refund"] : [];
}
