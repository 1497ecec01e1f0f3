// Payments under their acquirer's review, since its fraud detection asks about them: an operator judges them, and a worker tells the acquirer.
import type { Acquirer, Judgement, ReportedState } from "../acquirers/acquirer.ts";
import { type BookOwner, bookCommand } from "../commands/command-context.ts";
import { Fault } from "../ground/fault.ts";
import type { Payment } from "../payments/payment.ts";
import { findLocked, paymentNeeds } from "../payments/payments.ts";
import type { Command } from "../store/command.ts";
import { need } from "../store/working-set.ts";
import { type Operation, withInquirySoon } from "./operation.ts";
import { operations } from "./operations.sql.ts";

/** The operation after its acquirer reported a state: `review` is `asked` while the acquirer asks for a judgement and can take one. */
export function withReview(operation: Operation, state: ReportedState, acquirer: Acquirer | undefined): Operation {
  const asks = state.status === "processing" && state.isUnderReview === true && acquirer?.calls?.judge !== undefined;
  if (asks && operation.review === undefined) return { ...operation, review: "asked" };
  return !asks && operation.review === "asked" ? { ...operation, review: undefined } : operation;
}

/**
 * Judges a payment under its acquirer's review. A worker tells the acquirer when it next polls, and the acquirer's answer decides. Throws
 * PAYMENT_NOT_FOUND, ENVIRONMENT_MISMATCH, PAYMENT_NOT_PAYABLE (the acquirer asks for no judgement, or has one already).
 */
export function judgeAcquirerReview(owner: BookOwner, reference: string, judgement: Judgement): Command<Payment> {
  const { book } = owner;
  return bookCommand(owner, {
    name: "judge payment under an acquirer's review",
    needs: [...paymentNeeds(book, reference), need(operations, { book, id: reference })],
    execute(context) {
      const payment = findLocked(context, reference);
      const operation = context.set.get(operations, { book, id: reference });
      if (payment.status !== "processing" || operation?.review !== "asked")
        throw new Fault("PAYMENT_NOT_PAYABLE", { details: { status: payment.status } });
      context.set.update(operations, withInquirySoon({ ...operation, review: judgement }, context.realNow));
      return payment;
    },
  });
}
