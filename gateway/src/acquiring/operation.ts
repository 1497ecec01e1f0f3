// An acquirer operation: one payment or refund that an acquirer carries out, its steps, and the operation key that names one call of it.
import type { Judgement, ProviderIds } from "../acquirers/acquirer.ts";
import type { Micros } from "../ground/clock.ts";
import { isId } from "../ground/ids.ts";
import type { Book } from "../merchants/books.ts";

/**
 * planned: a worker makes the call. calling: the call is under way. inquiring: the outcome is unknown, and a worker asks. retryable: certainly not
 * done, and the merchant's next request continues it. polling: the acquirer has it, and a worker asks from time to time. done: nothing is left to do.
 */
export const operationSteps = ["planned", "calling", "inquiring", "retryable", "polling", "done"] as const;
export type OperationStep = (typeof operationSteps)[number];

export interface Operation {
  book: Book;
  /** Id of the payment or the refund. */
  id: string;
  kind: "payment" | "refund";
  paymentReference: string;
  step: OperationStep;
  gatewayCode: string;
  /** Each new call has its own number, and with it its own operation key. */
  attempt: number;
  /** The acquirer's ids of the present attempt; undefined until the acquirer has reported any. */
  providerIds: ProviderIds | undefined;
  /** For a payment, how often no acquirer was left to call; for a refund, how often its acquirer has refused. */
  round: number;
  /** Acquirers that refused the payment in this round. */
  refusedBy: readonly string[];
  /** Key of the request that waits for the outcome. */
  idempotencyKey: string | undefined;
  /** `asked`: the acquirer wants a person's judgement. Afterwards the judgement, which a worker sends while the acquirer still asks. */
  review: "asked" | Judgement | undefined;
  /** How often a worker has inquired since the last call; it sets the delay until the next inquiry. */
  inquiries: number;
  /** When a worker takes the operation up, by the real clock; undefined when no worker needs to. */
  dueAt: Micros | undefined;
  createdAt: Micros;
}

/** False while the present attempt is only a number: no acquirer was called under it yet. */
export function wasCalled({ step }: Pick<Operation, "step">): boolean {
  return step !== "retryable" && step !== "planned";
}

/** The operation with an inquiry due as soon as a worker polls. An inquiry during a call follows right after the call's answer. */
export function withInquirySoon(operation: Operation, realNow: Micros): Operation {
  return operation.step === "calling"
    ? { ...operation, inquiries: operation.inquiries + 1 }
    : { ...operation, step: "inquiring", inquiries: 0, dueAt: realNow };
}

/** Names one call for the acquirer: at most 64 characters of `[a-z0-9.]`. It contains merchant and environment, to be read without a query. */
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

/** Reads an operation key; undefined for a text of any other form. */
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

/** The operation with the ids that its acquirer reported; ids that are not reported again are kept. */
export function withProviderIds(operation: Operation, found: ProviderIds | undefined): Operation {
  return found === undefined ? operation : { ...operation, providerIds: { ...operation.providerIds, ...found } };
}
