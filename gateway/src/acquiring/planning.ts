// Plans the operations of acquirers: a call now, a call by a worker, or an inquiry later.
import type { Acquirer } from "../acquirers/acquirer.ts";
import { type Operation, askedSoon } from "./operation.ts";
import { operations } from "./operations.sql.ts";
import type { CommandContext } from "../commands/command-context.ts";
import { type Micros, SECOND } from "../ground/clock.ts";
import { assert } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import type { Book } from "../merchants/books.ts";
import type { Payment } from "../payments/payment.ts";
import type { RouteSelection } from "../payments/route-selection.ts";
import { type Need, need } from "../store/working-set.ts";

/** A caller has this much longer than the call's deadline to begin the call and to commit its outcome, before a worker inquires. */
const MARGIN_MS = 5_000;
const MS = 1_000;
const FIRST_INQUIRY: Micros = SECOND;
const INQUIRY_MAX: Micros = 600 * SECOND;

/**
 * Records the operation of a new payment, if its acquirer needs one: a call for its instructions (now, by the request of
 * `idempotencyKey`; by a worker without one), or an inquiry after a while. Gives the operation of which that request makes the call.
 */
export function planPayment(
  { set, realNow }: CommandContext,
  { book, reference }: Payment,
  { chosen, request, instructions }: RouteSelection,
  idempotencyKey?: string,
): Operation | undefined {
  const after = instructions && chosen.asksAfterMs(request);
  if (instructions !== undefined && after === undefined) return undefined;
  const planned = newOperation(
    { book, id: reference, kind: "payment", paymentReference: reference },
    chosen.code,
    realNow,
  );
  if (after !== undefined) set.insert(operations, { ...planned, step: "following", dueAt: realNow + after * MS });
  else if (idempotencyKey === undefined) set.insert(operations, planned);
  else {
    const call: Operation = { ...planned, step: "calling", idempotencyKey, dueAt: callUntil(chosen, realNow) };
    set.insert(operations, call);
    return call;
  }
  return undefined;
}

export function endNeeds(book: Book, reference: string): Need[] {
  return isId("payment", reference) ? [need(operations, { book, id: reference })] : [];
}

/**
 * A payment that nobody is to pay any more is looked for at its acquirer, where that can end it, and ended there if it waits. What no
 * acquirer was asked for yet is not asked for any more.
 */
export function planEnd(
  acquirer: (code: string) => Acquirer | undefined,
  { set, realNow }: CommandContext,
  { book, reference }: Payment,
): void {
  const operation = set.get(operations, { book, id: reference });
  if (!operation) return;
  const isUnderWay = ["calling", "asking", "following"].includes(operation.step);
  if (operation.step === "planned") set.update(operations, { ...operation, step: "done", dueAt: undefined });
  else if (isUnderWay && acquirer(operation.gatewayCode)?.calls?.cancel)
    set.update(operations, askedSoon(operation, realNow));
}

/** A worker calls the acquirer for a refund after the commit: the funds are reversed first, so they cannot be spent twice. */
export function planRefund(
  { set, book, realNow }: CommandContext,
  { uuid, paymentReference }: { uuid: string; paymentReference: string },
  gatewayCode: string,
): void {
  set.insert(operations, newOperation({ book, id: uuid, kind: "refund", paymentReference }, gatewayCode, realNow));
}

/** An operation that a worker carries out as soon as it can. */
function newOperation(
  name: Pick<Operation, "book" | "id" | "kind" | "paymentReference">,
  gatewayCode: string,
  realNow: Micros,
): Operation {
  return {
    ...name,
    step: "planned",
    gatewayCode,
    attempt: 1,
    providerIds: undefined,
    round: 0,
    refusedBy: [],
    idempotencyKey: undefined,
    review: undefined,
    inquiries: 0,
    dueAt: realNow,
    createdAt: realNow,
  };
}

/** The end of the lease of a call that is planned now: the call is over by then, or is not made. */
export function callUntil(acquirer: Acquirer, realNow: Micros): Micros {
  assert(acquirer.calls, `${acquirer.code} takes no calls`);
  return realNow + (acquirer.calls.deadlineMs + MARGIN_MS) * MS;
}

/**
 * Whether a call of this deadline, begun now, ends within the lease of its operation. A caller that slept or waited too long makes no
 * call: a worker may have inquired already, and the merchant may have been told that nothing happened.
 */
export function mayCall({ dueAt }: Pick<Operation, "dueAt">, deadlineMs: number, now: Micros): boolean {
  return dueAt !== undefined && now + deadlineMs * MS <= dueAt;
}

/** The operation as it is when `acquirer` is called next, by whoever holds the request. */
export function nextCall(operation: Operation, acquirer: Acquirer, realNow: Micros): Operation {
  return {
    ...operation,
    step: "calling",
    gatewayCode: acquirer.code,
    attempt: operation.attempt + 1,
    providerIds: undefined,
    review: undefined,
    inquiries: 0,
    dueAt: callUntil(acquirer, realNow),
  };
}

/** When to inquire again: after 1, 2, 4 … seconds, at most ten minutes. */
export function nextInquiry(inquiries: number, realNow: Micros): Micros {
  return realNow + Math.min(FIRST_INQUIRY * 2 ** Math.min(inquiries, 20), INQUIRY_MAX);
}
