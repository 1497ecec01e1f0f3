// Commands on a payment: create, cancel, expire, capture. Pure functions that the lanes run; acquirers are called elsewhere, in acquiring/.
import type { Acquirer } from "../acquirers/acquirer.ts";
import { type BookOwner, type CommandContext, bookCommand } from "../commands/command-context.ts";
import type { EventType } from "../events/event.ts";
import { type Micros, SECOND } from "../ground/clock.ts";
import { Fault, assert } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import { type Minor, feeOf } from "../ground/money.ts";
import { capturePostings } from "../ledger/journal.ts";
import { ledgerNeeds } from "../ledger/ledger.ts";
import { type Book, type Environment, otherBook } from "../merchants/books.ts";
import { feeRuleOf } from "../merchants/settings.ts";
import { assess } from "../risk/risk.ts";
import {
  CUSTOMER_WINDOW,
  MERCHANT_WINDOW,
  type VelocityKey,
  customerVelocity,
  merchantVelocity,
} from "../risk/velocity.sql.ts";
import type { Command } from "../store/command.ts";
import { type Need, type WorkingSet, need } from "../store/working-set.ts";
import { type DisputeStatus, type LinkMark, type Payment, type StoredPayer, eventView } from "./payment.ts";
import type { CreatePayment } from "./payments.schema.ts";
import { payments, reviewedOrRouted, takenReferenceIds } from "./payments.sql.ts";
import { type RouteParts, type RouteSelection, enterSplitTest, selectRoute } from "./route-selection.ts";
import { type PaymentStatus, assertTransition } from "./states.ts";

export const DEFAULT_EXPIRES_IN = 1800;
/** Time for a person to judge a payment under review, by the book's clock. After it the payment is refused. */
export const REVIEW_TIME: Micros = 24 * 3600 * SECOND;

/** A call to an acquirer that follows the commit. Opaque here: acquiring/ plans the call and makes it. */
export type CallToMake = object;

export interface PaymentParts extends RouteParts {
  /** False while an environment takes no payments. Production takes none until it is switched on and has an acquirer. */
  isOpen(environment: Environment): boolean;
  /** The acquirer with this gateway code; undefined when it is no longer configured. */
  acquirer(code: string): Acquirer | undefined;
  /** The address at which an acquirer reports the outcomes of payments. */
  callbackUrl(gatewayCode: string): string;
  /** Plans the acquirer operation of a new payment (acquiring/ does). Gives the call that the request itself makes after the commit. */
  planPayment(
    context: CommandContext,
    payment: Payment,
    selection: RouteSelection,
    idempotencyKey?: string,
  ): CallToMake | undefined;
  /** Rows that a command must load to use `planEnd`. */
  endNeeds(book: Book, reference: string): Need[];
  /** Plans to end a canceled payment at its acquirer too. */
  planEnd(context: CommandContext, payment: Payment): void;
}

/** The request that a creation answers. */
interface CreationRequest {
  /** The key of the request that calls the acquirer itself. When undefined, a worker calls the acquirer. */
  idempotencyKey: string | undefined;
  realNow: Micros;
  /** The customer, sealed for the payment's row. */
  payer: StoredPayer;
  /** The payment link that the payment came by. */
  link?: LinkMark | undefined;
}

export interface Created {
  payment: Payment;
  /** Set when the request must call the acquirer next: the payment has no instructions yet. */
  call: CallToMake | undefined;
}

/** Creates a payment (interface 4.2). Throws REFERENCE_ID_DUPLICATE, NO_ROUTE_AVAILABLE, INVALID_AMOUNT; RISK_REJECTED and RISK_REVIEW keep it. */
export function createPayment(
  parts: PaymentParts,
  owner: BookOwner,
  body: CreatePayment,
  request: CreationRequest,
): Command<Created> {
  const { book, merchant } = owner;
  const velocities = velocityKeys(owner, request);
  return bookCommand(owner, {
    name: "create payment",
    needs: [
      need(takenReferenceIds, { book, referenceId: body.reference_id }),
      need(merchantVelocity, velocities.merchant),
      ...velocities.contacts.map((ofContact) => need(customerVelocity, ofContact)),
    ],
    execute(context) {
      const { set } = context;
      const taken = set.get(takenReferenceIds, { book, referenceId: body.reference_id });
      if (taken) throw new Fault("REFERENCE_ID_DUPLICATE", { details: { reference: taken.reference } });
      if (!parts.isOpen(book.environment)) throw new Fault("NO_ROUTE_AVAILABLE", { internal: "environment is closed" });
      const own = request.link ? 0 : 1; // a payment by a link counts for its customer once it is paid
      const risk = assess(
        {
          amountMinor: BigInt(body.amount_minor),
          currency: body.currency,
          customer: body.customer,
          merchantPayments: countOne(set, merchantVelocity, velocities.merchant),
          customerPayments: Math.max(0, ...velocities.contacts.map((one) => countOne(set, customerVelocity, one, own))),
          sandbox: book.environment === "sandbox",
        },
        merchant.settings.risk,
      );
      const asked = newPayment(
        context,
        { body, payer: request.payer, link: request.link, risk },
        parts.routingTable().version,
      );
      set.insert(takenReferenceIds, asked);
      return begin(parts, context, asked, request.idempotencyKey);
    },
  });
}

function velocityKeys(
  { book, merchant }: BookOwner,
  { realNow, payer: { customerKey, phoneKey } }: CreationRequest,
): { merchant: VelocityKey; contacts: VelocityKey[] } {
  const { merchant_per_minute: perMinute, customer_per_hour: perHour } = merchant.settings.risk;
  return {
    merchant: { book, contactKey: null, realSince: realNow - MERCHANT_WINDOW, most: perMinute },
    contacts: [customerKey, phoneKey]
      .filter((contactKey) => contactKey !== null)
      .map((contactKey) => ({ book, contactKey, realSince: realNow - CUSTOMER_WINDOW, most: perHour })),
  };
}

function newPayment(
  context: CommandContext,
  { body, payer, link, risk }: { body: CreatePayment } & Pick<Payment, "payer" | "link" | "risk">,
  rulesVersion: number,
): Payment {
  const { book, merchant, now } = context;
  const amountMinor = BigInt(body.amount_minor);
  return {
    book,
    reference: context.newId("payment"),
    status: "pending",
    amountMinor,
    feeMinor: feeOf(amountMinor, feeRuleOf(merchant.settings, body.payment_method, body.currency)),
    refundedMinor: 0n,
    refundPendingMinor: 0n,
    lostMinor: 0n,
    disputeStatus: undefined,
    currency: body.currency,
    method: body.payment_method,
    referenceId: body.reference_id,
    description: body.description,
    gatewayCode: undefined,
    callbackUrl: body.callback_url,
    returnUrl: body.return_url,
    payer,
    link,
    metadata: body.metadata,
    instructions: undefined,
    risk,
    routing: { rules_version: rulesVersion, candidates: [] },
    expiresAt: now + (body.expires_in ?? DEFAULT_EXPIRES_IN) * SECOND,
    // Under review the payer's time begins with the approval, so its length is kept.
    expiresIn: risk.decision === "review" ? (body.expires_in ?? DEFAULT_EXPIRES_IN) : undefined,
    createdAt: now,
    updatedAt: now,
    paidAt: undefined,
    canceledAt: undefined,
    cancelReason: undefined,
  };
}

/** Applies the risk verdict to a new payment: rejects it, puts it under review, or chooses its acquirer. */
function begin(parts: PaymentParts, context: CommandContext, asked: Payment, key: string | undefined): Created {
  const { set, merchant, now } = context;
  const { reference } = asked;
  if (asked.risk.decision === "reject") {
    const rejected: Payment = { ...asked, status: "failed" };
    set.insert(payments, rejected);
    emitPayment(context, rejected, "payment.failed");
    throw new Fault("RISK_REJECTED", { details: { reference }, keepsChanges: true });
  }
  if (asked.risk.decision === "review") {
    // No acquirer, no instructions and no event until a person decides, within REVIEW_TIME.
    set.insert(payments, { ...asked, expiresAt: now + REVIEW_TIME });
    throw new Fault("RISK_REVIEW", { details: { reference, status: asked.status }, keepsChanges: true });
  }
  const selection = selectRoute(parts, merchant, asked);
  const { chosen, decision, instructions } = selection;
  const call = parts.planPayment(context, asked, selection, key);
  if (instructions === undefined) {
    const waiting: Payment = { ...asked, routing: decision };
    set.insert(payments, waiting);
    enterSplitTest(context, waiting);
    return { payment: waiting, call };
  }
  const payment: Payment = { ...asked, gatewayCode: chosen.code, routing: decision, instructions };
  set.insert(payments, payment);
  enterSplitTest(context, payment);
  emitPayment(context, payment, "payment.created");
  return { payment, call: undefined };
}

/** Gives the count before this payment, and counts this payment too (`added`), so that later commands of the same batch see it. */
function countOne(set: WorkingSet, table: typeof merchantVelocity, key: VelocityKey, added = 1): number {
  const count = set.get(table, key)?.count ?? 0;
  if (set.get(table, key)) set.update(table, { key, count: count + added });
  return count;
}

/** Rows that a command on one payment must load: those of both environments, to tell ENVIRONMENT_MISMATCH from PAYMENT_NOT_FOUND. */
export function paymentNeeds(book: Book, reference: string): Need[] {
  if (!isId("payment", reference)) return [];
  return [need(payments, { book, reference }), need(payments, { book: otherBook(book), reference })];
}

/** The payment, locked. Throws PAYMENT_NOT_FOUND or ENVIRONMENT_MISMATCH. */
export function findLocked({ set, book }: Pick<CommandContext, "set" | "book">, reference: string): Payment {
  const payment = set.get(payments, { book, reference });
  if (payment) return payment;
  throw new Fault(
    set.get(payments, { book: otherBook(book), reference }) ? "ENVIRONMENT_MISMATCH" : "PAYMENT_NOT_FOUND",
  );
}

/** Cancels a payment (interface 4.5); a worker ends it at its acquirer. Throws PAYMENT_NOT_FOUND, ENVIRONMENT_MISMATCH, PAYMENT_NOT_CANCELABLE. */
export function cancelPayment(
  parts: Pick<PaymentParts, "endNeeds" | "planEnd">,
  owner: BookOwner,
  reference: string,
  reason: string | undefined,
): Command<Payment> {
  return bookCommand(owner, {
    name: "cancel payment",
    needs: [...paymentNeeds(owner.book, reference), ...parts.endNeeds(owner.book, reference)],
    execute(context) {
      const payment = findLocked(context, reference);
      if (payment.status !== "pending") throw new Fault("PAYMENT_NOT_CANCELABLE");
      if (payment.expiresAt <= context.now) {
        // The payment's time was over before this cancel; the expiry sweep had not reached it yet.
        expire(context, payment);
        throw new Fault("PAYMENT_NOT_CANCELABLE", { keepsChanges: true });
      }
      parts.planEnd(context, payment);
      return move(context, payment, { status: "canceled", canceledAt: context.now, cancelReason: reason });
    },
  });
}

/** Expires a pending payment whose time is over. Gives false, and changes nothing, when the payment is no longer pending or not yet due. */
export function expirePayment(owner: BookOwner, reference: string): Command<boolean> {
  const { book } = owner;
  return bookCommand(owner, {
    name: "expire payment",
    needs: [need(payments, { book, reference })],
    execute(context) {
      const payment = context.set.get(payments, { book, reference });
      if (payment?.status !== "pending" || payment.expiresAt > context.now) return false;
      expire(context, payment);
      return true;
    },
  });
}

/** Ends a payment whose time is over: expires it, or refuses it when it is still under review. */
export function expire(context: CommandContext, payment: Payment): Payment {
  if (payment.risk.decision === "review") return refuse(context, payment);
  return move(context, payment, { status: "expired" });
}

/** Ends a review with a refusal. */
export function refuse(context: CommandContext, payment: Payment): Payment {
  const judged: Payment = { ...payment, risk: { ...payment.risk, decision: "reject" } };
  // The database allows this update only while the payment is pending, so it is written before the move.
  context.set.insert(reviewedOrRouted, judged);
  return move(context, judged, { status: "failed" });
}

export type AcquirerOutcome = "processing" | "succeeded" | "failed";

/** Rows that a command must load to use `takeOutcome`. */
export function outcomeNeeds(book: Book, reference: string): Need[] {
  return [...paymentNeeds(book, reference), ...ledgerNeeds(book)];
}

/**
 * Applies an acquirer's outcome to a payment: moves its status and, on success, posts the capture. Throws PAYMENT_NOT_FOUND,
 * ENVIRONMENT_MISMATCH, PAYMENT_NOT_PAYABLE, or PAYMENT_EXPIRED (which keeps a pending payment whose time is over as expired).
 */
export function takeOutcome(context: CommandContext, reference: string, outcome: AcquirerOutcome): Payment {
  const payment = findLocked(context, reference);
  if (payment.status === "expired") throw new Fault("PAYMENT_EXPIRED");
  if (payment.status === "pending" && payment.expiresAt <= context.now) {
    expire(context, payment);
    throw payment.risk.decision === "review"
      ? new Fault("PAYMENT_NOT_PAYABLE", { details: { status: "failed" }, keepsChanges: true })
      : new Fault("PAYMENT_EXPIRED", { keepsChanges: true });
  }
  // Nobody can have paid a payment that no acquirer has yet.
  const awaited = payment.status === "pending" && payment.gatewayCode !== undefined;
  const open = awaited || (payment.status === "processing" && outcome !== "processing");
  if (!open) throw new Fault("PAYMENT_NOT_PAYABLE", { details: { status: payment.status } });
  return outcome === "succeeded" ? capture(context, payment) : move(context, payment, { status: outcome });
}

/** Posts the capture of a payment whose money has come, and moves the payment to succeeded. */
export function capture(context: CommandContext, payment: Payment): Payment {
  const { reference, gatewayCode } = payment;
  assert(gatewayCode !== undefined, `${reference} is open and has no acquirer`);
  context.post({
    groupId: reference,
    kind: "capture",
    operationKey: `capture:${reference}`,
    postings: capturePostings({ ...payment, gatewayCode }),
  });
  return move(context, payment, { status: "succeeded", paidAt: context.now });
}

/** Adds `change` to a payment's refunded and pending refund amounts (negative values subtract), and revises its status. */
export function reviseRefunds(
  { set, now }: CommandContext,
  payment: Payment,
  change: { refunded?: Minor; pending?: Minor },
): Payment {
  const refundedMinor = payment.refundedMinor + (change.refunded ?? 0n);
  const refundPendingMinor = payment.refundPendingMinor + (change.pending ?? 0n);
  assert(refundPendingMinor >= 0n, `${payment.reference} would have less than nothing pending`);
  assert(
    refundedMinor + refundPendingMinor + payment.lostMinor <= payment.amountMinor,
    `${payment.reference} would be refunded beyond its amount`,
  );
  const all = refundedMinor === payment.amountMinor;
  const status = all ? "refunded" : refundedMinor > 0n ? "partially_refunded" : payment.status;
  if (status !== payment.status) assertTransition(payment.status, status);
  const revised: Payment = { ...payment, refundedMinor, refundPendingMinor, status, updatedAt: now };
  set.update(payments, revised);
  return revised;
}

/** Writes the status of a payment's dispute, and adds `lost`, the amount that a lost dispute took from the payment. */
export function markDispute(
  { set, now }: CommandContext,
  payment: Payment,
  disputeStatus: DisputeStatus,
  lost: Minor = 0n,
): void {
  set.update(payments, { ...payment, disputeStatus, lostMinor: payment.lostMinor + lost, updatedAt: now });
}

/** Moves a payment to another status and emits the event. Throws `ImpossibleState` for a transition that does not exist. */
export function move(
  context: CommandContext,
  payment: Payment,
  change: Partial<Payment> & { status: Exclude<PaymentStatus, "pending" | "partially_refunded" | "refunded"> },
): Payment {
  assertTransition(payment.status, change.status);
  const moved: Payment = { ...payment, ...change, updatedAt: context.now };
  context.set.update(payments, moved);
  emitPayment(context, moved, `payment.${change.status}`);
  return moved;
}

/** Emits an event about a payment (interface 6.2), to its own `callback_url` if it has one. */
export function emitPayment(context: CommandContext, payment: Payment, type: EventType): void {
  const { reference, callbackUrl } = payment;
  context.emit({ type, subjectId: reference, data: eventView(payment), callbackUrl });
}
