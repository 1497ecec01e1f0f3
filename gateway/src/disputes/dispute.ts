// A dispute, its transitions, and its shape in the API.
import type { DisputeReason } from "../acquirers/acquirer.ts";
import { type Micros, wireTime, wireTimeOrNull } from "../ground/clock.ts";
import { type Minor, exponentOf, wireAmount } from "../ground/money.ts";
import type { Book } from "../merchants/books.ts";
import { type DisputeStatus, isRunning } from "../payments/payment.ts";

export const outcomes = ["won", "lost", "withdrawn"] as const;
export type DisputeOutcome = (typeof outcomes)[number];

/** The transitions of a dispute, as data; the database holds the same list. */
export const disputeTransitions: Readonly<Record<DisputeStatus, readonly DisputeStatus[]>> = {
  needs_response: ["under_review", "won", "lost", "withdrawn"],
  under_review: ["won", "lost", "withdrawn"],
  won: [],
  lost: [],
  withdrawn: [],
};

export interface Dispute {
  book: Book;
  uuid: string;
  paymentReference: string;
  status: DisputeStatus;
  reason: DisputeReason;
  amountMinor: Minor;
  currency: string;
  evidenceDueAt: Micros;
  openedAt: Micros;
  resolvedAt: Micros | undefined;
  /** The settlement batch that a lost one is in; undefined while it waits for one. */
  settlement?: string | undefined;
}

/** A dispute with the merchant's own identity of the order, as it is told. */
export interface DisputeOfOrder extends Dispute {
  referenceId: string;
}

/** The texts of a merchant's evidence. */
export interface EvidenceText {
  statement: string;
  /** The carrier; `trackingNumber` is the number of its delivery. */
  carrier?: string | undefined;
  trackingNumber?: string | undefined;
  /** YYYY-MM-DD */
  deliveredOn?: string | undefined;
}

/** A file submitted together with the statement, as operators do. */
interface InlineFile {
  name: string;
  media_type: string;
  content_base64: string;
}

/** A file that was uploaded before, and is kept in pieces. */
export interface KeptFile {
  file_id: string;
  name: string;
  media_type: string;
  size_bytes: number;
}

export type SubmittedFile = InlineFile | KeptFile;

/** What a merchant submits. */
export interface GivenEvidence extends EvidenceText {
  files: readonly SubmittedFile[];
}

export interface Evidence extends GivenEvidence {
  book: Book;
  uuid: string;
  submittedAt: Micros;
}

/** True while the merchant may submit evidence, by the book's time. */
export function awaitsEvidence({ status, evidenceDueAt }: Dispute, now: Micros): boolean {
  return status === "needs_response" && now < evidenceDueAt;
}

/** Interface 2.6: a dispute in lists, and as the data of dispute events. */
export function disputeView(dispute: DisputeOfOrder): Record<string, unknown> {
  return {
    uuid: dispute.uuid,
    environment: dispute.book.environment,
    payment_reference: dispute.paymentReference,
    reference_id: dispute.referenceId,
    status: dispute.status,
    reason: dispute.reason,
    amount_minor: wireAmount(dispute.amountMinor),
    currency: dispute.currency,
    exponent: exponentOf(dispute.currency),
    evidence_due_at: wireTime(dispute.evidenceDueAt),
    opened_at: wireTime(dispute.openedAt),
    resolved_at: wireTimeOrNull(dispute.resolvedAt),
    outcome: isRunning(dispute.status) ? null : dispute.status,
    settlement_uuid: dispute.settlement ?? null,
  };
}
