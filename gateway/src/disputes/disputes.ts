// Disputes: a payer contests a payment, and the contested amount is held until it is decided. Pure commands for the lanes.
import type { DisputeReason } from "../acquirers/acquirer.ts";
import type { EventType } from "../events/event.ts";
import { type BookOwner, type CommandContext, bookCommand } from "../commands/command-context.ts";
import { type Micros, SECOND, wireTime } from "../ground/clock.ts";
import { Fault, assert, validationFault } from "../ground/fault.ts";
import type { Minor } from "../ground/money.ts";
import { type Posting, holdPostings, lossPostings, releasePostings } from "../ledger/journal.ts";
import { ledgerNeeds } from "../ledger/ledger.ts";
import type { Book } from "../merchants/books.ts";
import { type DisputeStatus, type Payment, isRunning } from "../payments/payment.ts";
import { invalidAmount } from "../payments/payments.schema.ts";
import { findLocked, markDispute, paymentNeeds } from "../payments/payments.ts";
import type { Command } from "../store/command.ts";
import { type Need, need } from "../store/working-set.ts";
import {
  type Dispute,
  type DisputeOfOrder,
  type DisputeOutcome,
  type GivenEvidence,
  awaitsEvidence,
  disputeTransitions,
  disputeView,
} from "./dispute.ts";
import { disputes, evidence } from "./disputes.sql.ts";

/** Time to submit evidence, by the book's clock: a week. */
const EVIDENCE_TIME: Micros = 7 * 24 * 3600 * SECOND;
const EVIDENCE_TIME_MAX: Micros = 366 * 24 * 3600 * SECOND;

/**
 * Opens a dispute over the part of a payment that is not refunded, or over less. Throws PAYMENT_NOT_FOUND, ENVIRONMENT_MISMATCH,
 * PAYMENT_NOT_REFUNDABLE (never paid, wholly refunded or about to be, in a dispute or lost in one), INVALID_AMOUNT.
 */
export function openDispute(
  owner: BookOwner,
  reference: string,
  body: { reason: DisputeReason; amount_minor?: number | undefined },
): Command<DisputeOfOrder> {
  const { book } = owner;
  return bookCommand(owner, {
    name: "open dispute",
    needs: [...paymentNeeds(book, reference), ...ledgerNeeds(book)],
    execute(context) {
      const payment = findLocked(context, reference);
      return contest(context, payment, { reason: body.reason, amountMinor: contestedMinor(payment, body) });
    },
  });
}

const NOT_CONTESTABLE =
  "Only a paid payment of which something is not refunded can be contested, while no dispute over it runs or was lost.";

/** The amount of a payment that is contested. Throws PAYMENT_NOT_REFUNDABLE, INVALID_AMOUNT. */
export function contestedMinor(payment: Payment, { amount_minor: part }: { amount_minor?: number | undefined }): Minor {
  const contestable = contestableMinor(payment);
  if (!isContestable(payment) || contestable === 0n)
    throw new Fault("PAYMENT_NOT_REFUNDABLE", { message: NOT_CONTESTABLE });
  const amountMinor = part === undefined ? contestable : BigInt(part);
  if (amountMinor > contestable || amountMinor === 0n) throw invalidAmount(part, contestable);
  return amountMinor;
}

/** Whether a dispute may be opened now: the payment was paid, no dispute is running, and none was lost. */
export function isContestable({ status, disputeStatus }: Payment): boolean {
  const paid = status === "succeeded" || status === "partially_refunded";
  return paid && !isRunning(disputeStatus) && disputeStatus !== "lost";
}

/** The part of a payment that may be contested, in minor units: what is not refunded, and not about to be. */
export function contestableMinor({ amountMinor, refundedMinor, refundPendingMinor }: Payment): Minor {
  return amountMinor - refundedMinor - refundPendingMinor;
}

/** Opens a dispute inside a command, of at most what is contestable. `evidenceDueAt` is in the book's time; without it the merchant has a week. */
export function contest(
  context: CommandContext,
  payment: Payment,
  { reason, amountMinor }: Pick<Dispute, "reason" | "amountMinor">,
  evidenceDueAt = context.now + EVIDENCE_TIME,
): DisputeOfOrder {
  const { set, book, now } = context;
  const dispute: Dispute = {
    book,
    uuid: context.newId("dispute"),
    paymentReference: payment.reference,
    status: "needs_response",
    reason,
    amountMinor,
    currency: payment.currency,
    evidenceDueAt,
    openedAt: now,
    resolvedAt: undefined,
  };
  set.insert(disputes, dispute);
  record(context, dispute, "dispute_opened", holdPostings(dispute));
  markDispute(context, payment, dispute.status);
  return emitDispute(context, payment, dispute, "dispute.opened");
}

/** Identifies a dispute for a command. The payment must be known beforehand, so that both rows can be locked. */
export interface DisputeKey {
  uuid: string;
  /** Undefined for an unknown dispute: the command then throws OBJECT_NOT_FOUND. A dispute of the other environment: ENVIRONMENT_MISMATCH. */
  paymentReference: string | undefined;
}

/** Rows that a command on one dispute must load: the dispute with its evidence, its payment, and what posting needs. */
export function disputeNeeds(book: Book, { uuid, paymentReference }: DisputeKey): Need[] {
  return [
    ...paymentNeeds(book, paymentReference ?? ""),
    ...(paymentReference === undefined ? [] : [need(disputes, { book, uuid }), need(evidence, { book, uuid })]),
    ...ledgerNeeds(book),
  ];
}

/** Finds the dispute. Throws OBJECT_NOT_FOUND, ENVIRONMENT_MISMATCH. */
export function findDispute({ set, book }: CommandContext, key: DisputeKey): Dispute {
  if (key.paymentReference === undefined) throw new Fault("OBJECT_NOT_FOUND", { message: "No such dispute." });
  const dispute = set.get(disputes, { book, uuid: key.uuid });
  if (!dispute) throw new Fault("ENVIRONMENT_MISMATCH");
  return dispute;
}

/** Decides a running dispute; one that stands as `seen`, where that is given. Throws OBJECT_NOT_FOUND, ENVIRONMENT_MISMATCH, DISPUTE_RESOLVED. */
export function resolveDispute(
  owner: BookOwner,
  key: DisputeKey,
  outcome: DisputeOutcome,
  seen?: DisputeStatus,
): Command<DisputeOfOrder> {
  return bookCommand(owner, {
    name: "resolve dispute",
    needs: disputeNeeds(owner.book, key),
    execute(context) {
      const dispute = findDispute(context, key);
      const { status } = dispute;
      if (seen !== undefined && status !== seen) throw new Fault("DISPUTE_RESOLVED", { details: { status } });
      return resolve(context, dispute, outcome);
    },
  });
}

/** Decides a dispute inside a command. Throws DISPUTE_RESOLVED. */
export function resolve(context: CommandContext, dispute: Dispute, outcome: DisputeOutcome): DisputeOfOrder {
  if (!disputeTransitions[dispute.status].includes(outcome))
    throw new Fault("DISPUTE_RESOLVED", { details: { status: dispute.status } });
  const payment = findLocked(context, dispute.paymentReference);
  const resolved: Dispute = { ...dispute, status: outcome, resolvedAt: context.now };
  context.set.update(disputes, resolved);
  assert(payment.gatewayCode !== undefined, `${payment.reference} was paid through no acquirer`);
  const postings = outcome === "lost" ? lossPostings(payment.gatewayCode, dispute) : releasePostings(dispute);
  record(context, dispute, `dispute_${outcome}`, postings);
  markDispute(context, payment, outcome, outcome === "lost" ? dispute.amountMinor : 0n);
  return emitDispute(context, payment, resolved, "dispute.resolved");
}

/** Submits a merchant's evidence, once, before it is due. Throws OBJECT_NOT_FOUND, ENVIRONMENT_MISMATCH, DISPUTE_RESOLVED. */
export function submitEvidence(owner: BookOwner, key: DisputeKey, given: GivenEvidence): Command<DisputeOfOrder> {
  return bookCommand(owner, {
    name: "submit evidence",
    needs: disputeNeeds(owner.book, key),
    execute: (context) => submit(context, findAwaiting(context, key), given),
  });
}

/** Finds a dispute that still awaits evidence. Throws OBJECT_NOT_FOUND, ENVIRONMENT_MISMATCH, DISPUTE_RESOLVED. */
export function findAwaiting(context: CommandContext, key: DisputeKey): Dispute {
  const dispute = findDispute(context, key);
  if (awaitsEvidence(dispute, context.now)) return dispute;
  const { status } = dispute;
  const message = "The evidence was due, and cannot be given or changed any more.";
  throw new Fault("DISPUTE_RESOLVED", { details: { status }, ...(status === "needs_response" ? { message } : {}) });
}

/** Stores the evidence and moves the dispute to `under_review`. */
export function submit(context: CommandContext, dispute: Dispute, given: GivenEvidence): DisputeOfOrder {
  const { set, book, now } = context;
  set.insert(evidence, { book, uuid: dispute.uuid, ...given, submittedAt: now });
  return review(context, dispute);
}

/** Moves a dispute that was answered, here or at its acquirer, to `under_review`. */
export function review(context: CommandContext, dispute: Dispute): DisputeOfOrder {
  const reviewed: Dispute = { ...dispute, status: "under_review" };
  context.set.update(disputes, reviewed);
  const payment = findLocked(context, dispute.paymentReference);
  markDispute(context, payment, reviewed.status);
  return emitDispute(context, payment, reviewed, "dispute.updated");
}

/**
 * Gives the merchant more time for evidence, until a year ahead at most. Never less: a dispute without evidence in time is lost, so whoever could shorten
 * the time would decide it. Throws OBJECT_NOT_FOUND, ENVIRONMENT_MISMATCH, DISPUTE_RESOLVED, VALIDATION_ERROR.
 */
export function moveEvidenceDue(owner: BookOwner, key: DisputeKey, evidenceDueAt: Micros): Command<DisputeOfOrder> {
  return bookCommand(owner, {
    name: "move evidence due",
    needs: disputeNeeds(owner.book, key),
    execute(context) {
      const { now } = context;
      const dispute = findDispute(context, key);
      if (dispute.status !== "needs_response")
        throw new Fault("DISPUTE_RESOLVED", { details: { status: dispute.status } });
      const soonest = Math.max(now, dispute.evidenceDueAt);
      if (evidenceDueAt <= soonest || evidenceDueAt > now + EVIDENCE_TIME_MAX) {
        const message = `It must be later than ${wireTime(soonest)}, and at most a year ahead in the book's time.`;
        throw validationFault("evidence_due_at", wireTime(evidenceDueAt), message);
      }
      return extend(context, dispute, evidenceDueAt);
    },
  });
}

/** Moves the time for evidence inside a command. */
export function extend(context: CommandContext, dispute: Dispute, evidenceDueAt: Micros): DisputeOfOrder {
  const moved: Dispute = { ...dispute, evidenceDueAt };
  context.set.update(disputes, moved);
  return emitDispute(context, findLocked(context, dispute.paymentReference), moved, "dispute.updated");
}

/** Expires a dispute that got no evidence in time: it is lost. Gives false, and does nothing, when the dispute has changed meanwhile. */
export function expireDispute(owner: BookOwner, key: DisputeKey): Command<boolean> {
  return bookCommand(owner, {
    name: "expire dispute",
    needs: disputeNeeds(owner.book, key),
    execute(context) {
      const dispute = findDispute(context, key);
      if (dispute.status !== "needs_response" || dispute.evidenceDueAt > context.now) return false;
      resolve(context, dispute, "lost");
      return true;
    },
  });
}

/** Posts a journal in the payment's group. The operation key of kind and dispute makes it happen once. */
function record({ post }: CommandContext, dispute: Dispute, kind: string, postings: Posting[]): void {
  post({ groupId: dispute.paymentReference, kind, operationKey: `${kind}:${dispute.uuid}`, postings });
}

/** Emits the event, and gives the dispute as it is told. */
function emitDispute(
  { emit }: CommandContext,
  { callbackUrl, referenceId }: Payment,
  dispute: Dispute,
  type: EventType,
): DisputeOfOrder {
  const ofOrder = { ...dispute, referenceId };
  emit({ type, subjectId: dispute.uuid, data: disputeView(ofOrder), callbackUrl });
  return ofOrder;
}
