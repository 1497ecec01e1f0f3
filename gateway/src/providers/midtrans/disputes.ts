// Disputes at Midtrans: which there are, and whether one that was notified stands so. The signature of a notification covers neither its
// status nor its transaction, so nothing that it says of a dispute counts before an inquiry says the same.
import type { ConfirmDisputeRequest, ReportedDispute } from "../../acquirers/acquirer.ts";
import { type Ordered, type Transaction, readTransaction, statusCodeOf } from "./answers.ts";
import { type Context, FOUND, type Host } from "./host.ts";
import { orderIdOf } from "./names.ts";

/** Their status code of what is denied; it is signed in a notification. Of a settlement it is 200. */
export const DENIED = "202";

type DisputeKind = "chargeback" | "reversal";

/** Our name for a dispute: they have none of their own, and a transaction is contested once. */
export function disputeIdOf(transactionId: string, kind: DisputeKind): string {
  return `${transactionId}.${kind}`;
}

/** Whether money of this payment type came by a bank transfer: what a bank takes back within minutes. */
export function isTransfer(paymentType: unknown): boolean {
  return paymentType === "bank_transfer" || paymentType === "echannel";
}

/**
 * Whether a notified dispute stands so: an inquiry names the same order, the same transaction and the whole amount, and is of the status
 * that the dispute was read from. Throws when no answer can be had, or one that cannot be read.
 */
export async function confirmDispute(
  host: Host,
  { operationKey, dispute }: ConfirmDisputeRequest,
  context: Context,
): Promise<boolean> {
  const orderId = orderIdOf(operationKey);
  const answer = await host.get(`/v2/${orderId}/status`, context);
  const code = statusCodeOf(answer);
  if (code === "404") return false;
  if (!FOUND.includes(code)) throw new Error(`Midtrans answered an inquiry with ${code}`);
  const ordered: Ordered = { orderId, amountMinor: dispute.amountMinor, currency: dispute.currency };
  return isDisputed(readTransaction(answer, ordered), code, dispute);
}

/** `partial_chargeback` says no amount: it never confirms a dispute of the whole. */
export function isDisputed(
  transaction: Transaction,
  code: string,
  { id, status }: Pick<ReportedDispute, "id" | "status">,
): boolean {
  const { transaction_id, transaction_status, payment_type, settlement_time } = transaction;
  const theirs = transaction_status.toLowerCase();
  if (id === disputeIdOf(transaction_id, "chargeback"))
    return status === "open" && theirs === "chargeback" && payment_type === "credit_card";
  if (id !== disputeIdOf(transaction_id, "reversal")) return false;
  const isDenied = theirs === "deny" && code === DENIED && settlement_time !== undefined;
  return status === "lost" && isDenied && isTransfer(payment_type);
}
