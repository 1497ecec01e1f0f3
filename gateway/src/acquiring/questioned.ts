// Payments that an acquirer's fraud detection questions: an operator judges them here, and a worker tells the acquirer.
import type { Acquirer, Judgement, ReportedState } from "../acquirers/acquirer.ts";
import { type BookOwner, bookCommand } from "../commands/command-context.ts";
import { Fault } from "../ground/fault.ts";
import type { Payment } from "../payments/payment.ts";
import { findLocked, paymentNeeds } from "../payments/payments.ts";
import type { Command } from "../store/command.ts";
import { need } from "../store/working-set.ts";
import { type Operation, withInquirySoon } from "./operation.ts";
import { operations } from "./operations.sql.ts";

/** True while an acquirer's question waits for a person's judgement. */
function isQuestioned(payment: Payment, operation: Operation | undefined): boolean {
  return payment.status === "processing" && operation?.review === "asked";
}

/** The operation after its acquirer reported a state: `review` is `asked` while the acquirer asks for a judgement and can take one. */
export function questioned(operation: Operation, state: ReportedState, acquirer: Acquirer | undefined): Operation {
  const asks = state.status === "processing" && state.isQuestioned === true && acquirer?.calls?.judge !== undefined;
  if (asks && operation.review === undefined) return { ...operation, review: "asked" };
  return !asks && operation.review === "asked" ? { ...operation, review: undefined } : operation;
}

/**
 * Judges a payment that its acquirer questions. A worker tells the acquirer when it next polls, and the acquirer's answer decides. Throws
 * PAYMENT_NOT_FOUND, ENVIRONMENT_MISMATCH, PAYMENT_NOT_PAYABLE (the acquirer asks for no judgement, or has one already).
 */
export function judgeQuestioned(owner: BookOwner, reference: string, judgement: Judgement): Command<Payment> {
  const { book } = owner;
  return bookCommand(owner, {
    name: "judge questioned payment",
    needs: [...paymentNeeds(book, reference), need(operations, { book, id: reference })],
    execute(context) {
      const payment = findLocked(context, reference);
      const operation = context.set.get(operations, { book, id: reference });
      if (!operation || !isQuestioned(payment, operation))
        throw new Fault("PAYMENT_NOT_PAYABLE", { details: { status: payment.status } });
      context.set.update(operations, withInquirySoon({ ...operation, review: judgement }, context.realNow));
      return payment;
    },
  });
}
