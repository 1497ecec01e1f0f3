// A payment as the house knows it, and as it is shown: on create, on status and in events.
import type { Instructions } from "../acquirers/acquirer.ts";
import { type Micros, wireTime } from "../ground/clock.ts";
import { assert } from "../ground/fault.ts";
import { type Minor, exponentOf, wireAmount } from "../ground/money.ts";
import type { Book } from "../merchants/books.ts";
import { type SettlementSchedule, settlesOn } from "../merchants/settlement-schedule.ts";
import type { PaymentMethod } from "../merchants/settings.ts";
import type { Customer, RiskVerdict } from "../risk/risk.ts";
import type { RoutingDecision } from "../routing/routing.ts";
import { type PaymentStatus, isPaid } from "./states.ts";

export const disputeStatuses = ["needs_response", "under_review", "won", "lost", "withdrawn"] as const;
export type DisputeStatus = (typeof disputeStatuses)[number];

/** Where a payment stands: no more than a status request is answered with. */
export interface PaymentStanding {
  book: Book;
  reference: string;
  status: PaymentStatus;
  amountMinor: Minor;
  feeMinor: Minor;
  refundedMinor: Minor;
  /** How the batch stands that the payment is in; undefined while it waits for one. Only where it was read. */
  settlementStatus?: "processing" | "paid" | undefined;
  currency: string;
  method: PaymentMethod;
  referenceId: string;
  gatewayCode: string | undefined;
  createdAt: Micros;
  updatedAt: Micros;
  paidAt: Micros | undefined;
}

export interface Payment extends PaymentStanding {
  /** Reversed already for refunds whose acquirer has not answered yet. */
  refundPendingMinor: Minor;
  /** How the newest dispute stands; undefined when there was none. */
  disputeStatus: DisputeStatus | undefined;
  description: string | undefined;
  callbackUrl: string | undefined;
  customerKey: string | null;
  customer: Customer | undefined;
  metadata: Record<string, string> | undefined;
  instructions: Instructions | undefined;
  risk: RiskVerdict;
  routing: RoutingDecision;
  /** When an unpaid payment expires, or a review ends. */
  expiresAt: Micros;
  /** Under review: the seconds to pay in that were asked for, counted from the approval. */
  expiresIn: number | undefined;
  canceledAt: Micros | undefined;
  cancelReason: string | undefined;
}

function amounts(payment: PaymentStanding): Record<string, unknown> {
  return {
    amount_minor: wireAmount(payment.amountMinor),
    currency: payment.currency,
    exponent: exponentOf(payment.currency),
    fee_minor: wireAmount(payment.feeMinor),
    net_minor: wireAmount(payment.amountMinor - payment.feeMinor),
  };
}

/** Interface 4.2: what creation answers. */
export function createdView(payment: Payment): Record<string, unknown> {
  return {
    reference: payment.reference,
    status: payment.status,
    ...amounts(payment),
    refunded_minor: wireAmount(payment.refundedMinor),
    payment_method: payment.method,
    reference_id: payment.referenceId,
    ...(payment.description === undefined ? {} : { description: payment.description }),
    gateway_code: payment.gatewayCode ?? null,
    environment: payment.book.environment,
    risk: { decision: payment.risk.decision, score: payment.risk.score },
    instructions: payment.instructions ?? null,
    expires_at: wireTime(payment.expiresAt),
    metadata: payment.metadata ?? {},
    created_at: wireTime(payment.createdAt),
    updated_at: wireTime(payment.updatedAt),
  };
}

/** Interface 4.5: what a cancel answers. */
export function canceledView({ reference, status, canceledAt, cancelReason }: Payment): Record<string, unknown> {
  assert(canceledAt !== undefined, `${reference} is not canceled`);
  return { reference, status, canceled_at: wireTime(canceledAt), reason: cancelReason ?? null };
}

/** Interface 4.3: what a status request answers. */
export function statusView(payment: PaymentStanding, schedule: SettlementSchedule): Record<string, unknown> {
  return {
    reference: payment.reference,
    status: payment.status,
    ...amounts(payment),
    refunded_minor: wireAmount(payment.refundedMinor),
    payment_method: payment.method,
    reference_id: payment.referenceId,
    gateway_code: payment.gatewayCode ?? null,
    environment: payment.book.environment,
    ...(payment.paidAt === undefined ? {} : { paid_at: wireTime(payment.paidAt) }),
    ...(isPaid(payment.status) && payment.paidAt !== undefined
      ? {
          settlement: {
            status: payment.settlementStatus ?? "pending",
            estimated_date: settlesOn(schedule, payment.paidAt),
          },
        }
      : {}),
    created_at: wireTime(payment.createdAt),
    updated_at: wireTime(payment.updatedAt),
  };
}

/** Interface 6.2: the data of payment events. */
export function eventView(payment: Payment): Record<string, unknown> {
  return {
    reference: payment.reference,
    status: payment.status,
    ...amounts(payment),
    payment_method: payment.method,
    reference_id: payment.referenceId,
    gateway_code: payment.gatewayCode ?? null,
    ...(payment.paidAt === undefined ? {} : { paid_at: wireTime(payment.paidAt) }),
    metadata: payment.metadata ?? {},
  };
}
