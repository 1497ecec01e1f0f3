// All SQL of searches in one book beside those of payments: references by their beginning, payouts by the bank's reference, journals and pages of journals.
import { uuidOf } from "../ground/ids.ts";
import { entriesOfJournal } from "../ledger/ledger.sql.ts";
import { type Book, bookValues } from "../merchants/books.ts";
import type { Statement } from "../store/database.ts";

export const HITS_MAX = 8;

/** Payments whose `reference_id` begins with `text`, in the order of `reference_id`. */
export function selectStartingLike(book: Book, text: string): Statement {
  return {
    name: "select payments by beginning",
    text: `select p.*, s.status as settlement_status, s.payout_date
from (
  select *
  from payments
  where merchant_id = $1::uuid and environment = $2::environment
    and reference_id >= $3::text and reference_id < $4::text and starts_with(reference_id, $3::text)
  order by reference_id
  limit ${HITS_MAX}
) p
left join settlements s using (merchant_id, environment, settlement_id)
order by p.reference_id`,
    values: [...bookValues(book), text, `${text}\u{10ffff}`],
  };
}

/** The batches that the bank paid under a reference, newest first. */
export function selectPaidAs(book: Book, reference: string): Statement {
  return {
    name: "select settlements by bank reference",
    text: `select *
from settlements
where merchant_id = $1::uuid and environment = $2::environment and bank_reference = $3::text
order by settlement_id desc
limit ${HITS_MAX}`,
    values: [...bookValues(book), reference],
  };
}

/** One journal with its entries. */
export function selectJournal(book: Book, journalId: string): Statement {
  return {
    name: "select journal",
    text: `select j.*, e.entries
from journals j
${entriesOfJournal}
where j.merchant_id = $1::uuid and j.environment = $2::environment and j.journal_id = $3::uuid`,
    values: [...bookValues(book), uuidOf(journalId)],
  };
}

/** A page of a book's journals, newest first, and one more than `limit`; with `group`, those of one payment or settlement. */
export function selectJournalPage(
  book: Book,
  group: string | undefined,
  before: bigint | undefined,
  limit: number,
): Statement {
  return {
    name: `select newest journals${group === undefined ? "" : " of group"}`,
    text: `select j.*, e.entries
from (
  select *
  from journals
  where merchant_id = $1::uuid and environment = $2::environment
    and ($3::bigint is null or seq < $3::bigint)${group === undefined ? "" : " and group_id = $5::uuid"}
  order by seq desc
  limit $4::integer
) j
${entriesOfJournal}
order by j.seq desc`,
    values: [...bookValues(book), before ?? null, limit + 1, ...(group === undefined ? [] : [uuidOf(group)])],
  };
}
