// Review: payments that a person judges. Approved they go on as if just created; refused, or forgotten, they fail.
import { type Micros, SECOND } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { type Book, bookNow } from "../merchants/books.ts";
import type { Merchant } from "../merchants/directory.ts";
import type { Command } from "../store/lane.ts";
import type { WorkingSet } from "../store/working-set.ts";
import { findRoute, planOperation } from "./choice.ts";
import type { Payment } from "./payment.ts";
import { type PaymentParts, DEFAULT_EXPIRES_IN, findLocked, paymentNeeds, refuse, tell } from "./payments.ts";
import { payments, routedPayments } from "./payments.sql.ts";

/** True while a payment waits for a person's judgement. */
export function isUnderReview(payment: Payment): boolean {
  return payment.status === "pending" && payment.risk.decision === "review";
}

function findReviewed(set: WorkingSet, book: Book, reference: string, now: Micros): Payment {
  const payment = findLocked(set, book, reference);
  if (!isUnderReview(payment) || payment.expiresAt <= now)
    throw new Fault("PAYMENT_NOT_PAYABLE", { details: { status: payment.status } });
  return payment;
}

/**
 * Approves a payment under review: an acquirer is chosen, and the payer may pay, for as long as was asked, from now. Throws
 * PAYMENT_NOT_FOUND, PAYMENT_NOT_PAYABLE (not under review), NO_ROUTE_AVAILABLE.
 */
export function approvePayment(
  parts: PaymentParts,
  merchant: Merchant,
  book: Book,
  reference: string,
): Command<Payment> {
  return {
    name: "approve payment",
    book,
    needs: paymentNeeds(book, reference),
    execute(set, realNow) {
      const now = bookNow(set, book, realNow);
      const payment = findReviewed(set, book, reference, now);
      const expiresAt = now + (payment.expiresIn ?? DEFAULT_EXPIRES_IN) * SECOND;
      const choice = findRoute(parts, merchant, { ...payment, expiresAt });
      const { chosen, decision, instructions } = choice;
      const approved: Payment = {
        ...payment,
        risk: { ...payment.risk, decision: "approve" },
        gatewayCode: instructions && chosen.code,
        instructions,
        routing: decision,
        expiresAt,
        updatedAt: now,
      };
      set.insert(routedPayments, approved);
      set.update(payments, approved);
      planOperation(set, approved, choice, realNow);
      // An acquirer that must be asked first is asked by a worker; the merchant is told when it has answered.
      if (instructions !== undefined) tell(parts.outbox, set, merchant, approved, "payment.created", now);
      return approved;
    },
  };
}

/** Refuses a payment under review. Throws PAYMENT_NOT_FOUND, PAYMENT_NOT_PAYABLE (not under review). */
export function refusePayment(
  parts: PaymentParts,
  merchant: Merchant,
  book: Book,
  reference: string,
): Command<Payment> {
  return {
    name: "refuse payment",
    book,
    needs: paymentNeeds(book, reference),
    execute(set, realNow) {
      const now = bookNow(set, book, realNow);
      return refuse(parts, set, merchant, findReviewed(set, book, reference, now), now);
    },
  };
}
