// Deadlines, polls and leases of webhook deliveries. When an attempt is made again is in events/event.ts. Tests pass shorter times.
export interface DeliveryTiming {
  /** Deadline of a call, from DNS to the status line. */
  deadlineMs: number;
  /** How long the body of an answer is read after the status line has decided the result. */
  bodyMs: number;
  /** Time between two polls for due deliveries. */
  pollMs: number;
  /** Attempts that end within this time are recorded together: no caller waits for a record, and a statement costs as much as several rows. */
  gatherMs: number;
  /** How long a rejected delivery is not claimed. */
  parkMs: number;
  /** How long a claimed delivery waits for a slot before it is given back. Must be less than `leaseMs`. */
  waitMs: number;
  /** How long a lease lasts: another process claims the deliveries of a process that died after this time. */
  leaseMs: number;
  /** How often leases are renewed. A renewal may fail twice before the first lease ends. */
  renewMs: number;
  /** How often the age of the oldest due delivery is measured, apart from the claims, so that no delivery waits for the measurement. */
  measureMs: number;
  /** How long a stop waits for calls in flight. `gerbang serve` shortens it where requests are drained first. */
  stopMs: number;
  /** How long a process may take to notice that fault injection was switched on or off. */
  faultRefreshMs: number;
  /** How long `reorder`, `delay` and the body of `slow_body` hold a delivery back. */
  reorderMs: number;
  delayMs: number;
  slowBodyMs: number;
  /** How often the worker records the facts that deliveries have shown about previous secrets. */
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
