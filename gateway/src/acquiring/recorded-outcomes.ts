// An operator records what became of a refund or a payment that its acquirer leaves open: it is gone, or never says. What it says later is
// held against the record, as against its own word: a refund made after all is an exception, and money that comes is an unapplied receipt.
import type { ReportedState } from "../acquirers/acquirer.ts";
import { type BookOwner, type CommandContext, bookCommand } from "../commands/command-context.ts";
import { HOUR, type Micros, SECOND } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import type { Payment } from "../payments/payment.ts";
import { findLocked } from "../payments/payments.ts";
import type { Refund, RefundOfOrder } from "../refunds/refund.ts";
import { refunds } from "../refunds/refunds.sql.ts";
import { complete, completionNeeds } from "../refunds/refunds.ts";
import type { Command } from "../store/command.ts";
import { need } from "../store/working-set.ts";
import { applyState, holdsMoney, notificationNeeds } from "./notifications.ts";
import { type OpeningParts, endOpening, openingNeeds } from "./opening.ts";
import type { Operation } from "./operation.ts";
import { LEASE, operations } from "./operations.sql.ts";
import { refuseOther } from "./receipts.ts";
import { receipts } from "./receipts.sql.ts";
import { recordUnrequested } from "./unrequested-movements.ts";

/** An acquirer has so long to say by itself what became of an order, by the real clock. */
const SAYS_ITSELF: Micros = 24 * HOUR;
/** The clocks of two processes that do recurring work differ by no more, twice what each may differ from the database's. */
const CLOCKS_APART: Micros = 10 * SECOND;

/**
 * Throws PAYMENT_NOT_PAYABLE unless an operator may record the outcome: the refund is pending, or the payment processing, or ended or paid and in
 * doubt; its acquirer was called and is being asked, and a day has passed. While a call is planned or under way, the acquirer may be about to do
 * what was recorded as not done.
 */
export function refuseUnlessLeftOpen(
  status: string,
  operation: Operation | undefined,
  realNow: Micros,
): asserts operation is Operation {
  const isDoubtful = operation?.kind === "payment" && operation.step === "inquiring" && status !== "pending";
  const isOpen = isDoubtful || status === (operation?.kind === "refund" ? "pending" : "processing");
  const isAsked = operation?.step === "inquiring" || operation?.step === "polling";
  if (operation && isOpen && isAsked && realNow >= operation.createdAt + SAYS_ITSELF) return;
  const why = isAsked
    ? "Its acquirer has a day to say by itself what became of it."
    : operation && operation.step !== "done"
      ? "Its acquirer has not taken it on yet. The gateway goes on calling."
      : "Its acquirer is not asked about it: it is a simulated one. Simulate the outcome.";
  throw new Fault("PAYMENT_NOT_PAYABLE", { message: isOpen ? why : `It is ${status}.`, details: { status } });
}

/** Ends a pending refund. Throws PAYMENT_NOT_PAYABLE (see `refuseUnlessLeftOpen`), and SERVICE_UNAVAILABLE while it is being asked about. */
export function recordRefundOutcome(
  owner: BookOwner,
  { uuid, paymentReference }: Refund,
  outcome: "succeeded" | "failed",
): Command<RefundOfOrder> {
  const { book } = owner;
  const key = { uuid, paymentReference };
  return bookCommand(owner, {
    name: "record a refund's outcome",
    needs: [...completionNeeds(book, key), need(operations, { book, id: uuid })],
    execute(context) {
      const refund = context.set.get(refunds, { book, uuid });
      if (!refund) throw new Fault("REFUND_NOT_FOUND");
      const operation = leftOpen(context, uuid, refund.status);
      context.set.update(operations, { ...operation, step: "done", dueAt: undefined });
      return complete(context, key, outcome);
    },
  });
}

/**
 * Ends a processing payment: failed, or paid in full by this transaction. One that is over stays so, and this transaction is late money, if it is
 * new. A paid one stays so, too: it names its own transaction. Where money is here that the acquirer does not have, that is an exception.
 * Answers its creation, if that still waits. Throws PAYMENT_NOT_PAYABLE (see `refuseUnlessLeftOpen`), SERVICE_UNAVAILABLE while it is being asked
 * about, and VALIDATION_ERROR for a transaction that cannot be the one.
 */
export function recordPaymentOutcome(
  parts: Pick<OpeningParts, "createdReply">,
  owner: BookOwner,
  { amountMinor, currency }: Payment,
  asked: Operation,
  transactionId: string | undefined,
): Command<Payment> {
  const { book, id, gatewayCode, idempotencyKey } = asked;
  const state: ReportedState =
    transactionId === undefined
      ? { status: "failed" }
      : { status: "paid", receipt: { transactionId, amountMinor, currency } };
  return bookCommand(owner, {
    name: "record a payment's outcome",
    needs: [...openingNeeds(asked), ...notificationNeeds({ book, id }, gatewayCode, state)],
    execute(context) {
      const payment = findLocked(context, id);
      const operation = { ...leftOpen(context, id, payment.status), idempotencyKey };
      if (operation.attempt !== asked.attempt) throw new Fault("SERVICE_UNAVAILABLE");
      if (transactionId !== undefined)
        refuseOther(payment, context.set.get(receipts, { book, gatewayCode, transactionId }), transactionId);
      else if (holdsMoney(context, payment, gatewayCode))
        recordUnrequested(context, operation, payment, { unrequested: ["dispute"], state });
      const after = applyState(context, payment, gatewayCode, state);
      endOpening(parts, context, operation, after);
      return after;
    },
  });
}

/** The operation to end. Throws SERVICE_UNAVAILABLE while a worker may have claimed it: an inquiry under way may order a refund that is missing. */
function leftOpen({ set, book, realNow }: CommandContext, id: string, status: string): Operation {
  const operation = set.get(operations, { book, id });
  refuseUnlessLeftOpen(status, operation, realNow);
  const { dueAt = realNow } = operation;
  if (dueAt > realNow - CLOCKS_APART && dueAt <= realNow + LEASE + CLOCKS_APART)
    throw new Fault("SERVICE_UNAVAILABLE", {
      message: "Its acquirer is being asked about it at this moment. Try again in two minutes.",
      retryAfterSeconds: 120,
    });
  return operation;
}
