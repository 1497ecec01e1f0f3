// Data that the simulated acquirer stores under an operation key, and the formats in which it shows them. No HTTP, no file.
import type { Instructions } from "../../acquirers/acquirer.ts";
import { simulatedAcquirers } from "../../acquirers/simulated.ts";
import type { PaymentOrder, RefundOrder, Transaction } from "../../acquirers/remote-protocol.ts";
import { type Micros, parseWireTime } from "../../ground/clock.ts";
import { assert } from "../../ground/fault.ts";

/** A callback that is still to be delivered. */
export interface Report {
  id: string;
  url: string;
  /** The exact text, the same in each delivery. */
  body: string;
  /** Number of deliveries still to make, and of failures in a row. */
  remaining: number;
  failures: number;
  due: Micros;
}

interface Base {
  operation_key: string;
  created_at: string;
  reports: Report[];
}

export interface Payment extends Base {
  kind: "payment";
  status: "waiting" | "processing" | "failed" | "paid";
  order: PaymentOrder;
  instructions: Instructions;
  transaction?: Transaction | undefined;
  /** True when it was ended before its time: nobody can pay it any more. */
  cancelled?: boolean;
  /** Sum of the refunds that have not failed. */
  refunded_minor: number;
}

export interface Refund extends Base {
  kind: "refund";
  status: "pending" | "succeeded" | "failed";
  order: RefundOrder;
  /** The status that the refund gets by itself, soon. */
  concludesAs?: "succeeded" | "failed" | undefined;
}

/** A key that was voided before it was used, or refused for good: nothing will ever happen under it. */
export interface ClosedKey extends Base {
  kind: "payment" | "refund";
  status: "void" | "refused";
  refusal: { code: string; message: string };
}

export type Operation = Payment | Refund | ClosedKey;

export function isClosed(operation: Operation): operation is ClosedKey {
  return operation.status === "void" || operation.status === "refused";
}

/** True when nothing is expected to happen to the operation any more. */
export function isFinished(operation: Operation, now: Micros): boolean {
  if (operation.reports.length > 0) return false;
  if (operation.status !== "waiting") return !["processing", "pending"].includes(operation.status);
  return (parseWireTime(operation.order.expires_at)?.at ?? 0) < now;
}

const house = simulatedAcquirers.find(({ code }) => code === "cendana");

/** The instructions of a simulated acquirer of the sandbox; undefined for a method or currency that the simulator does not take. */
export function instructionsFor(order: PaymentOrder): Instructions | undefined {
  assert(house, "the all-rounder among the simulated acquirers is gone");
  const taken = house.capabilities.some(
    ({ method, currencies }) => method === order.payment_method && currencies.includes(order.currency),
  );
  if (!taken) return undefined;
  return house.issue({
    reference: order.reference,
    amountMinor: BigInt(order.amount_minor),
    currency: order.currency,
    method: order.payment_method,
    merchantName: order.merchant_name,
    expiresAt: parseWireTime(order.expires_at)?.at ?? 0,
    payUrl: order.pay_url,
    returnUrl: order.return_url,
    metadata: undefined,
  });
}

/** The protocol's response about an operation. */
export function answerOf(operation: Payment | Refund): Record<string, unknown> {
  const { operation_key, status } = operation;
  if (operation.kind === "refund") return { operation_key, status };
  const { instructions, transaction } = operation;
  return { operation_key, status, instructions, ...(transaction === undefined ? {} : { transaction }) };
}

/** A row of `GET /operations`. */
export function rowOf(operation: Operation): Record<string, unknown> {
  const { kind, operation_key, status, created_at, reports } = operation;
  const row = { kind, operation_key, status, created_at, callbacks_waiting: reports.length };
  if (isClosed(operation)) return { ...row, ...(status === "refused" ? { refusal: operation.refusal.code } : {}) };
  const { amount_minor, currency } = operation.order;
  if (operation.kind === "refund") {
    return { ...row, payment_operation_key: operation.order.payment_operation_key, amount_minor, currency };
  }
  const { transaction, instructions, order, refunded_minor } = operation;
  return {
    ...row,
    reference: order.reference,
    payment_method: order.payment_method,
    amount_minor,
    currency,
    refunded_minor,
    instructions: instructions.value,
    ...(transaction === undefined ? {} : { transaction }),
  };
}
