// The statements that read a payment's story. Each finds its rows by an index and has a limit.
import { uuidOf } from "../ground/ids.ts";
import { entriesOfJournal } from "../ledger/ledger.sql.ts";
import { type Book, bookValues } from "../merchants/books.ts";
import type { Statement } from "../store/database.ts";

/** A story has at most this many records of each kind, the first ones. */
export const TOLD_MAX = 100;
/** A story has at most this many delivery attempts of each event, the last ones. */
const ATTEMPTS_MAX = 10;

/** A statement about one object of a book. Its parameters are the merchant, the environment and the object's identity. */
function about(name: string, text: string) {
  return (book: Book, id: string): Statement => ({
    name,
    text,
    values: [...bookValues(book), uuidOf(id)],
  });
}

/** The first records of a payment in a table, by their ids. */
const recordsOf = (table: "refunds" | "receipts", id: string) =>
  about(
    `select ${table} of payment`,
    `select *
from ${table}
where merchant_id = $1::uuid and environment = $2::environment and payment_id = $3::uuid
order by ${id}
limit ${TOLD_MAX + 1}`,
  );

export const selectRefundsOf = recordsOf("refunds", "refund_id");
export const selectReceiptsOf = recordsOf("receipts", "receipt_id");

/** Disputes with the time when evidence was submitted, null while there is none. */
export const selectDisputesOf = about(
  "select disputes of payment",
  `select d.*, e.submitted_at
from disputes d
left join lateral (
  select e.submitted_at
  from dispute_evidence e
  where e.merchant_id = d.merchant_id and e.environment = d.environment and e.dispute_id = d.dispute_id
  limit 1
) e on true
where d.merchant_id = $1::uuid and d.environment = $2::environment and d.payment_id = $3::uuid
order by d.dispute_id
limit ${TOLD_MAX + 1}`,
);

/** The acquirer operation of the payment; no row when its acquirer needed none. */
export const selectOperationOf = about(
  "select acquirer operation of payment",
  `select *
from acquirer_operations
where merchant_id = $1::uuid and environment = $2::environment and operation_id = $3::uuid`,
);

/** The acquirer operations of the payment and its refunds, by their ids, that is in the order of creation. */
export const selectOperationsOfPayment = about(
  "select acquirer operations of payment",
  `select *
from acquirer_operations
where merchant_id = $1::uuid and environment = $2::environment and operation_id = any(array(
  select $3::uuid
  union all (
    select refund_id
    from refunds
    where merchant_id = $1::uuid and environment = $2::environment and payment_id = $3::uuid
    order by refund_id
    limit ${TOLD_MAX}
  )
))
order by operation_id
limit ${TOLD_MAX + 1}`,
);

/** The settlement batches, also those that the bank returned, of the payment and of its refunds, disputes and receipts, each with the item's kind, id, amount and fee. */
export const selectBatchesOf = about(
  "select settlements of payment",
  `select s.*, i.item_kind, i.item_id, i.item_amount_minor, i.item_fee_minor
from (
  select 'payment' as item_kind, payment_id as item_id, amount_minor as item_amount_minor, fee_minor as item_fee_minor, settlement_id
  from payments
  where merchant_id = $1::uuid and environment = $2::environment and payment_id = $3::uuid
  union all
  select 'receipt', receipt_id, amount_minor, 0, settlement_id
  from receipts
  where merchant_id = $1::uuid and environment = $2::environment and payment_id = $3::uuid
  union all
  select 'refund', refund_id, amount_minor, 0, settlement_id
  from refunds
  where merchant_id = $1::uuid and environment = $2::environment and payment_id = $3::uuid
  union all
  select 'dispute', dispute_id, amount_minor, 0, settlement_id
  from disputes
  where merchant_id = $1::uuid and environment = $2::environment and payment_id = $3::uuid
  union all
  select kind, item_id, amount_minor, fee_minor, settlement_id
  from settlement_items
  where merchant_id = $1::uuid and environment = $2::environment and payment_id = $3::uuid and released
) i
join settlements s on s.merchant_id = $1::uuid and s.environment = $2::environment and s.settlement_id = i.settlement_id
order by s.settlement_id, i.item_kind, i.item_id
limit ${TOLD_MAX + 1}`,
);

/** Events about these objects, their delivery's state and last attempts. */
export function selectEventsOf(book: Book, subjects: readonly string[]): Statement {
  const ids = subjects.map(uuidOf);
  return {
    name: "select events of objects",
    text: `select e.merchant_id, e.environment, e.event_id, e.type, e.created_at, e.body,
  d.state, d.url, d.attempts, d.next_attempt_at, a.last_attempts
from (
  -- what happened in the millisecond in which the object was made: by the range of identities that begin like its own
  select e.*
  from unnest($3::uuid[], $4::uuid[], $5::uuid[]) as s(subject_id, least, most)
  cross join lateral (
    select *
    from events e
    where e.merchant_id = $1::uuid and e.environment = $2::environment and e.event_id between s.least and s.most
      and e.subject_id = s.subject_id
    limit ${TOLD_MAX} -- one probe for each object: without a limit they are joined, and that reads a whole book
  ) e
  union all
  -- and what happened later: by the index of exactly these
  select e.*
  from events e
  where e.merchant_id = $1::uuid and e.environment = $2::environment and e.subject_id = any($3::uuid[])
    and left(e.event_id::text, 13) <> left(e.subject_id::text, 13)
) e
left join lateral (
  select *
  from deliveries d
  where d.merchant_id = $1::uuid and d.environment = $2::environment and d.event_id = e.event_id
  limit 1
) d on true
left join lateral (
  select json_agg(t order by t.attempt) as last_attempts
  from (
    select a.attempt, a.started_at::text, a.duration_ms, a.succeeded, a.status, a.reason
    from delivery_attempts a
    where a.merchant_id = $1::uuid and a.environment = $2::environment and a.event_id = e.event_id
    order by a.attempt desc
    limit ${ATTEMPTS_MAX}
  ) t
) a on true
order by e.event_id
limit ${TOLD_MAX + 1}`,
    values: [
      ...bookValues(book),
      ids,
      ids.map((id) => `${id.slice(0, 13)}-0000-0000-000000000000`),
      ids.map((id) => `${id.slice(0, 13)}-ffff-ffff-ffffffffffff`),
    ],
  };
}

/** Journals of a group with their entries, oldest first; `journalOfRow` of the ledger reads the rows. */
export const selectJournalsOf = about(
  "select journals of group",
  `select j.*, e.entries
from (
  select *
  from journals
  where merchant_id = $1::uuid and environment = $2::environment and group_id = $3::uuid
  order by seq
  limit ${TOLD_MAX + 1}
) j
${entriesOfJournal}
order by j.seq`,
);

/** What signed requests changed about these objects, oldest first. */
export function selectChangesOf(book: Book, subjects: readonly string[]): Statement {
  return {
    name: "select changes of objects",
    text: `select request_id, client_id, action, subject, status
from client_audit
where merchant_id = $1::uuid and environment = $2::environment and subject = any($3::text[])
order by request_id
limit ${TOLD_MAX}`,
    values: [...bookValues(book), subjects],
  };
}
