// Disputes: a payer contests a payment, and the contested amount is held until it is decided. Pure commands for the lanes.
import type { EventType } from "../events/event.ts";
import type { Outbox } from "../events/outbox.ts";
import { type Micros, SECOND, wireTime } from "../ground/clock.ts";
import { Fault, assert, validationFault } from "../ground/fault.ts";
import { isId, newId } from "../ground/ids.ts";
import { type Posting, holdPostings, lossPostings, releasePostings } from "../ledger/journal.ts";
import { ledgerNeeds, post } from "../ledger/ledger.ts";
import { type Book, bookNow } from "../merchants/books.ts";
import type { Merchant } from "../merchants/directory.ts";
import type { Payment } from "../payments/payment.ts";
import { findLocked, markDispute, paymentNeeds } from "../payments/payments.ts";
import type { Command } from "../store/lane.ts";
import { type Need, type WorkingSet, need } from "../store/working-set.ts";
import {
  type Dispute,
  type DisputeOutcome,
  type DisputeReason,
  type Evidence,
  disputeTransitions,
  disputeView,
  isRunning,
} from "./dispute.ts";
import { disputes, evidence } from "./disputes.sql.ts";

/** A week of the book's clock to answer in. */
const EVIDENCE_TIME: Micros = 7 * 24 * 3600 * SECOND;
const EVIDENCE_TIME_MAX: Micros = 366 * 24 * 3600 * SECOND;

/**
 * Opens a dispute over what of the payment is not refunded, or part of it. Throws PAYMENT_NOT_FOUND,
 * ENVIRONMENT_MISMATCH, PAYMENT_NOT_REFUNDABLE (never paid, wholly refunded, in a dispute or lost one), INVALID_AMOUNT.
 */
export function openDispute(
  outbox: Outbox,
  merchant: Merchant,
  book: Book,
  reference: string,
  body: { reason: DisputeReason; amount_minor?: number | undefined },
): Command<Dispute> {
  return {
    name: "open dispute",
    book,
    needs: [...paymentNeeds(book, reference), ...ledgerNeeds(book)],
    execute(set, realNow) {
      const now = bookNow(set, book, realNow);
      const payment = findLocked(set, book, reference);
      const paid = payment.status === "succeeded" || payment.status === "partially_refunded";
      if (!paid || isRunning(payment.disputeStatus) || payment.disputeStatus === "lost")
        throw new Fault("PAYMENT_NOT_REFUNDABLE");
      const contestable = payment.amountMinor - payment.refundedMinor - payment.refundPendingMinor;
      const amountMinor = body.amount_minor === undefined ? contestable : BigInt(body.amount_minor);
      if (amountMinor > contestable || amountMinor === 0n) throw new Fault("INVALID_AMOUNT");
      const dispute: Dispute = {
        book,
        uuid: newId("dispute", now),
        paymentReference: reference,
        status: "needs_response",
        reason: body.reason,
        amountMinor,
        currency: payment.currency,
        evidenceDueAt: now + EVIDENCE_TIME,
        openedAt: now,
        resolvedAt: undefined,
      };
      set.insert(disputes, dispute);
      record(set, dispute, "dispute_opened", holdPostings(dispute), now);
      markDispute(set, payment, dispute.status, now);
      tell(outbox, set, merchant, payment, dispute, "dispute.opened", now);
      return dispute;
    },
  };
}

/** Identifies a dispute for a command: its payment must be known beforehand, so that both rows can be locked. */
export interface DisputeKey {
  uuid: string;
  /**
   * Undefined when there is no such dispute: the command then throws OBJECT_NOT_FOUND. Of one in the other environment it
   * throws ENVIRONMENT_MISMATCH.
   */
  paymentReference: string | undefined;
}

function disputeNeeds(book: Book, { uuid, paymentReference }: DisputeKey): Need[] {
  const known = paymentReference !== undefined && isId("dispute", uuid);
  return [
    ...paymentNeeds(book, paymentReference ?? ""),
    ...(known ? [need(disputes, { book, uuid }), need(evidence, { book, uuid })] : []),
    ...ledgerNeeds(book),
  ];
}

function findDispute(set: WorkingSet, book: Book, key: DisputeKey): Dispute {
  if (key.paymentReference === undefined) throw new Fault("OBJECT_NOT_FOUND", { message: "No such dispute." });
  const dispute = set.get(disputes, { book, uuid: key.uuid });
  if (!dispute) throw new Fault("ENVIRONMENT_MISMATCH");
  return dispute;
}

/** Decides a running dispute. Throws OBJECT_NOT_FOUND, ENVIRONMENT_MISMATCH, DISPUTE_RESOLVED. */
export function resolveDispute(
  outbox: Outbox,
  merchant: Merchant,
  book: Book,
  key: DisputeKey,
  outcome: DisputeOutcome,
): Command<Dispute> {
  return {
    name: "resolve dispute",
    book,
    needs: disputeNeeds(book, key),
    execute: (set, realNow) =>
      resolve(outbox, set, merchant, findDispute(set, book, key), outcome, bookNow(set, book, realNow)),
  };
}

function resolve(
  outbox: Outbox,
  set: WorkingSet,
  merchant: Merchant,
  dispute: Dispute,
  outcome: DisputeOutcome,
  now: Micros,
): Dispute {
  if (!disputeTransitions[dispute.status].includes(outcome))
    throw new Fault("DISPUTE_RESOLVED", { details: { status: dispute.status } });
  const payment = findLocked(set, dispute.book, dispute.paymentReference);
  const resolved: Dispute = { ...dispute, status: outcome, resolvedAt: now };
  set.update(disputes, resolved);
  assert(payment.gatewayCode !== undefined, `${payment.reference} was paid through no acquirer`);
  const postings = outcome === "lost" ? lossPostings(payment.gatewayCode, dispute) : releasePostings(dispute);
  record(set, dispute, `dispute_${outcome}`, postings, now);
  markDispute(set, payment, outcome, now);
  tell(outbox, set, merchant, payment, resolved, "dispute.resolved", now);
  return resolved;
}

/** Takes the merchant's evidence, once, before its due time. Throws OBJECT_NOT_FOUND, ENVIRONMENT_MISMATCH, DISPUTE_RESOLVED. */
export function submitEvidence(
  outbox: Outbox,
  merchant: Merchant,
  book: Book,
  key: DisputeKey,
  given: Pick<Evidence, "statement" | "files">,
): Command<Dispute> {
  return {
    name: "submit evidence",
    book,
    needs: disputeNeeds(book, key),
    execute(set, realNow) {
      const now = bookNow(set, book, realNow);
      const dispute = findDispute(set, book, key);
      if (dispute.status !== "needs_response" || dispute.evidenceDueAt <= now)
        throw new Fault("DISPUTE_RESOLVED", { details: { status: dispute.status } });
      const reviewed: Dispute = { ...dispute, status: "under_review" };
      set.insert(evidence, { book, uuid: dispute.uuid, ...given, submittedAt: now });
      set.update(disputes, reviewed);
      const payment = findLocked(set, book, dispute.paymentReference);
      markDispute(set, payment, reviewed.status, now);
      tell(outbox, set, merchant, payment, reviewed, "dispute.updated", now);
      return reviewed;
    },
  };
}

/**
 * Gives the merchant more time, or what the scheme allows now: the evidence is due at another moment, which is to come. Throws
 * OBJECT_NOT_FOUND, DISPUTE_RESOLVED, VALIDATION_ERROR.
 */
export function moveEvidenceDue(
  outbox: Outbox,
  merchant: Merchant,
  book: Book,
  key: DisputeKey,
  evidenceDueAt: Micros,
): Command<Dispute> {
  return {
    name: "move evidence due",
    book,
    needs: disputeNeeds(book, key),
    execute(set, realNow) {
      const now = bookNow(set, book, realNow);
      const dispute = findDispute(set, book, key);
      if (dispute.status !== "needs_response")
        throw new Fault("DISPUTE_RESOLVED", { details: { status: dispute.status } });
      if (evidenceDueAt <= now || evidenceDueAt > now + EVIDENCE_TIME_MAX) {
        const message = "It must lie ahead in the book's time, by a year at most.";
        throw validationFault("evidence_due_at", wireTime(evidenceDueAt), message);
      }
      const moved: Dispute = { ...dispute, evidenceDueAt };
      set.update(disputes, moved);
      const payment = findLocked(set, book, dispute.paymentReference);
      tell(outbox, set, merchant, payment, moved, "dispute.updated", now);
      return moved;
    },
  };
}

/** Loses a dispute that nobody answered in time; does nothing when something else happened first. */
export function loseUnanswered(outbox: Outbox, merchant: Merchant, book: Book, key: DisputeKey): Command<boolean> {
  return {
    name: "lose unanswered dispute",
    book,
    needs: disputeNeeds(book, key),
    execute(set, realNow) {
      const now = bookNow(set, book, realNow);
      const dispute = findDispute(set, book, key);
      if (dispute.status !== "needs_response" || dispute.evidenceDueAt > now) return false;
      resolve(outbox, set, merchant, dispute, "lost", now);
      return true;
    },
  };
}

/** A journal in the payment's group; the dispute and what happened to it make it happen once. */
function record(set: WorkingSet, dispute: Dispute, kind: string, postings: Posting[], now: Micros): void {
  const operationKey = `${kind}:${dispute.uuid}`;
  post(set, dispute.book, { groupId: dispute.paymentReference, kind, operationKey, postings }, now);
}

function tell(
  outbox: Outbox,
  set: WorkingSet,
  merchant: Merchant,
  payment: Payment,
  dispute: Dispute,
  type: EventType,
  now: Micros,
): void {
  const url = payment.callbackUrl ?? merchant.webhooks[dispute.book.environment]?.url;
  outbox.emit(set, { book: dispute.book, type, subjectId: dispute.uuid, url, data: disputeView(dispute) }, now);
}
