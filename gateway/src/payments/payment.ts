// A payment as the house knows it, and as it is shown: on create, on status and in events.
import type { Instructions } from "../acquirers/acquirer.ts";
import { type Micros, SECOND, wireTime } from "../ground/clock.ts";
import { type Minor, exponentOf } from "../ground/money.ts";
import type { Book } from "../merchants/books.ts";
import type { PaymentMethod } from "../merchants/settings.ts";
import type { Customer, RiskVerdict } from "../risk/risk.ts";
import type { RoutingDecision } from "../routing/routing.ts";
import { type PaymentStatus, isPaid } from "./states.ts";

export interface Payment {
  book: Book;
  reference: string;
  status: PaymentStatus;
  amountMinor: Minor;
  feeMinor: Minor;
  refundedMinor: Minor;
  currency: string;
  method: PaymentMethod;
  referenceId: string;
  description: string | undefined;
  gatewayCode: string | undefined;
  callbackUrl: string | undefined;
  customerKey: string | null;
  customer: Customer | undefined;
  metadata: Record<string, string> | undefined;
  instructions: Instructions | undefined;
  risk: RiskVerdict;
  routing: RoutingDecision;
  expiresAt: Micros;
  createdAt: Micros;
  updatedAt: Micros;
  paidAt: Micros | undefined;
  canceledAt: Micros | undefined;
  cancelReason: string | undefined;
}

/** Amounts on the wire are at most 2^53 - 1, so a JSON number carries them exactly. */
const wire = Number;

function amounts(payment: Payment): Record<string, unknown> {
  return {
    amount_minor: wire(payment.amountMinor),
    currency: payment.currency,
    exponent: exponentOf(payment.currency),
    fee_minor: wire(payment.feeMinor),
    net_minor: wire(payment.amountMinor - payment.feeMinor),
  };
}

/** Interface 4.2: what creation answers. */
export function createdView(payment: Payment): Record<string, unknown> {
  return {
    reference: payment.reference,
    status: payment.status,
    ...amounts(payment),
    refunded_minor: wire(payment.refundedMinor),
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

/** Interface 4.3: what a status request answers. */
export function statusView(payment: Payment): Record<string, unknown> {
  return {
    reference: payment.reference,
    status: payment.status,
    ...amounts(payment),
    refunded_minor: wire(payment.refundedMinor),
    payment_method: payment.method,
    reference_id: payment.referenceId,
    gateway_code: payment.gatewayCode ?? null,
    environment: payment.book.environment,
    ...(payment.paidAt === undefined ? {} : { paid_at: wireTime(payment.paidAt) }),
    ...(isPaid(payment.status) && payment.paidAt !== undefined
      ? { settlement: { status: "pending", estimated_date: estimatedSettlement(payment.paidAt) } }
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

const JAKARTA: Micros = 7 * 3600 * SECOND;
const DAY: Micros = 24 * 3600 * SECOND;

/** The default schedule: the day after the payment in Jakarta, and on from weekends to Monday. */
export function estimatedSettlement(paidAt: Micros): string {
  let at = paidAt + JAKARTA + DAY;
  // 1970-01-01 was a Thursday: day 2 and 3 of that count are Saturday and Sunday.
  while ([2, 3].includes(Math.floor(at / DAY) % 7)) at += DAY;
  return wireTime(at).slice(0, 10);
}
