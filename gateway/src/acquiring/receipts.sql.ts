// Statements that read and write receipts, and how their rows are mapped.
import type { Micros } from "../ground/clock.ts";
import { LEAST_UUID, idOf, uuidOf } from "../ground/ids.ts";
import type { Minor } from "../ground/money.ts";
import { type BatchMark, batchMarks, markColumns } from "../merchants/batch-marks.ts";
import { type Book, bookColumns, bookKey, bookOfRow } from "../merchants/books.ts";
import { type Row, type Statement, optional } from "../store/database.ts";
import { type Columns, type Table, bulkInsert, bulkUpdate, loadByKey } from "../store/table.ts";
import type { KeptReceipt, ReceiptStatus } from "./receipt.ts";

type ReceiptKey = { book: Book; gatewayCode: string; transactionId: string };
type MoneyKey = Pick<KeptReceipt, "book" | "paymentReference" | "gatewayCode" | "status">;

const transactionColumns = {
  ...bookColumns,
  gateway_code: ["text", ({ gatewayCode }: ReceiptKey) => gatewayCode],
  transaction_id: ["text", ({ transactionId }: ReceiptKey) => transactionId],
} as const satisfies Columns<ReceiptKey>;

const moneyColumns = {
  ...bookColumns,
  payment_id: ["uuid", ({ paymentReference }: MoneyKey) => uuidOf(paymentReference)],
  gateway_code: ["text", ({ gatewayCode }: MoneyKey) => gatewayCode],
  status: ["text", ({ status }: MoneyKey) => status],
} as const satisfies Columns<MoneyKey>;

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

/** Any one receipt of a payment, acquirer and status: there may be more. Read under the lock of the payment. */
export const moneyOfPayments: Table<MoneyKey, KeptReceipt> = {
  name: "money of payments",
  keyText: (key) => [bookKey(key.book), key.paymentReference, key.gatewayCode, key.status].join("/"),
  keyOf: (receipt) => receipt,
  load: loadByKey<MoneyKey>("load money of payments", "receipts", moneyColumns, ""),
  parse: receiptOfRow,
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
    feeMinor: optional<Minor>(row.fee_minor),
    status: row.status as ReceiptStatus,
    receivedAt: row.received_at as Micros,
    decidedAt: optional<Micros>(row.decided_at),
  };
}

/** A receipt of any merchant. */
export function selectReceipt(uuid: string): Statement {
  return { name: "select receipt", text: "select * from receipts where receipt_id = $1::uuid", values: [uuidOf(uuid)] };
}

/** Conditions by status that let the planner see the partial index of the few receipts which need a decision, or had one. */
const ofStatus: Readonly<Record<ReceiptStatus, string>> = {
  applied: "and status = 'applied'",
  unapplied: "and status = 'unapplied'",
  returned: "and status = 'returned' and decided_at is not null",
  credited: "and status = 'credited' and decided_at is not null",
};

/** A page of all merchants' receipts, oldest first, of one status if asked. At most `limit` + 1 rows. */
export function selectReceipts(status: ReceiptStatus | undefined, after: string | undefined, limit: number): Statement {
  return {
    name: `select ${status ?? "all"} receipts`,
    text: `select *
from receipts
where receipt_id > $1::uuid ${status === undefined ? "" : ofStatus[status]}
order by receipt_id
limit $2::integer`,
    values: [after === undefined ? LEAST_UUID : uuidOf(after), limit + 1],
  };
}
