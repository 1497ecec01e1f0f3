// What the exam makes happen at a provider that is a fake: payers who pay, refunds that are decided, and whatever may go wrong on the way.
import type { PaymentMethod } from "../../merchants/settings.ts";

/** What may go wrong with the next request. */
export const faultNames = [
  "silent after effect",
  "500 after effect",
  "silent before effect",
  "unavailable",
  "html",
  "half answer",
  "huge answer",
  "redirect",
  "slow",
  "refuse",
  "wrong amount",
  "wrong currency",
  "unknown status",
  "key revoked",
] as const;
export type FaultName = (typeof faultNames)[number];

/** `key` is always our operation key. */
export interface ExamControl {
  /** The payer pays. By default exactly what is asked, once, and it is notified in the usual order. */
  pay(
    key: string,
    change?: {
      amountMinor?: number;
      currency?: string;
      /** How often the same notification is sent. */
      times?: number;
      notify?: boolean;
      order?: "normal" | "reversed";
    },
  ): Promise<void>;
  /** The payment fails there: the payer gave up, the bank refused. */
  fail(key: string): Promise<void>;
  /** Its time is over there. */
  expire(key: string): Promise<void>;
  decideRefund(key: string, status: "succeeded" | "failed"): Promise<void>;
  /** False where the provider never says that a refund has failed which it had taken on: nobody can know it but a person who asks there. */
  readonly tellsLateFailures?: boolean;
  /** A payer contests it, or the contest ends. Absent where the provider knows no disputes. */
  dispute?(paymentKey: string, status: "open" | "won" | "lost"): Promise<void>;
  /** How the provider speaks of disputes. Absent: of payments by its first method, to their end, and each word is proven. */
  readonly disputes?: {
    /** What alone is contested there. */
    method?: PaymentMethod;
    /** False where how a dispute ends is told nowhere in its API. */
    tellsEnd?: boolean;
    /** False where nothing proves what it says of a dispute: it signs none, and none can be asked about. */
    isProven?: boolean;
  };
  /** The next requests of ours meet this. */
  fault(name: FaultName, times?: number): void;
  /** How often a payment or a refund under this key has an effect there: 0 or 1 where all is well. */
  opened(key: string): number;
  refunded(key: string): number;
}
