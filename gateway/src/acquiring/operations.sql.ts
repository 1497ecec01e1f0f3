// What acquirers are asked over a network, kept step by step. Each step is committed before the call that follows it.
import { type Micros, SECOND, sqlTime } from "../ground/clock.ts";
import { idOf, isId, uuidOf } from "../ground/ids.ts";
import { type Book, bookColumns, bookKey, bookOfRow } from "../merchants/books.ts";
import type { Row, Statement } from "../store/database.ts";
import { type Columns, type Table, bulkInsert, bulkUpdate, loadByKey } from "../store/table.ts";

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

/** A worker that took an operation has this long before another may: longer than the longest call. */
const LEASE: Micros = 60 * SECOND;

/** False while the present attempt is only a number: nobody was called under it. */
export function wasCalled({ step }: Pick<Operation, "step">): boolean {
  return step !== "free" && step !== "planned";
}

type OperationKey = { book: Book; id: string };

const keyColumns = {
  ...bookColumns,
  operation_id: ["uuid", ({ id }: OperationKey) => uuidOf(id)],
} as const satisfies Columns<OperationKey>;

const stateColumns = {
  step: ["text", (operation: Operation) => operation.step],
  gateway_code: ["text", (operation: Operation) => operation.gatewayCode],
  attempt: ["smallint", (operation: Operation) => operation.attempt],
  round: ["smallint", (operation: Operation) => operation.round],
  refused_by: ["text", (operation: Operation) => operation.refusedBy.join(",")],
  idempotency_key: ["text", (operation: Operation) => operation.idempotencyKey],
  asks: ["integer", (operation: Operation) => operation.asks],
  due_at: ["timestamptz", (operation: Operation) => (operation.dueAt === undefined ? null : sqlTime(operation.dueAt))],
} as const satisfies Columns<Operation>;

const birthColumns = {
  kind: ["text", (operation: Operation) => operation.kind],
  payment_id: ["uuid", (operation: Operation) => uuidOf(operation.paymentReference)],
  created_at: ["timestamptz", (operation: Operation) => sqlTime(operation.createdAt)],
} as const satisfies Columns<Operation>;

/** Operations by the identity of their payment or refund. Loading locks them. */
export const operations: Table<OperationKey, Operation> = {
  name: "acquirer operations",
  keyText: ({ book, id }) => `${bookKey(book)}/${id}`,
  keyOf: (operation) => operation,
  load: loadByKey("lock acquirer operations", "acquirer_operations", keyColumns),
  parse: operationOfRow,
  insert: bulkInsert<Operation>("acquirer_operations", { ...keyColumns, ...stateColumns, ...birthColumns }),
  update: bulkUpdate<Operation>("acquirer_operations", keyColumns, stateColumns),
};

export function operationOfRow(row: Row): Operation {
  const kind = row.kind as Operation["kind"];
  return {
    book: bookOfRow(row),
    id: idOf(kind, row.operation_id as string),
    kind,
    paymentReference: idOf("payment", row.payment_id as string),
    step: row.step as OperationStep,
    gatewayCode: row.gateway_code as string,
    attempt: row.attempt as number,
    round: row.round as number,
    refusedBy: (row.refused_by as string).split(",").filter(Boolean),
    idempotencyKey: (row.idempotency_key as string | null) ?? undefined,
    asks: row.asks as number,
    dueAt: (row.due_at as Micros | null) ?? undefined,
    createdAt: row.created_at as Micros,
  };
}

/** The newest operation of an idempotency key, as committed. */
export function selectOperationOfKey(book: Book, key: string): Statement {
  return {
    name: "select operation of key",
    text: `select *
from acquirer_operations
where merchant_id = $1::uuid and environment = $2::environment and idempotency_key = $3::text
order by created_at desc
limit 1`,
    values: [uuidOf(book.merchantId), book.environment, key],
  };
}

/** One operation, as committed. */
export function selectOperation(book: Book, id: string): Statement {
  return {
    name: "select acquirer operation",
    text: `select *
from acquirer_operations
where merchant_id = $1::uuid and environment = $2::environment and operation_id = $3::uuid`,
    values: [uuidOf(book.merchantId), book.environment, uuidOf(id)],
  };
}

/**
 * Takes up what is due, for a while and for this worker alone: a planned call is to be made, of everything else it is asked
 * what became of it. Of one book or of all, but for acquirers that are busy. Gives the operations as they are after it.
 */
export function claimOperations(
  realNow: Micros,
  { limit, book, busy = [] }: { limit: number; book?: Book; busy?: readonly string[] },
): Statement {
  return {
    name: "claim acquirer operations",
    text: `with due as (
  select merchant_id, environment, operation_id
  from acquirer_operations
  where due_at <= $1::timestamptz and ($4::uuid is null or (merchant_id, environment) = ($4::uuid, $5::text::environment))
    and gateway_code <> all ($6::text[])
  order by due_at
  limit $3::integer
  for update skip locked
)
update acquirer_operations o
set due_at = $2::timestamptz,
  step = case o.step when 'planned' then 'calling' when 'calling' then 'asking' else o.step end
from due
where o.merchant_id = due.merchant_id and o.environment = due.environment and o.operation_id = due.operation_id
returning o.*`,
    values: [
      sqlTime(realNow),
      sqlTime(realNow + LEASE),
      limit,
      book ? uuidOf(book.merchantId) : null,
      book?.environment,
      busy,
    ],
  };
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
