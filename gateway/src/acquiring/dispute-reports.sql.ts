// All SQL of the links between acquirers' disputes and the disputes here.
import { type Micros, sqlTime } from "../ground/clock.ts";
import { idOf, uuidOf } from "../ground/ids.ts";
import { type Book, bookColumns, bookKey, bookOfRow, bookValues } from "../merchants/books.ts";
import { type Row, type Statement, optional } from "../store/database.ts";
import { type Columns, type Table, bulkInsert, bulkUpdate, loadByKey } from "../store/table.ts";

/** The link between an acquirer's dispute and the dispute here. */
export interface DisputeLink {
  book: Book;
  gatewayCode: string;
  acquirerDisputeId: string;
  disputeId: string;
  paymentReference: string;
  /** When a worker next checks whether there is evidence to submit; at first, when the dispute was reported. */
  evidenceDueAt: Micros;
  /** When the acquirer took or refused the merchant's evidence; undefined before. */
  evidenceEndedAt: Micros | undefined;
  /** How often a worker has claimed the dispute to submit its evidence. */
  evidenceTries: number;
}

export type LinkKey = Pick<DisputeLink, "book" | "gatewayCode" | "acquirerDisputeId">;

const keyColumns = {
  ...bookColumns,
  gateway_code: ["text", ({ gatewayCode }: LinkKey) => gatewayCode],
  acquirer_dispute_id: ["text", ({ acquirerDisputeId }: LinkKey) => acquirerDisputeId],
} as const satisfies Columns<LinkKey>;

const stateColumns = {
  evidence_ended_at: ["timestamptz", ({ evidenceEndedAt }: DisputeLink) => evidenceEndedAt],
} as const satisfies Columns<DisputeLink>;

const birthColumns = {
  dispute_id: ["uuid", ({ disputeId }: DisputeLink) => uuidOf(disputeId)],
  payment_id: ["uuid", ({ paymentReference }: DisputeLink) => uuidOf(paymentReference)],
  evidence_due_at: ["timestamptz", ({ evidenceDueAt }: DisputeLink) => evidenceDueAt],
} as const satisfies Columns<DisputeLink>;

/** Links by the acquirer's id of the dispute. Loading locks them. */
export const acquirerDisputes: Table<LinkKey, DisputeLink> = {
  name: "acquirer disputes",
  keyText: ({ book, gatewayCode, acquirerDisputeId }) => `${bookKey(book)}/${gatewayCode}/${acquirerDisputeId}`,
  keyOf: (link) => link,
  load: loadByKey("lock acquirer disputes", "acquirer_disputes", keyColumns),
  parse: linkOfRow,
  insert: bulkInsert<DisputeLink>("acquirer_disputes", { ...keyColumns, ...birthColumns, ...stateColumns }),
  update: bulkUpdate<DisputeLink>("acquirer_disputes", keyColumns, stateColumns),
};

export function linkOfRow(row: Row): DisputeLink {
  return {
    book: bookOfRow(row),
    gatewayCode: row.gateway_code as string,
    acquirerDisputeId: row.acquirer_dispute_id as string,
    disputeId: idOf("dispute", row.dispute_id as string),
    paymentReference: idOf("payment", row.payment_id as string),
    evidenceDueAt: row.evidence_due_at as Micros,
    evidenceEndedAt: optional<Micros>(row.evidence_ended_at),
    evidenceTries: row.evidence_tries as number,
  };
}

/** Claims evidence for this worker alone, at none of `except`. Due again after 1, 2, 4 … minutes: an hour, and half of what is left to its deadline, at most. */
export function claimEvidence(realNow: Micros, except: readonly string[]): Statement {
  return {
    name: "claim evidence to submit",
    text: `with due as (
  select l.merchant_id, l.environment, l.gateway_code, l.acquirer_dispute_id,
    d.evidence_due_at - make_interval(secs => b.clock_offset_seconds) - $1::timestamptz as time_left
  from acquirer_disputes l
  join disputes d using (merchant_id, environment, dispute_id)
  join books b using (merchant_id, environment)
  where l.evidence_ended_at is null and l.evidence_due_at <= $1::timestamptz and d.status = 'under_review' and l.gateway_code <> all($2::text[])
  order by l.evidence_due_at
  limit 1
  for no key update of l skip locked
)
update acquirer_disputes l
set evidence_tries = l.evidence_tries + 1, evidence_due_at = $1::timestamptz + least(interval '1 minute' * 2 ^ least(l.evidence_tries, 10),
  interval '1 hour', case when due.time_left > interval '0' then greatest(due.time_left / 2, interval '1 minute') end)
from due
where l.merchant_id = due.merchant_id and l.environment = due.environment and l.gateway_code = due.gateway_code
  and l.acquirer_dispute_id = due.acquirer_dispute_id
returning l.*`,
    values: [sqlTime(realNow), except],
  };
}

/** The link of an acquirer's dispute, as committed. */
export function selectLink(book: Book, gatewayCode: string, acquirerDisputeId: string): Statement {
  return {
    name: "select acquirer dispute",
    text: `select *
from acquirer_disputes
where merchant_id = $1::uuid and environment = $2::environment and gateway_code = $3::text and acquirer_dispute_id = $4::text`,
    values: [...bookValues(book), gatewayCode, acquirerDisputeId],
  };
}
