// The lock order: every table of the lanes, in the order in which transactions lock and write their rows.

/** Transactions that lock in one order cannot deadlock. Tables read without a lock have a place: some are read after another's rows are locked. */
export const lockOrder = [
  // First of all: a request that repeats a nonce waits for the first use of the nonce while it holds no other lock.
  "used nonces",

  // Read without a lock; only the command that moves a sandbox's clock locks that clock.
  "book clocks",
  "movable book clocks",

  // Before everything that the request changes: a repeated request waits here until the first one is committed.
  "idempotency keys",
  "open idempotency keys",

  "settlement clocks",
  // Before payments: a transaction that moves money waits for its book's head while it holds no payment. A settlement batch finds its
  // payments only after it has locked the head, so no holder of those payments can wait for the batch.
  "book heads",
  // Read and appended under the lock of the book's head, before the rows whose triggers look for their journals.
  "balances",
  "journals",

  // Before payments: commands that use one link wait for each other here, so that each sees the payment of the one before.
  "payment links",
  // Read without a lock. The insert of payments writes them.
  "reference ids",
  "payments of links",

  "reviewed or routed payments",
  "payments",
  // Appended together with their payments, under the locks of those.
  "split tests",
  "erased payers",
  "acquirer operations",
  // Appended under the lock of their operation.
  "acquirer messages",
  // Counted from committed payments, without a lock.
  "merchant velocity",
  "customer velocity",
  "receipts",
  // Read under the lock of their payments.
  "money of payments",
  "reconciliation exceptions",
  "refunds",
  "disputes",
  "acquirer disputes",
  "evidence drafts",
  "evidence file lists",
  "evidence files",
  "dispute evidence",

  // Read under the lock of the book's head, without a lock of their own.
  "unsettled items",
  "settlements",
  "settlement items",
  "settlement releases",
  // After the batches, because each mark refers to a batch.
  "payment batches",
  "refund batches",
  "dispute batches",
  "receipt batches",

  // Last: events report the contents of the tables above, and deliveries refer to their events.
  "events",
  "deliveries",
  "resendable events",
  "injected faults",
  "due books",

  // Appended only.
  "client audit",
] as const;

/** The name of a table that a lane may read, lock or write. */
export type LockedTable = (typeof lockOrder)[number];

const places = new Map<string, number>(lockOrder.map((name, place) => [name, place]));

/** Sorts tables into the lock order. A table outside the list, which only tests have, comes first. */
export function byLockOrder(a: { readonly name: LockedTable }, b: { readonly name: LockedTable }): number {
  return (places.get(a.name) ?? -1) - (places.get(b.name) ?? -1);
}
