// A reconciliation exception: what an acquirer said or did disagrees with what is recorded here. It waits until a person has dealt with it.
import type { Micros } from "../ground/clock.ts";
import type { Book } from "../merchants/books.ts";
import type { Operation } from "./operation.ts";

/**
 * refund_after_failure: a refund was carried out that had failed here, so the payer and the merchant both have the money.
 * refund_twice: it was carried out under two operation keys. refund_undone: it was carried out, and failed afterwards. receipt: money was reported again with other particulars, or beyond
 * all measure. forgotten: a payment that it had taken is not known to it any more. dispute: it tells of one that does not fit what is
 * recorded here. refund_elsewhere: it has given money of a payment back, and nobody here asked for it. evidence: it does not take what the merchant answered to a dispute; somebody has to hand it on by other means.
 */
export const exceptionKinds = [
  "refund_after_failure",
  "refund_twice",
  "refund_undone",
  "refund_elsewhere",
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
  /** Both set when a person has dealt with it. */
  closedAt: Micros | undefined;
  note: string | undefined;
}

export type ExceptionKey = Pick<ReconciliationException, "book" | "operationId" | "attempt" | "kind">;
