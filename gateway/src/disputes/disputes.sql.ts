// All SQL of disputes and their evidence.
import type { DisputeReason } from "../acquirers/acquirer.ts";
import type { Micros } from "../ground/clock.ts";
import { idOf, uuidOf } from "../ground/ids.ts";
import type { Minor } from "../ground/money.ts";
import { type Book, bookColumns, bookKey, bookOfRow, bookValues } from "../merchants/books.ts";
import { type DueBooks, chosen, chosenValues, chosenWith } from "../merchants/due-books.sql.ts";
import type { DisputeStatus } from "../payments/payment.ts";
import { type PageFilter, selectOneWithOrder, selectPageWithOrder } from "../payments/with-order.sql.ts";
import { type BatchMark, batchMarks, markColumns } from "../merchants/batch-marks.ts";
import { type Row, type Statement, optional } from "../store/database.ts";
import { type Columns, type Table, bulkInsert, bulkUpdate, loadByKey } from "../store/table.ts";
import type { Dispute, DisputeOfOrder, Evidence, EvidenceText, SubmittedFile } from "./dispute.ts";

export type DisputeRef = { book: Book; uuid: string };

export const disputeKeyText = ({ book, uuid }: DisputeRef): string => `${bookKey(book)}/${uuid}`;

export const disputeKeyColumns = {
  ...bookColumns,
  dispute_id: ["uuid", (dispute: DisputeRef) => uuidOf(dispute.uuid)],
} as const;

const stateColumns = {
  status: ["dispute_status", (dispute: Dispute) => dispute.status],
  evidence_due_at: ["timestamptz", (dispute: Dispute) => dispute.evidenceDueAt],
  resolved_at: ["timestamptz", (dispute: Dispute) => dispute.resolvedAt],
} as const satisfies Columns<Dispute>;

/** Disputes by id. Loading locks them. */
export const disputes: Table<DisputeRef, Dispute> = {
  name: "disputes",
  keyText: disputeKeyText,
  keyOf: (dispute) => dispute,
  load: loadByKey("lock disputes", "disputes", disputeKeyColumns),
  parse: disputeOfRow,
  insert: bulkInsert<Dispute>("disputes", {
    ...disputeKeyColumns,
    ...stateColumns,
    payment_id: ["uuid", (dispute) => uuidOf(dispute.paymentReference)],
    reason: ["text", (dispute) => dispute.reason],
    amount_minor: ["bigint", (dispute) => dispute.amountMinor],
    currency: ["text", (dispute) => dispute.currency],
    opened_at: ["timestamptz", (dispute) => dispute.openedAt],
  }),
  update: bulkUpdate<Dispute>("disputes", disputeKeyColumns, stateColumns),
};

/** Columns of the merchant's texts, the same in drafts and in submitted evidence. */
export const evidenceTextColumns = {
  statement: ["text", (given: EvidenceText) => given.statement],
  carrier: ["text", (given: EvidenceText) => given.carrier],
  tracking_number: ["text", (given: EvidenceText) => given.trackingNumber],
  delivered_on: ["date", (given: EvidenceText) => given.deliveredOn],
} as const satisfies Columns<EvidenceText>;

/** Submitted evidence, at most once for each dispute. */
export const evidence: Table<DisputeRef, Evidence> = {
  name: "dispute evidence",
  keyText: disputeKeyText,
  keyOf: (given) => given,
  load: loadByKey("load dispute evidence", "dispute_evidence", disputeKeyColumns, ""),
  parse: evidenceOfRow,
  insert: bulkInsert<Evidence>("dispute_evidence", {
    ...disputeKeyColumns,
    ...evidenceTextColumns,
    files: ["json", (given) => JSON.stringify(given.files.map(fileToRow))],
    submitted_at: ["timestamptz", (given) => given.submittedAt],
  }),
};

export function disputeOfRow(row: Row): Dispute {
  return {
    book: bookOfRow(row),
    uuid: idOf("dispute", row.dispute_id as string),
    paymentReference: idOf("payment", row.payment_id as string),
    status: row.status as DisputeStatus,
    reason: row.reason as DisputeReason,
    amountMinor: row.amount_minor as Minor,
    currency: row.currency as string,
    evidenceDueAt: row.evidence_due_at as Micros,
    openedAt: row.opened_at as Micros,
    resolvedAt: optional<Micros>(row.resolved_at),
    settlement: row.settlement_id === null ? undefined : idOf("settlement", row.settlement_id as string),
  };
}

export function disputeOfOrderRow(row: Row): DisputeOfOrder {
  return { ...disputeOfRow(row), referenceId: row.reference_id as string };
}

export function evidenceOfRow(row: Row): Evidence {
  return {
    book: bookOfRow(row),
    uuid: idOf("dispute", row.dispute_id as string),
    ...evidenceTextOfRow(row),
    files: (JSON.parse(row.files as string) as SubmittedFile[]).map(fileOfRow),
    submittedAt: row.submitted_at as Micros,
  };
}

// The database stores the ids of files as uuids.
const fileToRow = (file: SubmittedFile): SubmittedFile =>
  "file_id" in file ? { ...file, file_id: uuidOf(file.file_id) } : file;
const fileOfRow = (file: SubmittedFile): SubmittedFile =>
  "file_id" in file ? { ...file, file_id: idOf("file", file.file_id) } : file;

export function evidenceTextOfRow(row: Row): EvidenceText {
  return {
    statement: row.statement as string,
    carrier: optional<string>(row.carrier),
    trackingNumber: optional<string>(row.tracking_number),
    deliveredOn: optional<string>(row.delivered_on),
  };
}

/** The evidence of a dispute; no row when none was submitted. */
export function selectEvidence(book: Book, uuid: string): Statement {
  return {
    name: "select dispute evidence",
    text: `select *
from dispute_evidence
where merchant_id = $1::uuid and environment = $2::environment and dispute_id = $3::uuid`,
    values: [...bookValues(book), uuidOf(uuid)],
  };
}

/** One dispute of a merchant, in either environment, for `disputeOfOrderRow`. */
export const selectDispute = selectOneWithOrder("dispute");

/** A page of disputes for `disputeOfOrderRow`, newest first, with one row more than `limit`. */
export function selectDisputes(filter: PageFilter<DisputeStatus>): Statement {
  return selectPageWithOrder("dispute", "opened_at", filter, filter.from);
}

/** Disputes without an acquirer whose evidence is overdue by their book's clock, of one book or of all. */
export function selectExpiredDisputes(due: DueBooks): Statement {
  return {
    name: "select expired disputes",
    text: `select d.merchant_id, d.environment, d.dispute_id, d.payment_id
from ${chosenWith("disputes", "t.status = 'needs_response'")}
cross join lateral (
  select d.merchant_id, d.environment, d.dispute_id, d.payment_id
  from disputes d
  where d.merchant_id = b.merchant_id and d.environment = b.environment and d.status = 'needs_response'
    and d.evidence_due_at <= $1::timestamptz + make_interval(secs => b.clock_offset_seconds)
    -- One that runs at an acquirer ends there.
    and not exists (
      select
      from acquirer_disputes l
      where l.merchant_id = d.merchant_id and l.environment = d.environment and l.dispute_id = d.dispute_id
    )
  order by d.evidence_due_at
  limit $2::integer
) d
where ${chosen("b")}
limit $2::integer`,
    values: chosenValues(due),
  };
}

/** Marks disputes with their settlement batch. */
export const disputeBatches = batchMarks(
  "dispute batches",
  bulkUpdate<BatchMark>("disputes", { ...bookColumns, dispute_id: ["uuid", (mark) => uuidOf(mark.id)] }, markColumns),
);
