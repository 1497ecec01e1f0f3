// All SQL of searches in one book: payments, journals and pages of journals. Each statement limits the rows that it examines.
import { type Micros, sqlTime } from "../ground/clock.ts";
import { leastIdOf, uuidOf } from "../ground/ids.ts";
import type { Book } from "../merchants/books.ts";
import type { PaymentMethod } from "../merchants/settings.ts";
import type { PaymentStatus } from "../payments/states.ts";
import type { Statement } from "../store/database.ts";

/** Payments that one search examines, newest first. Filters without an index apply to these only; the next page continues behind them. */
export const LOOKED_AT_MAX = 10_000;

export interface PaymentSearch {
  book: Book;
  reference?: string | undefined;
  referenceId?: string | undefined;
  /** The contact key of an e-mail address or a telephone, in hex. */
  contactKey?: string | undefined;
  status?: PaymentStatus | undefined;
  method?: PaymentMethod | undefined;
  /** A payment matches with any of these amounts. */
  amounts?: readonly { currency: string; amountMinor: bigint }[] | undefined;
  metadata?: { name: string; value: string } | undefined;
  createdFrom?: Micros | undefined;
  /** Exclusive bound. */
  createdBefore?: Micros | undefined;
  /** Only payments older than this one. */
  after?: string | undefined;
}

type Place = (value: unknown) => string;

/** Gives each value its parameter place, and appends it to `values`. */
function placesIn(values: unknown[]): Place {
  return (value) => `$${values.push(value)}`;
}

/** Selects the payments that indexes find: at most `LOOKED_AT_MAX`, newest first, with all columns. */
function lookedAt(search: PaymentSearch, place: Place): string {
  const { book, after, createdFrom, createdBefore } = search;
  const add = (condition: string, value: unknown): string => ` and ${condition.replace("?", place(value))}`;
  const own = `p.merchant_id = ${place(uuidOf(book.merchantId))}::uuid and p.environment = ${place(book.environment)}::environment`;
  const range = [
    search.reference === undefined ? "" : add("p.payment_id = ?::uuid", uuidOf(search.reference)),
    search.referenceId === undefined ? "" : add("p.reference_id = ?::text", search.referenceId),
    after === undefined ? "" : add("p.payment_id < ?::uuid", uuidOf(after)),
    // A payment's identity begins with its creation time.
    createdFrom === undefined ? "" : add("p.payment_id >= ?::uuid", leastIdOf(createdFrom)),
    createdBefore === undefined ? "" : add("p.payment_id < ?::uuid", leastIdOf(createdBefore)),
  ].join("");
  const branch = (more: string): string => `select p.*
    from payments p
    where ${own}${range}${more}
    order by p.payment_id desc
    limit ${LOOKED_AT_MAX}`;
  if (search.contactKey === undefined) return branch("");
  const key = place(Buffer.from(search.contactKey, "hex"));
  return `select *
    from ((
    ${branch(` and p.customer_key = ${key}::bytea`)}
    ) union all (
    ${branch(` and p.phone_key = ${key}::bytea`)}
    )) p
    order by p.payment_id desc
    limit ${LOOKED_AT_MAX}`;
}

/** A page of the search's payments, newest first, and one more than `limit`; rows for `paymentOfRow`. */
export function selectFound(search: PaymentSearch, limit: number): Statement {
  const values: unknown[] = [];
  const place = placesIn(values);
  const source = lookedAt(search, place);
  const { status, method, amounts, metadata, createdFrom, createdBefore } = search;
  const filters = [
    status && `p.status = ${place(status)}::payment_status`,
    method && `p.payment_method = ${place(method)}::payment_method`,
    createdFrom !== undefined && `p.created_at >= ${place(sqlTime(createdFrom))}::timestamptz`,
    createdBefore !== undefined && `p.created_at < ${place(sqlTime(createdBefore))}::timestamptz`,
    amounts &&
      `(p.currency, p.amount_minor) in (select * from unnest(${place(amounts.map(({ currency }) => currency))}::text[], ${place(amounts.map(({ amountMinor }) => amountMinor))}::bigint[]))`,
    metadata && `p.metadata ->> ${place(metadata.name)}::text = ${place(metadata.value)}::text`,
  ].filter((filter) => typeof filter === "string" && filter !== "");
  return {
    text: `select p.*, s.status as settlement_status, s.payout_date
from (
    ${source}
) p
left join settlements s using (merchant_id, environment, settlement_id)
${filters.length === 0 ? "" : `where ${filters.join("\n  and ")}\n`}order by p.payment_id desc
limit ${place(limit + 1)}::integer`,
    values,
  };
}

/** The oldest payment that `selectFound` examines. Gives no row when it examines all of them. */
export function selectLookedTo(search: PaymentSearch): Statement {
  const values: unknown[] = [];
  const place = placesIn(values);
  const source = lookedAt(search, place);
  return {
    text: `select payment_id, created_at
from (
    ${source}
) p
order by payment_id desc
offset ${LOOKED_AT_MAX - 1}
limit 1`,
    values,
  };
}

const STARTING_LIKE_MAX = 8;

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
  limit ${STARTING_LIKE_MAX}
) p
left join settlements s using (merchant_id, environment, settlement_id)
order by p.reference_id`,
    values: [uuidOf(book.merchantId), book.environment, text, `${text}\u{10ffff}`],
  };
}

/** The entries of journal `j`, as the ledger's `journalOfRow` reads them. */
const entries = `(
  select json_agg(json_build_array(e.account, e.currency, e.amount_minor::text, e.balance_after_minor::text) order by e.line)
  from entries e
  where e.merchant_id = j.merchant_id and e.environment = j.environment and e.seq = j.seq
) as entries`;

/** One journal with its entries. */
export function selectJournal(book: Book, journalId: string): Statement {
  return {
    name: "select journal",
    text: `select j.*, ${entries}
from journals j
where j.merchant_id = $1::uuid and j.environment = $2::environment and j.journal_id = $3::uuid`,
    values: [uuidOf(book.merchantId), book.environment, uuidOf(journalId)],
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
    text: `select j.*, ${entries}
from (
  select *
  from journals
  where merchant_id = $1::uuid and environment = $2::environment
    and ($3::bigint is null or seq < $3::bigint)${group === undefined ? "" : " and group_id = $5::uuid"}
  order by seq desc
  limit $4::integer
) j
order by j.seq desc`,
    values: [
      uuidOf(book.merchantId),
      book.environment,
      before ?? null,
      limit + 1,
      ...(group === undefined ? [] : [uuidOf(group)]),
    ],
  };
}
