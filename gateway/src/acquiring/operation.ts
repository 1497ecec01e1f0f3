// An acquirer operation: one payment or refund that an acquirer carries out, its steps, and the operation key that names one call of it.
import type { Judgement, ProviderIds } from "../acquirers/acquirer.ts";
import type { Micros } from "../ground/clock.ts";
import { isId } from "../ground/ids.ts";
import type { Book } from "../merchants/books.ts";

/**
 * planned: a worker makes the call. calling: somebody makes it now. asking: its outcome is unknown, and a worker inquires. retryable:
 * certainly not done, and the merchant's next try goes on. following: open, and a worker inquires from time to time. done: nothing is
 * left to do.
 */
export const operationSteps = ["planned", "calling", "asking", "retryable", "following", "done"] as const;
export type OperationStep = (typeof operationSteps)[number];

export interface Operation {
  book: Book;
  /** The payment's or the refund's identity. */
  id: string;
  kind: "payment" | "refund";
  paymentReference: string;
  step: OperationStep;
  gatewayCode: string;
  /** Each call of its own has its own number, and with it its own operation key. */
  attempt: number;
  /** What the acquirer calls the present attempt; undefined while it has told nothing. */
  providerIds: ProviderIds | undefined;
  /** How often all acquirers have refused it. */
  round: number;
  /** Acquirers that refused it in this round. */
  refusedBy: readonly string[];
  /** Of the request that waits for its outcome. */
  idempotencyKey: string | undefined;
  /** `asked`: the acquirer wants a person's judgement. Then what that was; it is told to the acquirer while that still asks. */
  review: "asked" | Judgement | undefined;
  /** How often a worker has inquired since the last call. */
  inquiries: number;
  /** When a worker takes it up, by the real clock; undefined when none needs to. */
  dueAt: Micros | undefined;
  createdAt: Micros;
}

/** False while the present attempt is only a number: nobody was called under it. */
export function wasCalled({ step }: Pick<Operation, "step">): boolean {
  return step !== "retryable" && step !== "planned";
}

/**
 * The operation when its acquirer is to be asked as soon as a worker comes by, whatever was known before. While it is being called its own
 * answer comes first, and the inquiry right after it.
 */
export function askedSoon(operation: Operation, realNow: Micros): Operation {
  return operation.step === "calling"
    ? { ...operation, inquiries: operation.inquiries + 1 }
    : { ...operation, step: "asking", inquiries: 0, dueAt: realNow };
}

/** Our name for one call, for the acquirer: at most 64 characters of `[a-z0-9.]`. It names merchant and environment without a look-up. */
export function operationKey({ book, id, attempt }: Pick<Operation, "book" | "id" | "attempt">): string {
  const environment = book.environment === "sandbox" ? "s" : "p";
  return `${id.replace("_", "")}.${book.merchantId.slice("mer_".length)}.${environment}${attempt}`;
}

export interface OperationName {
  book: Book;
  id: string;
  kind: Operation["kind"];
  attempt: number;
}

/** Reads an operation key back; undefined when it is none of ours. */
export function readOperationKey(key: string): OperationName | undefined {
  const parts = /^(pay|rfd)([0-9a-z]{26})\.([0-9a-z]{26})\.([sp])([1-9]\d{0,4})$/.exec(key);
  if (!parts) return undefined;
  const [, prefix, body, merchant, environment, attempt] = parts;
  const kind = prefix === "pay" ? "payment" : "refund";
  const id = `${prefix}_${body}`;
  const merchantId = `mer_${merchant}`;
  if (!isId(kind, id) || !isId("merchant", merchantId)) return undefined;
  const book: Book = { merchantId, environment: environment === "s" ? "sandbox" : "production" };
  return { book, id, kind, attempt: Number(attempt) };
}

/** The operation with what its acquirer calls it; what was told before and is not told again is kept. */
export function withProviderIds(operation: Operation, told: ProviderIds | undefined): Operation {
  return told === undefined ? operation : { ...operation, providerIds: { ...operation.providerIds, ...told } };
}
