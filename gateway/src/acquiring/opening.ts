// Opening a payment at an acquirer, as pure commands: what a result changes, and how a repeated request continues after GATEWAY_ERROR.
import type { Found, ReportedState } from "../acquirers/acquirer.ts";
import type { ExceptionKind } from "./exception.ts";
import { recordException, exceptionNeeds } from "./exceptions.ts";
import { recordUnrequested, unrequestedNeeds } from "./unrequested-movements.ts";
import { type Operation, withInquirySoon, withProviderIds } from "./operation.ts";
import { withReview } from "./acquirer-review.ts";
import { operations } from "./operations.sql.ts";
import { type CommandContext, bookCommand } from "../commands/command-context.ts";
import { type Micros, SECOND } from "../ground/clock.ts";
import { Fault, assert } from "../ground/fault.ts";
import { type Reply, faultReply } from "../ground/reply.ts";
import { type Intent, type KeptKey, completeKey, openRecord } from "../idempotency/idempotency.ts";
import { openKeys } from "../idempotency/idempotency.sql.ts";
import type { Merchant } from "../merchants/directory.ts";
import type { Command } from "../store/command.ts";
import { type Need, need } from "../store/working-set.ts";
import { nextCall, nextInquiry } from "./planning.ts";
import { type RouteSelection, instructionRequest, selectRoute } from "../payments/route-selection.ts";
import type { Payment } from "../payments/payment.ts";
import { type PaymentParts, expire, findLocked, paymentNeeds } from "../payments/payments.ts";
import { isPaid, isUnpaid } from "../payments/states.ts";
import { keepMessages } from "./keep-messages.ts";
import type { CallMessages } from "./messages.ts";
import { accept, applyState, holdsMoney, newsOf, objectionTo, reroute, notificationNeeds } from "./notifications.ts";

/**
 * The outcome of a call or an inquiry. `absent`: the acquirer does not have the payment and never will. `otherMoney`: the outcome is unknown, and
 * the acquirer said that money was paid which was not ordered so.
 */
export type OpenResult = { exchanged?: readonly CallMessages[]; otherMoney?: boolean | undefined } &
  /** `isOver`: it was canceled or expired here when the acquirer was asked, so the inquiry also tried to end it there. `isOurs`: our call made it so. */
  (
    | ({ kind: "known"; isOver?: boolean; isOurs?: boolean } & Found)
    | { kind: "refused" }
    | { kind: "absent" }
    | { kind: "unknown" }
    /** No inquiry was made: the payment is already paid or failed. */
    | { kind: "closed" }
  );

/** What follows from a result: the request's answer, or the operation that calls the next acquirer; and the kinds of exceptions recorded now. */
export type Concluded = ({ reply: Reply } | { fault: Fault } | { next: Operation }) & {
  exceptions?: ExceptionKind[];
};

export interface OpeningParts extends PaymentParts {
  /** The response to the creation request, as its idempotency key stores it. */
  createdReply(payment: Payment): Reply;
}

/** How a repeated request continues: with a call to an acquirer after the commit, or with an answer that exists already. */
export type Resumed = { payment: Payment; call: Operation } | { reply: Reply };

const LAST_INQUIRY: Micros = 10 * SECOND;
/** After this many attempts a repeated request gets NO_ROUTE_AVAILABLE. */
const ATTEMPTS_MAX = 5_000;
/** Money that was paid at the last moment may be shown by its acquirer so long after the payment's expiry. */
const PAID_LATE: Micros = 900 * SECOND;

/** Rows that a command on the opening of a payment must load, besides those of `notificationNeeds`. */
export function openingNeeds(operation: Operation): Need[] {
  const { book, id, idempotencyKey } = operation;
  return [
    ...paymentNeeds(book, id),
    need(operations, { book, id }),
    ...exceptionNeeds(operation, ["other_money", "receipt", "forgotten"]),
    ...unrequestedNeeds(operation),
    ...(idempotencyKey === undefined ? [] : [need(openKeys, { book, key: idempotencyKey })]),
  ];
}

/** Commits the result of a call or inquiry. Returns faults instead of throwing them. Where another has concluded this attempt, that is the answer. */
export function concludeOpening(
  parts: OpeningParts,
  merchant: Merchant,
  operation: Operation,
  result: OpenResult,
): Command<Concluded> {
  const { book, id } = operation;
  const state = result.kind === "known" ? result.state : undefined;
  const owner = { merchant, book };
  return bookCommand(owner, {
    name: "conclude acquirer's answer",
    needs: [...openingNeeds(operation), ...notificationNeeds({ book, id }, operation.gatewayCode, state)],
    execute(context) {
      const current = context.set.get(operations, { book, id });
      assert(current, `${id} has no operation`);
      const payment = findLocked(context, id);
      for (const exchanged of result.exchanged ?? []) keepMessages(context, operation, exchanged);
      const concluded =
        current.attempt !== operation.attempt || ["retryable", "planned", "done"].includes(current.step);
      if (concluded) return takeLate(context, operation, current, result);
      // An acquirer accepted the payment before: whatever that acquirer answers now, the payment cannot go to another.
      const taken = payment.gatewayCode !== undefined;
      switch (result.kind) {
        case "known":
          return applyAnswer(parts, context, current, payment, {
            ...result,
            isOutdated:
              wasInquiryPlannedSince(operation, current) || (isUnpaid(payment.status) && result.isOver !== true),
          });
        case "refused":
          // A worker that has taken the operation up since may have it opened there under this very key.
          return taken || current.step !== operation.step
            ? inquireAgain(context, current, payment)
            : failOver(parts, context, current, payment);
        case "absent": {
          if (!taken) return backToRouting(context, current, payment);
          const { status } = payment;
          const exceptions = isUnpaid(status) || status === "failed" ? [] : recorded(context, current, "forgotten");
          const isOpen = status === "pending" || status === "processing";
          // That it is absent is final: what is over here is not asked about again, and its request gets its answer.
          return isOpen
            ? { ...inquireAgain(context, current, payment), exceptions }
            : { ...endOpening(parts, context, current, payment), exceptions };
        }
        case "closed":
          if (current.step !== operation.step) return concludedBefore(context, current, payment);
          return endOpening(parts, context, current, payment);
        case "unknown":
          return {
            ...inquireAgain(context, current, payment),
            exceptions: result.otherMoney === true ? recorded(context, current, "other_money") : [],
          };
      }
    },
  });
}

/** Takes a result of an attempt that was concluded: what was decided then stays. Money counts all the same; whether it is gone is asked. */
function takeLate(context: CommandContext, operation: Operation, current: Operation, result: OpenResult): Concluded {
  const { id, gatewayCode, idempotencyKey } = operation;
  const payment = findLocked(context, id);
  const before = concludedBefore(context, { ...current, idempotencyKey }, payment);
  if (result.kind !== "known") return before;
  const { state } = result;
  // What has failed there, and is paid here by now, was taken back, or this answer is older than the money: an inquiry tells which.
  const isGone = state.status === "failed" && result.isOurs !== true;
  const isLast = current.step === "done" && current.attempt === operation.attempt;
  if (isGone && isLast && holdsMoney(context, payment, gatewayCode))
    context.set.update(operations, withInquirySoon(current, context.realNow));
  if (state.status !== "paid") return before;
  // Money counts, whoever concluded the attempt: an operator may have recorded meanwhile that the payment failed, or was paid otherwise.
  if (objectionTo(context, payment, gatewayCode, state))
    return { ...before, exceptions: recorded(context, operation, "receipt", newsOf(state)) };
  applyState(context, payment, gatewayCode, state);
  return before;
}

/** Ends the operation, since nothing is left to do at the acquirer, and answers the request. */
export function endOpening(
  parts: Pick<OpeningParts, "createdReply">,
  { set, now }: CommandContext,
  operation: Operation,
  payment: Payment,
): { reply: Reply } {
  const answer = parts.createdReply(payment);
  set.update(operations, { ...operation, step: "done", idempotencyKey: undefined, dueAt: undefined });
  completeKey(set, keptKey(operation, payment), answer, now);
  return { reply: answer };
}

/**
 * True when an inquiry was planned after this call or inquiry began, so that its answer may be older than the notification, the cancellation or
 * the judgement that asks for one. `withInquirySoon` left the trace: it raises `inquiries` during a call, and otherwise brings `dueAt` forward.
 */
function wasInquiryPlannedSince(begun: Operation, current: Operation): boolean {
  if (current.step === "calling") return current.inquiries > begun.inquiries;
  return current.dueAt !== undefined && begun.dueAt !== undefined && current.dueAt < begun.dueAt;
}

/** Applies the answer of an acquirer that has the payment. Records a reconciliation exception for what does not fit. */
function applyAnswer(
  parts: OpeningParts,
  context: CommandContext,
  operation: Operation,
  payment: Payment,
  {
    instructions,
    state,
    providerIds,
    isOutdated,
    isOurs,
    unrequested = [],
  }: Extract<OpenResult, { kind: "known" }> & { isOutdated: boolean },
): Concluded {
  const { gatewayCode } = operation;
  const accepted = accept(context, payment, { gatewayCode, instructions });
  const objection = objectionTo(context, accepted, gatewayCode, state);
  const after = objection ? accepted : applyState(context, accepted, gatewayCode, state);
  const asked = withReview(withProviderIds(operation, providerIds), state, parts.acquirer(gatewayCode));
  const done = answerAccepted(parts, context, asked, after, { isOutdated, reported: state.status });
  // What was paid here and has failed there was taken back: a transfer that the bank reversed, of which no notification came.
  const isHeld = () => holdsMoney(context, after, gatewayCode, unrequested.length > 0);
  const reversal = state.status === "failed" && isOurs !== true && !isOutdated && isHeld() ? ["dispute" as const] : [];
  const moved = recordUnrequested(context, operation, after, { unrequested: [...unrequested, ...reversal], state });
  const refused = objection ? recorded(context, operation, "receipt", newsOf(state)) : [];
  return { ...done, exceptions: [...moved, ...refused] };
}

/** Records a reconciliation exception; gives it when it is new. */
function recorded(context: CommandContext, of: Operation, kind: ExceptionKind, news = {}): ExceptionKind[] {
  return recordException(context, of, of.attempt, kind, news) ? [kind] : [];
}

/** The outcome is unknown: the request gets GATEWAY_TIMEOUT, and a worker inquires later. If the payment is over here, an operator may record it. */
function inquireAgain({ set, realNow }: CommandContext, operation: Operation, { status }: Payment): Concluded {
  const step = operation.step === "polling" && !isUnpaid(status) ? "polling" : "inquiring";
  const inquiries = operation.step === "polling" && step === "inquiring" ? 0 : operation.inquiries;
  set.update(operations, { ...operation, step, inquiries: inquiries + 1, dueAt: nextInquiry(inquiries, realNow) });
  return { fault: new Fault("GATEWAY_TIMEOUT") };
}

/** The answer to a request whose attempt was concluded elsewhere: the reply that its idempotency key stores, else a fault. */
function concludedBefore({ set, now }: CommandContext, operation: Operation, payment: Payment): Concluded {
  const record = openRecord(set, keptKey(operation, payment), now);
  if (record?.status !== undefined) return { reply: { status: record.status, body: record.response ?? "" } };
  return { fault: new Fault(operation.step === "retryable" ? "GATEWAY_ERROR" : "GATEWAY_TIMEOUT") };
}

/** The idempotency key of the request that created the payment; the key was first seen at the payment's `createdAt`. */
function keptKey({ book, idempotencyKey }: Operation, { createdAt }: Payment): KeptKey {
  return { book, key: idempotencyKey, firstSeenAt: createdAt };
}

/** What an inquiry found. `isOutdated`: it may be older than what came meanwhile. `reported`: the payment's status in the answer. */
interface Observation {
  isOutdated: boolean;
  reported: ReportedState["status"];
}

/** Answers the request of a payment that the acquirer has. A worker inquires for as long as `nextInquiryOf` gives a time. */
function answerAccepted(
  parts: OpeningParts,
  context: CommandContext,
  operation: Operation,
  payment: Payment,
  observation: Observation = { isOutdated: false, reported: "waiting" },
): { reply: Reply } {
  const { set, now } = context;
  const answer = parts.createdReply(payment);
  const dueAt = nextInquiryOf(parts, context, operation, payment, observation);
  const { status } = payment;
  const isInquired =
    isPaid(status) || status === "failed" || (isUnpaid(status) && observation.reported === "processing");
  const step = dueAt === undefined ? "done" : isInquired ? "inquiring" : "polling";
  const inquiries = operation.step === "polling" || operation.step === step ? operation.inquiries + 1 : 0;
  set.update(operations, { ...operation, step, idempotencyKey: undefined, inquiries, dueAt });
  completeKey(set, keptKey(operation, payment), answer, now);
  return { reply: answer };
}

/** When a worker inquires next about a payment that its acquirer has; undefined when no inquiry is needed any more. */
function nextInquiryOf(
  parts: OpeningParts,
  { merchant, now, realNow }: CommandContext,
  operation: Operation,
  payment: Payment,
  { isOutdated, reported }: Observation,
): Micros | undefined {
  const { status, expiresAt } = payment;
  const acquirer = parts.acquirer(operation.gatewayCode);
  const own = acquirer?.inquiresAfterMs(instructionRequest(parts, merchant, payment));
  const remote = acquirer?.remote === true;
  // A notification may be lost: a worker inquires at a remote acquirer LAST_INQUIRY before the payment expires, and once more after that.
  const atEnd = realNow + Math.max(expiresAt - now - LAST_INQUIRY, LAST_INQUIRY);
  const again = nextInquiry(operation.inquiries, realNow);
  if (status === "pending" || status === "processing") {
    if (own === undefined && !remote) return undefined;
    if (isOutdated) return realNow;
    if (operation.step === "polling") return again;
    return own === undefined ? atEnd : realNow + own * 1_000;
  }
  // A report has come since, or the payment is over since. What is paid or failed is asked about at the step `inquiring`: at `polling` it is not.
  if (isOutdated && (remote || isPaid(status))) return realNow;
  if (!remote || !isUnpaid(status)) return undefined;
  // The payment is over here, but its money is on the way. Inquiries go on until it has arrived or failed, since the notification may be lost.
  if (reported === "processing") return again;
  if (reported !== "waiting") return undefined;
  // A payment that cannot be ended there is inquired about near its expiry, and when its last money must have shown: its notification may be lost.
  if (expiresAt - now > LAST_INQUIRY) return atEnd;
  return now < expiresAt + PAID_LATE ? realNow + expiresAt + PAID_LATE - now : undefined;
}

/** Calls the next candidate after a refusal. When none is left, the merchant's next request continues, or a worker does. */
function failOver(parts: OpeningParts, context: CommandContext, operation: Operation, payment: Payment): Concluded {
  if (payment.status !== "pending") return backToRouting(context, operation, payment);
  const refusedBy = [...operation.refusedBy, operation.gatewayCode];
  let selection: RouteSelection;
  try {
    selection = selectRoute(parts, context.merchant, payment, refusedBy);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return backToRouting(context, { ...operation, round: operation.round + 1 }, payment);
  }
  return assignTo(parts, context, { ...operation, refusedBy }, payment, selection);
}

/** Hands a pending payment to the chosen acquirer: at once when instructions exist already, else by the call that comes next. */
function assignTo(
  parts: OpeningParts,
  context: CommandContext,
  operation: Operation,
  payment: Payment,
  { chosen, decision, instructions }: RouteSelection,
): { next: Operation } | { reply: Reply } {
  if (instructions === undefined) {
    const next = nextCall(operation, chosen, context.realNow);
    context.set.update(operations, next);
    reroute(context, payment, decision);
    return { next };
  }
  const accepted = accept(context, payment, { gatewayCode: chosen.code, instructions, routing: decision });
  const next = { ...operation, gatewayCode: chosen.code, attempt: operation.attempt + 1 };
  return answerAccepted(parts, context, next, accepted);
}

/** No acquirer has the payment. The merchant may repeat a request with a key; without a key a worker tries while it is pending. */
function backToRouting({ set, realNow }: CommandContext, operation: Operation, payment: Payment): Concluded {
  const { idempotencyKey } = operation;
  const isPending = payment.status === "pending";
  const retryable = idempotencyKey !== undefined;
  set.update(operations, {
    ...operation,
    step: retryable ? "retryable" : isPending ? "planned" : "done",
    refusedBy: [],
    providerIds: undefined,
    attempt: operation.attempt + 1,
    inquiries: operation.inquiries + 1,
    dueAt: isPending && !retryable ? nextInquiry(operation.inquiries, realNow) : undefined,
  });
  return { fault: new Fault("GATEWAY_ERROR") };
}

/**
 * Continues the same payment when its creation request is repeated after GATEWAY_ERROR. Gives the call that comes next, or the answer.
 * Throws IDEMPOTENCY_IN_PROGRESS while another request works on the payment, and NO_ROUTE_AVAILABLE.
 */
export function resumeOpening(
  parts: OpeningParts,
  merchant: Merchant,
  operation: Operation,
  intent: Intent,
): Command<Resumed> {
  const { book, id } = operation;
  const owner = { merchant, book };
  return bookCommand(owner, {
    name: "resume payment",
    needs: openingNeeds(operation),
    onLocked: (table) => (table === openKeys.name ? new Fault("IDEMPOTENCY_IN_PROGRESS") : undefined),
    execute(context) {
      const { set, now } = context;
      const current = set.get(operations, { book, id });
      const found = findLocked(context, id);
      const record = openRecord(set, keptKey(operation, found), now);
      const same = record?.endpoint === intent.endpoint && record.bodyDigest.equals(intent.bodyDigest);
      if (!same || record.status !== undefined || current?.step !== "retryable")
        throw new Fault("IDEMPOTENCY_IN_PROGRESS");
      const late = found.status === "pending" && found.expiresAt <= now;
      const payment = late ? expire(context, found) : found;
      if (payment.status !== "pending") {
        const code = payment.status === "expired" ? "PAYMENT_EXPIRED" : "PAYMENT_NOT_PAYABLE";
        const answer = faultReply(new Fault(code, { details: { status: payment.status } }), intent.requestId);
        set.update(operations, { ...current, step: "done", idempotencyKey: undefined });
        completeKey(set, keptKey(operation, payment), answer, now);
        return { reply: answer };
      }
      if (current.attempt >= ATTEMPTS_MAX) throw new Fault("NO_ROUTE_AVAILABLE");
      const concluded = assignTo(parts, context, current, payment, selectRoute(parts, merchant, payment));
      return "next" in concluded ? { payment, call: concluded.next } : concluded;
    },
  });
}
