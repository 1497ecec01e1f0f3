// Statements that read, lock and write refunds, and how their rows are mapped.
import { type Micros, SECOND } from "../ground/clock.ts";
import { idOf, uuidBytes, uuidOf } from "../ground/ids.ts";
import type { Minor } from "../ground/money.ts";
import { type Book, bookColumns, bookKey, bookOfRow } from "../merchants/books.ts";
import { type PageFilter, selectOneWithOrder, selectPageWithOrder } from "../payments/with-order.sql.ts";
import { type BatchMark, batchMarks, markColumns } from "../merchants/batch-marks.ts";
import { type Row, type Statement, optional } from "../store/database.ts";
import { type Columns, type Table, bulkInsert, bulkUpdate, loadByKey } from "../store/table.ts";
import type { Refund, RefundOfOrder } from "./refund.ts";

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
    reason: optional<string>(row.reason),
    createdAt: row.created_at as Micros,
    completedAt: optional<Micros>(row.completed_at),
    settlement: row.settlement_id === null ? undefined : idOf("settlement", row.settlement_id as string),
  };
}

export function refundOfOrderRow(row: Row): RefundOfOrder {
  return { ...refundOfRow(row), referenceId: row.reference_id as string };
}

/** One refund of a merchant, in either environment, for `refundOfOrderRow`. */
export const selectRefund = selectOneWithOrder("refund");

/** How much older than a refund its identity may be: that of an operator's is its approval's, which waits for days at most. */
const OLDER_MAX: Micros = 7 * 86_400 * SECOND;

/** A page of refunds for `refundOfOrderRow`, newest first, with one row more than `limit`. */
export function selectRefunds(filter: PageFilter<Refund["status"]>): Statement {
  const { book, from } = filter;
  // An approval has the real time: in a sandbox, whose clock is moved, it may be older by anything.
  const isBounded = from !== undefined && book.environment === "production";
  return selectPageWithOrder("refund", "created_at", filter, isBounded ? from - OLDER_MAX : undefined);
}

/** Marks refunds with their settlement batch. */
export const refundBatches = batchMarks(
  "refund batches",
  bulkUpdate<BatchMark>("refunds", { ...bookColumns, refund_id: ["uuid", (mark) => uuidOf(mark.id)] }, markColumns),
);
