// Review of payments by a person. An approved payment goes on as if just created; a refused or unjudged payment fails.
import { type BookOwner, type CommandContext, bookCommand } from "../commands/command-context.ts";
import { SECOND } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import type { Command } from "../store/command.ts";
import type { Payment } from "./payment.ts";
import { DEFAULT_EXPIRES_IN, type PaymentParts, emitPayment, findLocked, paymentNeeds, refuse } from "./payments.ts";
import { payments, reviewedOrRouted } from "./payments.sql.ts";
import { enterSplitTest, selectRoute } from "./route-selection.ts";

/** True while a payment waits for a person's decision. */
export function isUnderReview(payment: Payment): boolean {
  return payment.status === "pending" && payment.risk.decision === "review";
}

function findReviewed(context: CommandContext, reference: string): Payment {
  const payment = findLocked(context, reference);
  if (!isUnderReview(payment) || payment.expiresAt <= context.now)
    throw new Fault("PAYMENT_NOT_PAYABLE", { details: { status: payment.status } });
  return payment;
}

/** Approves a payment under review; `expires_in` counts from now. Throws PAYMENT_NOT_FOUND, PAYMENT_NOT_PAYABLE, NO_ROUTE_AVAILABLE. */
export function approvePayment(parts: PaymentParts, owner: BookOwner, reference: string): Command<Payment> {
  return bookCommand(owner, {
    name: "approve payment",
    needs: paymentNeeds(owner.book, reference),
    execute(context) {
      const { set, now, merchant } = context;
      const payment = findReviewed(context, reference);
      const expiresAt = now + (payment.expiresIn ?? DEFAULT_EXPIRES_IN) * SECOND;
      const selection = selectRoute(parts, merchant, { ...payment, expiresAt });
      const { chosen, decision, instructions } = selection;
      const approved: Payment = {
        ...payment,
        risk: { ...payment.risk, decision: "approve" },
        gatewayCode: instructions && chosen.code,
        instructions,
        routing: decision,
        expiresAt,
        updatedAt: now,
      };
      set.insert(reviewedOrRouted, approved);
      set.show(payments, approved);
      enterSplitTest(context, approved);
      parts.planPayment(context, approved, selection);
      // When the acquirer must be asked for instructions, a worker asks it, and `payment.created` follows its answer.
      if (instructions !== undefined) emitPayment(context, approved, "payment.created");
      return approved;
    },
  });
}

/** Refuses a payment under review. Throws PAYMENT_NOT_FOUND, PAYMENT_NOT_PAYABLE (not under review). */
export function refusePayment(owner: BookOwner, reference: string): Command<Payment> {
  return bookCommand(owner, {
    name: "refuse payment",
    needs: paymentNeeds(owner.book, reference),
    execute: (context) => refuse(context, findReviewed(context, reference)),
  });
}
