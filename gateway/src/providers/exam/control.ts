// Controls of a fake provider: its payers pay or give up, its refunds and disputes are decided, and its requests meet faults.
import type { PaymentMethod } from "../../merchants/settings.ts";

/** Faults that the next requests can meet. */
export type FaultName =
  | "silent after effect"
  | "500 after effect"
  | "silent before effect"
  | "unavailable"
  | "html"
  | "half answer"
  | "huge answer"
  | "redirect"
  | "slow"
  | "refuse"
  | "wrong amount"
  | "wrong currency"
  | "unknown status"
  | "key revoked";

/** Every `key` is an operation key of Gerbang. */
export interface ExamControl {
  /** The payer pays: by default exactly the amount of the payment, once, and with notifications in the usual order. */
  pay(
    key: string,
    change?: {
      amountMinor?: number;
      currency?: string;
      /** Number of times that the same notification is sent. */
      times?: number;
      notify?: boolean;
      order?: "normal" | "reversed";
    },
  ): Promise<void>;
  /** The payment fails at the provider: the payer gave up, or the bank refused. */
  fail(key: string): Promise<void>;
  /** The payment expires at the provider. */
  expire(key: string): Promise<void>;
  decideRefund(key: string, status: "succeeded" | "failed"): Promise<void>;
  /** False when the provider never reports that a refund failed after accepting it: only a person who asks there learns of it. */
  readonly tellsLateFailures?: boolean;
  /** The payer disputes the payment, or the dispute ends. Absent when the provider knows no disputes. */
  dispute?(paymentKey: string, status: "open" | "won" | "lost"): Promise<void>;
  /** How the provider reports disputes. Absent: for payments by its first method, until their end, and each report is proven. */
  readonly disputes?: {
    /** The only method whose payments can be disputed there. */
    method?: PaymentMethod;
    /** False when the provider's API does not tell how a dispute ends. */
    tellsEnd?: boolean;
    /** False when nothing proves a report of a dispute: it is not signed, and no inquiry confirms it. */
    isProven?: boolean;
  };
  /** The next requests to the provider meet this fault. */
  fault(name: FaultName, times?: number): void;
  /** Number of times that a payment or a refund under this key took effect at the provider: 0 or 1 when all is well. */
  opened(key: string): number;
  refunded(key: string): number;
}
