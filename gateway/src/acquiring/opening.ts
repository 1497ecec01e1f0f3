// The opening of a payment at an acquirer, as pure commands: what each result of a call or an inquiry makes of it, and how the same request
// goes on after GATEWAY_ERROR.
import type { Astray, Opened, Standing } from "../acquirers/acquirer.ts";
import type { ExceptionKind } from "./exception.ts";
import { recordException, exceptionNeeds } from "./exceptions.ts";
import { astrayNeeds, recordAstray } from "./astray.ts";
import { type Operation, withProviderIds } from "./operation.ts";
import { questioned } from "./questioned.ts";
import { operations } from "./operations.sql.ts";
import { type CommandContext, bookCommand } from "../commands/command-context.ts";
import { type Micros, SECOND } from "../ground/clock.ts";
import { Fault, assert } from "../ground/fault.ts";
import { type Reply, faultReply } from "../ground/reply.ts";
import { type Intent, type KeptKey, completeKey, openRecord } from "../idempotency/idempotency.ts";
import { openKeys } from "../idempotency/idempotency.sql.ts";
import type { Merchant } from "../merchants/directory.ts";
import type { Command } from "../store/lane.ts";
import { type Need, need } from "../store/working-set.ts";
import { nextCall, nextInquiry } from "./planning.ts";
import { type RouteSelection, instructionRequest, selectRoute } from "../payments/route-selection.ts";
import type { Payment } from "../payments/payment.ts";
import { type PaymentParts, expire, findLocked, paymentNeeds } from "../payments/payments.ts";
import { isUnpaid } from "../payments/states.ts";
import { keepWords } from "./keep-words.ts";
import type { Said } from "./words.ts";
import { accept, applyStanding, objectionTo, reroute, notificationNeeds } from "./notifications.ts";

/** The outcome of a call or an inquiry. `absent`: the acquirer does not have it and never will. */
export type OpenResult = { said?: readonly Said[] } &
  /** `isOver`: it was asked about a payment that nobody is to pay any more, and so to be ended there, too. */
  (
    | ({ kind: "known"; standing: Standing; isOver?: boolean; astray?: readonly Astray[] } & Opened)
    | { kind: "refused" }
    | { kind: "absent" }
    | { kind: "unknown" }
    /** No inquiry is needed any more: the payment has its outcome. */
    | { kind: "closed" }
  );

/**
 * Where an operation stands after a result: an answer for whoever waits, or another acquirer to call; and a reconciliation exception
 * that was recorded on the way.
 */
export type Concluded = ({ reply: Reply } | { fault: Fault } | { next: Operation }) & {
  exception?: ExceptionKind;
};

/** What opening a payment needs beside the payment's own parts. */
export interface OpeningParts extends PaymentParts {
  /** The answer of a creation, as its key keeps it. */
  createdReply(payment: Payment): Reply;
}

/** How a request goes on that comes again: by a call after the commit, or not at all, since there is an answer. */
export type Resumed = { payment: Payment; call: Operation } | { reply: Reply };

const LAST_INQUIRY: Micros = 10 * SECOND;
/** After so many calls a payment has found no acquirer. */
const ATTEMPTS_KEPT_MAX = 5_000;

function needsOf(operation: Operation): Need[] {
  const { book, id, idempotencyKey } = operation;
  return [
    ...paymentNeeds(book, id),
    need(operations, { book, id }),
    ...exceptionNeeds(operation, ["receipt", "forgotten"]),
    ...astrayNeeds(operation),
    ...(idempotencyKey === undefined ? [] : [need(openKeys, { book, key: idempotencyKey })]),
  ];
}

/**
 * Concludes a call or an inquiry about `operation` with its result. Never throws a fault of its own: the answer carries it. When
 * somebody else has concluded this attempt already, the answer is theirs.
 */
export function concludeOpening(
  parts: OpeningParts,
  merchant: Merchant,
  operation: Operation,
  result: OpenResult,
): Command<Concluded> {
  const { book, id } = operation;
  const standing = result.kind === "known" ? result.standing : undefined;
  return bookCommand(
    { merchant, book },
    {
      name: "conclude acquirer's answer",
      needs: [...needsOf(operation), ...notificationNeeds(book, operation.gatewayCode, standing)],
      execute(context) {
        const { set } = context;
        const current = set.get(operations, { book, id });
        assert(current, `${id} has no operation`);
        const payment = findLocked(context, id);
        for (const said of result.said ?? []) keepWords(context, operation, said);
        const concluded =
          current.attempt !== operation.attempt || ["retryable", "planned", "done"].includes(current.step);
        if (concluded)
          return concludedBefore(context, { ...current, idempotencyKey: operation.idempotencyKey }, payment);
        // The acquirer has accepted this payment before: whatever it answers now, the payment cannot go to another.
        const taken = payment.gatewayCode !== undefined;
        switch (result.kind) {
          case "known":
            return known(parts, context, current, payment, {
              ...result,
              isTold: isToldSince(operation, current) || (isUnpaid(payment.status) && result.isOver !== true),
            });
          case "refused":
            return taken ? inquireAgain(context, current) : failOver(parts, context, current, payment);
          case "absent":
            if (!taken) return release(context, current, payment);
            if (isUnpaid(payment.status)) return close(parts, context, current, payment);
            recordException(context, current, current.attempt, "forgotten");
            return { ...inquireAgain(context, current), exception: "forgotten" };
          case "closed":
            return close(parts, context, current, payment);
          case "unknown":
            return inquireAgain(context, current);
        }
      },
    },
  );
}

/** Nothing is left to do at the acquirer. */
function close(
  parts: OpeningParts,
  { set, now }: CommandContext,
  operation: Operation,
  payment: Payment,
): { reply: Reply } {
  const answer = parts.createdReply(payment);
  set.update(operations, { ...operation, step: "done", idempotencyKey: undefined, dueAt: undefined });
  completeKey(set, keptKey(operation, payment), answer, now);
  return { reply: answer };
}

/** Whether we or the acquirer have said, since the call or the inquiry began, that something happened: the answer may be older than that. */
function isToldSince(begun: Operation, current: Operation): boolean {
  if (current.step === "calling") return current.inquiries > 0;
  return current.dueAt !== undefined && begun.dueAt !== undefined && current.dueAt < begun.dueAt;
}

/** The acquirer has the payment, and reports how it stands. */
function known(
  parts: OpeningParts,
  context: CommandContext,
  operation: Operation,
  payment: Payment,
  {
    instructions,
    standing,
    providerIds,
    isTold,
    astray = [],
  }: Extract<OpenResult, { kind: "known" }> & { isTold: boolean },
): Concluded {
  const { gatewayCode } = operation;
  const accepted = accept(context, payment, { gatewayCode, instructions });
  const objection = objectionTo(context, accepted, gatewayCode, standing);
  const after = objection ? accepted : applyStanding(context, accepted, gatewayCode, standing);
  const told = questioned(withProviderIds(operation, providerIds), standing, parts.acquirer(gatewayCode));
  const done = opened(parts, context, told, after, { isTold, standing: standing.status });
  const [moved] = recordAstray(context, operation, after, astray);
  if (objection) recordException(context, operation, operation.attempt, "receipt");
  const exception = objection ? "receipt" : moved;
  return exception === undefined ? done : { ...done, exception };
}

/** The outcome is unknown: the request gets GATEWAY_TIMEOUT, and a worker inquires later. */
function inquireAgain({ set, realNow }: CommandContext, operation: Operation): Concluded {
  set.update(operations, {
    ...operation,
    step: operation.step === "following" ? "following" : "asking",
    inquiries: operation.inquiries + 1,
    dueAt: nextInquiry(operation.inquiries, realNow),
  });
  return { fault: new Fault("GATEWAY_TIMEOUT") };
}

/** The answer to a request whose attempt was concluded by somebody else: the answer its key keeps, when it has one. */
function concludedBefore({ set, now }: CommandContext, operation: Operation, payment: Payment): Concluded {
  const record = openRecord(set, keptKey(operation, payment), now);
  if (record?.status !== undefined) return { reply: { status: record.status, body: record.response ?? "" } };
  return { fault: new Fault(operation.step === "retryable" ? "GATEWAY_ERROR" : "GATEWAY_TIMEOUT") };
}

/** The request that brought a payment about. Its key was first seen at the moment in which the payment was made. */
function keptKey({ book, idempotencyKey }: Operation, { createdAt }: Payment): KeptKey {
  return { book, key: idempotencyKey, firstSeenAt: createdAt };
}

/** How an answer is to be taken. `isTold`: it may be older than what was told meanwhile. */
interface Heard {
  isTold: boolean;
  standing: Standing["status"];
}

/** The acquirer has it: the request is answered, and a worker inquires as long as `nextLook` says. */
function opened(
  parts: OpeningParts,
  context: CommandContext,
  operation: Operation,
  payment: Payment,
  heard: Heard = { isTold: false, standing: "waiting" },
): { reply: Reply } {
  const { set, now } = context;
  const answer = parts.createdReply(payment);
  const dueAt = nextLook(parts, context, operation, payment, heard);
  set.update(operations, {
    ...operation,
    step: dueAt === undefined ? "done" : "following",
    idempotencyKey: undefined,
    inquiries: operation.step === "following" ? operation.inquiries + 1 : 0,
    dueAt,
  });
  completeKey(set, keptKey(operation, payment), answer, now);
  return { reply: answer };
}

/** When a worker inquires next about a payment that its acquirer has; undefined when there is nothing left to learn. */
function nextLook(
  parts: OpeningParts,
  { merchant, now, realNow }: CommandContext,
  operation: Operation,
  payment: Payment,
  { isTold, standing }: Heard,
): Micros | undefined {
  const { status, expiresAt } = payment;
  const acquirer = parts.acquirer(operation.gatewayCode);
  const own = acquirer?.asksAfterMs(instructionRequest(parts, merchant, payment));
  const remote = acquirer?.remote === true;
  // A notification may be lost: before its time is over a payment at a remote acquirer is inquired about, and after it once more.
  const atEnd = realNow + Math.max(expiresAt - now - LAST_INQUIRY, LAST_INQUIRY);
  const again = nextInquiry(operation.inquiries, realNow);
  if (status === "pending" || status === "processing") {
    if (own === undefined && !remote) return undefined;
    if (isTold) return realNow;
    if (operation.step === "following") return again;
    return own === undefined ? atEnd : realNow + own * 1_000;
  }
  if (!remote || !isUnpaid(status)) return undefined;
  // Money that is on its way comes, or does not, whoever still wants it: until then its notification may be lost.
  if (standing === "processing") return isTold ? realNow : again;
  if (standing !== "waiting") return undefined;
  // Over here, it is ended there next, where that was not tried yet; what cannot be ended there is inquired about once more.
  if (isTold) return realNow;
  return expiresAt - now > LAST_INQUIRY ? atEnd : undefined;
}

/** The acquirer refused: the next candidate is called. When none is left, the merchant's next try goes on, or a worker's. */
function failOver(parts: OpeningParts, context: CommandContext, operation: Operation, payment: Payment): Concluded {
  if (payment.status !== "pending") return release(context, operation, payment);
  const refusedBy = [...operation.refusedBy, operation.gatewayCode];
  let selection: RouteSelection;
  try {
    selection = selectRoute(parts, context.merchant, payment, refusedBy);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return release(context, { ...operation, round: operation.round + 1 }, payment);
  }
  return hand(parts, context, { ...operation, refusedBy }, payment, selection);
}

/** A payment that waits is handed to the acquirer chosen for it: at once, or by a call that is made next. */
function hand(
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
  return opened(parts, context, { ...operation, gatewayCode: chosen.code, attempt: operation.attempt + 1 }, accepted);
}

/** Certainly not done, by nobody. Whoever holds the key may try again; without a key a worker does, while it has a point. */
function release({ set, realNow }: CommandContext, operation: Operation, payment: Payment): Concluded {
  const { idempotencyKey } = operation;
  const over = payment.status !== "pending";
  const retryable = idempotencyKey !== undefined;
  set.update(operations, {
    ...operation,
    step: retryable ? "retryable" : over ? "done" : "planned",
    refusedBy: [],
    providerIds: undefined,
    attempt: operation.attempt + 1,
    inquiries: operation.inquiries + 1,
    dueAt: retryable || over ? undefined : nextInquiry(operation.inquiries, realNow),
  });
  return { fault: new Fault("GATEWAY_ERROR") };
}

/**
 * The same request again after GATEWAY_ERROR: the same payment goes on. Gives the call that comes next, or
 * the answer. Throws IDEMPOTENCY_IN_PROGRESS when somebody else is at it, NO_ROUTE_AVAILABLE.
 */
export function resumeOpening(
  parts: OpeningParts,
  merchant: Merchant,
  operation: Operation,
  intent: Intent,
): Command<Resumed> {
  const { book, id } = operation;
  return bookCommand(
    { merchant, book },
    {
      name: "resume payment",
      needs: needsOf(operation),
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
          const over = payment.status === "expired" ? "PAYMENT_EXPIRED" : "PAYMENT_NOT_PAYABLE";
          const answer = faultReply(new Fault(over, { details: { status: payment.status } }), intent.requestId);
          set.update(operations, { ...current, step: "done", idempotencyKey: undefined });
          completeKey(set, keptKey(operation, payment), answer, now);
          return { reply: answer };
        }
        if (current.attempt >= ATTEMPTS_KEPT_MAX) throw new Fault("NO_ROUTE_AVAILABLE");
        const concluded = hand(parts, context, current, payment, selectRoute(parts, merchant, payment));
        return "next" in concluded ? { payment, call: concluded.next } : concluded;
      },
    },
  );
}
