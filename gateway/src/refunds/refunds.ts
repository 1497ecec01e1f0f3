// Refunds: money that goes back to the payer, posted in the journal group of its payment. Pure commands for the lanes.
import type { Acquirer, Capability } from "../acquirers/acquirer.ts";
import { type BookOwner, type CommandContext, bookCommand } from "../commands/command-context.ts";
import { Fault, assert } from "../ground/fault.ts";
import { sameId } from "../ground/ids.ts";
import { type Minor, wireAmount } from "../ground/money.ts";
import { accounts, refundPostings, refundReturnPostings } from "../ledger/journal.ts";
import { balanceOf, ledgerNeeds } from "../ledger/ledger.ts";
import type { Book } from "../merchants/books.ts";
import { type MerchantSettings, isFrozen, refuseFrozen } from "../merchants/settings.ts";
import { type Payment, isRunning } from "../payments/payment.ts";
import { findLocked, paymentNeeds, reviseRefunds } from "../payments/payments.ts";
import { tooFine } from "../payments/payments.schema.ts";
import { isPaid } from "../payments/states.ts";
import { capabilityOf } from "../routing/routing.ts";
import type { Command } from "../store/command.ts";
import { type Need, need } from "../store/working-set.ts";
import type { CreateRefund } from "./refunds.schema.ts";
import { type Refund, type RefundOfOrder, refundView } from "./refund.ts";
import { refunds } from "./refunds.sql.ts";

export interface RefundParts {
  /** The acquirer with this code; undefined when it is no longer configured. */
  acquirer(code: string): Acquirer | undefined;
  /** Plans the call that asks the acquirer for a refund. A parameter, since the room that talks to acquirers lies above this one. */
  planRefund(context: CommandContext, refund: Refund, gatewayCode: string): void;
}

/** The refundable part of a payment, in minor units: what was neither refunded nor lost in a dispute. */
export function remainingOf(payment: Payment): Minor {
  return payment.amountMinor - payment.refundedMinor - payment.refundPendingMinor - payment.lostMinor;
}

/** What `createRefund` lets refund of a payment now, in minor units, whatever the merchant's balance. */
export function refundableOf(payment: Payment, acquirer: Acquirer | undefined, settings: MerchantSettings): Minor {
  const { status, disputeStatus, currency } = payment;
  const isRefundable = isPaid(status) && !isRunning(disputeStatus) && termsOf(payment, acquirer)?.refunds !== false;
  const hasWallet = settings.currencies.includes(currency) && !isFrozen(settings, currency);
  return isRefundable && hasWallet ? remainingOf(payment) : 0n;
}

/** What the payment's acquirer says of its method and currency; undefined when it is no longer configured for them. */
function termsOf({ method, currency }: Payment, acquirer: Acquirer | undefined): Capability | undefined {
  return acquirer && capabilityOf(acquirer, method, currency);
}

/**
 * Interface 4.6. Gives the refund and the rest that is refundable after it. `uuid`: the identity of an intent, such as an operator's approval: its refund is
 * made once, and given again, whatever became of the idempotency key. Throws, in this order: PAYMENT_NOT_FOUND, ENVIRONMENT_MISMATCH,
 * PAYMENT_NOT_REFUNDABLE, CURRENCY_MISMATCH, REFUND_EXCEEDS_PAYMENT, INVALID_AMOUNT for one that is too fine for the acquirer,
 * WALLET_NOT_FOUND, WALLET_FROZEN, DISPUTE_LOCKED, INSUFFICIENT_FUNDS.
 */
export function createRefund(
  parts: RefundParts,
  owner: BookOwner,
  body: CreateRefund,
  uuid?: string,
): Command<{ refund: RefundOfOrder; remainingMinor: Minor }> {
  const { book } = owner;
  return bookCommand(owner, {
    name: "create refund",
    needs: [
      ...paymentNeeds(book, body.payment_reference),
      ...ledgerNeeds(book),
      ...(uuid === undefined ? [] : [need(refunds, { book, uuid })]),
    ],
    execute(context) {
      const { set, now } = context;
      const payment = findLocked(context, body.payment_reference);
      const made = uuid === undefined ? undefined : set.get(refunds, { book, uuid });
      const { referenceId } = payment;
      if (made) return { refund: { ...made, referenceId }, remainingMinor: remainingOf(payment) };
      const acquirer = payment.gatewayCode === undefined ? undefined : parts.acquirer(payment.gatewayCode);
      const amountMinor = fundedAmount(context, payment, body, acquirer);
      const later = acquirer?.refundsLater({ metadata: payment.metadata }) ?? true;
      const refund: RefundOfOrder = {
        book,
        uuid: uuid ?? context.newId("refund"),
        paymentReference: payment.reference,
        referenceId,
        status: later ? "pending" : "succeeded",
        amountMinor,
        currency: payment.currency,
        reason: body.reason,
        createdAt: now,
        completedAt: later ? undefined : now,
      };
      set.insert(refunds, refund);
      context.post({
        ...(uuid === undefined && { journalId: sameId("journal", refund.uuid) }), // the identity of an intent may be days old
        groupId: payment.reference,
        kind: "refund",
        operationKey: `refund:${refund.uuid}`,
        postings: refundPostings(gatewayOf(payment), refund),
      });
      const revised = reviseRefunds(context, payment, later ? { pending: amountMinor } : { refunded: amountMinor });
      // An acquirer that is no longer configured may come back: until then the refund is pending.
      if (!acquirer || acquirer.remote) parts.planRefund(context, refund, gatewayOf(payment));
      if (!later) emitRefund(context, payment, refund);
      return { refund, remainingMinor: remainingOf(revised) };
    },
  });
}

/**
 * The amount that a refund would give back, in minor units, whatever the merchant's balance. Throws PAYMENT_NOT_REFUNDABLE, CURRENCY_MISMATCH,
 * REFUND_EXCEEDS_PAYMENT, and INVALID_AMOUNT for one that is too fine for the payment's acquirer.
 */
export function refundAmount(
  payment: Payment,
  body: Pick<CreateRefund, "amount_minor" | "currency">,
  acquirer: Acquirer | undefined,
): Minor {
  if (!isPaid(payment.status) || isRunning(payment.disputeStatus)) throw new Fault("PAYMENT_NOT_REFUNDABLE");
  const { stepMinor = 1n, refunds: givesBack = true } = termsOf(payment, acquirer) ?? {};
  if (!givesBack) {
    const message = `${acquirer?.name} gives no payment by ${payment.method} back. Pay it back from your bank.`;
    throw new Fault("PAYMENT_NOT_REFUNDABLE", { message });
  }
  if (body.currency !== undefined && body.currency !== payment.currency) throw new Fault("CURRENCY_MISMATCH");
  const remaining = remainingOf(payment);
  const amount = body.amount_minor === undefined ? remaining : BigInt(body.amount_minor);
  if (amount > remaining || amount === 0n) {
    throw new Fault("REFUND_EXCEEDS_PAYMENT", { details: { remaining_refundable_minor: wireAmount(remaining) } });
  }
  if (amount % stepMinor !== 0n) {
    throw tooFine(
      `${acquirer?.name} gives back no amount so fine`,
      stepMinor,
      amount,
      stepMinor,
      remaining - (remaining % stepMinor),
    );
  }
  return amount;
}

/** Throws WALLET_NOT_FOUND for a currency that is not enabled, WALLET_FROZEN while its wallet is frozen. */
export function refuseWithoutWallet(settings: MerchantSettings, currency: string): void {
  if (!settings.currencies.includes(currency)) throw new Fault("WALLET_NOT_FOUND");
  refuseFrozen(settings, currency);
}

/** The amount to refund, in minor units, which the merchant's balance covers. Throws the first of the faults that apply, in the order that `createRefund` names. */
function fundedAmount(
  { set, merchant }: CommandContext,
  payment: Payment,
  body: CreateRefund,
  acquirer: Acquirer | undefined,
): Minor {
  const { book, currency } = payment;
  const amount = refundAmount(payment, body, acquirer);
  refuseWithoutWallet(merchant.settings, currency);
  refuseUnfunded(amount, (account) => balanceOf(set, book, account, currency));
  return amount;
}

/** Throws DISPUTE_LOCKED or INSUFFICIENT_FUNDS for a refund of more than is available. A merchant's balances are credits: below zero in the ledger. */
export function refuseUnfunded(amount: Minor, balance: (account: string) => Minor): void {
  const available = -balance(accounts.available);
  if (available >= amount) return;
  throw new Fault(available - balance(accounts.held) >= amount ? "DISPUTE_LOCKED" : "INSUFFICIENT_FUNDS");
}

function gatewayOf(payment: Payment): string {
  assert(payment.gatewayCode !== undefined, `${payment.reference} was paid through no acquirer`);
  return payment.gatewayCode;
}

/** Identifies a refund for a command. The payment must be known beforehand, so that both rows can be locked. */
interface RefundKey {
  uuid: string;
  /** Undefined when the merchant has no such refund in either environment. */
  paymentReference: string | undefined;
}

type Outcome = "succeeded" | "failed";

/** Records an acquirer's late outcome of a refund. Gives it; throws REFUND_NOT_FOUND, ENVIRONMENT_MISMATCH, PAYMENT_NOT_PAYABLE. */
export function completeRefund(owner: BookOwner, key: RefundKey, outcome: Outcome): Command<RefundOfOrder> {
  return bookCommand(owner, {
    name: "complete refund",
    needs: completionNeeds(owner.book, key),
    execute: (context) => complete(context, key, outcome),
  });
}

/** Needs of a command that completes a refund. */
export function completionNeeds(book: Book, { uuid, paymentReference }: RefundKey): Need[] {
  return [
    ...paymentNeeds(book, paymentReference ?? ""),
    ...(paymentReference === undefined ? [] : [need(refunds, { book, uuid })]),
    ...ledgerNeeds(book),
  ];
}

/** Completes a refund inside a command that needs `completionNeeds`. Throws as `completeRefund`. */
export function complete(context: CommandContext, key: RefundKey, outcome: Outcome): RefundOfOrder {
  const { set, book, now } = context;
  const { uuid } = key;
  if (key.paymentReference === undefined) throw new Fault("REFUND_NOT_FOUND");
  const refund = set.get(refunds, { book, uuid });
  if (!refund) throw new Fault("ENVIRONMENT_MISMATCH");
  if (refund.status !== "pending") throw new Fault("PAYMENT_NOT_PAYABLE", { details: { status: refund.status } });
  const payment = findLocked(context, refund.paymentReference);
  const completed = { ...refund, referenceId: payment.referenceId, status: outcome, completedAt: now };
  set.update(refunds, completed);
  const amount = refund.amountMinor;
  if (outcome === "succeeded") reviseRefunds(context, payment, { pending: -amount, refunded: amount });
  else {
    reviseRefunds(context, payment, { pending: -amount });
    context.post({
      groupId: payment.reference,
      kind: "refund_returned",
      operationKey: `refund_returned:${uuid}`,
      postings: refundReturnPostings(gatewayOf(payment), refund),
    });
  }
  emitRefund(context, payment, completed);
  return completed;
}

function emitRefund({ emit }: CommandContext, { callbackUrl }: Payment, refund: RefundOfOrder): void {
  const type = refund.status === "failed" ? "refund.failed" : "refund.succeeded";
  emit({ type, subjectId: refund.uuid, data: refundView(refund), callbackUrl });
}
