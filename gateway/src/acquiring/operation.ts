// One operation that an acquirer is asked to carry out: a payment or a refund, its steps, and the operation key that names one call of it.
import type { Micros } from "../ground/clock.ts";
import { isId } from "../ground/ids.ts";
import type { Book } from "../merchants/books.ts";

/**
 * planned: a worker makes the call. calling: somebody makes it now. asking: its outcome is unknown. free: certainly not done,
 * and the merchant's next try goes on. following: open, and asked about from time to time. done: nothing is left to do.
 */
export const operationSteps = ["planned", "calling", "asking", "free", "following", "done"] as const;
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
  /** How often all acquirers have refused it. */
  round: number;
  /** Acquirers that gave a definite no in this round. */
  refusedBy: readonly string[];
  /** Of the request that waits for its outcome. */
  idempotencyKey: string | undefined;
  asks: number;
  /** By the real clock; undefined when nobody needs to look at it. */
  dueAt: Micros | undefined;
  createdAt: Micros;
}

/** False while the present attempt is only a number: nobody was called under it. */
export function wasCalled({ step }: Pick<Operation, "step">): boolean {
  return step !== "free" && step !== "planned";
}

/** Our name for one call, for the acquirer: at most 64 characters of `[a-z0-9.]`. It says whose it is without a look-up. */
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
