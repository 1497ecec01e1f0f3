// All SQL of verification: each statement holds one page of rows against the journals and gives the first that is wrong.
//
// Each statement is one snapshot of both sides, and money moves together with its rows in one transaction, so a book that
// is being written meanwhile gives no false alarm: a row is seen with everything that belongs to it, or not at all. Rows
// newer than the page are left to the next run. The words name rows as `payment <uuid>`; whoever reads makes ids of them.
import type { Micros } from "../ground/clock.ts";
import { idOf, uuidOf } from "../ground/ids.ts";
import type { Book } from "../merchants/books.ts";
import { GENUINE, ORIGIN } from "../store/commit-order.ts";
import type { Row, Statement } from "../store/database.ts";

/** What is read page by page, and by which key. */
const keys = {
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
    values: [uuidOf(book.merchantId), book.environment, after || "00000000-0000-0000-0000-000000000000", limit],
  };
}

const inBook = (row: string): string => `${row}.merchant_id = $1::uuid and ${row}.environment = $2::environment`;
const paid = "('succeeded', 'partially_refunded', 'refunded')";

/** The entries of journal `j` as one text, in the order of their accounts. */
const postings = `string_agg(format('%s %s %s', e.account, e.currency, e.amount_minor), ', ' order by e.account collate "C")`;

type Owner = "payment" | "refund" | "dispute" | "settlement" | "receipt";

/** What each owner's rows say that the journals must hold. `sign` turns the sides. Accounts stand in alphabetical order. */
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

/** The first row of a page that has not exactly the journals it should have, under its own operation key. */
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
    values: [uuidOf(book.merchantId), book.environment, ids, ids.map((id) => idOf(owner, id))],
  });

/** A journal of a kind whose money belongs to a row, and that row. */
export interface Claim {
  seq: bigint;
  kind: string;
  groupId: string;
  owner: Owner;
  ownerId: string;
}

/** The first journal of a page that moves money for a row that is not there, or not in that state. States here are final. */
export function journalsUnfounded(book: Book, claims: readonly Claim[]): Statement {
  return {
    name: "verify: owners of journals",
    text: `select format('journal %s (%s) moves the money of %s %s, which is %s',
  g.seq, g.kind, g.owner, g.id, coalesce(o.status, 'not there')) as wrong
from unnest($3::bigint[], $4::text[], $5::uuid[], $6::text[], $7::uuid[]) as g(seq, kind, group_id, owner, id)
cross join lateral (
  select case g.owner
    when 'payment' then (
      select p.status::text from payments p where ${inBook("p")} and p.payment_id = g.id and g.group_id = g.id
    )
    when 'refund' then (
      select r.status::text from refunds r where ${inBook("r")} and r.refund_id = g.id and r.payment_id = g.group_id
    )
    when 'dispute' then (
      select d.status::text from disputes d where ${inBook("d")} and d.dispute_id = g.id and d.payment_id = g.group_id
    )
    when 'settlement' then (
      select s.status::text from settlements s where ${inBook("s")} and s.settlement_id = g.id and g.group_id = g.id
    )
    when 'receipt' then (
      select c.status from receipts c where ${inBook("c")} and c.receipt_id = g.id and c.payment_id = g.group_id
    )
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
  else true
end
order by g.seq
limit 1`,
    values: [
      uuidOf(book.merchantId),
      book.environment,
      claims.map(({ seq }) => seq),
      claims.map(({ kind }) => kind),
      claims.map(({ groupId }) => uuidOf(groupId)),
      claims.map(({ owner }) => owner),
      claims.map(({ ownerId }) => uuidOf(ownerId)),
    ],
  };
}

/** The statement over a page of keys whose `wrong` is the first word said by `rows`, which selects `id` and `wrong`. */
const firstOf =
  (name: string, rows: string) =>
  (book: Book, ids: readonly string[]): Statement => ({
    name: `verify: ${name}`,
    text: `select w.wrong
from (
${rows}
) w
where w.wrong is not null
order by w.id
limit 1`,
    values: [uuidOf(book.merchantId), book.environment, ids],
  });

/**
 * The first payment of a page whose totals, status or dispute are not what its refunds, disputes and journals make them.
 * How the newest dispute stands: the running one's status, or what the payment's last journal of a dispute says.
 */
export const paymentsAstray = firstOf(
  "totals of payments",
  `select p.payment_id as id, case
    when p.refunded_minor <> r.succeeded
      then format('payment %s keeps %s as refunded; its refunds sum to %s', p.payment_id, p.refunded_minor, r.succeeded)
    when p.refund_pending_minor <> r.pending
      then format('payment %s keeps %s as being refunded; its refunds sum to %s', p.payment_id, p.refund_pending_minor, r.pending)
    when t.refunded_minor <> r.succeeded or t.pending_minor <> r.pending or (r.refunds > 0) <> (t.payment_id is not null)
      then format('payment %s has totals of %s refunded and %s being refunded; its refunds sum to %s and %s', p.payment_id,
        coalesce(t.refunded_minor, 0), coalesce(t.pending_minor, 0), r.succeeded, r.pending)
    when r.foreign_currency
      then format('payment %s is in %s and has a refund in another currency', p.payment_id, p.currency)
    when r.refunds > 0 and p.status not in ${paid}
      then format('payment %s is %s and has refunds', p.payment_id, p.status)
    when p.status in ${paid} and p.status::text <> s.status
      then format('payment %s is %s; its refunds make it %s', p.payment_id, p.status, s.status)
    when p.dispute_status::text is distinct from d.status
      then format('payment %s keeps its dispute as %s; it is %s', p.payment_id, coalesce(p.dispute_status::text, 'none'), coalesce(d.status, 'none'))
    when c.applied > 1
      then format('payment %s was paid by %s receipts', p.payment_id, c.applied)
    when c.applied = 1 and (p.status not in ${paid} or not c.exact)
      then format('payment %s is %s of %s %s, and a receipt of another amount or acquirer is applied to it', p.payment_id, p.status, p.amount_minor, p.currency)
    when j.left_minor < 0
      then format('payment %s has %s more refunded, held and lost than came in', p.payment_id, -j.left_minor)
  end as wrong
from payments p
cross join lateral (
  select count(*) as refunds, coalesce(bool_or(r.currency <> p.currency), false) as foreign_currency,
    coalesce(sum(r.amount_minor) filter (where r.status = 'succeeded'), 0) as succeeded,
    coalesce(sum(r.amount_minor) filter (where r.status = 'pending'), 0) as pending
  from refunds r
  where ${inBook("r")} and r.payment_id = p.payment_id
) r
left join refund_totals t on ${inBook("t")} and t.payment_id = p.payment_id
cross join lateral (
  select case r.succeeded when 0 then 'succeeded' when p.amount_minor then 'refunded' else 'partially_refunded' end as status
) s
cross join lateral (
  select coalesce(sum(e.amount_minor), 0) as left_minor,
    (array_agg(j.kind order by j.seq desc) filter (where j.kind like 'dispute\\_%'))[1] as last_dispute
  from journals j
  join entries e on ${inBook("e")} and e.seq = j.seq and (e.account like 'acquirer:%' or e.account = 'merchant:held')
  where ${inBook("j")} and j.group_id = p.payment_id and j.kind not like 'receipt\\_%'
) j
cross join lateral (
  select count(*) as applied, bool_and((c.amount_minor, c.currency, c.gateway_code) = (p.amount_minor, p.currency, p.gateway_code)) as exact
  from receipts c
  where ${inBook("c")} and c.payment_id = p.payment_id and c.status = 'applied'
) c
left join lateral (
  select coalesce(
    (select d.status::text from disputes d
      where ${inBook("d")} and d.payment_id = p.payment_id and d.status in ('needs_response', 'under_review')),
    substr(j.last_dispute, length('dispute_') + 1)) as status
  offset 0 -- or the planner writes the look-up out again for every use of the status
) d on true
where ${inBook("p")} and p.payment_id = any($3::uuid[])`,
);

/** The first row of a page whose mark is not the one batch that counts it. */
export const marksAstray = (owner: "payment" | "receipt" | "refund" | "dispute"): ReturnType<typeof firstOf> =>
  firstOf(
    `marks of ${owner}s`,
    `select m.${owner}_id as id, case
    when i.batches is distinct from (case when m.settlement_id is not null then array[m.settlement_id] end)
      then format('${owner} %s is marked as settled by %s; it counts in %s', m.${owner}_id,
        coalesce('settlement ' || m.settlement_id, 'none'), coalesce('settlement ' || array_to_string(i.batches, ' and settlement '), 'none'))
  end as wrong
from ${owner}s m
cross join lateral (
  select array_agg(i.settlement_id order by i.settlement_id) as batches
  from settlement_items i
  where ${inBook("i")} and i.item_id = m.${owner}_id and i.kind = '${owner}' and not i.released
) i
where ${inBook("m")} and m.${owner}_id = any($3::uuid[])`,
  );

/** The first batch of a page that is not the sum of its items. */
export const batchesAstray = firstOf(
  "sums of settlements",
  `select s.settlement_id as id, case
    when (s.gross_minor, s.fee_minor, s.refund_minor, s.payment_count) <> (i.gross, i.fee, i.refund, i.payments)
      or s.net_minor <> i.gross - i.fee - i.refund
      then format('settlement %s says %s - %s - %s = %s of %s payments; its items say %s - %s - %s = %s of %s', s.settlement_id,
        s.gross_minor, s.fee_minor, s.refund_minor, s.net_minor, s.payment_count,
        i.gross, i.fee, i.refund, i.gross - i.fee - i.refund, i.payments)
  end as wrong
from settlements s
cross join lateral (
  select coalesce(sum(i.amount_minor) filter (where i.kind in ('payment', 'receipt')), 0) as gross, coalesce(sum(i.fee_minor), 0) as fee,
    coalesce(sum(i.amount_minor) filter (where i.kind in ('refund', 'dispute')), 0) as refund, count(*) filter (where i.kind = 'payment') as payments
  from settlement_items i
  where ${inBook("i")} and i.settlement_id = s.settlement_id
) i
where ${inBook("s")} and s.settlement_id = any($3::uuid[])`,
);

/** The first item of a page of batches that is not, to the digit, a paid payment, a credited receipt, a refund or a lost dispute of its batch. */
export const itemsAstray = firstOf(
  "items of settlements",
  `select (i.settlement_id, i.kind, i.item_id) as id, case
    when s.settlement_id is null
      then format('settlement %s is not there, and %s %s is in it', i.settlement_id, i.kind, i.item_id)
    when i.released <> (s.status = 'failed')
      then format('settlement %s is %s, and %s %s in it is %s', s.settlement_id, s.status, i.kind, i.item_id,
        case when i.released then 'released' else 'not released' end)
    when o.amount_minor is null
      then format('settlement %s has %s %s in it, which is not there or owes nothing', s.settlement_id, i.kind, i.item_id)
    when (i.amount_minor, i.fee_minor, i.payment_id, i.occurred_at, s.currency)
      is distinct from (o.amount_minor, o.fee_minor, o.payment_id, o.occurred_at, o.currency)
      then format('settlement %s has %s %s in it as %s %s less %s; it is %s %s less %s', s.settlement_id, i.kind, i.item_id,
        i.amount_minor, s.currency, i.fee_minor, o.amount_minor, o.currency, o.fee_minor)
  end as wrong
from settlement_items i
left join settlements s on ${inBook("s")} and s.settlement_id = i.settlement_id
left join lateral (
  select p.amount_minor, p.fee_minor, p.payment_id, p.paid_at as occurred_at, p.currency
  from payments p
  where i.kind = 'payment' and ${inBook("p")} and p.payment_id = i.item_id and p.status in ${paid}
  union all
  select c.amount_minor, 0, c.payment_id, c.decided_at, c.currency
  from receipts c
  where i.kind = 'receipt' and ${inBook("c")} and c.receipt_id = i.item_id and c.status = 'credited'
  union all
  select r.amount_minor, 0, r.payment_id, r.completed_at, r.currency
  from refunds r
  where i.kind = 'refund' and ${inBook("r")} and r.refund_id = i.item_id and r.status = 'succeeded'
  union all
  select d.amount_minor, 0, d.payment_id, d.resolved_at, d.currency
  from disputes d
  where i.kind = 'dispute' and ${inBook("d")} and d.dispute_id = i.item_id and d.status = 'lost'
) o on true
where ${inBook("i")} and i.settlement_id = any($3::uuid[])`,
);

/** The first item of a page of batches whose payment was in a running dispute when the batch was formed. */
export const itemsContested = firstOf(
  "contested items of settlements",
  `select (i.settlement_id, i.kind, i.item_id) as id, case
    when d.opened > d.closed
      then format('settlement %s has %s %s in it, whose payment was in a dispute when the batch was formed', i.settlement_id, i.kind, i.item_id)
  end as wrong
from settlement_items i
join journals f on ${inBook("f")} and f.group_id = i.settlement_id and f.kind = 'settlement_formed'
cross join lateral (
  select count(*) filter (where j.kind = 'dispute_opened') as opened,
    count(*) filter (where j.kind in ('dispute_won', 'dispute_lost', 'dispute_withdrawn')) as closed
  from journals j
  where ${inBook("j")} and j.group_id = i.payment_id and j.seq < f.seq
) d
where ${inBook("i")} and i.settlement_id = any($3::uuid[]) and i.kind in ('payment', 'refund')`,
);

/** The millisecond that an event's identity begins with, for a moment: identities are in the order of time. */
const millisecond = (moment: string, later: number): string =>
  `rpad(lpad(to_hex(floor(extract(epoch from ${moment}) * 1000)::bigint + ${later}), 12, '0'), 32, '0')::uuid`;

/** The first paid payment of a page that was not told of exactly once. Told in its own moment, so a narrow
 * range is read; what was told before the book's history begins is forgotten, and not asked for. */
export const paymentsUntold = firstOf(
  "events of payments",
  `select p.payment_id as id, case
    when t.events <> 1 then format('payment %s is %s and has %s events payment.succeeded', p.payment_id, p.status, t.events)
  end as wrong
from payments p
cross join lateral (
  select count(*) as events
  from events e
  where ${inBook("e")} and e.subject_id = p.payment_id and e.type = 'payment.succeeded'
    and e.event_id >= ${millisecond("p.paid_at", 0)} and e.event_id < ${millisecond("p.paid_at", 1)}
) t
where ${inBook("p")} and p.payment_id = any($3::uuid[]) and p.status in ${paid}
  and p.paid_at >= coalesce((select h.forgotten_before from retention_watermarks h where ${inBook("h")}), '-infinity')`,
);

/** The first event of a page that tells of a payment's success, and it is not there, not paid, or was paid at another time. */
export const eventsUnfounded = firstOf(
  "payments of events",
  `select e.event_id as id, case
    when p.payment_id is null then format('event %s says that payment %s succeeded; it did not then', e.event_id, e.subject_id)
  end as wrong
from events e
left join payments p on ${inBook("p")} and p.payment_id = e.subject_id and p.status in ${paid} and p.paid_at = e.created_at
  and e.event_id >= ${millisecond("p.paid_at", 0)} and e.event_id < ${millisecond("p.paid_at", 1)}
where ${inBook("e")} and e.event_id = any($3::uuid[]) and e.type = 'payment.succeeded' and e.subject_id is not null`,
);

/** The first of merchant:held, merchant:settling and platform:unapplied that is not what its rows add up to. */
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
    values: [uuidOf(book.merchantId), book.environment],
  };
}

export interface CountedRow extends Row {
  /** How far the book went in the same snapshot. */
  seq: bigint;
  /** Null where nothing is counted. */
  hour: Micros | null;
  acquirer: string;
  currency: string;
  payments: string;
  amount_minor: string;
}

/**
 * What the roll-up of payments says was paid, with what it has still to count; no row where there is no roll-up. One snapshot: journals up to
 * `seq` are exactly those that it knows of.
 */
export function selectCounted(book: Book): Statement {
  return {
    name: "verify: counted payments",
    text: `with r as (
  select counted_to
  from roll_ups
  where name = 'payment_hours' and origin = ${ORIGIN}
), counted as (
  select hour, acquirer, currency, payments, amount_minor
  from payment_hours t
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
    values: [uuidOf(book.merchantId), book.environment],
  };
}
