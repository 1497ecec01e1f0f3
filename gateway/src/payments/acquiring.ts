// Asking acquirers: a payment is committed, then an acquirer is called, then what it answered is committed. Between the two
// commits nothing is held; a crash there leaves an operation that a worker asks about.
import type { Acquirer, Instructions, OpenRequest, Standing } from "../acquirers/acquirer.ts";
import { type ContradictionKind, notice, noticeNeeds } from "../acquirers/contradictions.sql.ts";
import { type Operation, operationKey, operations } from "../acquirers/operations.sql.ts";
import { type Micros, SECOND } from "../ground/clock.ts";
import { Fault, assert } from "../ground/fault.ts";
import { type Reply, faultReply, reply } from "../ground/reply.ts";
import { type Intent, type KeptKey, completeKey, openRecord } from "../idempotency/idempotency.ts";
import { openKeys } from "../idempotency/idempotency.sql.ts";
import { type Book, bookNow } from "../merchants/books.ts";
import type { Directory, Merchant } from "../merchants/directory.ts";
import type { Command } from "../store/lane.ts";
import type { Lanes } from "../store/lanes.ts";
import { type Need, type WorkingSet, need } from "../store/working-set.ts";
import type { Database } from "../store/database.ts";
import { type CallParts, callAcquirer, logContradiction } from "./calls.ts";
import { type Choice, findRoute, instructionRequest, nextCall } from "./choice.ts";
import { type Payment, createdView } from "./payment.ts";
import { type PaymentParts, expire, findLocked, paymentNeeds } from "./payments.ts";
import { paymentOfRow, selectPayment } from "./payments.sql.ts";
import { isPaid } from "./states.ts";
import { accept, applyStanding, objectionTo, reroute, wordNeeds } from "./words.ts";

/** What came of a call or of a question. `absent`: it is not there and never will be. */
export type OpenResult =
  | { kind: "known"; instructions: Instructions; standing: Standing }
  | { kind: "refused" }
  | { kind: "absent" }
  | { kind: "unknown" }
  /** Nothing is left to ask: what it was followed for has happened. */
  | { kind: "closed" };

/**
 * Where an operation stands after a result: an answer for whoever waits, or another acquirer to call; and what was noticed on the
 * way that cannot be.
 */
export type Settled = ({ reply: Reply } | { fault: Fault } | { next: Operation }) & {
  contradiction?: ContradictionKind;
};

const ASK_FIRST: Micros = SECOND;
const ASK_MAX: Micros = 600 * SECOND;
const LAST_ASK: Micros = 10 * SECOND;
/** A payment that was put to acquirers this often has found nobody. */
const ATTEMPTS_MAX = 5_000;

/** When to ask again: after 1, 2, 4 … seconds, at most ten minutes. */
export function nextAsk(asks: number, realNow: Micros): Micros {
  return realNow + Math.min(ASK_FIRST * 2 ** Math.min(asks, 20), ASK_MAX);
}

function needsOf(operation: Operation): Need[] {
  const { book, id, idempotencyKey } = operation;
  return [
    ...paymentNeeds(book, id),
    need(operations, { book, id }),
    ...noticeNeeds(operation, ["receipt", "forgotten"]),
    ...(idempotencyKey === undefined ? [] : [need(openKeys, { book, key: idempotencyKey })]),
  ];
}

/**
 * Commits what came of a call or a question about `operation`. Never throws a fault of its own: the outcome tells. When
 * somebody else has settled this attempt already, that is what it tells.
 */
export function settleOpening(
  parts: PaymentParts,
  merchant: Merchant,
  operation: Operation,
  result: OpenResult,
): Command<Settled> {
  const { book, id } = operation;
  const standing = result.kind === "known" ? result.standing : undefined;
  return {
    name: "settle acquirer's answer",
    book,
    needs: [...needsOf(operation), ...wordNeeds(book, operation.gatewayCode, standing)],
    execute(set, realNow) {
      const now = bookNow(set, book, realNow);
      const current = set.get(operations, { book, id });
      assert(current, `${id} has no operation`);
      const payment = findLocked(set, book, id);
      const settled = current.attempt !== operation.attempt || ["free", "planned", "done"].includes(current.step);
      if (settled) return conclude(set, { ...current, idempotencyKey: operation.idempotencyKey }, payment, now);
      // It has this payment, as it told before: whatever it says now, the payment cannot go to another.
      const taken = payment.gatewayCode !== undefined;
      switch (result.kind) {
        case "known": {
          const { gatewayCode } = current;
          const by = { gatewayCode, instructions: result.instructions };
          const accepted = accept(parts, set, merchant, payment, by, now);
          const objection = objectionTo(set, accepted, gatewayCode, result.standing);
          const after = objection
            ? accepted
            : applyStanding(parts, set, merchant, accepted, gatewayCode, result.standing, now);
          const done = opened(parts, set, merchant, current, after, now, realNow);
          if (!objection) return done;
          notice(set, current, current.attempt, "receipt", realNow);
          return { ...done, contradiction: "receipt" };
        }
        case "refused":
          if (taken) return askAgain(set, current, realNow);
          return failOver(parts, set, merchant, current, payment, now, realNow);
        case "absent":
          if (!taken) return release(set, current, payment, realNow);
          notice(set, current, current.attempt, "forgotten", realNow);
          return { ...askAgain(set, current, realNow), contradiction: "forgotten" };
        case "closed":
          set.update(operations, { ...current, step: "done", dueAt: undefined });
          return { reply: reply(201, createdView(payment)) };
        case "unknown":
          return askAgain(set, current, realNow);
      }
    },
  };
}

/** Nobody can tell: whoever waits hears that, and a worker asks. */
function askAgain(set: WorkingSet, operation: Operation, realNow: Micros): Settled {
  set.update(operations, {
    ...operation,
    step: operation.step === "following" ? "following" : "asking",
    asks: operation.asks + 1,
    dueAt: nextAsk(operation.asks, realNow),
  });
  return { fault: new Fault("GATEWAY_TIMEOUT") };
}

/** What a request hears whose attempt was settled by somebody else: what its key was told, when it was. */
function conclude(set: WorkingSet, operation: Operation, payment: Payment, now: Micros): Settled {
  const record = openRecord(set, keptKey(operation, payment), now);
  if (record?.status !== undefined) return { reply: { status: record.status, body: record.response ?? "" } };
  return { fault: new Fault(operation.step === "free" ? "GATEWAY_ERROR" : "GATEWAY_TIMEOUT") };
}

/** The request that brought a payment about. Its key was first seen at the moment in which the payment was made. */
function keptKey({ book, idempotencyKey }: Operation, { createdAt }: Payment): KeptKey {
  return { book, key: idempotencyKey, firstSeenAt: createdAt };
}

/** The acquirer has it: the request is answered, and the payment is followed while its acquirer is one that is asked. */
function opened(
  parts: PaymentParts,
  set: WorkingSet,
  merchant: Merchant,
  operation: Operation,
  payment: Payment,
  now: Micros,
  realNow: Micros,
): Settled {
  const acquirer = parts.acquirer(operation.gatewayCode);
  const own = acquirer?.asksAfterMs(instructionRequest(parts, merchant, payment));
  // A callback may be lost: before its time is over a payment at a remote acquirer is asked about, and after it once more.
  const after = own === undefined ? Math.max(payment.expiresAt - now - LAST_ASK, LAST_ASK) : own * 1_000;
  const open = payment.status === "pending" || payment.status === "processing";
  const follows = open && (own !== undefined || acquirer?.remote === true);
  const dueAt = operation.step === "following" ? nextAsk(operation.asks, realNow) : realNow + after;
  const answer = reply(201, createdView(payment));
  set.update(operations, {
    ...operation,
    step: follows ? "following" : "done",
    idempotencyKey: undefined,
    asks: operation.step === "following" ? operation.asks + 1 : 0,
    dueAt: follows ? dueAt : undefined,
  });
  completeKey(set, keptKey(operation, payment), answer, now);
  return { reply: answer };
}

/** A definite no: the next candidate is asked. When none is left the merchant's next try goes on, or a worker's. */
function failOver(
  parts: PaymentParts,
  set: WorkingSet,
  merchant: Merchant,
  operation: Operation,
  payment: Payment,
  now: Micros,
  realNow: Micros,
): Settled {
  if (payment.status !== "pending") return release(set, operation, payment, realNow);
  const refusedBy = [...operation.refusedBy, operation.gatewayCode];
  let choice: Choice;
  try {
    choice = findRoute(parts, merchant, payment, refusedBy);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return release(set, { ...operation, round: operation.round + 1 }, payment, realNow);
  }
  return take(parts, set, merchant, { ...operation, refusedBy }, payment, choice, now, realNow);
}

/** A payment that waits goes to the acquirer chosen for it: at once, or by a call that is made next. */
function take(
  parts: PaymentParts,
  set: WorkingSet,
  merchant: Merchant,
  operation: Operation,
  payment: Payment,
  choice: Choice,
  now: Micros,
  realNow: Micros,
): Settled {
  const { chosen, decision, instructions } = choice;
  if (instructions === undefined) {
    const next = nextCall(operation, chosen, realNow);
    set.update(operations, next);
    reroute(set, payment, decision);
    return { next };
  }
  const by = { gatewayCode: chosen.code, instructions, routing: decision };
  const accepted = accept(parts, set, merchant, payment, by, now);
  const taken = { ...operation, gatewayCode: chosen.code, attempt: operation.attempt + 1 };
  return opened(parts, set, merchant, taken, accepted, now, realNow);
}

/** Certainly not done, by nobody. Whoever holds the key may try again; without a key a worker does, while it has a point. */
function release(set: WorkingSet, operation: Operation, payment: Payment, realNow: Micros): Settled {
  const { idempotencyKey } = operation;
  const over = payment.status !== "pending";
  const free = idempotencyKey !== undefined;
  set.update(operations, {
    ...operation,
    step: free ? "free" : over ? "done" : "planned",
    refusedBy: [],
    attempt: operation.attempt + 1,
    asks: operation.asks + 1,
    dueAt: free || over ? undefined : nextAsk(operation.asks, realNow),
  });
  return { fault: new Fault("GATEWAY_ERROR") };
}

/**
 * The same request again after GATEWAY_ERROR: the same payment goes on. Answers with `continues` where an acquirer is to be
 * called, or at once. Throws IDEMPOTENCY_IN_PROGRESS when somebody else is at it, NO_ROUTE_AVAILABLE.
 */
export function resumeOpening(
  parts: PaymentParts,
  merchant: Merchant,
  operation: Operation,
  intent: Intent,
): Command<Reply> {
  const { book, id } = operation;
  return {
    name: "resume payment",
    book,
    needs: needsOf(operation),
    onLocked: (table) => (table === openKeys.name ? new Fault("IDEMPOTENCY_IN_PROGRESS") : undefined),
    execute(set, realNow) {
      const now = bookNow(set, book, realNow);
      const current = set.get(operations, { book, id });
      const found = findLocked(set, book, id);
      const record = openRecord(set, keptKey(operation, found), now);
      const same = record?.endpoint === intent.endpoint && record.bodyDigest.equals(intent.bodyDigest);
      if (!same || record.status !== undefined || current?.step !== "free") throw new Fault("IDEMPOTENCY_IN_PROGRESS");
      const late = found.status === "pending" && found.expiresAt <= now;
      const payment = late ? expire(parts, set, merchant, found, now) : found;
      if (payment.status !== "pending") {
        const over = payment.status === "expired" ? "PAYMENT_EXPIRED" : "PAYMENT_NOT_PAYABLE";
        const answer = faultReply(new Fault(over, { details: { status: payment.status } }), intent.requestId);
        set.update(operations, { ...current, step: "done", idempotencyKey: undefined });
        completeKey(set, keptKey(operation, payment), answer, now);
        return answer;
      }
      if (current.attempt >= ATTEMPTS_MAX) throw new Fault("NO_ROUTE_AVAILABLE");
      const settled = take(parts, set, merchant, current, payment, findRoute(parts, merchant, payment), now, realNow);
      if ("reply" in settled) return settled.reply;
      return { status: 201, body: "", continues: id };
    },
  };
}

export interface AcquiringParts extends PaymentParts, CallParts {
  database: Database;
  directory: Directory;
  lanes: Lanes;
}

/** Carries out operations on payments: calls, commits, and calls the next acquirer while the last one said no. */
export class Acquiring {
  private readonly parts: AcquiringParts;

  constructor(parts: AcquiringParts) {
    this.parts = parts;
  }

  /** Goes on with an operation that is `calling` (makes the call) or waits for an answer (asks). */
  async perform(operation: Operation): Promise<Settled> {
    const { parts } = this;
    const merchant = await parts.directory.merchant(operation.book.merchantId);
    const payment = await this.payment(operation.book, operation.id);
    assert(merchant && payment, `${operation.id} is not there`);
    for (let current = operation; ;) {
      const result = await this.ask(merchant, payment, current);
      const command = settleOpening(parts, merchant, current, result);
      const settled = await parts.lanes.move(current.book.merchantId, command);
      if (settled.contradiction) logContradiction(parts.log, current, settled.contradiction);
      if (!("next" in settled)) return settled;
      current = settled.next;
    }
  }

  private async payment(book: Book, reference: string): Promise<Payment | undefined> {
    const [row] = await this.parts.database.query(selectPayment(book.merchantId, reference));
    return row && paymentOfRow(row);
  }

  private async ask(merchant: Merchant, payment: Payment, operation: Operation): Promise<OpenResult> {
    const { parts } = this;
    const over = isPaid(payment.status) || payment.status === "failed";
    if (operation.step === "following" && over) return { kind: "closed" };
    const acquirer = parts.acquirer(operation.gatewayCode);
    // One that is no longer configured cannot be asked, and what it did cannot be known.
    if (!acquirer) return { kind: "unknown" };
    const request = this.request(merchant, payment, operation, acquirer);
    if (operation.step === "calling") {
      const name = { acquirer, method: payment.method, call: "open" } as const;
      const opening = await callAcquirer(parts, name, (calls, signal) => calls.open(request, signal));
      if (opening.kind !== "answered") return { kind: opening.kind };
      return { kind: "known", instructions: opening.answer, standing: { status: "waiting" } };
    }
    const name = { acquirer, method: payment.method, call: "ask" } as const;
    const asking = await callAcquirer(parts, name, (calls, signal) => calls.ask(request, signal));
    if (asking.kind !== "answered") return { kind: "unknown" };
    return asking.answer.known ? { ...asking.answer, kind: "known" } : { kind: "absent" };
  }

  private request(merchant: Merchant, payment: Payment, operation: Operation, acquirer: Acquirer): OpenRequest {
    return {
      ...instructionRequest(this.parts, merchant, payment),
      operationKey: operationKey(operation),
      callbackUrl: this.parts.callbackUrl(acquirer.code),
      round: operation.round,
    };
  }
}
