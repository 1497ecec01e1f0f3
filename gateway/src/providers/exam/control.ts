// What the exam makes happen at a provider that is a fake: payers who pay, refunds that are decided, and whatever may go wrong on the way.

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
  /** The next requests of ours meet this. */
  fault(name: FaultName, times?: number): void;
  /** How often a payment or a refund under this key has an effect there: 0 or 1 where all is well. */
  opened(key: string): number;
  refunded(key: string): number;
}
