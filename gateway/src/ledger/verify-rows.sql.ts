// The SQL of verification that compares rows with rows: payments and settlement batches, with the refunds, disputes, marks and items
// that belong to them. Each statement takes one page and gives the first wrong row; verify.sql.ts says why one snapshot is enough.
import { type Book, bookValues, inBook } from "../merchants/books.ts";
import type { Statement } from "../store/database.ts";
import { paid } from "./verify.sql.ts";

/** Builds the statement that takes a page of keys and gives the first message of `rows`, a query that selects `id` and `wrong`. */
export const firstOf =
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
    values: [...bookValues(book), ids],
  });

/**
 * Finds the first payment of a page whose totals, status or dispute status do not follow from its refunds, disputes, receipts and journals.
 * The expected dispute status is that of the running dispute, else the one that the payment's last dispute journal names.
 */
export const paymentsWrong = firstOf(
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
    when p.lost_minor <> j.lost
      then format('payment %s keeps %s as lost; its disputes took %s', p.payment_id, p.lost_minor, j.lost)
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
    coalesce(sum(e.amount_minor) filter (where j.kind = 'dispute_lost' and e.account = 'merchant:held'), 0) as lost,
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

/** Finds the first row of a page whose mark does not name the one batch that counts the row. */
export const marksWrong = (owner: "payment" | "receipt" | "refund" | "dispute"): ReturnType<typeof firstOf> =>
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

/** Finds the first batch of a page whose figures are not the sums of its items. */
export const batchesWrong = firstOf(
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

/** Finds the first item of a page of batches that differs from its batch, paid payment, credited receipt, succeeded refund or lost dispute. */
export const itemsWrong = firstOf(
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

/** Finds the first item of a page of batches whose payment was in a running dispute when the batch was formed. */
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
