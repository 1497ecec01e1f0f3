// The SQL of verification that compares rows and journals. Each statement takes one page and gives the first wrong row or journal. The SQL
// that compares rows with rows is in verify-rows.sql.ts.
//
// Each statement reads both sides in one snapshot, and money moves together with its rows in one transaction. So a book that is being
// written causes no false alarm: the statement sees a row with everything that belongs to it, or not at all. Rows newer than the page are
// left to the next run. Messages name rows as `payment <uuid>`; verify.ts turns the UUIDs into identities.
import type { Micros } from "../ground/clock.ts";
import { LEAST_UUID, idOf, uuidOf } from "../ground/ids.ts";
import { type Book, bookValues, inBook } from "../merchants/books.ts";
import { GENUINE, ORIGIN } from "../store/commit-order.ts";
import type { Row, Statement } from "../store/database.ts";

/** Tables that are read page by page, each with the key that orders its pages. */
export const keys = {
  payments: "payment_id",
  refunds: "refund_id",
  disputes: "dispute_id",
  settlements: "settlement_id",
  settlement_items: "settlement_id",
  receipts: "receipt_id",
  events: "event_id",
} as const;
export type PagedTable = keyof typeof keys;

/** The next keys of a table in order, after `after` (exclusive; "" is the beginning). */
export function selectKeys(table: PagedTable, book: Book, after: string, limit: number): Statement {
  const key = keys[table];
  return {
    name: `verify: next ${table}`,
    text: `select distinct ${key} as id
from ${table}
where merchant_id = $1::uuid and environment = $2::environment and ${key} > $3::uuid
order by ${key}
limit $4::integer`,
    values: [...bookValues(book), after || LEAST_UUID, limit],
  };
}

/** SQL: the statuses of a payment whose money came in. */
export const paid = "('succeeded', 'partially_refunded', 'refunded')";

/** SQL: the entries of a journal as one text, in the order of their accounts. */
const postings = `string_agg(format('%s %s %s', e.account, e.currency, e.amount_minor), ', ' order by e.account collate "C")`;

export const owners = ["payment", "refund", "dispute", "settlement", "receipt"] as const;
type Owner = (typeof owners)[number];

/** SQL: the journals that each owner's rows require. `sign` -1 swaps debits and credits. Accounts are in alphabetical order, as in `postings`. */
const expectations: Record<Owner, string> = {
  payment: `select g.id, g.wire, p.status::text as status, 'capture' as kind, p.payment_id as group_id, concat_ws(', ',
    format('acquirer:%s:receivable %s %s', p.gateway_code, p.currency, p.amount_minor),
    case when p.fee_minor <> p.amount_minor then format('merchant:available %s %s', p.currency, p.fee_minor - p.amount_minor) end,
    case when p.fee_minor <> 0 then format('platform:fees %s %s', p.currency, -p.fee_minor) end) as postings
  from given g
  join payments p on ${inBook("p")} and p.payment_id = g.id
  where p.status in ${paid}`,
  refund: `select g.id, g.wire, r.status::text, k.kind, r.payment_id,
    format('acquirer:%1$s:receivable %2$s %3$s, merchant:available %2$s %4$s',
      p.gateway_code, r.currency, k.sign * -r.amount_minor, k.sign * r.amount_minor)
  from given g
  join refunds r on ${inBook("r")} and r.refund_id = g.id
  left join payments p on ${inBook("p")} and p.payment_id = r.payment_id
  join (values ('refund', 1), ('refund_returned', -1)) k(kind, sign) on k.kind = 'refund' or r.status = 'failed'`,
  dispute: `select g.id, g.wire, d.status::text, k.kind, d.payment_id,
    case when k.kind = 'dispute_lost'
      then format('acquirer:%1$s:receivable %2$s %3$s, merchant:held %2$s %4$s',
        p.gateway_code, d.currency, -d.amount_minor, d.amount_minor)
      else format('merchant:available %1$s %2$s, merchant:held %1$s %3$s',
        d.currency, k.sign * d.amount_minor, k.sign * -d.amount_minor)
    end
  from given g
  join disputes d on ${inBook("d")} and d.dispute_id = g.id
  left join payments p on ${inBook("p")} and p.payment_id = d.payment_id
  join (values ('dispute_opened', 1), ('dispute_won', -1), ('dispute_withdrawn', -1), ('dispute_lost', -1)) k(kind, sign)
    on k.kind = 'dispute_opened' or k.kind = 'dispute_' || d.status`,
  settlement: `select g.id, g.wire, s.status::text, k.kind, s.settlement_id,
    case when k.kind = 'settlement_paid'
      then format('merchant:settling %1$s %2$s, platform:bank %1$s %3$s', s.currency, s.net_minor, -s.net_minor)
      else format('merchant:available %1$s %2$s, merchant:settling %1$s %3$s',
        s.currency, k.sign * s.net_minor, k.sign * -s.net_minor)
    end
  from given g
  join settlements s on ${inBook("s")} and s.settlement_id = g.id
  join (values ('settlement_formed', 1), ('settlement_paid', 1), ('settlement_returned', -1)) k(kind, sign)
    on k.kind = 'settlement_formed' or (k.kind = 'settlement_paid' and s.status = 'paid')
      or (k.kind = 'settlement_returned' and s.status = 'failed')`,
  receipt: `select g.id, g.wire, c.status, k.kind, c.payment_id,
    case k.kind
      when 'receipt_credited'
        then format('merchant:available %1$s %2$s, platform:unapplied %1$s %3$s', c.currency, -c.amount_minor, c.amount_minor)
      else format('acquirer:%1$s:receivable %2$s %3$s, platform:unapplied %2$s %4$s',
        c.gateway_code, c.currency, k.sign * c.amount_minor, k.sign * -c.amount_minor)
    end
  from given g
  join receipts c on ${inBook("c")} and c.receipt_id = g.id and c.status <> 'applied'
  join (values ('receipt_unapplied', 1), ('receipt_returned', -1), ('receipt_credited', -1)) k(kind, sign)
    on k.kind = 'receipt_unapplied' or k.kind = 'receipt_' || c.status`,
};

/** Finds the first row of a page that does not have exactly one journal of each kind that it requires, under its own operation key. */
export const journalsMissing =
  (owner: Owner) =>
  (book: Book, ids: readonly string[]): Statement => ({
    name: `verify: journals of ${owner}s`,
    text: `with given as (
  select * from unnest($3::uuid[], $4::text[]) as g(id, wire)
), expected(id, wire, status, kind, group_id, postings) as (
  ${expectations[owner]}
)
select format('${owner} %s (%s) must have exactly one journal %s with %s; it has %s',
  x.id, x.status, x.kind, x.postings, coalesce(f.found, 'none')) as wrong
from expected x
cross join lateral (
  select count(*) as copies, min(c.postings) as postings,
    string_agg(format('journal %s with %s', c.seq, c.postings), ' and ' order by c.seq) as found
  from (
    select j.seq, (select ${postings} from entries e where ${inBook("e")} and e.seq = j.seq) as postings
    from (
      select seq, kind, group_id
      from journals
      where merchant_id = $1::uuid and environment = $2::environment and operation_key = x.kind || ':' || x.wire
      offset 0 -- one row by its unique key, whatever the planner knows of a young table
    ) j
    where j.kind = x.kind and j.group_id = x.group_id
  ) c
) f
where f.copies <> 1 or f.postings is distinct from x.postings
order by x.id, x.kind
limit 1`,
    values: [...bookValues(book), ids, ids.map((id) => idOf(owner, id))],
  });

/** A journal of a kind whose money belongs to a row, and the row that its operation key names. */
export interface Claim {
  seq: bigint;
  kind: string;
  groupId: string;
  owner: Owner;
  ownerId: string;
}

/** SQL: the status of a journal's row, if there is one of the journal's group. */
const statusOf = (owner: Owner, group: string): string =>
  `when '${owner}' then (select o.status::text from ${owner}s o where ${inBook("o")} and o.${owner}_id = g.id and o.${group} = g.group_id)`;

/** Finds the first journal of a page whose row does not exist or is not in the state that the kind requires. No row ever leaves those states. */
export function journalsUnfounded(book: Book, claims: readonly Claim[]): Statement {
  return {
    name: "verify: owners of journals",
    text: `select format('journal %s (%s) moves the money of %s %s, which is %s',
  g.seq, g.kind, g.owner, g.id, coalesce(o.status, 'not there')) as wrong
from unnest($3::bigint[], $4::text[], $5::uuid[], $6::text[], $7::uuid[]) as g(seq, kind, group_id, owner, id)
cross join lateral (
  select case g.owner
    ${statusOf("payment", "payment_id")}
    ${statusOf("refund", "payment_id")}
    ${statusOf("dispute", "payment_id")}
    ${statusOf("settlement", "settlement_id")}
    ${statusOf("receipt", "payment_id")}
  end as status
  offset 0 -- or the planner writes the look-ups out again for every use of the status
) o
where o.status is null or not case g.kind
  when 'capture' then o.status in ${paid}
  when 'refund_returned' then o.status = 'failed'
  when 'settlement_paid' then o.status = 'paid'
  when 'settlement_returned' then o.status = 'failed'
  when 'dispute_won' then o.status = 'won'
  when 'dispute_lost' then o.status = 'lost'
  when 'dispute_withdrawn' then o.status = 'withdrawn'
  when 'receipt_unapplied' then o.status <> 'applied'
  when 'receipt_returned' then o.status = 'returned'
  when 'receipt_credited' then o.status = 'credited'
  else g.kind in ('refund', 'dispute_opened', 'settlement_formed')
end
order by g.seq
limit 1`,
    values: [
      ...bookValues(book),
      claims.map(({ seq }) => seq),
      claims.map(({ kind }) => kind),
      claims.map(({ groupId }) => uuidOf(groupId)),
      claims.map(({ owner }) => owner),
      claims.map(({ ownerId }) => uuidOf(ownerId)),
    ],
  };
}

/** Compares the head of a book, which the next journal continues, with the newest journal, the outermost entries, and the list of books. */
export function selectHeadMismatch(book: Book): Statement {
  return {
    name: "verify: head",
    text: `select case
    when (h.seq, h.hash) <> (n.seq, n.hash)
      then format('the head of the book is journal %s with hash %s; the newest is journal %s with hash %s',
        h.seq, encode(h.hash, 'hex'), n.seq, encode(n.hash, 'hex'))
    when e.last > n.seq or e.first < 1
      then format('there are entries of journal %s, which is not there', case when e.last > n.seq then e.last else e.first end)
    when b.merchant_id is null then 'the book has a head and is not there itself'
  end as wrong
from book_heads h
cross join lateral (
  select j.seq, j.hash from journals j where ${inBook("j")}
  union all
  select 0, decode(repeat('00', 32), 'hex')
  order by seq desc
  limit 1
) n
cross join (select min(e.seq) as first, max(e.seq) as last from entries e where ${inBook("e")}) e
left join books b on ${inBook("b")}
where ${inBook("h")}`,
    values: [...bookValues(book)],
  };
}

/** Finds the first of merchant:held, merchant:settling and platform:unapplied whose balance is not the sum of its rows. */
export function selectProtectedMismatch(book: Book): Statement {
  return {
    name: "verify: held, settling and unapplied",
    text: `with kept as (
  select b.account, b.currency, b.credit_minor - b.debit_minor as amount
  from balances b
  where ${inBook("b")} and b.account in ('merchant:held', 'merchant:settling', 'platform:unapplied')
), owed as (
  select 'merchant:held' as account, d.currency, sum(d.amount_minor) as amount
  from disputes d
  where ${inBook("d")} and d.status in ('needs_response', 'under_review')
  group by d.currency
  union all
  select 'merchant:settling', s.currency, sum(s.net_minor)
  from settlements s
  where ${inBook("s")} and s.status = 'processing'
  group by s.currency
  union all
  select 'platform:unapplied', c.currency, sum(c.amount_minor)
  from receipts c
  where ${inBook("c")} and c.status = 'unapplied'
  group by c.currency
)
select format('%s %s holds %s; %s add up to %s', account, currency, coalesce(k.amount, 0),
  case account when 'merchant:held' then 'running disputes' when 'merchant:settling' then 'batches under way' else 'receipts unapplied' end, coalesce(o.amount, 0)) as wrong
from kept k
full join owed o using (account, currency)
where coalesce(k.amount, 0) <> coalesce(o.amount, 0)
order by account, currency
limit 1`,
    values: [...bookValues(book)],
  };
}

export interface CountedRow extends Row {
  /** The number of the book's newest journal in the same snapshot. */
  seq: bigint;
  /** Null when no payment of the book is counted. */
  hour: Micros | null;
  acquirer: string;
  currency: string;
  payments: string;
  amount_minor: string;
}

/**
 * Paid payments by hour, acquirer and currency: those that the roll-up has counted, and those that it still has to count. An hour sums up its
 * quarters. No row when there is no roll-up. All of it is one snapshot, so the sums cover exactly the journals up to `seq`.
 */
export function selectCounted(book: Book): Statement {
  return {
    name: "verify: counted payments",
    text: `with r as (
  select counted_to
  from roll_ups
  where name = 'payment_quarters' and origin = ${ORIGIN}
), counted as (
  select date_trunc('hour', t.quarter, 'UTC') as hour, acquirer, currency, payments, amount_minor
  from payment_quarters t
  where ${inBook("t")} and t.outcome = 'succeeded'
  union all
  select date_trunc('hour', p.paid_at, 'UTC'), coalesce(p.gateway_code, ''), p.currency, 1, p.amount_minor
  from r
  join events e on e.xact >= r.counted_to and e.type = 'payment.succeeded' and ${inBook("e")} and ${GENUINE}
  join payments p on ${inBook("p")} and p.payment_id = e.subject_id
)
select h.seq, c.hour, c.acquirer, c.currency, sum(c.payments) as payments, sum(c.amount_minor) as amount_minor
from r
join book_heads h on ${inBook("h")}
left join counted c on true
group by h.seq, c.hour, c.acquirer, c.currency`,
    values: [...bookValues(book)],
  };
}
