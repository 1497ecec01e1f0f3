// Refunds: money that goes back to the payer, on the journal group of its payment. Pure commands for the lanes.
import type { Acquirer } from "../acquirers/acquirer.ts";
import { type Operation, operations } from "../acquirers/operations.sql.ts";
import type { Outbox } from "../events/outbox.ts";
import type { Micros } from "../ground/clock.ts";
import { Fault, assert } from "../ground/fault.ts";
import { isId, newId } from "../ground/ids.ts";
import type { Minor } from "../ground/money.ts";
import { type Reply, reply } from "../ground/reply.ts";
import { accounts, refundPostings, refundReturnPostings } from "../ledger/journal.ts";
import { balanceOf, ledgerNeeds, post } from "../ledger/ledger.ts";
import { type Book, bookNow } from "../merchants/books.ts";
import type { Merchant } from "../merchants/directory.ts";
import type { Payment } from "../payments/payment.ts";
import { findLocked, paymentNeeds, reviseRefunds } from "../payments/payments.ts";
import type { Command } from "../store/lane.ts";
import { type WorkingSet, need } from "../store/working-set.ts";
import type { CreateRefund } from "./refunds.schema.ts";
import { type Refund, refundView } from "./refund.ts";
import { refunds } from "./refunds.sql.ts";

export interface RefundParts {
  outbox: Outbox;
  /** The acquirer of a code; undefined when it is no longer configured. */
  acquirer(code: string): Acquirer | undefined;
}

function remainingOf(payment: Payment): Minor {
  return payment.amountMinor - payment.refundedMinor - payment.refundPendingMinor;
}

/**
 * Interface 4.6. Answers 201. Throws, in this order: PAYMENT_NOT_FOUND, ENVIRONMENT_MISMATCH, PAYMENT_NOT_REFUNDABLE,
 * CURRENCY_MISMATCH, REFUND_EXCEEDS_PAYMENT, WALLET_NOT_FOUND, WALLET_FROZEN, DISPUTE_LOCKED, INSUFFICIENT_FUNDS.
 */
export function createRefund(parts: RefundParts, merchant: Merchant, book: Book, body: CreateRefund): Command<Reply> {
  return {
    name: "create refund",
    book,
    needs: [...paymentNeeds(book, body.payment_reference), ...ledgerNeeds(book)],
    execute(set, realNow) {
      const now = bookNow(set, book, realNow);
      const payment = findLocked(set, book, body.payment_reference);
      const amountMinor = judge(set, merchant, payment, body);
      const acquirer = payment.gatewayCode === undefined ? undefined : parts.acquirer(payment.gatewayCode);
      const later = acquirer?.refundsLater({ metadata: payment.metadata }) ?? true;
      const refund: Refund = {
        book,
        uuid: newId("refund", now),
        paymentReference: payment.reference,
        status: later ? "pending" : "succeeded",
        amountMinor,
        currency: payment.currency,
        reason: body.reason,
        createdAt: now,
        completedAt: later ? undefined : now,
      };
      set.insert(refunds, refund);
      post(
        set,
        book,
        {
          groupId: payment.reference,
          kind: "refund",
          operationKey: `refund:${refund.uuid}`,
          postings: refundPostings(gatewayOf(payment), refund),
        },
        now,
      );
      const revised = reviseRefunds(set, payment, later ? { pending: amountMinor } : { refunded: amountMinor }, now);
      // One that is not configured now may be again: until then nobody can say what became of it.
      if (!acquirer || acquirer.remote) set.insert(operations, plannedRefund(refund, gatewayOf(payment), realNow));
      if (!later) tell(parts.outbox, set, merchant, payment, refund, now);
      const { completed_at: _, ...view } = refundView(refund);
      return reply(201, {
        ...view,
        remaining_refundable_minor: Number(remainingOf(revised)),
        reason: refund.reason ?? null,
      });
    },
  };
}

/** A worker asks the acquirer, after the commit: the funds are reversed first, so they cannot be spent twice. */
function plannedRefund({ book, uuid, paymentReference }: Refund, gatewayCode: string, realNow: Micros): Operation {
  return {
    book,
    id: uuid,
    kind: "refund",
    paymentReference,
    step: "planned",
    gatewayCode,
    attempt: 1,
    round: 0,
    refusedBy: [],
    idempotencyKey: undefined,
    asks: 0,
    dueAt: realNow,
    createdAt: realNow,
  };
}

/** The amount to refund, or the fault that prevails. */
function judge(set: WorkingSet, merchant: Merchant, payment: Payment, body: CreateRefund): Minor {
  const { book, currency } = payment;
  const refundable = payment.status === "succeeded" || payment.status === "partially_refunded";
  const contested =
    payment.disputeStatus !== undefined && ["needs_response", "under_review", "lost"].includes(payment.disputeStatus);
  if (!refundable || contested) throw new Fault("PAYMENT_NOT_REFUNDABLE");
  if (body.currency !== undefined && body.currency !== currency) throw new Fault("CURRENCY_MISMATCH");
  const remaining = remainingOf(payment);
  const amount = body.amount_minor === undefined ? remaining : BigInt(body.amount_minor);
  if (amount > remaining || amount === 0n) {
    throw new Fault("REFUND_EXCEEDS_PAYMENT", { details: { remaining_refundable_minor: Number(remaining) } });
  }
  if (!merchant.settings.currencies.includes(currency)) throw new Fault("WALLET_NOT_FOUND");
  if (merchant.settings.wallet_frozen[currency]) throw new Fault("WALLET_FROZEN");
  // What the merchant owns is a credit balance, so negative in the ledger.
  const available = -balanceOf(set, book, accounts.available, currency);
  if (available < amount) {
    const held = -balanceOf(set, book, accounts.held, currency);
    throw new Fault(available + held >= amount ? "DISPUTE_LOCKED" : "INSUFFICIENT_FUNDS");
  }
  return amount;
}

function gatewayOf(payment: Payment): string {
  assert(payment.gatewayCode !== undefined, `${payment.reference} was paid through no acquirer`);
  return payment.gatewayCode;
}

/**
 * Takes an acquirer's late word about a refund. `key.paymentReference` is undefined when the merchant has no such refund in
 * either environment. Answers the refund; throws REFUND_NOT_FOUND, ENVIRONMENT_MISMATCH, PAYMENT_NOT_PAYABLE.
 */
export function completeRefund(
  parts: RefundParts,
  merchant: Merchant,
  book: Book,
  key: { uuid: string; paymentReference: string | undefined },
  outcome: "succeeded" | "failed",
): Command<Refund> {
  const { uuid, paymentReference } = key;
  const known = paymentReference !== undefined && isId("refund", uuid);
  return {
    name: "complete refund",
    book,
    needs: [
      ...paymentNeeds(book, paymentReference ?? ""),
      ...(known ? [need(refunds, { book, uuid })] : []),
      ...ledgerNeeds(book),
    ],
    execute(set, realNow) {
      const now = bookNow(set, book, realNow);
      const refund = known ? set.get(refunds, { book, uuid }) : undefined;
      if (!refund) throw new Fault(known ? "ENVIRONMENT_MISMATCH" : "REFUND_NOT_FOUND");
      if (refund.status !== "pending") throw new Fault("PAYMENT_NOT_PAYABLE", { details: { status: refund.status } });
      const payment = findLocked(set, book, refund.paymentReference);
      const completed: Refund = { ...refund, status: outcome, completedAt: now };
      set.update(refunds, completed);
      const amount = refund.amountMinor;
      if (outcome === "succeeded") {
        reviseRefunds(set, payment, { pending: -amount, refunded: amount }, now);
      } else {
        reviseRefunds(set, payment, { pending: -amount }, now);
        post(
          set,
          book,
          {
            groupId: payment.reference,
            kind: "refund_returned",
            operationKey: `refund_returned:${uuid}`,
            postings: refundReturnPostings(gatewayOf(payment), refund),
          },
          now,
        );
      }
      tell(parts.outbox, set, merchant, payment, completed, now);
      return completed;
    },
  };
}

function tell(
  outbox: Outbox,
  set: WorkingSet,
  merchant: Merchant,
  payment: Payment,
  refund: Refund,
  now: Micros,
): void {
  const url = payment.callbackUrl ?? merchant.webhooks[payment.book.environment]?.url;
  const type = refund.status === "failed" ? "refund.failed" : "refund.succeeded";
  outbox.emit(set, { book: payment.book, type, subjectId: refund.uuid, url, data: refundView(refund) }, now);
}
