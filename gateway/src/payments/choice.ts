// Which acquirer takes a payment, and whether it must be asked first.
import type { Acquirer, InstructionRequest, Instructions } from "../acquirers/acquirer.ts";
import { type Operation, operations } from "../acquirers/operations.sql.ts";
import type { Micros } from "../ground/clock.ts";
import { Fault, assert } from "../ground/fault.ts";
import type { Book } from "../merchants/books.ts";
import type { Merchant } from "../merchants/directory.ts";
import { type RoutingDecision, type RoutingTable, route } from "../routing/routing.ts";
import type { WorkingSet } from "../store/working-set.ts";
import type { Payment } from "./payment.ts";

export interface ChoiceParts {
  /** The table at the moment a command is made. */
  routingTable(): RoutingTable;
  /** The payer's page of a payment, for methods that redirect. */
  payUrl(book: Book, reference: string): string;
}

export interface Choice {
  chosen: Acquirer;
  decision: RoutingDecision;
  request: InstructionRequest;
  /** Undefined when the acquirer must be asked for them. */
  instructions: Instructions | undefined;
}

/** Whoever calls has this much longer than the call's deadline to commit what came of it, before a worker asks. */
const MARGIN_MS = 5_000;
const MS = 1_000;

/** The acquirer that takes a payment and why. Throws NO_ROUTE_AVAILABLE or INVALID_AMOUNT. */
export function findRoute(
  parts: ChoiceParts,
  merchant: Merchant,
  payment: Payment,
  refusedBy: readonly string[] = [],
): Choice {
  const { book, reference, method, currency, amountMinor } = payment;
  const asked = { environment: book.environment, method, currency, amountMinor, draw: reference, refusedBy };
  const { chosen, decision } = route(parts.routingTable(), asked);
  if (!chosen) throw routeFault(decision);
  const request = instructionRequest(parts, merchant, payment);
  return { chosen, decision, request, instructions: chosen.issue(request) };
}

export function instructionRequest(parts: ChoiceParts, merchant: Merchant, payment: Payment): InstructionRequest {
  const { book, reference, amountMinor, currency, method, expiresAt, metadata } = payment;
  return {
    reference,
    amountMinor,
    currency,
    method,
    merchantName: merchant.name,
    expiresAt,
    // Made when it is asked for: most methods have no such page.
    get payUrl() {
      return parts.payUrl(book, reference);
    },
    metadata,
  };
}

/** Nobody takes it: because of its amount, which no retry changes, or because nobody can now. */
function routeFault(decision: RoutingDecision): Fault {
  const able = decision.candidates.filter(
    ({ verdict }) => verdict !== "method_not_supported" && verdict !== "currency_not_supported",
  );
  const amount = able.length > 0 && able.every(({ verdict }) => verdict === "amount_out_of_range");
  return new Fault(amount ? "INVALID_AMOUNT" : "NO_ROUTE_AVAILABLE", { internal: decision });
}

/**
 * Writes down what is to be asked of a new payment's acquirer, if anything: instructions that it must be asked for (now, by
 * whoever holds the request of `idempotencyKey`; by a worker without one), or how the payment stands after a while.
 */
export function planOperation(
  set: WorkingSet,
  payment: Payment,
  { chosen, request, instructions }: Choice,
  realNow: Micros,
  idempotencyKey?: string,
): void {
  const after = instructions && chosen.asksAfterMs(request);
  if (instructions !== undefined && after === undefined) return;
  const { book, reference } = payment;
  const planned = {
    book,
    id: reference,
    kind: "payment" as const,
    paymentReference: reference,
    gatewayCode: chosen.code,
    attempt: 1,
    round: 0,
    refusedBy: [],
    asks: 0,
    createdAt: realNow,
  };
  if (after !== undefined) {
    set.insert(operations, { ...planned, step: "following", idempotencyKey: undefined, dueAt: realNow + after * MS });
  } else if (idempotencyKey === undefined) {
    set.insert(operations, { ...planned, step: "planned", idempotencyKey, dueAt: realNow });
  } else {
    set.insert(operations, { ...planned, step: "calling", idempotencyKey, dueAt: callUntil(chosen, realNow) });
  }
}

/** When a call that is made now is certainly over, whoever makes it. */
export function callUntil(acquirer: Acquirer, realNow: Micros): Micros {
  assert(acquirer.calls, `${acquirer.code} takes no calls`);
  return realNow + (acquirer.calls.deadlineMs + MARGIN_MS) * MS;
}

/** The operation as it is when `acquirer` is called next, by whoever holds the request. */
export function nextCall(operation: Operation, acquirer: Acquirer, realNow: Micros): Operation {
  return {
    ...operation,
    step: "calling",
    gatewayCode: acquirer.code,
    attempt: operation.attempt + 1,
    asks: 0,
    dueAt: callUntil(acquirer, realNow),
  };
}
