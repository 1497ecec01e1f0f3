// A refund, and its shape in the API.
import { type Micros, wireTime } from "../ground/clock.ts";
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
}

/** Interface 4.7: a refund as it is read, and as the data of refund events. */
export function refundView(refund: Refund): Record<string, unknown> {
  return {
    uuid: refund.uuid,
    payment_reference: refund.paymentReference,
    status: refund.status,
    amount_minor: wireAmount(refund.amountMinor),
    currency: refund.currency,
    exponent: exponentOf(refund.currency),
    environment: refund.book.environment,
    created_at: wireTime(refund.createdAt),
    completed_at: refund.completedAt === undefined ? null : wireTime(refund.completedAt),
  };
}

/** Interface 4.6: the response to the creation of a refund. */
export function createdRefundView(refund: Refund, remainingMinor: Minor): Record<string, unknown> {
  const { completed_at: _, ...view } = refundView(refund);
  return { ...view, remaining_refundable_minor: wireAmount(remainingMinor), reason: refund.reason ?? null };
}
