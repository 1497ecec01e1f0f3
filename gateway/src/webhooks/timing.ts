// The times of delivering webhooks. Tests hand in shorter ones.
export interface DeliveryTiming {
  /** From DNS to the status line. */
  deadlineMs: number;
  /** How long the rest of an answer is read once its status line has decided. */
  bodyMs: number;
  /** Between two polls for what is due. */
  pollMs: number;
  /** Attempts that end within this time are recorded together: nobody waits for a record, and a statement costs as much as several rows. */
  gatherMs: number;
  /** How long a rejected delivery is left alone. */
  parkMs: number;
  /** How long a claimed delivery waits for a slot before it is given back. Less than a lease. */
  waitMs: number;
  /** How long a lease lasts: the deliveries of a process that died are claimed by another one after this time. */
  leaseMs: number;
  /** How often leases are renewed. A renewal may fail twice before the first lease ends. */
  renewMs: number;
  /** How often the age of the oldest due delivery is measured. Apart from the claims: no delivery waits for a figure. */
  measureMs: number;
  /** How long a stop waits for calls in flight. */
  stopMs: number;
  /** How long a process may go on without knowing that fault injection was switched on or off. */
  faultRefreshMs: number;
  /** How long `reorder`, `delay` and the body of `slow_body` hold a delivery back. */
  reorderMs: number;
  delayMs: number;
  slowBodyMs: number;
  /** How often it is written down what deliveries showed about the secrets before a rotation. */
  rotationMs: number;
}

export const deliveryTiming: DeliveryTiming = {
  deadlineMs: 10_000,
  bodyMs: 1_000,
  pollMs: 500,
  gatherMs: 20,
  parkMs: 1_000,
  waitMs: 10_000,
  leaseMs: 12_000,
  renewMs: 3_000,
  measureMs: 2_000,
  stopMs: 6_500,
  faultRefreshMs: 1_000,
  reorderMs: 3_000,
  delayMs: 5_000,
  slowBodyMs: 3_000,
  rotationMs: 1_000,
};
