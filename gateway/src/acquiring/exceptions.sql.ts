// What acquirers said or did that cannot be, such as a refund that was paid twice: noticed once, and kept until a person has
// dealt with it. Money that is astray with an acquirer is in no book before somebody knows whose it is.
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
export const contradictionKinds = ["refund_after_failure", "refund_twice", "receipt", "forgotten"] as const;
export type ContradictionKind = (typeof contradictionKinds)[number];

export interface Contradiction {
  book: Book;
  uuid: string;
  operationId: string;
  operationKind: Operation["kind"];
  attempt: number;
  kind: ContradictionKind;
  gatewayCode: string;
  noticedAt: Micros;
  /** Both set when a person has dealt with it. */
  closedAt: Micros | undefined;
  note: string | undefined;
}

type ContradictionKey = Pick<Contradiction, "book" | "operationId" | "attempt" | "kind">;

const keyColumns = {
  ...bookColumns,
  contradiction_id: ["uuid", (one: Contradiction) => uuidOf(one.uuid)],
} as const satisfies Columns<Contradiction>;
const closingColumns = {
  closed_at: ["timestamptz", (one: Contradiction) => (one.closedAt === undefined ? null : sqlTime(one.closedAt))],
  note: ["text", (one: Contradiction) => one.note],
} as const satisfies Columns<Contradiction>;

const contradictions: Table<ContradictionKey, Contradiction> = {
  name: "contradictions",
  keyText: ({ book, operationId, attempt, kind }) => `${bookKey(book)}/${operationId}/${attempt}/${kind}`,
  keyOf: (one) => one,
  load: (keys) => ({
    name: "lock contradictions",
    text: `select c.*, o.kind as operation_kind
from unnest($1::uuid[], $2::text[]::environment[], $3::uuid[], $4::smallint[], $5::text[])
  as w(merchant_id, environment, operation_id, attempt, kind)
cross join lateral (
  select *
  from contradictions c
  where c.merchant_id = w.merchant_id and c.environment = w.environment and c.operation_id = w.operation_id
    and c.attempt = w.attempt and c.kind = w.kind
  limit 1
  for update
) c
join acquirer_operations o on o.merchant_id = c.merchant_id and o.environment = c.environment and o.operation_id = c.operation_id`,
    values: [
      ...bookArrays(keys.map((key) => key.book)),
      keys.map((key) => uuidOf(key.operationId)),
      keys.map((key) => key.attempt),
      keys.map((key) => key.kind),
    ],
  }),
  parse: contradictionOfRow,
  insert: bulkInsert<Contradiction>("contradictions", {
    ...keyColumns,
    ...closingColumns,
    operation_id: ["uuid", (one) => uuidOf(one.operationId)],
    attempt: ["smallint", (one) => one.attempt],
    kind: ["text", (one) => one.kind],
    gateway_code: ["text", (one) => one.gatewayCode],
    noticed_at: ["timestamptz", (one) => sqlTime(one.noticedAt)],
  }),
  update: bulkUpdate<Contradiction>("contradictions", keyColumns, closingColumns),
};

export const contradictionNeed = (key: ContradictionKey): Need => need(contradictions, key);

/** What a command needs that may notice these of an operation. */
export function noticeNeeds(
  { book, id, attempt }: Pick<Operation, "book" | "id" | "attempt">,
  kinds: ContradictionKind[],
): Need[] {
  return kinds.map((kind) => contradictionNeed({ book, operationId: id, attempt, kind }));
}

/** Writes it down, the first time. */
export function notice(
  { set, realNow }: { set: WorkingSet; realNow: Micros },
  { book, id, kind: operationKind, gatewayCode }: Operation,
  attempt: number,
  kind: ContradictionKind,
): void {
  const key = { book, operationId: id, attempt, kind };
  if (set.get(contradictions, key)) return;
  set.insert(contradictions, {
    ...key,
    uuid: newId("contradiction", realNow),
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
  key: ContradictionKey,
  note: string,
  realNow: Micros,
): Contradiction | undefined {
  const before = set.get(contradictions, key);
  if (!before || before.closedAt !== undefined) return undefined;
  const closed: Contradiction = { ...before, closedAt: realNow, note };
  set.update(contradictions, closed);
  return closed;
}

export function contradictionOfRow(row: Row): Contradiction {
  const operationKind = row.operation_kind as Operation["kind"];
  return {
    book: bookOfRow(row),
    uuid: idOf("contradiction", row.contradiction_id as string),
    operationId: idOf(operationKind, row.operation_id as string),
    operationKind,
    attempt: row.attempt as number,
    kind: row.kind as ContradictionKind,
    gatewayCode: row.gateway_code as string,
    noticedAt: row.noticed_at as Micros,
    closedAt: (row.closed_at as Micros | null) ?? undefined,
    note: (row.note as string | null) ?? undefined,
  };
}

/** Those of all merchants that are open or closed, oldest first: a page; or one of them. */
export function selectContradictions(
  filter: { uuid: string | undefined; open: boolean | undefined },
  after: string | undefined,
  limit: number,
): Statement {
  return {
    name: "select contradictions",
    text: `select c.*, o.kind as operation_kind
from contradictions c
join acquirer_operations o using (merchant_id, environment, operation_id)
where ($1::uuid is null or c.contradiction_id = $1::uuid) and ($2::boolean is null or (c.closed_at is null) = $2::boolean)
  and ($3::uuid is null or c.contradiction_id > $3::uuid)
order by c.contradiction_id
limit $4::integer`,
    values: [
      filter.uuid === undefined ? null : uuidOf(filter.uuid),
      filter.open ?? null,
      after === undefined ? null : uuidOf(after),
      limit + 1,
    ],
  };
}
