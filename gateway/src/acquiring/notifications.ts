// Applies an acquirer's message to a payment, inside a command. It may be late, repeated or out of order: no money is lost or counted twice.
import { type CommandContext, bookCommand } from "../commands/command-context.ts";
import { MINOR_MAX, type Minor, isCurrency, wireAmount } from "../ground/money.ts";
import type { Instructions, ProviderIds, Receipt, ReportedState } from "../acquirers/acquirer.ts";
import { type Fault, validationFault } from "../ground/fault.ts";
import { unappliedPostings } from "../ledger/journal.ts";
import { ledgerNeeds } from "../ledger/ledger.ts";
import type { Merchant } from "../merchants/directory.ts";
import type { Command } from "../store/command.ts";
import { exceptionNeeds, recordException } from "./exceptions.ts";
import type { Book } from "../merchants/books.ts";
import { type OperationName, withInquirySoon, wasCalled, withProviderIds } from "./operation.ts";
import { operations } from "./operations.sql.ts";
import type { RoutingDecision } from "../routing/routing.ts";
import { type Need, type WorkingSet, need } from "../store/working-set.ts";
import type { Payment } from "../payments/payment.ts";
import { capture, emitPayment, expire, findLocked, move, paymentNeeds } from "../payments/payments.ts";
import { payments, reviewedOrRouted } from "../payments/payments.sql.ts";
import { isPaid } from "../payments/states.ts";
import type { KeptReceipt } from "./receipt.ts";
import { moneyOfPayments, receipts } from "./receipts.sql.ts";
import { keepMessages } from "./keep-messages.ts";
import type { CallMessages } from "./messages.ts";

/**
 * Takes an acquirer's notification about a payment. A notification about another attempt than the present one is ignored unless it reports
 * money. Gives the VALIDATION_ERROR for money that differs from an earlier report, or is far too much (see `objectionTo`): the acquirer hears of it, and
 * by a reconciliation exception a person does, also after that of other money was closed. `isNew`: that was recorded now.
 */
export function paymentNotification(
  merchant: Merchant,
  { book, id, attempt }: OperationName,
  gatewayCode: string,
  {
    state,
    providerIds,
    exchanged,
  }: { state: ReportedState; providerIds?: ProviderIds | undefined; exchanged?: CallMessages | undefined },
): Command<{ objection: Fault; isNew: boolean } | undefined> {
  const owner = { merchant, book };
  return bookCommand(owner, {
    name: "take notification",
    needs: [
      ...paymentNeeds(book, id),
      need(operations, { book, id }),
      ...exceptionNeeds({ book, id, attempt }, ["receipt"]),
      ...notificationNeeds({ book, id }, gatewayCode, state),
    ],
    execute(context) {
      const payment = findLocked(context, id);
      const about = { book, id, kind: "payment", paymentReference: id, gatewayCode, attempt } as const;
      keepMessages(context, about, exchanged);
      const objection = objectionTo(context, payment, gatewayCode, state);
      if (objection) return { objection, isNew: recordException(context, about, attempt, "receipt", newsOf(state)) };
      const operation = context.set.get(operations, { book, id });
      const present = operation?.attempt === attempt && operation.gatewayCode === gatewayCode && wasCalled(operation);
      if (!present && state.status !== "paid") return undefined;
      // What was paid and has failed was taken back, or the notification is older than the money: an inquiry tells which.
      const isDoubtful =
        state.status === "failed" && (isPaid(payment.status) || holdsMoney(context, payment, gatewayCode));
      if (present && (isDoubtful || providerIds !== undefined)) {
        const named = withProviderIds(operation, providerIds);
        context.set.update(operations, isDoubtful ? withInquirySoon(named, context.realNow) : named);
      }
      // The notification may arrive before the answer to the call. Then the notification tells that the acquirer has the payment.
      const taken = present ? accept(context, payment, { gatewayCode, instructions: undefined }) : payment;
      applyState(context, taken, gatewayCode, state);
      return undefined;
    },
  });
}

/**
 * Plans an inquiry as soon as possible, since the acquirer reports that something has happened. A refund whose next attempt is only planned goes
 * back to the attempt before, when that one is reported: nothing more is ordered until it is asked about. Gives false, and plans none, for
 * any other attempt than the present one.
 */
export function inquireSoon(
  merchant: Merchant,
  { book, id, attempt }: OperationName,
  exchanged: CallMessages | undefined,
): Command<boolean> {
  const owner = { merchant, book };
  return bookCommand(owner, {
    name: "inquire soon",
    needs: [need(operations, { book, id })],
    execute(context) {
      const operation = context.set.get(operations, { book, id });
      if (!operation) return false;
      keepMessages(context, { ...operation, attempt }, exchanged);
      // Not further back: the numbers in between stand for orders that were made.
      const isLastCalled = operation.step === "planned" && attempt === operation.attempt - 1;
      if (operation.kind === "refund" && isLastCalled) {
        const reported = { ...operation, attempt, providerIds: undefined };
        context.set.update(operations, withInquirySoon(reported, context.realNow));
        return true;
      }
      if (operation.attempt !== attempt || !wasCalled(operation)) return false;
      context.set.update(operations, withInquirySoon(operation, context.realNow));
      return true;
    },
  });
}

type OfPayment = Pick<OperationName, "book" | "id">;

/** Needs of a command that applies an acquirer's notification. */
export function notificationNeeds({ book, id }: OfPayment, gatewayCode: string, state?: ReportedState): Need[] {
  if (state?.status !== "paid")
    return [...ledgerNeeds(book), ...otherMoney(book, id, gatewayCode).map((key) => need(moneyOfPayments, key))];
  const { transactionId } = state.receipt;
  return [...ledgerNeeds(book), need(receipts, { book, gatewayCode, transactionId })];
}

const otherMoney = (book: Book, paymentReference: string, gatewayCode: string) =>
  (["unapplied", "credited"] as const).map((status) => ({ book, paymentReference, gatewayCode, status }));

/** Whether money of this acquirer is here: what it paid and was not refunded, unless `isExplained`, or money that the payment did not await. */
export function holdsMoney({ set }: CommandContext, payment: Payment, code: string, isExplained = false): boolean {
  const { book, reference, status } = payment;
  if (isPaid(status) && status !== "refunded" && !isExplained) return true;
  return otherMoney(book, reference, code).some((key) => set.get(moneyOfPayments, key) !== undefined);
}

interface Accepted {
  gatewayCode: string;
  instructions: Instructions | undefined;
  /** Set when the route changed after the payment was written. */
  routing?: RoutingDecision;
}

/** Writes the new routing decision of a payment that no acquirer has accepted yet. */
export function reroute({ set }: CommandContext, payment: Payment, routing: RoutingDecision): void {
  write(set, { ...payment, routing });
}

function write(set: WorkingSet, routed: Payment): void {
  set.upsert(reviewedOrRouted, routed);
  set.show(payments, routed);
}

/** Records that an acquirer accepted an open payment, and emits `payment.created` once. Later only missing instructions are added. */
export function accept(context: CommandContext, payment: Payment, by: Accepted): Payment {
  const open = payment.status === "pending" || payment.status === "processing";
  const first = payment.gatewayCode === undefined;
  const later = payment.gatewayCode === by.gatewayCode && payment.instructions === undefined && by.instructions;
  if (!open || !(first || later)) return payment;
  const accepted: Payment = {
    ...payment,
    gatewayCode: by.gatewayCode,
    instructions: by.instructions,
    routing: by.routing ?? payment.routing,
    updatedAt: context.now,
  };
  write(context.set, accepted);
  if (first) emitPayment(context, accepted, "payment.created");
  return accepted;
}

/** What tells an exception about refused money from one about other money. */
export const newsOf = ({ receipt: money }: ReportedState & { receipt?: Receipt }): { occasions?: string[] } =>
  money ? { occasions: [`${money.transactionId} ${money.amountMinor}`.slice(0, 128)] } : {};

/** A receipt above this many times the payment's amount is rejected: its sender mistook the unit. */
const RECEIPT_MAX_TIMES = 1_000n;

/** The VALIDATION_ERROR for reported money; undefined when the report can be applied, or was applied before. */
export function objectionTo(
  { set }: CommandContext,
  { book, reference, amountMinor }: Payment,
  gatewayCode: string,
  state: ReportedState,
): Fault | undefined {
  if (state.status !== "paid") return undefined;
  const { receipt } = state;
  // Adapters should have refused these. What the database would refuse must not stop the book.
  if (receipt.amountMinor < 1n || receipt.amountMinor > MINOR_MAX)
    return validationFault("transaction.amount_minor", String(receipt.amountMinor), `must be from 1 to ${MINOR_MAX}.`);
  if (!isCurrency(receipt.currency))
    return validationFault("transaction.currency", receipt.currency, "is no currency of ISO 4217.");
  if (!/^[!-~]{1,64}$/.test(receipt.transactionId))
    return validationFault("transaction.transaction_id", receipt.transactionId, "must be 1 to 64 ASCII characters.");
  if (receipt.amountMinor > amountMinor * RECEIPT_MAX_TIMES) {
    const absurd =
      "This is more than a thousand times the payment's amount. Amounts are in the currency's smallest unit.";
    return validationFault("transaction.amount_minor", wireAmount(receipt.amountMinor), absurd);
  }
  const before = set.get(receipts, { book, gatewayCode, transactionId: receipt.transactionId });
  const same =
    !before ||
    (before.paymentReference === reference &&
      before.amountMinor === receipt.amountMinor &&
      before.currency === receipt.currency);
  if (same) return undefined;
  const different = "This transaction was reported before, with other particulars.";
  return validationFault("transaction.transaction_id", receipt.transactionId, different);
}

/** Applies a payment's state at its acquirer, unless it can change nothing any more. A `paid` state must have passed `objectionTo` before. */
export function applyState(context: CommandContext, payment: Payment, code: string, state: ReportedState): Payment {
  if (state.status === "waiting") return payment;
  if (state.status === "paid") return applyReceipt(context, payment, code, state.receipt);
  if (payment.gatewayCode !== code) return payment;
  if (payment.status === "pending" && payment.expiresAt <= context.now) return expire(context, payment);
  const moves = payment.status === "pending" || (payment.status === "processing" && state.status === "failed");
  return moves ? move(context, payment, { status: state.status }) : payment;
}

/** The acquirer's fee; undefined when it is negative or more than the amount. A fee that nobody can believe must not keep the money from its payment. */
function credibleFee({ amountMinor, feeMinor }: Receipt): Minor | undefined {
  return feeMinor !== undefined && feeMinor >= 0n && feeMinor <= amountMinor ? feeMinor : undefined;
}

/**
 * Records received money. The money pays the payment if that is open and acquirer, amount and currency match. Other money (too late, too
 * much, a second time) is kept apart as unapplied until an operator decides.
 */
function applyReceipt(context: CommandContext, payment: Payment, gatewayCode: string, receipt: Receipt): Payment {
  const { set, now } = context;
  const { book, reference } = payment;
  if (set.get(receipts, { book, gatewayCode, transactionId: receipt.transactionId })) return payment;
  const late = payment.status === "pending" && payment.expiresAt <= now;
  const current = late ? expire(context, payment) : payment;
  const awaited = current.status === "pending" || current.status === "processing";
  const exact =
    current.gatewayCode === gatewayCode &&
    current.amountMinor === receipt.amountMinor &&
    current.currency === receipt.currency;
  const kept: KeptReceipt = {
    book,
    uuid: context.newId("receipt"),
    gatewayCode,
    ...receipt,
    feeMinor: credibleFee(receipt),
    paymentReference: reference,
    status: awaited && exact ? "applied" : "unapplied",
    receivedAt: now,
    decidedAt: undefined,
  };
  set.insert(receipts, kept);
  if (kept.status === "applied") return capture(context, current);
  set.upsert(moneyOfPayments, kept);
  context.post({
    groupId: reference,
    kind: "receipt_unapplied",
    operationKey: `receipt_unapplied:${kept.uuid}`,
    postings: unappliedPostings(gatewayCode, receipt),
  });
  return current;
}
