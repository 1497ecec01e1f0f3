// All SQL of moving clocks.
import { type Micros, sqlTime } from "../ground/clock.ts";
import { type Book, bookValues } from "../merchants/books.ts";
import type { Statement } from "../store/database.ts";

/**
 * The end of a clock's move, and the next moment of the book when something falls due: evidence of a dispute, a payout, a cutoff if there are
 * unsettled items for it, or the end of the ten minutes in which a payment expires. Payments expire together, so that a thousand of them do not
 * make a thousand stops.
 */
export function selectNextDue(book: Book, realNow: Micros): Statement {
  return {
    name: "select next due moment",
    text: `select b.clock_target_seconds as target, least(
  (
    select min(d.evidence_due_at) from disputes d
    where d.merchant_id = b.merchant_id and d.environment = b.environment and d.status = 'needs_response'
      and d.evidence_due_at > t.now
  ), (
    select min(s.pay_due_at) from settlements s
    where s.merchant_id = b.merchant_id and s.environment = b.environment and s.status = 'processing' and s.pay_due_at > t.now
  ), (
    select c.next_run_at from settlement_clocks c
    where c.merchant_id = b.merchant_id and c.environment = b.environment and c.next_run_at > t.now
      and (
        exists (
          select from payments p
          where p.merchant_id = b.merchant_id and p.environment = b.environment and p.paid_at is not null and p.settlement_id is null
        ) or exists (
          select from receipts r
          where r.merchant_id = b.merchant_id and r.environment = b.environment and r.status = 'credited' and r.settlement_id is null
        )
      )
  ), (
    select to_timestamp(ceil(extract(epoch from min(p.expires_at)) / 600) * 600) from payments p
    where p.merchant_id = b.merchant_id and p.environment = 'sandbox' and p.status = 'pending' and p.expires_at > t.now
  )
) as next_due_at
from books b
cross join lateral (select $3::timestamptz + make_interval(secs => b.clock_offset_seconds) as now) t
where b.merchant_id = $1::uuid and b.environment = $2::environment`,
    values: [...bookValues(book), sqlTime(realNow)],
  };
}

/** Clocks whose move is not complete and has not advanced since `before`. */
export function selectLeftClocks(before: Micros): Statement {
  return {
    name: "select clocks left on their way",
    text: `select merchant_id, environment
from books
where clock_target_seconds is not null and clock_moved_at < $1::timestamptz
order by clock_moved_at
limit 20`,
    values: [sqlTime(before)],
  };
}

/** What falls due next in a book, soonest first: at most `count` of each kind, as `kind`, `at`, `id`, and `now`, the book's time. */
export function selectComingDue(book: Book, realNow: Micros, count: number): Statement {
  return {
    name: "select what falls due next",
    text: `select due.kind, due.at, due.id, t.now
from books b
cross join lateral (select $3::timestamptz + make_interval(secs => b.clock_offset_seconds) as now) t
cross join lateral (
  (
    select 'payment_expires' as kind, p.expires_at as at, p.payment_id as id from payments p
    where p.merchant_id = b.merchant_id and p.environment = 'sandbox' and p.status = 'pending' and p.expires_at > t.now
    order by p.expires_at
    limit $4::integer
  ) union all (
    select 'evidence_due', d.evidence_due_at, d.dispute_id from disputes d
    where d.merchant_id = b.merchant_id and d.environment = b.environment and d.status = 'needs_response' and d.evidence_due_at > t.now
    order by d.evidence_due_at
    limit $4::integer
  ) union all (
    select 'settlement_paid', s.pay_due_at, s.settlement_id from settlements s
    where s.merchant_id = b.merchant_id and s.environment = b.environment and s.status = 'processing' and s.pay_due_at > t.now
    order by s.pay_due_at
    limit $4::integer
  ) union all (
    select 'delivery_tried', v.next_attempt_at, v.event_id from deliveries v
    where v.merchant_id = b.merchant_id and v.environment = b.environment and v.state = 'pending' and v.next_attempt_at > t.now
    order by v.next_attempt_at
    limit $4::integer
  ) union all (
    select 'settlement_run', c.next_run_at, null from settlement_clocks c
    where c.merchant_id = b.merchant_id and c.environment = b.environment and c.next_run_at > t.now
  )
) due
where b.merchant_id = $1::uuid and b.environment = $2::environment
order by due.at, due.id
limit $4::integer`,
    values: [...bookValues(book), sqlTime(realNow), count],
  };
}
