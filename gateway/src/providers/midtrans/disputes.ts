// Disputes at Midtrans: their kinds, and whether a notified dispute is true. The signature of a notification covers neither its status nor its
// transaction, so a notified dispute counts only once an inquiry says the same.
import type { ConfirmDisputeRequest, ReportedDispute } from "../../acquirers/acquirer.ts";
import type { CallContext } from "../caller.ts";
import { type Ordered, type Transaction, readTransaction, statusCodeOf } from "./answers.ts";
import { FOUND, type Host } from "./host.ts";
import { orderIdOf } from "./names.ts";

/** Midtrans' status code of a denied transaction, which notifications sign. The code of a settlement is 200. */
export const DENIED = "202";

type DisputeKind = "chargeback" | "reversal";

/** Gerbang's id of a dispute: Midtrans has none, and a transaction is disputed only once. */
export function disputeIdOf(transactionId: string, kind: DisputeKind): string {
  return `${transactionId}.${kind}`;
}

/** Whether a payment type is a bank transfer, which the bank may take back within minutes. */
export function isTransfer(paymentType: unknown): boolean {
  return paymentType === "bank_transfer" || paymentType === "echannel";
}

/** Whether a notified dispute is true: an inquiry names its order, transaction, whole amount and status. Throws without a readable answer. */
export async function confirmDispute(
  host: Host,
  { operationKey, dispute }: ConfirmDisputeRequest,
  context: CallContext,
): Promise<boolean> {
  const orderId = orderIdOf(operationKey);
  const answer = await host.get(`/v2/${orderId}/status`, context);
  const code = statusCodeOf(answer);
  if (code === "404") return false;
  if (!FOUND.includes(code)) throw new Error(`Midtrans answered an inquiry with ${code}`);
  const ordered: Ordered = { orderId, amountMinor: dispute.amountMinor, currency: dispute.currency };
  return isDisputed(readTransaction(answer, ordered), code, dispute);
}

/** `partial_chargeback` has no amount, so it never confirms a dispute of the whole payment. */
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
