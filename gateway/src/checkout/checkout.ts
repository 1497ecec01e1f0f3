// A payment as its payer sees it: look-up by the token of its page, its state by the book's time, and the decision of a sandbox's payer.
import type { Instructions } from "../acquirers/acquirer.ts";
import { bookCommand } from "../commands/command-context.ts";
import { type Clock, SECOND } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { linkPath } from "../links/link-address.ts";
import { selectLink, snapshotOfLinkRow } from "../links/links.sql.ts";
import { selectBookOffset } from "../merchants/books.sql.ts";
import type { Directory } from "../merchants/directory.ts";
import type { Profile } from "../merchants/profiles.sql.ts";
import type { Profiles } from "../merchants/profiles.ts";
import type { Payment } from "../payments/payment.ts";
import { paymentOfRow, selectPayment } from "../payments/payments.sql.ts";
import { type PaymentParts, outcomeNeeds, takeOutcome } from "../payments/payments.ts";
import { type PaymentStatus, isPaid } from "../payments/states.ts";
import type { Refund } from "../refunds/refund.ts";
import { refundOfRow, selectRefunds } from "../refunds/refunds.sql.ts";
import type { RiskVerdict } from "../risk/risk.ts";
import type { Database } from "../store/database.ts";
import type { Lanes } from "../store/lanes.ts";
import type { PayerTokens } from "./payer-tokens.ts";

export interface CheckoutParts extends PaymentParts {
  tokens: PayerTokens;
  database: Database;
  directory: Directory;
  profiles: Profiles;
  lanes: Lanes;
  clock: Clock;
  serviceName: string;
}

/**
 * The state that a page shows. `review`: a person reviews the payment. `preparing`: no acquirer has it, or none has answered yet. `unavailable`: its
 * merchant is suspended, and nobody should begin to pay.
 */
export type Face =
  | "open"
  | "review"
  | "preparing"
  | "processing"
  | "paid"
  | "refunded"
  | "failed"
  | "expired"
  | "canceled"
  | "unavailable";

export interface Checkout {
  payment: Payment;
  profile: Profile;
  face: Face;
  /** Seconds until the payment expires, by the book's clock. */
  secondsLeft: number;
  /** Instructions to pay; undefined when the payment cannot be paid, or not yet. */
  instructions: Instructions | undefined;
  /** What was given back: the newest twenty refunds. */
  refunds: Refund[];
  /** Path of its payment link's page, where the payer of one that has failed or expired can begin again. */
  linkPath: string | undefined;
}

const REFUNDS_MAX = 20;

/** The payment of a token. Throws ROUTE_NOT_FOUND alike for a token that this installation did not make and for a payment that is gone. */
export async function findCheckout(parts: CheckoutParts, token: string): Promise<Checkout> {
  const named = parts.tokens.read(token);
  const payment = named && (await parts.database.first(selectPayment(named.merchantId, named.reference), paymentOfRow));
  if (!payment) throw new Fault("ROUTE_NOT_FOUND");
  const [profile, merchant, [clock]] = await Promise.all([
    parts.profiles.of(payment.book.merchantId),
    parts.directory.merchant(payment.book.merchantId),
    parts.database.query<{ clock_offset_seconds: bigint }>(selectBookOffset(payment.book)),
  ]);
  const now = parts.clock.now() + Number(clock?.clock_offset_seconds ?? 0n) * SECOND;
  const secondsLeft = Math.max(0, Math.ceil((payment.expiresAt - now) / SECOND));
  const face = faceOf({
    status: payment.status,
    secondsLeft,
    isPayable: payment.instructions !== undefined,
    risk: payment.risk.decision,
    isSuspended: merchant?.suspended === true,
  });
  const refunds = payment.refundedMinor === 0n ? [] : await refundsOf(parts.database, payment);
  const instructions = face === "open" ? payment.instructions : undefined;
  const { link, book } = payment;
  const isOver = link !== undefined && (face === "failed" || face === "expired");
  const [row] = isOver ? await parts.database.query(selectLink(book.merchantId, link.uuid)) : [];
  const again = row && linkPath({ merchantId: book.merchantId, token: snapshotOfLinkRow(row, now).link.token });
  return { payment, profile, face, secondsLeft, instructions, refunds, linkPath: again };
}

async function refundsOf(database: Database, { book, reference: paymentReference }: Payment): Promise<Refund[]> {
  const always = { from: undefined, before: undefined, after: undefined };
  const filter = { book, paymentReference, status: "succeeded" as const, ...always, limit: REFUNDS_MAX };
  return (await database.query(selectRefunds(filter))).slice(0, REFUNDS_MAX).map(refundOfRow);
}

/** A payment as far as the face of its page depends on it. */
interface Shown {
  status: PaymentStatus;
  secondsLeft: number;
  isPayable: boolean;
  risk: RiskVerdict["decision"];
  /** Whether its merchant is suspended. */
  isSuspended: boolean;
}

/** The state that a page shows. A payment past its expiry counts as expired, even before the worker has expired it. */
export function faceOf({ status, secondsLeft, isPayable, risk, isSuspended }: Shown): Face {
  if (status === "pending") {
    if (secondsLeft === 0) return "expired";
    if (isSuspended) return "unavailable";
    if (isPayable) return "open";
    return risk === "review" ? "review" : "preparing";
  }
  if (status === "refunded") return "refunded";
  if (isPaid(status)) return "paid";
  return status as "processing" | "failed" | "expired" | "canceled";
}

/**
 * Applies the decision of a sandbox's payer in place of an acquirer's notification. A payment that has ended already, or whose merchant is suspended, is
 * no error: its page shows that. Throws ROUTE_NOT_FOUND for a production payment.
 */
export async function decide(parts: CheckoutParts, payment: Payment, outcome: "succeeded" | "failed"): Promise<void> {
  const { book, reference } = payment;
  const merchant = await parts.directory.merchant(book.merchantId);
  if (!merchant || book.environment !== "sandbox") throw new Fault("ROUTE_NOT_FOUND");
  if (merchant.suspended) return;
  try {
    const command = bookCommand(
      { merchant, book },
      {
        name: "payer's decision",
        needs: outcomeNeeds(book, reference),
        execute: (context) => takeOutcome(context, reference, outcome),
      },
    );
    await parts.lanes.move(book.merchantId, command);
  } catch (error) {
    const over = error instanceof Fault && (error.code === "PAYMENT_EXPIRED" || error.code === "PAYMENT_NOT_PAYABLE");
    if (!over) throw error;
  }
}
