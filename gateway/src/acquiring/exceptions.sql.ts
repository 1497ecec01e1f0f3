// All SQL of reconciliation exceptions.
import type { Micros } from "../ground/clock.ts";
import { LEAST_UUID, idOf, uuidOf } from "../ground/ids.ts";
import { bookArrays, bookColumns, bookKey, bookOfRow } from "../merchants/books.ts";
import { type Row, type Statement, optional } from "../store/database.ts";
import { type Columns, type Table, bulkInsert, bulkUpdate } from "../store/table.ts";
import type { ExceptionKey, ExceptionKind, ReconciliationException } from "./exception.ts";
import type { Operation } from "./operation.ts";

const keyColumns = {
  ...bookColumns,
  exception_id: ["uuid", (one: ReconciliationException) => uuidOf(one.uuid)],
} as const satisfies Columns<ReconciliationException>;
const changingColumns = {
  occasions: ["json", (one: ReconciliationException) => JSON.stringify(one.occasions)],
  closed_at: ["timestamptz", (one: ReconciliationException) => one.closedAt],
  note: ["text", (one: ReconciliationException) => one.note],
} as const satisfies Columns<ReconciliationException>;

/** Exceptions by operation, attempt and kind. Loading locks them. */
export const exceptions: Table<ExceptionKey, ReconciliationException> = {
  name: "reconciliation exceptions",
  keyText: ({ book, operationId, attempt, kind }) => `${bookKey(book)}/${operationId}/${attempt}/${kind}`,
  keyOf: (one) => one,
  load: (keys) => ({
    name: "lock reconciliation exceptions",
    text: `select e.*, o.kind as operation_kind
from unnest($1::uuid[], $2::text[]::environment[], $3::uuid[], $4::smallint[], $5::text[])
  as w(merchant_id, environment, operation_id, attempt, kind)
cross join lateral (
  select *
  from reconciliation_exceptions e
  where e.merchant_id = w.merchant_id and e.environment = w.environment and e.operation_id = w.operation_id
    and e.attempt = w.attempt and e.kind = w.kind
  limit 1
  for update
) e
join acquirer_operations o on o.merchant_id = e.merchant_id and o.environment = e.environment and o.operation_id = e.operation_id`,
    values: [
      ...bookArrays(keys.map((key) => key.book)),
      keys.map((key) => uuidOf(key.operationId)),
      keys.map((key) => key.attempt),
      keys.map((key) => key.kind),
    ],
  }),
  parse: exceptionOfRow,
  insert: bulkInsert<ReconciliationException>("reconciliation_exceptions", {
    ...keyColumns,
    ...changingColumns,
    operation_id: ["uuid", (one) => uuidOf(one.operationId)],
    attempt: ["smallint", (one) => one.attempt],
    kind: ["text", (one) => one.kind],
    gateway_code: ["text", (one) => one.gatewayCode],
    noticed_at: ["timestamptz", (one) => one.noticedAt],
  }),
  update: bulkUpdate<ReconciliationException>("reconciliation_exceptions", keyColumns, changingColumns),
};

export function exceptionOfRow(row: Row): ReconciliationException {
  const operationKind = row.operation_kind as Operation["kind"];
  return {
    book: bookOfRow(row),
    uuid: idOf("exception", row.exception_id as string),
    operationId: idOf(operationKind, row.operation_id as string),
    operationKind,
    attempt: row.attempt as number,
    kind: row.kind as ExceptionKind,
    gatewayCode: row.gateway_code as string,
    noticedAt: row.noticed_at as Micros,
    occasions: JSON.parse(row.occasions as string) as string[],
    closedAt: optional<Micros>(row.closed_at),
    note: optional<string>(row.note),
  };
}

const selected = `select e.*, o.kind as operation_kind
from reconciliation_exceptions e
join acquirer_operations o using (merchant_id, environment, operation_id)`;

/** An exception of any merchant. */
export function selectException(uuid: string): Statement {
  return {
    name: "select reconciliation exception",
    text: `${selected}
where e.exception_id = $1::uuid`,
    values: [uuidOf(uuid)],
  };
}

/** A page of all merchants' exceptions, oldest first, open or closed if asked. At most `limit` + 1 rows. */
export function selectExceptions(open: boolean | undefined, after: string | undefined, limit: number): Statement {
  const which = open === undefined ? "" : `and e.closed_at is ${open ? "" : "not "}null`;
  return {
    name: `select reconciliation exceptions ${which}`,
    text: `${selected}
where e.exception_id > $1::uuid ${which}
order by e.exception_id
limit $2::integer`,
    values: [after === undefined ? LEAST_UUID : uuidOf(after), limit + 1],
  };
}
