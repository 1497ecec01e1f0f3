// What can be done with a payment: create, cancel, expire, and take an acquirer's word. Pure commands for the lanes.
import type { Acquirer } from "../acquirers/acquirer.ts";
import type { EventType } from "../events/event.ts";
import type { Outbox } from "../events/outbox.ts";
import { type Micros, SECOND, wireTime } from "../ground/clock.ts";
import { Fault, assert } from "../ground/fault.ts";
import { isId, newId } from "../ground/ids.ts";
import { type Minor, feeOf } from "../ground/money.ts";
import { type Reply, faultReply, reply } from "../ground/reply.ts";
import { capturePostings } from "../ledger/journal.ts";
import { ledgerNeeds, post } from "../ledger/ledger.ts";
import { type Book, type Environment, bookClocks, bookNow, otherBook } from "../merchants/books.ts";
import type { Merchant } from "../merchants/directory.ts";
import { feeRuleOf } from "../merchants/settings.ts";
import { assess } from "../risk/risk.ts";
import {
  CUSTOMER_WINDOW,
  MERCHANT_WINDOW,
  type VelocityKey,
  contactKeysOf,
  customerVelocity,
  merchantVelocity,
} from "../risk/velocity.sql.ts";
import type { Command } from "../store/lane.ts";
import { type Need, type WorkingSet, need } from "../store/working-set.ts";
import { type ChoiceParts, findRoute, planOperation } from "./choice.ts";
import { type DisputeStatus, type Payment, createdView, eventView } from "./payment.ts";
import type { CreatePayment } from "./payments.schema.ts";
import { payments, routedPayments, takenReferenceIds } from "./payments.sql.ts";
import { type PaymentStatus, assertTransition } from "./states.ts";

export const DEFAULT_EXPIRES_IN = 1800;
/** A person has a day of the book's clock to judge a payment; after that it is refused. */
export const REVIEW_TIME: Micros = 24 * 3600 * SECOND;

export interface PaymentParts extends ChoiceParts {
  outbox: Outbox;
  /** False while an environment takes no payments: production, until it is switched on and has an acquirer. */
  isOpen(environment: Environment): boolean;
  /** The acquirer of a code; undefined when it is no longer configured. */
  acquirer(code: string): Acquirer | undefined;
  /** Where an acquirer reports what becomes of a payment. */
  callbackUrl(gatewayCode: string): string;
}

/** The request that a creation answers. */
export interface CreationRequest {
  requestId: string;
  idempotencyKey: string;
  realNow: Micros;
}

/**
 * Interface 4.2. Answers 201, or `continues` where the acquirer is to be asked first; throws REFERENCE_ID_DUPLICATE,
 * NO_ROUTE_AVAILABLE; a rejected payment is kept as failed.
 */
export function createPayment(
  parts: PaymentParts,
  merchant: Merchant,
  book: Book,
  body: CreatePayment,
  request: CreationRequest,
): Command<Reply> {
  const { realNow } = request;
  const { customerKey, phoneKey } = contactKeysOf(body.customer);
  const { merchant_per_minute: perMinute, customer_per_hour: perHour } = merchant.settings.risk;
  const ofMerchant: VelocityKey = {
    book,
    contactKey: null,
    realSince: realNow - MERCHANT_WINDOW,
    most: perMinute,
  };
  const ofContacts = [customerKey, phoneKey]
    .filter((contactKey) => contactKey !== null)
    .map((contactKey): VelocityKey => ({ book, contactKey, realSince: realNow - CUSTOMER_WINDOW, most: perHour }));
  const needs: Need[] = [
    need(bookClocks, book),
    need(takenReferenceIds, { book, referenceId: body.reference_id }),
    need(merchantVelocity, ofMerchant),
    ...ofContacts.map((ofContact) => need(customerVelocity, ofContact)),
  ];
  return {
    name: "create payment",
    book,
    needs,
    execute(set, executedAt) {
      const now = bookNow(set, book, executedAt);
      const taken = { book, referenceId: body.reference_id };
      if (set.get(takenReferenceIds, taken)) throw new Fault("REFERENCE_ID_DUPLICATE");
      if (!parts.isOpen(book.environment)) throw new Fault("NO_ROUTE_AVAILABLE", { internal: "environment is closed" });
      const risk = assess(
        {
          amountMinor: BigInt(body.amount_minor),
          customer: body.customer,
          merchantPayments: countOne(set, merchantVelocity, ofMerchant),
          customerPayments: Math.max(0, ...ofContacts.map((ofContact) => countOne(set, customerVelocity, ofContact))),
          sandbox: book.environment === "sandbox",
        },
        merchant.settings.risk,
      );
      const asked: Payment = {
        book,
        reference: newId("payment", now),
        status: "pending",
        amountMinor: BigInt(body.amount_minor),
        feeMinor: feeOf(BigInt(body.amount_minor), feeRuleOf(merchant.settings, body.payment_method, body.currency)),
        refundedMinor: 0n,
        refundPendingMinor: 0n,
        disputeStatus: undefined,
        currency: body.currency,
        method: body.payment_method,
        referenceId: body.reference_id,
        description: body.description,
        gatewayCode: undefined,
        callbackUrl: body.callback_url,
        customerKey,
        customer: body.customer,
        metadata: body.metadata,
        instructions: undefined,
        risk,
        routing: { rules_version: parts.routingTable().version, candidates: [] },
        expiresAt: now + (body.expires_in ?? DEFAULT_EXPIRES_IN) * SECOND,
        expiresIn: undefined,
        createdAt: now,
        updatedAt: now,
        paidAt: undefined,
        canceledAt: undefined,
        cancelReason: undefined,
      };
      set.insert(takenReferenceIds, taken);
      return begin(parts, set, merchant, asked, body, { ...request, realNow: executedAt });
    },
  };
}

/** What the risk engine's verdict makes of a new payment. */
function begin(
  parts: PaymentParts,
  set: WorkingSet,
  merchant: Merchant,
  asked: Payment,
  body: CreatePayment,
  { requestId, idempotencyKey, realNow }: CreationRequest,
): Reply {
  const { reference, createdAt: now } = asked;
  if (asked.risk.decision === "reject") {
    const rejected: Payment = { ...asked, status: "failed" };
    set.insert(payments, rejected);
    tell(parts.outbox, set, merchant, rejected, "payment.failed", now);
    return faultReply(new Fault("RISK_REJECTED", { details: { reference } }), requestId);
  }
  if (asked.risk.decision === "review") {
    // No acquirer, no instructions and no event yet: a person decides, within the review's own time.
    const expiresIn = body.expires_in ?? DEFAULT_EXPIRES_IN;
    set.insert(payments, { ...asked, expiresIn, expiresAt: now + REVIEW_TIME });
    return faultReply(new Fault("RISK_REVIEW", { details: { reference, status: asked.status } }), requestId);
  }
  const choice = findRoute(parts, merchant, asked);
  const { chosen, decision, instructions } = choice;
  planOperation(set, asked, choice, realNow, idempotencyKey);
  if (instructions === undefined) {
    set.insert(payments, { ...asked, routing: decision });
    return { status: 201, body: "", continues: reference };
  }
  const payment: Payment = { ...asked, gatewayCode: chosen.code, routing: decision, instructions };
  set.insert(payments, payment);
  tell(parts.outbox, set, merchant, payment, "payment.created", now);
  return reply(201, createdView(payment));
}

/** Counts this payment too, so that the next one in the same batch sees it. */
function countOne(set: WorkingSet, table: typeof merchantVelocity, key: VelocityKey): number {
  const count = set.get(table, key)?.count ?? 0;
  if (set.get(table, key)) set.update(table, { key, count: count + 1 });
  return count;
}

/** What a command on one payment needs: the row in both environments, to tell "other environment" from "not found". */
export function paymentNeeds(book: Book, reference: string): Need[] {
  if (!isId("payment", reference)) return [need(bookClocks, book)];
  return [
    need(bookClocks, book),
    need(payments, { book, reference }),
    need(payments, { book: otherBook(book), reference }),
  ];
}

/** The payment, locked. Throws PAYMENT_NOT_FOUND or ENVIRONMENT_MISMATCH. */
export function findLocked(set: WorkingSet, book: Book, reference: string): Payment {
  const payment = set.get(payments, { book, reference });
  if (payment) return payment;
  throw new Fault(
    set.get(payments, { book: otherBook(book), reference }) ? "ENVIRONMENT_MISMATCH" : "PAYMENT_NOT_FOUND",
  );
}

/** Interface 4.5. Throws PAYMENT_NOT_FOUND, PAYMENT_NOT_CANCELABLE. */
export function cancelPayment(
  parts: PaymentParts,
  merchant: Merchant,
  book: Book,
  reference: string,
  reason: string | undefined,
  requestId: string,
): Command<Reply> {
  return {
    name: "cancel payment",
    book,
    needs: paymentNeeds(book, reference),
    execute(set, realNow) {
      const now = bookNow(set, book, realNow);
      const payment = findLocked(set, book, reference);
      if (payment.status !== "pending") throw new Fault("PAYMENT_NOT_CANCELABLE");
      if (payment.expiresAt <= now) {
        // Its time was over before this cancel came; the sweep just had not reached it yet.
        expire(parts, set, merchant, payment, now);
        return faultReply(new Fault("PAYMENT_NOT_CANCELABLE"), requestId);
      }
      const canceled = move(
        parts.outbox,
        set,
        merchant,
        payment,
        { status: "canceled", canceledAt: now, cancelReason: reason },
        now,
      );
      return reply(200, {
        reference,
        status: canceled.status,
        canceled_at: wireTime(now),
        reason: reason ?? null,
      });
    },
  };
}

/** Expires a payment whose time is over; does nothing when something else happened to it first. Gives whether it did. */
export function expirePayment(
  parts: PaymentParts,
  merchant: Merchant,
  book: Book,
  reference: string,
): Command<boolean> {
  return {
    name: "expire payment",
    book,
    needs: [need(bookClocks, book), need(payments, { book, reference })],
    execute(set, realNow) {
      const now = bookNow(set, book, realNow);
      const payment = set.get(payments, { book, reference });
      if (payment?.status !== "pending" || payment.expiresAt > now) return false;
      expire(parts, set, merchant, payment, now);
      return true;
    },
  };
}

/** The end of a payment's time: an unpaid one expires, one that nobody judged is refused. */
export function expire(
  parts: PaymentParts,
  set: WorkingSet,
  merchant: Merchant,
  payment: Payment,
  now: Micros,
): Payment {
  if (payment.risk.decision === "review") return refuse(parts, set, merchant, payment, now);
  return move(parts.outbox, set, merchant, payment, { status: "expired" }, now);
}

/** Ends a review with a refusal. */
export function refuse(
  parts: PaymentParts,
  set: WorkingSet,
  merchant: Merchant,
  payment: Payment,
  now: Micros,
): Payment {
  const judged: Payment = { ...payment, risk: { ...payment.risk, decision: "reject" } };
  set.insert(routedPayments, judged);
  return move(parts.outbox, set, merchant, judged, { status: "failed" }, now);
}

export type AcquirerOutcome = "processing" | "succeeded" | "failed";

/** What a command that takes an acquirer's word needs. */
export function outcomeNeeds(book: Book, reference: string): Need[] {
  return [...paymentNeeds(book, reference), ...ledgerNeeds(book)];
}

/**
 * Takes an acquirer's word about a payment: moves it on and, when it is paid, posts the capture. Throws
 * PAYMENT_NOT_FOUND, ENVIRONMENT_MISMATCH, PAYMENT_EXPIRED (the payment's time is over; it is expired on the way) or PAYMENT_NOT_PAYABLE.
 */
export function takeOutcome(
  parts: PaymentParts,
  set: WorkingSet,
  merchant: Merchant,
  key: { book: Book; reference: string },
  outcome: AcquirerOutcome,
  realNow: Micros,
): { payment: Payment } | { refused: Fault } {
  const { book, reference } = key;
  const now = bookNow(set, book, realNow);
  const payment = findLocked(set, book, reference);
  if (payment.status === "expired") throw new Fault("PAYMENT_EXPIRED");
  if (payment.status === "pending" && payment.expiresAt <= now) {
    expire(parts, set, merchant, payment, now);
    const judged = payment.risk.decision === "review";
    return {
      refused: judged
        ? new Fault("PAYMENT_NOT_PAYABLE", { details: { status: "failed" } })
        : new Fault("PAYMENT_EXPIRED"),
    };
  }
  // Before an acquirer has it nobody can have paid.
  const awaited = payment.status === "pending" && payment.gatewayCode !== undefined;
  const open = awaited || (payment.status === "processing" && outcome !== "processing");
  if (!open) throw new Fault("PAYMENT_NOT_PAYABLE", { details: { status: payment.status } });
  if (outcome === "succeeded") return { payment: capture(parts, set, merchant, payment, now) };
  return { payment: move(parts.outbox, set, merchant, payment, { status: outcome }, now) };
}

/** The money is there: it goes into the book, and the payment has succeeded. */
export function capture(
  parts: PaymentParts,
  set: WorkingSet,
  merchant: Merchant,
  payment: Payment,
  now: Micros,
): Payment {
  const { book, reference, gatewayCode } = payment;
  assert(gatewayCode !== undefined, `${reference} is open and has no acquirer`);
  post(
    set,
    book,
    {
      groupId: reference,
      kind: "capture",
      operationKey: `capture:${reference}`,
      postings: capturePostings({ ...payment, gatewayCode }),
    },
    now,
  );
  return move(parts.outbox, set, merchant, payment, { status: "succeeded", paidAt: now }, now);
}

/** Moves what refunds have taken of a payment, and its state with it. */
export function reviseRefunds(
  set: WorkingSet,
  payment: Payment,
  change: { refunded?: Minor; pending?: Minor },
  now: Micros,
): Payment {
  const refundedMinor = payment.refundedMinor + (change.refunded ?? 0n);
  const refundPendingMinor = payment.refundPendingMinor + (change.pending ?? 0n);
  assert(refundPendingMinor >= 0n, `${payment.reference} would have less than nothing pending`);
  assert(
    refundedMinor + refundPendingMinor <= payment.amountMinor,
    `${payment.reference} would be refunded beyond its amount`,
  );
  const all = refundedMinor === payment.amountMinor;
  const status = all ? "refunded" : refundedMinor > 0n ? "partially_refunded" : payment.status;
  if (status !== payment.status) assertTransition(payment.status, status);
  const revised: Payment = { ...payment, refundedMinor, refundPendingMinor, status, updatedAt: now };
  set.update(payments, revised);
  return revised;
}

/** Writes how a payment's dispute stands. */
export function markDispute(set: WorkingSet, payment: Payment, disputeStatus: DisputeStatus, now: Micros): void {
  set.update(payments, { ...payment, disputeStatus, updatedAt: now });
}

/** One step of the state machine, with its event. */
export function move(
  outbox: Outbox,
  set: WorkingSet,
  merchant: Merchant,
  payment: Payment,
  change: Partial<Payment> & { status: Exclude<PaymentStatus, "pending" | "partially_refunded" | "refunded"> },
  now: Micros,
): Payment {
  assertTransition(payment.status, change.status);
  const moved: Payment = { ...payment, ...change, updatedAt: now };
  set.update(payments, moved);
  tell(outbox, set, merchant, moved, `payment.${change.status}`, now);
  return moved;
}

export function tell(
  outbox: Outbox,
  set: WorkingSet,
  merchant: Merchant,
  payment: Payment,
  type: EventType,
  now: Micros,
): void {
  const { book, reference } = payment;
  const url = payment.callbackUrl ?? merchant.webhooks[book.environment]?.url;
  outbox.emit(set, { book, type, subjectId: reference, url, data: eventView(payment) }, now);
}
