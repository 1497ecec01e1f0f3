// Sample events: invented objects, rendered by the same views as real ones. Nothing is stored.
import { type DisputeOfOrder, disputeView } from "../disputes/dispute.ts";
import { type EventType, envelopeOf } from "../events/event.ts";
import { type Micros, DAY, SECOND, wireTime } from "../ground/clock.ts";
import { newId } from "../ground/ids.ts";
import type { Book } from "../merchants/books.ts";
import { type Payment, eventView } from "../payments/payment.ts";
import { NO_PAYER } from "../payments/payer-data.ts";
import { type RefundOfOrder, refundView } from "../refunds/refund.ts";
import { type Settlement, settlementView } from "../settlements/settlement.ts";

const AMOUNT = 150_000n;
const FEE = 1_050n;
const CURRENCY = "IDR";

/** The data of a sample event of this type: that of a real event, and `sample: true`. `now` is the book's time. */
export function sampleData(type: EventType, book: Book, now: Micros): Record<string, unknown> {
  return { ...views[type](book, now), sample: true };
}

/** A whole sample event, for deliveries that are not recorded. `about` replaces fields of its data. */
export function sampleEvent(
  type: EventType,
  book: Book,
  now: Micros,
  about: Record<string, unknown> = {},
): { eventId: string; type: EventType; body: string } {
  const eventId = newId("event", now);
  const body = envelopeOf({ book, eventId, type, createdAt: now }, { ...sampleData(type, book, now), ...about });
  return { eventId, type, body };
}

const views: Record<EventType, (book: Book, now: Micros) => Record<string, unknown>> = {
  "payment.created": (book, now) => eventView(payment(book, now, { status: "pending" })),
  "payment.processing": (book, now) => eventView(payment(book, now, { status: "processing" })),
  "payment.succeeded": (book, now) => eventView(payment(book, now, { status: "succeeded", paidAt: now })),
  "payment.failed": (book, now) => eventView(payment(book, now, { status: "failed" })),
  "payment.expired": (book, now) => eventView(payment(book, now, { status: "expired", expiresAt: now })),
  "payment.canceled": (book, now) => eventView(payment(book, now, { status: "canceled", canceledAt: now })),
  "refund.succeeded": (book, now) => refundView(refund(book, now, "succeeded")),
  "refund.failed": (book, now) => refundView(refund(book, now, "failed")),
  "settlement.created": (book, now) => settlementView(settlement(book, now, {})),
  "settlement.paid": (book, now) =>
    settlementView(settlement(book, now, { status: "paid", paidAt: now, bankReference: "SAMPLE0001" })),
  "dispute.opened": (book, now) => disputeView(dispute(book, now, {})),
  "dispute.updated": (book, now) => disputeView(dispute(book, now, { status: "under_review" })),
  "dispute.resolved": (book, now) => disputeView(dispute(book, now, { status: "won", resolvedAt: now })),
};

function payment(book: Book, now: Micros, fields: Partial<Payment> & Pick<Payment, "status">): Payment {
  return {
    book,
    reference: newId("payment", now),
    amountMinor: AMOUNT,
    feeMinor: FEE,
    refundedMinor: 0n,
    refundPendingMinor: 0n,
    lostMinor: 0n,
    disputeStatus: undefined,
    currency: CURRENCY,
    method: "qris",
    referenceId: "sample-order",
    description: undefined,
    gatewayCode: "nusantara",
    callbackUrl: undefined,
    returnUrl: undefined,
    payer: NO_PAYER,
    link: undefined,
    metadata: { order: "sample" },
    instructions: {
      type: "qr_string",
      value: "A SAMPLE, NOT A CODE TO PAY BY",
      expires_at: wireTime(now + 1_800 * SECOND),
      qr_string: "A SAMPLE, NOT A CODE TO PAY BY",
    },
    risk: { decision: "approve", score: 0, reasons: [] },
    routing: { rules_version: 0, candidates: [] },
    expiresAt: now + 1_800 * SECOND,
    expiresIn: undefined,
    createdAt: now,
    updatedAt: now,
    paidAt: undefined,
    canceledAt: undefined,
    cancelReason: undefined,
    ...fields,
  };
}

function refund(book: Book, now: Micros, status: RefundOfOrder["status"]): RefundOfOrder {
  return {
    book,
    uuid: newId("refund", now),
    paymentReference: newId("payment", now),
    referenceId: "sample-order",
    status,
    amountMinor: AMOUNT,
    currency: CURRENCY,
    reason: undefined,
    createdAt: now,
    completedAt: now,
  };
}

function settlement(book: Book, now: Micros, fields: Partial<Settlement>): Settlement {
  return {
    book,
    uuid: newId("settlement", now),
    status: "processing",
    currency: CURRENCY,
    periodStart: now - DAY,
    periodEnd: now,
    grossMinor: AMOUNT,
    feeMinor: FEE,
    refundMinor: 0n,
    netMinor: AMOUNT - FEE,
    paymentCount: 1,
    createdAt: now,
    payDueAt: now + DAY,
    payoutDate: wireTime(now + DAY).slice(0, 10),
    returnedAt: undefined,
    paidAt: undefined,
    bankReference: undefined,
    ...fields,
  };
}

function dispute(book: Book, now: Micros, fields: Partial<DisputeOfOrder>): DisputeOfOrder {
  return {
    book,
    uuid: newId("dispute", now),
    paymentReference: newId("payment", now),
    referenceId: "sample-order",
    status: "needs_response",
    reason: "product_not_received",
    amountMinor: AMOUNT,
    currency: CURRENCY,
    evidenceDueAt: now + 7 * DAY,
    openedAt: now,
    resolvedAt: undefined,
    ...fields,
  };
}
