// A payment as the house knows it, and as it is shown: on create, on status and in events.
import type { Instructions } from "../acquirers/acquirer.ts";
import { type Micros, wireTime } from "../ground/clock.ts";
import { assert } from "../ground/fault.ts";
import { type Minor, exponentOf, wireAmount } from "../ground/money.ts";
import type { Book } from "../merchants/books.ts";
import type { PaymentMethod } from "../merchants/settings.ts";
import type { RiskVerdict } from "../risk/risk.ts";
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
  /** The batch that the payment is in; undefined while it waits for one. Only where it was read. */
  batch?: { status: "processing" | "paid"; payoutDate: string } | undefined;
  currency: string;
  method: PaymentMethod;
  referenceId: string;
  gatewayCode: string | undefined;
  createdAt: Micros;
  updatedAt: Micros;
  paidAt: Micros | undefined;
  /** How the newest dispute stands; undefined when there was none. */
  disputeStatus: DisputeStatus | undefined;
  instructions: Instructions | undefined;
  /** When an unpaid payment expires, or a review ends. */
  expiresAt: Micros;
  /** The payment link that it came by. */
  link: LinkMark | undefined;
}

/** What a payment keeps of its link: a link that is not reusable has one payment that is open or paid, at most. */
export interface LinkMark {
  uuid: string;
  reusable: boolean;
}

/** What stands in a payment's row for who pays. `PayerData` makes and opens it. */
export interface StoredPayer {
  /** Stands for the e-mail address, else the telephone, in hex; null when neither was given. */
  customerKey: string | null;
  /** Stands for the telephone where an e-mail address was given too. */
  phoneKey: string | null;
  /** Name, e-mail address and telephone; null when none was given, or they were erased. */
  sealed: Buffer | null;
  /** When it was erased; null when it was not. Real time. */
  erasedAt: Micros | null;
}

export interface Payment extends PaymentStanding {
  /** Reversed already for refunds whose acquirer has not answered yet. */
  refundPendingMinor: Minor;
  /** What lost disputes have taken of it. */
  lostMinor: Minor;
  description: string | undefined;
  callbackUrl: string | undefined;
  /** Where the payer's browser goes back to. */
  returnUrl: string | undefined;
  payer: StoredPayer;
  metadata: Record<string, string> | undefined;
  risk: RiskVerdict;
  routing: RoutingDecision;
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

/** How a payment is paid and until when, while that is still possible: also in answers that come later than the creation's. */
function paying(payment: PaymentStanding): Record<string, unknown> {
  if (payment.status !== "pending") return {};
  return { instructions: payment.instructions ?? null, expires_at: wireTime(payment.expiresAt) };
}

/** By which link a payment came, where it came by one. */
function origin({ link }: PaymentStanding): Record<string, unknown> {
  return link === undefined ? {} : { payment_link: link.uuid };
}

/** Interface 4.2: what creation answers. `checkoutUrl`: of the page where its payer pays. */
export function createdView(payment: Payment, checkoutUrl: string): Record<string, unknown> {
  return {
    reference: payment.reference,
    status: payment.status,
    ...amounts(payment),
    refunded_minor: wireAmount(payment.refundedMinor),
    payment_method: payment.method,
    reference_id: payment.referenceId,
    description: payment.description ?? null,
    gateway_code: payment.gatewayCode ?? null,
    environment: payment.book.environment,
    risk: { decision: payment.risk.decision, score: payment.risk.score },
    instructions: payment.instructions ?? null,
    checkout_url: checkoutUrl,
    expires_at: wireTime(payment.expiresAt),
    return_url: payment.returnUrl ?? null,
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

/** True for a dispute that is not decided. */
export function isRunning(status: DisputeStatus | undefined): boolean {
  return status === "needs_response" || status === "under_review";
}

/** True for a payment that is paid and in no batch: when it will be paid out has to be estimated. */
export function awaitsSettlement(payment: PaymentStanding): boolean {
  return isPaid(payment.status) && payment.batch === undefined;
}

/**
 * Interface 4.3: what a status request answers. `estimatedDate`: of a payment that awaits settlement, the day on which it is paid out as
 * things stand; null when no run can take it. `checkoutUrl`: of the page where its payer pays, shown while that is possible.
 */
export function statusView(
  payment: PaymentStanding,
  estimatedDate: string | null,
  checkoutUrl?: string,
): Record<string, unknown> {
  return {
    reference: payment.reference,
    status: payment.status,
    ...amounts(payment),
    refunded_minor: wireAmount(payment.refundedMinor),
    payment_method: payment.method,
    reference_id: payment.referenceId,
    gateway_code: payment.gatewayCode ?? null,
    environment: payment.book.environment,
    ...origin(payment),
    ...paying(payment),
    ...(payment.status === "pending" && checkoutUrl !== undefined ? { checkout_url: checkoutUrl } : {}),
    ...(payment.paidAt === undefined ? {} : { paid_at: wireTime(payment.paidAt) }),
    ...(isPaid(payment.status)
      ? {
          settlement: {
            status: payment.batch?.status ?? "pending",
            estimated_date: payment.batch?.payoutDate ?? estimatedDate,
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
    ...origin(payment),
    ...paying(payment),
    ...(payment.paidAt === undefined ? {} : { paid_at: wireTime(payment.paidAt) }),
    metadata: payment.metadata ?? {},
  };
}
