// All SQL of the roll-up: its position, one step of counting, and the rebuild from all payments.
import { GENUINE, WATERMARK, ORIGIN, type Position } from "../store/commit-order.ts";
import type { Row, Statement } from "../store/database.ts";
import { addTotals } from "./totals.sql.ts";

/** Events that one step takes, if there are as many. The transaction that holds the last of them is taken whole. */
const STEP = 5_000;
/** Without events to count, the position is saved once in this time. */
const QUIET_SECONDS = 5;

/** Event types that end a payment. A payment gets exactly one of them, once; later events do not end it again. */
const ends = "'payment.succeeded', 'payment.failed', 'payment.expired', 'payment.canceled'";

/** When payment `p` ended, by the book's time. Steps and rebuilds share this and `outcome`, so both give the same figures. */
const endedAt = "coalesce(p.paid_at, p.canceled_at, p.updated_at)";
const outcome = `case
    when p.paid_at is not null then 'succeeded'
    when p.status = 'failed' and p.risk_decision <> 'approve' then 'rejected'
    else p.status::text
  end`;
/** The bucket of `payment_quarters` for payment `p`. It begins at a quarter of an hour: midnight of every zone is at one. */
const bucket = `p.merchant_id, p.environment, date_bin('15 minutes', ${endedAt}, 'epoch') as quarter,
  p.currency, p.payment_method, coalesce(p.gateway_code, '') as acquirer, ${outcome} as outcome`;
const columns =
  "merchant_id, environment, quarter, currency, method, acquirer, outcome, payments, amount_minor, fee_minor";

/** Takes the roll-up's lock, which one process holds until its transaction ends; `taken` is false when another has it. Writes nothing. */
export const takeTurn: Statement = {
  name: "turn of the roll-up",
  text: "select pg_try_advisory_xact_lock(hashtext('gerbang roll-up')) as taken",
};

export const awaitTurn: Statement = {
  name: "wait for the roll-up",
  text: "select pg_advisory_xact_lock(hashtext('gerbang roll-up'))",
};

export const selectBackend: Statement = { text: "select pg_backend_pid() as pid" };

/** Cancels the statement that another connection of ours is running. */
export function cancelBackend(pid: number): Statement {
  return { text: "select pg_cancel_backend($1::integer)", values: [pid] };
}

export interface ProgressRow extends Row {
  /** Null when nothing was counted yet, or only in another database, which this one is a copy of. */
  counted_to: Position | null;
  /** Position where the next step ends. */
  next: Position;
  /** True when the step has events, or the position was not saved for QUIET_SECONDS; never while a transaction that stays open holds it back. */
  is_due: boolean;
  /** True when there are more events after the step. */
  has_more: boolean;
}

/** The roll-up's position and its next step. */
export const selectProgress: Statement = {
  name: "progress of the roll-up",
  text: `select r.counted_to::text, coalesce(s.next, h.watermark)::text as next, s.next is not null as has_more,
  r.counted_to < h.watermark and (r.counted_at < statement_timestamp() - interval '${QUIET_SECONDS} seconds' or exists (
    select from events e
    where e.xact >= r.counted_to and e.xact < h.watermark
  )) as is_due
from (select ${WATERMARK} as watermark) h
left join roll_ups r on r.name = 'payment_quarters' and r.origin = ${ORIGIN} and r.counted_to <= h.watermark
left join lateral (
  -- The first transaction behind a whole step.
  select e.xact as next
  from events e
  where e.xact > (
      select e.xact
      from events e
      where e.xact >= r.counted_to and e.xact < h.watermark
      order by e.xact
      offset ${STEP - 1}
      limit 1
    )
    and e.xact < h.watermark
  order by e.xact
  limit 1
) s on true`,
};

/** Seconds since the position was last saved; no row when nothing was counted yet. */
export const selectAge: Statement = {
  name: "age of the roll-up",
  text: `select extract(epoch from statement_timestamp() - counted_at)::float8 as seconds
from roll_ups
where name = 'payment_quarters' and origin = ${ORIGIN}`,
};

const totalsOfStep = addTotals(`(select *, ${endedAt} as ended_at, ${outcome} as outcome from p) p`, {
  begins: "p.begins or p.never_began",
  ends: "p.ends",
});

/**
 * Counts payments that began or ended between two positions: ends for each book by quarters of an hour, beginnings and ends for all books
 * together. A payment begins when an acquirer has it (`payment.created`), with or without instructions; one that no acquirer had, when it ends.
 */
export function countStep(from: Position, to: Position): Statement {
  return {
    name: "count payments",
    text: `with p as (
  select e.type = 'payment.created' as begins, e.type <> 'payment.created' as ends, p.*
  from events e
  cross join lateral (
    select merchant_id, environment, status, amount_minor, fee_minor, created_at, updated_at, paid_at, canceled_at, payment_method, currency,
      gateway_code, risk_decision, gateway_code is null as never_began
    from payments p
    where p.merchant_id = e.merchant_id and p.environment = e.environment and p.payment_id = e.subject_id
    limit 1
  ) p
  where e.xact >= $1::xid8 and e.xact < $2::xid8 and e.type in ('payment.created', ${ends}) and ${GENUINE}
), totals as (
  ${totalsOfStep}
)
insert into payment_quarters as t (${columns})
select ${bucket}, count(*), sum(p.amount_minor), sum(p.fee_minor)
from p
where p.ends
group by 1, 2, 3, 4, 5, 6, 7
on conflict (merchant_id, environment, quarter, currency, method, acquirer, outcome) do update
set payments = t.payments + excluded.payments, amount_minor = t.amount_minor + excluded.amount_minor,
  fee_minor = t.fee_minor + excluded.fee_minor`,
    values: [from, to],
  };
}

/** Saves the new position. No row when the saved position is not `from` any more. */
export function movePosition(from: Position, to: Position): Statement {
  return {
    name: "move the roll-up",
    text: `update roll_ups
set counted_to = $2::xid8, counted_at = statement_timestamp()
where name = 'payment_quarters' and counted_to = $1::xid8
returning 1`,
    values: [from, to],
  };
}

export const clearCounted: Statement = {
  text: "with totals as (delete from payment_totals) delete from payment_quarters",
};

const totalsOfAll = addTotals(
  `(
    select p.*, ${endedAt} as ended_at, ${outcome} as outcome, p.status not in ('pending', 'processing') as has_ended,
      coalesce(b.begins, false) as begins_beyond, coalesce(b.ends, false) as ends_beyond
    from payments p
    left join beyond b on b.merchant_id = p.merchant_id and b.environment = p.environment and b.subject_id = p.payment_id
  ) p`,
  {
    begins: "case when p.gateway_code is null then p.has_ended and not p.ends_beyond else not p.begins_beyond end",
    ends: "p.has_ended and not p.ends_beyond",
  },
);

/**
 * Counts every payment that has begun or ended, and saves the position, all in one snapshot. Transactions at or beyond the watermark may be visible
 * already: what they began or ended is left to the next step.
 */
export const countAll: Statement = {
  text: `with h as (
  select ${WATERMARK} as watermark
), beyond as (
  select e.merchant_id, e.environment, e.subject_id, bool_or(e.type = 'payment.created') as begins,
    bool_or(e.type <> 'payment.created') as ends
  from h
  join events e on e.xact >= h.watermark
  where e.type in ('payment.created', ${ends}) and e.subject_id is not null and ${GENUINE}
  group by 1, 2, 3
), totals as (
  ${totalsOfAll}
), counted as (
  insert into payment_quarters (${columns})
  select ${bucket}, count(*), sum(p.amount_minor), sum(p.fee_minor)
  from payments p
  where p.status not in ('pending', 'processing')
    and not exists (
      select from beyond b
      where b.ends and b.merchant_id = p.merchant_id and b.environment = p.environment and b.subject_id = p.payment_id
    )
  group by 1, 2, 3, 4, 5, 6, 7
)
insert into roll_ups (name, counted_to, origin, counted_at)
select 'payment_quarters', watermark, ${ORIGIN}, statement_timestamp()
from h
on conflict (name) do update
set counted_to = excluded.counted_to, origin = excluded.origin, counted_at = excluded.counted_at`,
};
