// Statements that read, lock and write refunds, and how their rows are mapped.
import type { Micros } from "../ground/clock.ts";
import { idOf, uuidBytes, uuidOf } from "../ground/ids.ts";
import type { Minor } from "../ground/money.ts";
import { type Book, bookColumns, bookKey, bookOfRow } from "../merchants/books.ts";
import { selectInEither } from "../merchants/books.sql.ts";
import { type BatchMark, batchMarks, markColumns } from "../merchants/batch-marks.ts";
import type { Row, Statement } from "../store/database.ts";
import { type Columns, type Table, bulkInsert, bulkUpdate, loadByKey } from "../store/table.ts";
import type { Refund } from "./refund.ts";

type RefundKey = { book: Book; uuid: string };

const keyColumns = {
  ...bookColumns,
  refund_id: ["uuid", ({ uuid }: RefundKey) => uuidBytes(uuid)],
} as const satisfies Columns<RefundKey>;

const stateColumns = {
  status: ["refund_status", (refund: Refund) => refund.status],
  completed_at: ["timestamptz", (refund: Refund) => refund.completedAt],
} as const satisfies Columns<Refund>;

/** Refunds by id. Loading locks them. */
export const refunds: Table<RefundKey, Refund> = {
  name: "refunds",
  keyText: ({ book, uuid }) => `${bookKey(book)}/${uuid}`,
  keyOf: (refund) => refund,
  load: loadByKey("lock refunds", "refunds", keyColumns),
  parse: refundOfRow,
  insert: bulkInsert<Refund>("refunds", {
    ...keyColumns,
    ...stateColumns,
    payment_id: ["uuid", (refund) => uuidOf(refund.paymentReference)],
    amount_minor: ["bigint", (refund) => refund.amountMinor],
    currency: ["text", (refund) => refund.currency],
    reason: ["text", (refund) => refund.reason],
    created_at: ["timestamptz", (refund) => refund.createdAt],
  }),
  update: bulkUpdate<Refund>("refunds", keyColumns, stateColumns),
};

export function refundOfRow(row: Row): Refund {
  return {
    book: bookOfRow(row),
    uuid: idOf("refund", row.refund_id as string),
    paymentReference: idOf("payment", row.payment_id as string),
    status: row.status as Refund["status"],
    amountMinor: row.amount_minor as Minor,
    currency: row.currency as string,
    reason: (row.reason as string | null) ?? undefined,
    createdAt: row.created_at as Micros,
    completedAt: (row.completed_at as Micros | null) ?? undefined,
  };
}

/** One refund of a merchant, in either environment. */
export const selectRefund = selectInEither("refunds", "refund_id");

export interface RefundFilter {
  book: Book;
  paymentReference: string | undefined;
  status: Refund["status"] | undefined;
  after: string | undefined;
  limit: number;
}

/** A page of refunds, newest first, with one row more than `limit` to tell whether another page follows. */
export function selectRefunds({ book, paymentReference, status, after, limit }: RefundFilter): Statement {
  const values: unknown[] = [uuidOf(book.merchantId), book.environment];
  const where = (condition: string, value: unknown): string => {
    values.push(value);
    return `\n  and ${condition.replace("?", `$${values.length}`)}`;
  };
  // The statement contains only the conditions that apply, so that the planner finds a payment's refunds by their own index.
  const conditions = [
    paymentReference === undefined ? "" : where("payment_id = ?::uuid", uuidOf(paymentReference)),
    status === undefined ? "" : where("status = ?::refund_status", status),
    after === undefined ? "" : where("refund_id < ?::uuid", uuidOf(after)),
  ].join("");
  values.push(limit + 1);
  return {
    text: `select *
from refunds
where merchant_id = $1::uuid and environment = $2::environment${conditions}
order by refund_id desc
limit $${values.length}::integer`,
    values,
  };
}

/** Marks refunds with their settlement batch. */
export const refundBatches = batchMarks(
  "refund batches",
  bulkUpdate<BatchMark>("refunds", { ...bookColumns, refund_id: ["uuid", (mark) => uuidOf(mark.id)] }, markColumns),
);
