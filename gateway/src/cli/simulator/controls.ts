// The simulator's control surface: what people and tests may order, and the behaviour that it shows until it is changed.
import { z } from "zod";
import { transactionSchema } from "../../acquirers/remote-protocol.ts";

/**
 * ok: works. error: 500, nothing done. refuse: a final error, and the key is refused for good. slow: works, responds late. timeout, reset, garbage:
 * works, and sends no response, cuts the connection, or sends something that is not JSON. timeout_before: does nothing and sends no response.
 */
export const modes = ["ok", "error", "timeout", "timeout_before", "slow", "refuse", "garbage", "reset"] as const;
export type Mode = (typeof modes)[number];

/**
 * How refunds are decided. now: the response is `succeeded`. later: `pending`, and soon `succeeded` by callback. fail: `pending`, and soon
 * `failed` by callback. fail_now: the response is `failed`. held: `pending` until somebody concludes it.
 */
export const refundModes = ["now", "later", "held", "fail", "fail_now"] as const;
export type RefundMode = (typeof refundModes)[number];

export const behaviourSchema = z
  .strictObject({
    mode: z.enum(modes).optional(),
    /** Number of requests with this mode; then `ok` again. Absent: until the mode is changed. */
    for_next: z.int().min(1).max(1_000_000).optional(),
    slow_ms: z.int().min(0).max(600_000).optional(),
    refunds: z.enum(refundModes).optional(),
  })
  .refine(({ mode, for_next }) => for_next === undefined || mode !== undefined, {
    path: ["for_next"],
    message: "needs a mode",
  });
export type BehaviourChange = z.infer<typeof behaviourSchema>;

/** Number of deliveries of each callback (0 = none), and their delay. */
const reporting = {
  callbacks: z.int().min(0).max(20).default(1),
  delay_ms: z.int().min(0).max(3_600_000).default(0),
};
const { transaction_id, amount_minor, currency } = transactionSchema.shape;

/** By default the money is the ordered amount, in a transaction of its own. */
export const paySchema = z.strictObject({
  status: z.enum(["processing", "paid", "failed"]).default("paid"),
  transaction_id: transaction_id.optional(),
  amount_minor: amount_minor.optional(),
  currency: currency.optional(),
  ...reporting,
});
export type PayOrder = z.input<typeof paySchema>;

export const concludeSchema = z.strictObject({
  status: z.enum(["succeeded", "failed"]).default("succeeded"),
  ...reporting,
});
export type ConcludeOrder = z.input<typeof concludeSchema>;

export class Behaviour {
  private mode: Mode = "ok";
  private left = Infinity;
  slowMs = 1_500;
  refunds: RefundMode = "later";

  change({ mode, for_next, slow_ms, refunds }: BehaviourChange): void {
    if (mode !== undefined) {
      this.mode = mode;
      this.left = for_next ?? Infinity;
    }
    this.slowMs = slow_ms ?? this.slowMs;
    this.refunds = refunds ?? this.refunds;
  }

  /** Returns the mode for the request that has just arrived, and counts it. */
  take(): Mode {
    const { mode } = this;
    if (--this.left <= 0) {
      this.mode = "ok";
      this.left = Infinity;
    }
    return mode;
  }

  view(): { mode: Mode; for_next: number | null; slow_ms: number; refunds: RefundMode } {
    const { mode, left, slowMs, refunds } = this;
    return { mode, for_next: left === Infinity ? null : left, slow_ms: slowMs, refunds };
  }
}
