// A payment inside the service, and its views: on create, on status, on cancel and in events. Changes of a payment are in payments.ts.
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

/** The part of a payment that the answer to a status request uses. */
export interface PaymentSummary {
  book: Book;
  reference: string;
  status: PaymentStatus;
  amountMinor: Minor;
  feeMinor: Minor;
  refundedMinor: Minor;
  /** The settlement batch of the payment; undefined while the payment waits for one, and where the batch was not read. */
  batch?: { uuid: string; status: "processing" | "paid"; payoutDate: string } | undefined;
  currency: string;
  method: PaymentMethod;
  referenceId: string;
  gatewayCode: string | undefined;
  createdAt: Micros;
  updatedAt: Micros;
  paidAt: Micros | undefined;
  /** Status of the newest dispute; undefined when there was none. */
  disputeStatus: DisputeStatus | undefined;
  instructions: Instructions | undefined;
  /** Book time at which an unpaid payment expires, or a review ends. */
  expiresAt: Micros;
  link: LinkMark | undefined;
}

/** The link's fields in a payment. They let the database allow only one open or paid payment of a link that is not reusable. */
export interface LinkMark {
  uuid: string;
  reusable: boolean;
}

/** The payer's data in a payment's row. `PayerData` seals and opens them. */
export interface StoredPayer {
  /** Keyed digest of the e-mail address, else of the telephone, in hex; null when neither was given. */
  customerKey: string | null;
  /** Keyed digest of the telephone when an e-mail address was given too, in hex; else null. */
  phoneKey: string | null;
  /** Name, e-mail address and telephone, sealed; null when none was given or they were erased. */
  sealed: Buffer | null;
  /** Real time of the erasure; null when there was none. */
  erasedAt: Micros | null;
}

export interface Payment extends PaymentSummary {
  /** Sum of refunds that are already posted and whose acquirer has not answered yet. */
  refundPendingMinor: Minor;
  /** Sum that lost disputes have taken from the payment. */
  lostMinor: Minor;
  description: string | undefined;
  callbackUrl: string | undefined;
  /** The address to which the payer's browser returns. */
  returnUrl: string | undefined;
  payer: StoredPayer;
  metadata: Record<string, string> | undefined;
  risk: RiskVerdict;
  routing: RoutingDecision;
  /** Under review: seconds that the payer will have, counted from the approval. */
  expiresIn: number | undefined;
  canceledAt: Micros | undefined;
  cancelReason: string | undefined;
}

/** The fields with which every view of a payment begins. */
function head(payment: PaymentSummary): Record<string, unknown> {
  return {
    reference: payment.reference,
    status: payment.status,
    amount_minor: wireAmount(payment.amountMinor),
    currency: payment.currency,
    exponent: exponentOf(payment.currency),
    fee_minor: wireAmount(payment.feeMinor),
    net_minor: wireAmount(payment.amountMinor - payment.feeMinor),
  };
}

/** Instructions and expiry of a payment that can be paid, and the expiry of one that no longer can, for statuses and events too. */
function payingFields(payment: PaymentSummary): Record<string, unknown> {
  if (payment.status === "expired") return { expires_at: wireTime(payment.expiresAt) };
  if (payment.status !== "pending") return {};
  return { instructions: payment.instructions ?? null, expires_at: wireTime(payment.expiresAt) };
}

function linkField({ link }: PaymentSummary): Record<string, unknown> {
  return link === undefined ? {} : { payment_link: link.uuid };
}

/** The answer to a creation (interface 4.2). `checkoutUrl`: address of the page where the payer pays. */
export function createdView(payment: Payment, checkoutUrl: string): Record<string, unknown> {
  return {
    ...head(payment),
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

/** The answer to a cancel (interface 4.5). */
export function canceledView({ reference, status, canceledAt, cancelReason }: Payment): Record<string, unknown> {
  assert(canceledAt !== undefined, `${reference} is not canceled`);
  return { reference, status, canceled_at: wireTime(canceledAt), reason: cancelReason ?? null };
}

/** True for a dispute without an outcome. */
export function isRunning(status: DisputeStatus | undefined): boolean {
  return status === "needs_response" || status === "under_review";
}

/** True for a payment that is paid and in no settlement batch: its payout date must be estimated. */
export function awaitsSettlement(payment: PaymentSummary): boolean {
  return isPaid(payment.status) && payment.batch === undefined;
}

/**
 * The answer to a status request (interface 4.3). `estimatedDate`: for a payment that awaits settlement, the expected day of the payout; null
 * when no batch can take the payment. `checkoutUrl`: address of the page where the payer pays, shown while the payment is pending.
 */
export function statusView(
  payment: PaymentSummary,
  estimatedDate: string | null,
  checkoutUrl?: string,
): Record<string, unknown> {
  return {
    ...head(payment),
    refunded_minor: wireAmount(payment.refundedMinor),
    payment_method: payment.method,
    reference_id: payment.referenceId,
    gateway_code: payment.gatewayCode ?? null,
    environment: payment.book.environment,
    ...linkField(payment),
    ...payingFields(payment),
    ...(payment.status === "pending" && checkoutUrl !== undefined ? { checkout_url: checkoutUrl } : {}),
    ...(payment.paidAt === undefined ? {} : { paid_at: wireTime(payment.paidAt) }),
    ...(isPaid(payment.status)
      ? {
          settlement_uuid: payment.batch?.uuid ?? null,
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
    ...head(payment),
    payment_method: payment.method,
    reference_id: payment.referenceId,
    gateway_code: payment.gatewayCode ?? null,
    ...linkField(payment),
    ...payingFields(payment),
    ...(payment.paidAt === undefined ? {} : { paid_at: wireTime(payment.paidAt) }),
    metadata: payment.metadata ?? {},
  };
}
