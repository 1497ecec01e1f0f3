// What an acquirer says of a payment, as commands take it: its answer to a call, and its word about the money. It may come
// late, twice or out of order; money is never lost by it, and never counted twice.
import type { Instructions, Receipt, Standing } from "../acquirers/acquirer.ts";
import type { Micros } from "../ground/clock.ts";
import { validationFault } from "../ground/fault.ts";
import { newId } from "../ground/ids.ts";
import { unappliedPostings } from "../ledger/journal.ts";
import { ledgerNeeds, post } from "../ledger/ledger.ts";
import type { Book } from "../merchants/books.ts";
import type { Merchant } from "../merchants/directory.ts";
import type { RoutingDecision } from "../routing/routing.ts";
import { type Need, type WorkingSet, need } from "../store/working-set.ts";
import type { Payment } from "./payment.ts";
import { type PaymentParts, capture, expire, move, tell } from "./payments.ts";
import { payments, routedPayments } from "./payments.sql.ts";
import { type KeptReceipt, receipts } from "./receipts.sql.ts";

/** What a command needs that takes an acquirer's word about money. */
export function wordNeeds(book: Book, gatewayCode: string, standing: Standing | undefined): Need[] {
  if (standing?.status !== "paid") return ledgerNeeds(book);
  const { transactionId } = standing.receipt;
  return [...ledgerNeeds(book), need(receipts, { book, gatewayCode, transactionId })];
}

interface Accepted {
  gatewayCode: string;
  instructions: Instructions | undefined;
  /** Where the choice changed since the payment was written. */
  routing?: RoutingDecision;
}

/** An acquirer has taken a payment that still waits for one: the payer may pay, and the merchant is told. Once. */
export function accept(
  parts: PaymentParts,
  set: WorkingSet,
  merchant: Merchant,
  payment: Payment,
  by: Accepted,
  now: Micros,
): Payment {
  const open = payment.status === "pending" || payment.status === "processing";
  const first = payment.gatewayCode === undefined;
  const later = payment.gatewayCode === by.gatewayCode && payment.instructions === undefined && by.instructions;
  if (!open || !(first || later)) return payment;
  const accepted: Payment = {
    ...payment,
    gatewayCode: by.gatewayCode,
    instructions: by.instructions,
    routing: by.routing ?? payment.routing,
    updatedAt: now,
  };
  if (set.get(routedPayments, payment)) set.update(routedPayments, accepted);
  else set.insert(routedPayments, accepted);
  set.update(payments, accepted);
  if (first) tell(parts.outbox, set, merchant, accepted, "payment.created", now);
  return accepted;
}

/** Takes an acquirer's word of how a payment stands with it. What changes nothing any more is passed over. */
export function applyStanding(
  parts: PaymentParts,
  set: WorkingSet,
  merchant: Merchant,
  payment: Payment,
  gatewayCode: string,
  standing: Standing,
  now: Micros,
): Payment {
  if (standing.status === "waiting") return payment;
  if (standing.status === "paid")
    return applyReceipt(parts, set, merchant, payment, gatewayCode, standing.receipt, now);
  if (payment.gatewayCode !== gatewayCode) return payment;
  if (payment.status === "pending" && payment.expiresAt <= now) return expire(parts, set, merchant, payment, now);
  const moves = payment.status === "pending" || (payment.status === "processing" && standing.status === "failed");
  return moves ? move(parts.outbox, set, merchant, payment, { status: standing.status }, now) : payment;
}

/**
 * Money has come. Throws VALIDATION_ERROR for a transaction that was reported with other particulars. It pays the payment if that awaits exactly this, from this acquirer; whatever else it is (too late, too
 * much, a second time) it is kept apart as unapplied until an operator decides.
 */
function applyReceipt(
  parts: PaymentParts,
  set: WorkingSet,
  merchant: Merchant,
  payment: Payment,
  gatewayCode: string,
  receipt: Receipt,
  now: Micros,
): Payment {
  const { book, reference } = payment;
  const before = set.get(receipts, { book, gatewayCode, transactionId: receipt.transactionId });
  if (before) {
    const same =
      before.paymentReference === reference &&
      before.amountMinor === receipt.amountMinor &&
      before.currency === receipt.currency;
    if (same) return payment;
    const contradiction = "This transaction was reported before, with other particulars.";
    throw validationFault("transaction.transaction_id", receipt.transactionId, contradiction);
  }
  const over = payment.status === "pending" && payment.expiresAt <= now;
  const current = over ? expire(parts, set, merchant, payment, now) : payment;
  const awaited = current.status === "pending" || current.status === "processing";
  const exact =
    current.gatewayCode === gatewayCode &&
    current.amountMinor === receipt.amountMinor &&
    current.currency === receipt.currency;
  const kept: KeptReceipt = {
    book,
    uuid: newId("receipt", now),
    gatewayCode,
    ...receipt,
    paymentReference: reference,
    status: awaited && exact ? "applied" : "unapplied",
    receivedAt: now,
    decidedAt: undefined,
  };
  set.insert(receipts, kept);
  if (kept.status === "applied") return capture(parts, set, merchant, current, now);
  post(
    set,
    book,
    {
      groupId: reference,
      kind: "receipt_unapplied",
      operationKey: `receipt_unapplied:${kept.uuid}`,
      postings: unappliedPostings(gatewayCode, receipt),
    },
    now,
  );
  return current;
}
