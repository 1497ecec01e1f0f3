// Queries for statements over a period: the period's journals, an account's balance at both ends, and the entries in between or their sums.
import type { Micros } from "../ground/clock.ts";
import { leastIdOf, uuidOf } from "../ground/ids.ts";
import { type Book, bookValues, inBook } from "../merchants/books.ts";
import type { Row, Statement } from "../store/database.ts";

export interface AccountOfBook {
  book: Book;
  account: string;
  currency: string;
}

/** So many journals by time are looked at for the first by number: more than a book gets while the clocks of two processes are apart. */
const NEAR = 1_000;

/** SQL: the number of the first journal with an identity of at least `place`, in the book whose head is `h`. `inBook` says that a table's row is of it. */
export const firstJournal = (inBook: (table: string) => string, place: string): string => `coalesce((
  select min(j.seq)
  from (
    select j.seq
    from journals j
    where ${inBook("j")} and j.journal_id >= ${place}::uuid
    order by j.journal_id
    limit ${NEAR}
  ) j
), h.seq + 1)`;

/** SQL: the last entry of an account before a journal, as `balance_after_minor`; no row when the account had none yet. */
export const balanceBefore = (
  inBook: (table: string) => string,
  account: string,
  currency: string,
  seq: string,
): string => `select e.balance_after_minor
from entries e
where ${inBook("e")} and e.account = ${account} and e.currency = ${currency} and e.seq = (
  -- by the index of the account: in the order of lines as well, the whole book would be walked for a rare account
  select e.seq
  from entries e
  where ${inBook("e")} and e.account = ${account} and e.currency = ${currency} and e.seq < ${seq}
  order by e.seq desc
  limit 1
)
order by e.line desc
limit 1`;

/**
 * The numbers of the first journal of a period and of the first one after it. Each depends on its time alone, so a statement begins exactly where the
 * previous one ended; and of all journals since that time it is the least, even if the clocks of the posting processes differ. If they differ by more
 * than `NEAR` journals, a period that would end before it begins is empty.
 */
export function selectPeriod({ merchantId, environment }: Book, from: Micros, before: Micros): Statement {
  return {
    name: "period of a statement",
    text: `select e.first, greatest(e.first, e.past) as past
from (
  select ${firstJournal(inBook, "$3")} as first, ${firstJournal(inBook, "$4")} as past
  from book_heads h
  where ${inBook("h")}
) e`,
    values: [uuidOf(merchantId), environment, leastIdOf(from), leastIdOf(before)],
  };
}

/** The balance of an account before a journal. Gives no row when the account had no entry yet. */
export function selectBalanceBefore({ book, account, currency }: AccountOfBook, seq: bigint): Statement {
  return {
    name: "balance before a journal",
    text: balanceBefore(inBook, "$3::text", "$4::text", "$5::bigint"),
    values: [...bookValues(book), account, currency, seq],
  };
}

/** At most `limit` entries of an account as `EntryRow`, after a position and before a journal, oldest first. */
export function selectMovements(
  { book, account, currency }: AccountOfBook,
  after: { seq: bigint; line: number },
  past: bigint,
  limit: number,
): Statement {
  return {
    name: "movements of a statement",
    text: `select e.seq, e.line, e.amount_minor, e.balance_after_minor, j.journal_id, j.group_id, j.kind, j.operation_key, j.posted_at
from (
  select *
  from entries e
  -- as rows of the account's index: by the primary key a page of a rare account would walk the whole period
  where ${inBook("e")} and e.account = $3::text and e.currency = $4::text
    and (e.account, e.currency, e.seq) >= ($3::text, $4::text, $5::bigint)
    and (e.account, e.currency, e.seq) < ($3::text, $4::text, $7::bigint)
    and (e.seq > $5::bigint or e.line > $6::smallint)
  order by e.seq, e.line
  limit $8::integer
) e
cross join lateral (
  select *
  from journals j
  where ${inBook("j")} and j.seq = e.seq
  limit 1
) j
order by e.seq, e.line`,
    values: [...bookValues(book), account, currency, after.seq, after.line, past, limit],
  };
}

export interface SumRow extends Row {
  kind: string;
  account: string;
  /** Journals that have their first entry in this account: each is counted once. */
  journals: bigint;
  /** A text, because its size has no limit. */
  minor: string;
}

/** The sums of the journals from one number on and before another, as `SumRow`. */
export function selectSums({ book, currency }: Omit<AccountOfBook, "account">, from: bigint, past: bigint): Statement {
  return {
    name: "sums of a statement",
    text: `select j.kind, e.account, count(*) filter (where e.line = 1) as journals, sum(e.amount_minor)::text as minor
from entries e
join journals j using (merchant_id, environment, seq)
where ${inBook("e")} and e.currency = $3::text and e.seq >= $4::bigint and e.seq < $5::bigint
  and j.seq >= $4::bigint and j.seq < $5::bigint
group by j.kind, e.account`,
    values: [...bookValues(book), currency, from, past],
  };
}
