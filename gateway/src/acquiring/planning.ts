// Plans acquirer operations: a call now, a call by a worker, or an inquiry later.
import type { Acquirer } from "../acquirers/acquirer.ts";
import { type Operation, withInquirySoon } from "./operation.ts";
import { operations } from "./operations.sql.ts";
import type { CommandContext } from "../commands/command-context.ts";
import { type Micros, SECOND } from "../ground/clock.ts";
import { assert } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import type { Book } from "../merchants/books.ts";
import type { Payment } from "../payments/payment.ts";
import type { RouteSelection } from "../payments/route-selection.ts";
import { type Need, need } from "../store/working-set.ts";

/** A call's lease is this much longer than its deadline: time to begin the call and to commit its outcome before a worker inquires. */
const MARGIN_MS = 5_000;
const MS = 1_000;
const FIRST_INQUIRY: Micros = SECOND;
const INQUIRY_MAX: Micros = 600 * SECOND;

/**
 * Records the operation of a new payment, if its acquirer needs one: a call for instructions (now, by the request with `idempotencyKey`; by
 * a worker when there is no key), or an inquiry after `inquiresAfterMs`. Gives the operation that the request itself has to call for, if any.
 */
export function planPayment(
  { set, realNow }: CommandContext,
  { book, reference }: Payment,
  { chosen, request, instructions }: RouteSelection,
  idempotencyKey?: string,
): Operation | undefined {
  const after = instructions && chosen.inquiresAfterMs(request);
  if (instructions !== undefined && after === undefined) return undefined;
  const order = { book, id: reference, kind: "payment", paymentReference: reference } as const;
  const planned = newOperation(order, chosen.code, realNow);
  if (after !== undefined) set.insert(operations, { ...planned, step: "polling", dueAt: realNow + after * MS });
  else if (idempotencyKey === undefined) set.insert(operations, planned);
  else {
    const call: Operation = { ...planned, step: "calling", idempotencyKey, dueAt: callUntil(chosen, realNow) };
    set.insert(operations, call);
    return call;
  }
  return undefined;
}

/** Rows that a command must load to use `planEnd`. */
export function endNeeds(book: Book, reference: string): Need[] {
  return isId("payment", reference) ? [need(operations, { book, id: reference })] : [];
}

/** Plans the end of a canceled payment at its acquirer: a worker inquires, and cancels one that waits. An operation not called yet ends here. */
export function planEnd(
  acquirer: (code: string) => Acquirer | undefined,
  { set, realNow }: CommandContext,
  { book, reference }: Payment,
): void {
  const operation = set.get(operations, { book, id: reference });
  if (!operation) return;
  const isUnderWay = ["calling", "inquiring", "polling"].includes(operation.step);
  if (operation.step === "planned") set.update(operations, { ...operation, step: "done", dueAt: undefined });
  else if (isUnderWay && acquirer(operation.gatewayCode)?.calls?.cancel)
    set.update(operations, withInquirySoon(operation, realNow));
}

/** A worker calls the acquirer for a refund after the commit: the funds are reversed first, so they cannot be spent twice. */
export function planRefund(
  { set, book, realNow }: CommandContext,
  { uuid, paymentReference }: { uuid: string; paymentReference: string },
  gatewayCode: string,
): void {
  set.insert(operations, newOperation({ book, id: uuid, kind: "refund", paymentReference }, gatewayCode, realNow));
}

/** A planned operation: a worker makes its call as soon as possible. */
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

/** When the lease of a call planned now ends: the call is over by then, or is not made. */
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

/** The operation for a call to `acquirer` that its caller makes now, under a new attempt and lease. */
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
