// The lock order: every table of the lanes, in the one order in which transactions lock and write their rows.

/**
 * Two transactions that take their locks in one order cannot wait for each other in a circle. Tables that are read without a lock have a
 * place too, because what they are read under must be locked before them.
 */
export const lockOrder = [
  // A repeated signature waits for the first use of it before it has locked anything else.
  "used nonces",

  // Read without a lock; a sandbox's clock is locked only by the command that moves it.
  "book clocks",
  "movable book clocks",

  // Before everything that the request does: its repetition waits here until the first one is committed.
  "idempotency keys",
  "open idempotency keys",

  "settlement clocks",

  // Before payments: a transaction that moves money waits for its book first and holds no payment meanwhile. A settlement batch
  // finds its payments only under the head, so nothing that it waits for can wait for it.
  "book heads",

  // Before payments: of those who use one link, each waits for the one before and then sees its payment.
  "payment links",
  // Read without a lock. Written by the insert of payments.
  "reference ids",
  "payments of links",

  "routed payments",
  "payments",
  // Appended with their payments, and under their locks.
  "split tests",
  "erased payers",
  "acquirer operations",
  // Appended under the lock of their operation.
  "acquirer words",
  // Counted from committed payments, without a lock.
  "merchant velocity",
  "customer velocity",
  "receipts",
  "reconciliation exceptions",
  "refunds",
  "disputes",
  "acquirer disputes",
  "evidence drafts",
  "evidence file lists",
  "evidence files",
  "dispute evidence",

  // Read and appended under the lock of the book's head.
  "balances",
  "journals",

  // Read without a lock of their own, under the lock of the book's head.
  "waiting items",
  "settlements",
  "settlement items",
  "settlement releases",
  // After the batches, because each mark refers to one.
  "payment batches",
  "refund batches",
  "dispute batches",
  "receipt batches",

  // Last: events report what the tables above hold. Deliveries refer to their events.
  "events",
  "deliveries",
  "resendable events",
  "misbehaviours",
  "due books",
] as const;

/** The name of a table that a lane may lock. */
export type LockedTable = (typeof lockOrder)[number];

const places = new Map<string, number>(lockOrder.map((name, place) => [name, place]));

/** Sorts tables into the lock order. A table outside the list comes first; only tests have one. */
export function byLockOrder(a: { readonly name: LockedTable }, b: { readonly name: LockedTable }): number {
  return (places.get(a.name) ?? -1) - (places.get(b.name) ?? -1);
}
