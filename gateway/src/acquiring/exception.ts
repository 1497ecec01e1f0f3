// A reconciliation exception: what an acquirer said or did disagrees with what is recorded here. It waits until a person has dealt with it.
import type { Micros } from "../ground/clock.ts";
import type { Book } from "../merchants/books.ts";
import type { Operation } from "./operation.ts";

/**
 * refund_after_failure: the acquirer made a refund that had failed here, so the payer and the merchant both have the money.
 * refund_twice: a refund was made under two operation keys.
 * refund_undone: a refund was made, and failed afterwards.
 * refund_elsewhere: the acquirer gave money of a payment back, and no refund here asked for it.
 * other_money: the acquirer says that money was paid, or paid back, and not the money that was ordered. Nothing of it is booked.
 * receipt: money was reported again with other particulars, or is beyond all measure.
 * forgotten: the acquirer no longer knows a payment that it had accepted.
 * dispute: the acquirer reports a dispute that does not fit the records here.
 * evidence: the acquirer does not take a merchant's evidence; a person has to submit it by other means.
 */
export const exceptionKinds = [
  "refund_after_failure",
  "refund_twice",
  "refund_undone",
  "refund_elsewhere",
  "other_money",
  "receipt",
  "forgotten",
  "dispute",
  "evidence",
] as const;
export type ExceptionKind = (typeof exceptionKinds)[number];

export interface ReconciliationException {
  book: Book;
  uuid: string;
  operationId: string;
  operationKind: Operation["kind"];
  attempt: number;
  kind: ExceptionKind;
  gatewayCode: string;
  noticedAt: Micros;
  /** What the acquirer calls the things that it is about, or said of them, as far as their kind has ids: at most 32. */
  occasions: readonly string[];
  /** `closedAt` and `note` are set when a person has dealt with the exception. */
  closedAt: Micros | undefined;
  note: string | undefined;
}

export type ExceptionKey = Pick<ReconciliationException, "book" | "operationId" | "attempt" | "kind">;
