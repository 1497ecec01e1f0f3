// All SQL of acquirer operations. Each step is committed before the call that follows it.
import type { ProviderIds } from "../acquirers/acquirer.ts";
import { type Micros, SECOND, sqlTime } from "../ground/clock.ts";
import { idOf, uuidOf } from "../ground/ids.ts";
import { type Book, bookColumns, bookKey, bookOfRow, bookValues } from "../merchants/books.ts";
import { type Row, type Statement, optional } from "../store/database.ts";
import { type Columns, type Table, bulkInsert, bulkUpdate, loadByKey } from "../store/table.ts";
import type { Operation, OperationStep } from "./operation.ts";

/** How long a worker's claim of an operation lasts before another worker may claim it: longer than the longest call. */
export const LEASE: Micros = 60 * SECOND;

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
  provider_ids: [
    "jsonb",
    ({ providerIds }: Operation) => (providerIds === undefined ? null : JSON.stringify(providerIds)),
  ],
  idempotency_key: ["text", (operation: Operation) => operation.idempotencyKey],
  review: ["text", (operation: Operation) => operation.review],
  inquiries: ["integer", (operation: Operation) => operation.inquiries],
  due_at: ["timestamptz", (operation: Operation) => operation.dueAt],
} as const satisfies Columns<Operation>;

const birthColumns = {
  kind: ["text", (operation: Operation) => operation.kind],
  payment_id: ["uuid", (operation: Operation) => uuidOf(operation.paymentReference)],
  created_at: ["timestamptz", (operation: Operation) => operation.createdAt],
} as const satisfies Columns<Operation>;

/** Operations by the id of their payment or refund. Loading locks them. */
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
    providerIds: row.provider_ids === null ? undefined : (JSON.parse(row.provider_ids as string) as ProviderIds),
    refusedBy: (row.refused_by as string).split(",").filter(Boolean),
    idempotencyKey: optional<string>(row.idempotency_key),
    review: optional<Operation["review"]>(row.review),
    inquiries: row.inquiries as number,
    dueAt: optional<Micros>(row.due_at),
    createdAt: row.created_at as Micros,
  };
}

/** The newest operation of an idempotency key, as committed, without a lock. */
export function selectOperationOfKey(book: Book, key: string): Statement {
  return {
    name: "select operation of key",
    text: `select *
from acquirer_operations
where merchant_id = $1::uuid and environment = $2::environment and idempotency_key = $3::text
order by created_at desc
limit 1`,
    values: [...bookValues(book), key],
  };
}

/** One operation, as committed, without a lock. */
export function selectOperation(book: Book, id: string): Statement {
  return {
    name: "select acquirer operation",
    text: `select *
from acquirer_operations
where merchant_id = $1::uuid and environment = $2::environment and operation_id = $3::uuid`,
    values: [...bookValues(book), uuidOf(id)],
  };
}

/** Two operations whose payers got this account number from this acquirer, as committed: those that wait (`waits`) first, then the newest. */
export function selectOperationsOfAccount(gatewayCode: string, account: string): Statement {
  return {
    name: "select operations of account",
    text: `select o.*, coalesce(p.status = 'pending', false) as waits
from acquirer_operations o
left join payments p
  on p.merchant_id = o.merchant_id and p.environment = o.environment and p.payment_id = o.operation_id
where o.gateway_code = $1::text and o.provider_ids ->> 'account' = $2::text
order by waits desc, o.created_at desc
limit 2`,
    values: [gatewayCode, account],
  };
}

/**
 * Claims what is due at `at` for this worker alone, for as long as LEASE. A planned operation becomes `calling`; about every other the worker
 * inquires. Claims in all books, or in one whose clock moves: then the polls of the next second too, the shortest move, so that what a simulator
 * has decided comes before an expiry. Skips acquirers in `busy`, and inquiries at those in `inquiring`. Gives the operations as updated.
 */
export function claimOperations(
  realNow: Micros,
  {
    limit,
    book,
    at = realNow,
    busy = [],
    inquiring = [],
  }: { limit: number; book?: Book; at?: Micros; busy?: readonly string[]; inquiring?: readonly string[] },
): Statement {
  return {
    name: "claim acquirer operations",
    text: `with due as (
  select merchant_id, environment, operation_id
  from acquirer_operations
  where due_at <= $8::timestamptz and (step = 'polling' or due_at <= $1::timestamptz)
    and ($4::uuid is null or (merchant_id, environment) = ($4::uuid, $5::text::environment))
    and gateway_code <> all ($6::text[]) and (step = 'planned' or gateway_code <> all ($7::text[]))
  order by due_at
  limit $3::integer
  for update skip locked
)
update acquirer_operations o
set due_at = $2::timestamptz,
  step = case o.step when 'planned' then 'calling' when 'calling' then 'inquiring' else o.step end
from due
where o.merchant_id = due.merchant_id and o.environment = due.environment and o.operation_id = due.operation_id
returning o.*`,
    values: [
      sqlTime(at),
      sqlTime(realNow + LEASE),
      limit,
      ...(book ? bookValues(book) : [null, null]),
      busy,
      inquiring,
      sqlTime(book ? at + SECOND : at),
    ],
  };
}
