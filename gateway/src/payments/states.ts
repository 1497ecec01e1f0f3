// The states of a payment and every transition between them, as data. The database enforces the same list.
import { ImpossibleState } from "../ground/fault.ts";

export const paymentStatuses = [
  "pending",
  "processing",
  "succeeded",
  "failed",
  "expired",
  "canceled",
  "partially_refunded",
  "refunded",
] as const;
export type PaymentStatus = (typeof paymentStatuses)[number];

/** All transitions (interface 3.1). No others exist. */
export const transitions: Readonly<Record<PaymentStatus, readonly PaymentStatus[]>> = {
  pending: ["processing", "succeeded", "failed", "expired", "canceled"],
  processing: ["succeeded", "failed"],
  succeeded: ["partially_refunded", "refunded"],
  partially_refunded: ["refunded"],
  failed: [],
  expired: [],
  canceled: [],
  refunded: [],
};

/** Throws `ImpossibleState` unless the transition is in the list. */
export function assertTransition(from: PaymentStatus, to: PaymentStatus): void {
  if (!transitions[from].includes(to)) throw new ImpossibleState(`a payment cannot go from ${from} to ${to}`);
}

/** True once the merchant has been credited. */
export function isPaid(status: PaymentStatus): boolean {
  return status === "succeeded" || status === "partially_refunded" || status === "refunded";
}

/** True for a payment that ended unpaid. Its acquirer may still take money for it. */
export function isUnpaid(status: PaymentStatus): boolean {
  return status === "canceled" || status === "expired";
}
