// Reconciliation exceptions: what an acquirer said or did disagrees with what is recorded here, such as a refund that was paid twice. Each
// is recorded once and waits for a person. Money that is astray with an acquirer is in no book before somebody knows whose it is.
import { type Micros, sqlTime } from "../ground/clock.ts";
import { idOf, newId, uuidOf } from "../ground/ids.ts";
import { type Book, bookArrays, bookColumns, bookKey, bookOfRow } from "../merchants/books.ts";
import type { Row, Statement } from "../store/database.ts";
import { type Columns, type Table, bulkInsert, bulkUpdate } from "../store/table.ts";
import type { Need, WorkingSet } from "../store/working-set.ts";
import { need } from "../store/working-set.ts";
import type { Operation } from "./operations.sql.ts";

/**
 * refund_after_failure: a refund was carried out that had failed here, so the payer and the merchant both have the money.
 * refund_twice: it was carried out under two operation keys. receipt: money was reported again with other particulars, or beyond
 * all measure. forgotten: a payment that it had taken is not known to it any more.
 */
export const exceptionKinds = ["refund_after_failure", "refund_twice", "receipt", "forgotten"] as const;
export type ExceptionKind = (typeof exceptionKinds)[number];

export interface ReconciliationException {
  book: Book;
  uuid: string;
  operationId: string;
  operationKind: Operation["kind"];
  attempt: number;
  kind: ExceptionKind;
  gatewayCode: string;
  noticedAt: Micros;
  /** Both set when a person has dealt with it. */
  closedAt: Micros | undefined;
  note: string | undefined;
}

type ExceptionKey = Pick<ReconciliationException, "book" | "operationId" | "attempt" | "kind">;

const keyColumns = {
  ...bookColumns,
  exception_id: ["uuid", (one: ReconciliationException) => uuidOf(one.uuid)],
} as const satisfies Columns<ReconciliationException>;
const closingColumns = {
  closed_at: [
    "timestamptz",
    (one: ReconciliationException) => (one.closedAt === undefined ? null : sqlTime(one.closedAt)),
  ],
  note: ["text", (one: ReconciliationException) => one.note],
} as const satisfies Columns<ReconciliationException>;

const exceptions: Table<ExceptionKey, ReconciliationException> = {
  name: "reconciliation exceptions",
  rank: 22.7,
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
    ...closingColumns,
    operation_id: ["uuid", (one) => uuidOf(one.operationId)],
    attempt: ["smallint", (one) => one.attempt],
    kind: ["text", (one) => one.kind],
    gateway_code: ["text", (one) => one.gatewayCode],
    noticed_at: ["timestamptz", (one) => sqlTime(one.noticedAt)],
  }),
  update: bulkUpdate<ReconciliationException>("reconciliation_exceptions", keyColumns, closingColumns),
};

export const exceptionNeed = (key: ExceptionKey): Need => need(exceptions, key);

/** What a command needs that may notice these of an operation. */
export function exceptionNeeds(
  { book, id, attempt }: Pick<Operation, "book" | "id" | "attempt">,
  kinds: ExceptionKind[],
): Need[] {
  return kinds.map((kind) => exceptionNeed({ book, operationId: id, attempt, kind }));
}

/** Writes it down, the first time. */
export function notice(
  { set, realNow }: { set: WorkingSet; realNow: Micros },
  { book, id, kind: operationKind, gatewayCode }: Operation,
  attempt: number,
  kind: ExceptionKind,
): void {
  const key = { book, operationId: id, attempt, kind };
  if (set.get(exceptions, key)) return;
  set.insert(exceptions, {
    ...key,
    uuid: newId("exception", realNow),
    operationKind,
    gatewayCode,
    noticedAt: realNow,
    closedAt: undefined,
    note: undefined,
  });
}

/** Closes one with what was done about it. Gives undefined when there is none, or it is closed. */
export function close(
  set: WorkingSet,
  key: ExceptionKey,
  note: string,
  realNow: Micros,
): ReconciliationException | undefined {
  const before = set.get(exceptions, key);
  if (!before || before.closedAt !== undefined) return undefined;
  const closed: ReconciliationException = { ...before, closedAt: realNow, note };
  set.update(exceptions, closed);
  return closed;
}

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
    closedAt: (row.closed_at as Micros | null) ?? undefined,
    note: (row.note as string | null) ?? undefined,
  };
}

/** Those of all merchants that are open or closed, oldest first: a page; or one of them. */
export function selectExceptions(
  filter: { uuid: string | undefined; open: boolean | undefined },
  after: string | undefined,
  limit: number,
): Statement {
  return {
    name: "select reconciliation exceptions",
    text: `select e.*, o.kind as operation_kind
from reconciliation_exceptions e
join acquirer_operations o using (merchant_id, environment, operation_id)
where ($1::uuid is null or e.exception_id = $1::uuid) and ($2::boolean is null or (e.closed_at is null) = $2::boolean)
  and ($3::uuid is null or e.exception_id > $3::uuid)
order by e.exception_id
limit $4::integer`,
    values: [
      filter.uuid === undefined ? null : uuidOf(filter.uuid),
      filter.open ?? null,
      after === undefined ? null : uuidOf(after),
      limit + 1,
    ],
  };
}
