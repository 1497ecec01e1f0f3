// A command that applies an acquirer's outcome to a payment, for pure tests.
import { type BookOwner, bookCommand } from "../src/commands/command-context.ts";
import type { Payment } from "../src/payments/payment.ts";
import { type AcquirerOutcome, outcomeNeeds, takeOutcome } from "../src/payments/payments.ts";
import type { Command } from "../src/store/command.ts";

export function taking(owner: BookOwner, reference: string, outcome: AcquirerOutcome): Command<Payment> {
  return bookCommand(owner, {
    name: "take outcome",
    needs: outcomeNeeds(owner.book, reference),
    execute: (context) => takeOutcome(context, reference, outcome),
  });
}
