// An ordinary payment for pure tests, with the changes that a test gives.
import { SECOND } from "../src/ground/clock.ts";
import { newId } from "../src/ground/ids.ts";
import type { Payment } from "../src/payments/payment.ts";
import { NO_PAYER } from "../src/payments/payer-data.ts";
import { isPaid } from "../src/payments/states.ts";
import { NOW, book } from "./given.ts";

/** A payment of 1,000,000 minor units by QRIS: pending, with half an hour left; when its status is a paid one, it was paid a minute ago. */
export function aPayment(changes: Partial<Payment> = {}): Payment {
  const status = changes.status ?? "pending";
  const createdAt = NOW - 120 * SECOND;
  return {
    book,
    reference: newId("payment", createdAt),
    status,
    amountMinor: 1_000_000n,
    feeMinor: 7_000n,
    refundedMinor: status === "refunded" ? 1_000_000n : status === "partially_refunded" ? 400_000n : 0n,
    refundPendingMinor: 0n,
    lostMinor: 0n,
    disputeStatus: undefined,
    currency: "IDR",
    method: "qris",
    referenceId: "order-1",
    description: undefined,
    gatewayCode: "nusantara",
    callbackUrl: undefined,
    returnUrl: undefined,
    payer: NO_PAYER,
    link: undefined,
    metadata: undefined,
    instructions: { type: "qr_string", value: "000201", expires_at: "2027-01-15T08:30:00Z", qr_string: "000201" },
    risk: { decision: "approve", score: 0, reasons: [] },
    routing: { rules_version: 0, candidates: [] },
    expiresAt: NOW + 1_800 * SECOND,
    expiresIn: undefined,
    createdAt,
    updatedAt: createdAt,
    paidAt: isPaid(status) ? NOW - 60 * SECOND : undefined,
    canceledAt: status === "canceled" ? NOW - 60 * SECOND : undefined,
    cancelReason: undefined,
    ...changes,
  };
}
