// A refund, and its shape in the API.
import { type Micros, wireTime, wireTimeOrNull } from "../ground/clock.ts";
import { type Minor, exponentOf, wireAmount } from "../ground/money.ts";
import type { Book } from "../merchants/books.ts";

export const refundStatuses = ["pending", "succeeded", "failed"] as const;

export interface Refund {
  book: Book;
  uuid: string;
  paymentReference: string;
  status: (typeof refundStatuses)[number];
  amountMinor: Minor;
  currency: string;
  reason: string | undefined;
  createdAt: Micros;
  completedAt: Micros | undefined;
  /** The settlement batch that it is in; undefined while it waits for one. */
  settlement?: string | undefined;
}

/** A refund with the merchant's own identity of the order, as it is told. */
export interface RefundOfOrder extends Refund {
  referenceId: string;
}

/** Interface 4.7: a refund as it is read, and as the data of refund events. */
export function refundView(refund: RefundOfOrder): Record<string, unknown> {
  return {
    uuid: refund.uuid,
    payment_reference: refund.paymentReference,
    reference_id: refund.referenceId,
    status: refund.status,
    amount_minor: wireAmount(refund.amountMinor),
    currency: refund.currency,
    exponent: exponentOf(refund.currency),
    environment: refund.book.environment,
    created_at: wireTime(refund.createdAt),
    completed_at: wireTimeOrNull(refund.completedAt),
    settlement_uuid: refund.settlement ?? null,
  };
}

/** Interface 4.6: the response to the creation of a refund. */
export function createdRefundView(refund: RefundOfOrder, remainingMinor: Minor): Record<string, unknown> {
  const { completed_at: _, settlement_uuid: __, ...view } = refundView(refund);
  return { ...view, remaining_refundable_minor: wireAmount(remainingMinor), reason: refund.reason ?? null };
}
