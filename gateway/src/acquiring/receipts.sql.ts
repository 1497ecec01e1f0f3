// Statements that read and write receipts, and how their rows are mapped.
import type { Micros } from "../ground/clock.ts";
import { idOf, uuidOf } from "../ground/ids.ts";
import type { Minor } from "../ground/money.ts";
import { type BatchMark, batchMarks, markColumns } from "../merchants/batch-marks.ts";
import { type Book, bookColumns, bookKey, bookOfRow } from "../merchants/books.ts";
import type { Row, Statement } from "../store/database.ts";
import { type Columns, type Table, bulkInsert, bulkUpdate, loadByKey } from "../store/table.ts";
import type { KeptReceipt, ReceiptStatus } from "./receipt.ts";

type ReceiptKey = { book: Book; gatewayCode: string; transactionId: string };

const transactionColumns = {
  ...bookColumns,
  gateway_code: ["text", ({ gatewayCode }: ReceiptKey) => gatewayCode],
  transaction_id: ["text", ({ transactionId }: ReceiptKey) => transactionId],
} as const satisfies Columns<ReceiptKey>;

const keyColumns = {
  ...bookColumns,
  receipt_id: ["uuid", (receipt: KeptReceipt) => uuidOf(receipt.uuid)],
} as const satisfies Columns<KeptReceipt>;

const stateColumns = {
  status: ["text", (receipt: KeptReceipt) => receipt.status],
  decided_at: ["timestamptz", (receipt: KeptReceipt) => receipt.decidedAt],
} as const satisfies Columns<KeptReceipt>;

const birthColumns = {
  payment_id: ["uuid", (receipt: KeptReceipt) => uuidOf(receipt.paymentReference)],
  amount_minor: ["bigint", (receipt: KeptReceipt) => receipt.amountMinor],
  currency: ["text", (receipt: KeptReceipt) => receipt.currency],
  fee_minor: ["bigint", (receipt: KeptReceipt) => receipt.feeMinor],
  received_at: ["timestamptz", (receipt: KeptReceipt) => receipt.receivedAt],
} as const satisfies Columns<KeptReceipt>;

/** Receipts by the acquirer's transaction id. Loading locks them. */
export const receipts: Table<ReceiptKey, KeptReceipt> = {
  name: "receipts",
  keyText: ({ book, gatewayCode, transactionId }) => `${bookKey(book)}/${gatewayCode}/${transactionId}`,
  keyOf: (receipt) => receipt,
  load: loadByKey("lock receipts", "receipts", transactionColumns),
  parse: receiptOfRow,
  insert: bulkInsert<KeptReceipt>("receipts", {
    ...keyColumns,
    ...transactionColumns,
    ...stateColumns,
    ...birthColumns,
  }),
  update: bulkUpdate<KeptReceipt>("receipts", keyColumns, stateColumns),
};

/** Marks credited receipts with their settlement batch. */
export const receiptBatches = batchMarks(
  "receipt batches",
  bulkUpdate<BatchMark>("receipts", { ...bookColumns, receipt_id: ["uuid", (mark) => uuidOf(mark.id)] }, markColumns),
);

export function receiptOfRow(row: Row): KeptReceipt {
  return {
    book: bookOfRow(row),
    uuid: idOf("receipt", row.receipt_id as string),
    gatewayCode: row.gateway_code as string,
    transactionId: row.transaction_id as string,
    paymentReference: idOf("payment", row.payment_id as string),
    amountMinor: row.amount_minor as Minor,
    currency: row.currency as string,
    feeMinor: (row.fee_minor as Minor | null) ?? undefined,
    status: row.status as ReceiptStatus,
    receivedAt: row.received_at as Micros,
    decidedAt: (row.decided_at as Micros | null) ?? undefined,
  };
}

/** An unapplied receipt, of any merchant. */
export function selectUnapplied(uuid: string): Statement {
  return {
    name: "select unapplied receipt",
    text: "select * from receipts where status = 'unapplied' and receipt_id = $1::uuid",
    values: [uuidOf(uuid)],
  };
}

/** A page of all merchants' receipts, oldest first, of one status if asked; or the one with this `uuid`. At most `limit` + 1 rows. */
export function selectReceipts(
  filter: { uuid: string | undefined; status: ReceiptStatus | undefined },
  after: string | undefined,
  limit: number,
): Statement {
  return {
    name: "select receipts",
    text: `select *
from receipts
where ($1::uuid is null or receipt_id = $1::uuid) and ($2::text is null or status = $2::text)
  and ($3::uuid is null or receipt_id > $3::uuid)
order by receipt_id
limit $4::integer`,
    values: [
      filter.uuid === undefined ? null : uuidOf(filter.uuid),
      filter.status,
      after === undefined ? null : uuidOf(after),
      limit + 1,
    ],
  };
}
