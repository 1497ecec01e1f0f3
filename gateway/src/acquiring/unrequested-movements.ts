// Money that an acquirer moved without a request from here: a reconciliation exception tells a person, once for each payment, and again for
// a further refund. The amount is not reported or not proven, so nothing is booked.
import type { ReportedState, Unrequested } from "../acquirers/acquirer.ts";
import { type CommandContext, bookCommand } from "../commands/command-context.ts";
import type { Merchant } from "../merchants/directory.ts";
import { type Payment, isRunning } from "../payments/payment.ts";
import { isPaid } from "../payments/states.ts";
import { remainingOf } from "../refunds/refunds.ts";
import type { Command } from "../store/command.ts";
import type { Need } from "../store/working-set.ts";
import type { ExceptionKind } from "./exception.ts";
import { exceptionNeeds, recordException } from "./exceptions.ts";
import { keepMessages } from "./keep-messages.ts";
import type { Operation } from "./operation.ts";
import type { CallMessages } from "./messages.ts";

/** Needs of a command that calls `recordUnrequested`. */
export function unrequestedNeeds(operation: Pick<Operation, "book" | "id" | "attempt">): Need[] {
  return exceptionNeeds(operation, ["refund_elsewhere", "dispute"]);
}

/** Records exceptions for the money movements that an inquiry reports beside the payment's state. Gives the kinds that are new. */
export function recordUnrequested(
  context: CommandContext,
  operation: Operation,
  payment: Payment,
  { unrequested, state }: { unrequested: readonly Unrequested[]; state: ReportedState },
): ExceptionKind[] {
  const kinds = new Set(unrequested.flatMap((one) => kindOf(one, payment, state)));
  const refundIds = unrequested.flatMap((one) => (typeof one === "object" ? [one.refundId] : []));
  const newsOf = (kind: ExceptionKind) => (kind === "refund_elsewhere" ? { occasions: refundIds } : {});
  return [...kinds].filter((kind) => recordException(context, operation, operation.attempt, kind, newsOf(kind)));
}

/** Whether a payment has a dispute that the acquirer means: one that runs or was lost, unless more `isGone` than was lost. What was won is over. */
export function isDisputed(payment: Payment, isGone: boolean): boolean {
  const { disputeStatus } = payment;
  return isRunning(disputeStatus) || (disputeStatus === "lost" && (!isGone || remainingOf(payment) === 0n));
}

function kindOf(unrequested: Unrequested, payment: Payment, state: ReportedState): ExceptionKind[] {
  const { status, refundPendingMinor } = payment;
  if (unrequested === "dispute") return isDisputed(payment, state.status === "failed") ? [] : ["dispute"];
  if (unrequested !== "unlisted_refund") return ["refund_elsewhere"];
  // An unlisted refund is explained by a refund that was asked for here, which no unapplied receipt can have. What was never paid has nothing to refund.
  const isUnapplied = state.status === "paid" && !isPaid(status);
  return (status === "succeeded" || isUnapplied) && refundPendingMinor === 0n ? ["refund_elsewhere"] : [];
}

/** Takes an acquirer's report that it gave money of a payment back by a refund of its own. Gives the kind of the exception if it is new. */
export function refundElsewhere(
  merchant: Merchant,
  operation: Operation,
  refundId: string,
  exchanged: CallMessages | undefined,
): Command<ExceptionKind | undefined> {
  const owner = { merchant, book: operation.book };
  return bookCommand(owner, {
    name: "take refund made elsewhere",
    needs: exceptionNeeds(operation, ["refund_elsewhere"]),
    execute(context) {
      keepMessages(context, operation, exchanged);
      const news = { occasions: [refundId] };
      const isNew = recordException(context, operation, operation.attempt, "refund_elsewhere", news);
      return isNew ? "refund_elsewhere" : undefined;
    },
  });
}
