// Finds money of a transaction that Midtrans moved without an order of Gerbang, as far as an inquiry shows it. Pure.
import type { Unrequested } from "../../acquirers/acquirer.ts";
import type { Transaction } from "./answers.ts";
import { operationKeyOfRefund } from "./names.ts";
import { listsLess } from "./refund-answers.ts";

/**
 * A listed refund with a key that is not Gerbang's was made in Midtrans' dashboard. An amount that was paid back without a listed refund may be
 * a refund of Gerbang, since the list can lag; so may a cancelled capture. Midtrans documents no amount of a partial chargeback, and no
 * chargeback of anything but a card. A dispute that is known already tells nobody again.
 */
export function unrequestedIn(transaction: Transaction): readonly Unrequested[] {
  const { transaction_status, refunds = [] } = transaction;
  const status = transaction_status.toLowerCase();
  // The notification of a card's chargeback opens a dispute; where that was lost, this tells a person.
  if (status === "partial_chargeback" || status === "chargeback") return ["dispute", ...refundIn(refunds)];
  const isUnlisted = status === "cancel" || listsLess(transaction);
  return [...refundIn(refunds), ...(isUnlisted ? (["unlisted_refund"] as const) : [])];
}

function refundIn(refunds: NonNullable<Transaction["refunds"]>): Unrequested[] {
  const isOurs = (key: string): boolean => operationKeyOfRefund(key)?.startsWith("rfd") === true;
  return refunds.flatMap(({ refund_key }) => (isOurs(refund_key) ? [] : [{ refundId: refund_key.slice(0, 64) }]));
}
