// All SQL of measurements: minutes of each process, days counted from them, and delays of webhooks and settlements in the tables of other rooms.
import { type Micros, DAY, MINUTE, SECOND, sqlTime } from "../ground/clock.ts";
import { booksWith } from "../merchants/books-with.sql.ts";
import type { Row, Statement } from "../store/database.ts";
import { STEP, deleteOldest } from "../store/retention.ts";
import { bulkInsert } from "../store/table.ts";
import { type Component, components, kindOf } from "./components.ts";
import { type MeasuredMinute } from "./minutes.ts";
import { type Counts, type DayMinutes, thresholds } from "./states.ts";

export const DAYS_SHOWN = 90;
/** Minutes are kept for longer than a process keeps them in memory, and for longer than their day is counted again. */
const MINUTES_KEPT_SECONDS = 3 * 86_400;
/** The shortest time between two counts of the days, over all processes. */
const COUNTED_SECONDS = 50;

/** Writes the minutes of one process, replacing earlier values of them, so that repeating the statement changes nothing. */
export const putMinutes = bulkInsert<MeasuredMinute & { processId: string }>(
  "status_minutes",
  {
    minute: ["timestamptz", ({ minute }) => minute],
    component: ["text", ({ component }) => component],
    process_id: ["uuid", ({ processId }) => processId],
    good: ["integer", ({ good }) => good],
    slow: ["integer", ({ slow }) => slow],
    bad: ["integer", ({ bad }) => bad],
  },
  `order by v.minute, v.component
on conflict (minute, component, process_id) do update
set good = excluded.good, slow = excluded.slow, bad = excluded.bad`,
);

/** Counts as a query returns them. */
export interface CountsRow extends Row {
  good: bigint;
  slow: bigint;
  bad: bigint;
}

export interface MinuteRow extends CountsRow {
  minute: Micros;
  component: Component;
}

/** The counts of all processes together, from the minute `since` on. */
export function selectMinutes(since: Micros): Statement {
  return {
    name: "select status minutes",
    text: `select minute, component, sum(good)::bigint as good, sum(slow)::bigint as slow, sum(bad)::bigint as bad
from status_minutes
where minute >= $1::timestamptz
group by minute, component
order by minute, component`,
    values: [sqlTime(since)],
  };
}

export function countsOfRow({ good, slow, bad }: CountsRow): Counts {
  return { good: Number(good), slow: Number(slow), bad: Number(bad) };
}

/** The state of a minute's counts `s` under the thresholds `t`. It must agree exactly with `stateOf`, and a test compares the two. */
export const stateInSql = `case
    when s.good + s.slow + s.bad = 0 then 'no_data'
    when s.bad >= t.bad_min and s.bad * 1000 >= t.outage_bad * (s.good + s.slow + s.bad) then 'outage'
    when s.bad >= t.bad_min and s.bad * 1000 >= t.degraded_bad * (s.good + s.slow + s.bad) then 'degraded'
    when s.slow > 0 and s.slow + s.bad >= t.slow_min and (s.slow + s.bad) * 1000 >= t.degraded_slow * (s.good + s.slow + s.bad) then 'degraded'
    else 'operational'
  end`;

/** The thresholds as rows `t`, from six parameters that begin at number `first`. */
export const thresholdsInSql = (first: number): string =>
  `unnest($${first}::text[], $${first + 1}::integer[], $${first + 2}::integer[], $${first + 3}::integer[], $${first + 4}::integer[],
    $${first + 5}::integer[])
    as t(component, bad_min, slow_min, degraded_bad, outage_bad, degraded_slow)`;

export const thresholdValues: unknown[] = [
  [...components],
  ...(["badMin", "slowMin", "degradedBad", "outageBad", "degradedSlow"] as const).map((name) =>
    components.map((component) => thresholds[kindOf(component)][name]),
  ),
];

/**
 * Counts the minutes of today and yesterday again, by the database's clock, so that it includes minutes that were written up to a day late. Minutes within
 * planned work count as maintenance. Does nothing when the last count is recent (COUNTED_SECONDS). Two days of ten processes, 230,000 rows a day: 0.2 s on
 * two busy cores.
 */
export const countDays: Statement = {
  name: "count status days",
  text: `with span as (
  select date_trunc('day', statement_timestamp(), 'UTC') - interval '1 day' as since
  where not exists (
    select from status_days
    where day = (statement_timestamp() at time zone 'UTC')::date
      and counted_at > statement_timestamp() - interval '${COUNTED_SECONDS} seconds'
  )
), s as (
  select m.minute, m.component, sum(m.good) as good, sum(m.slow) as slow, sum(m.bad) as bad
  from status_minutes m
  where m.minute >= (select since from span) and m.minute <= statement_timestamp()
  group by m.minute, m.component
), planned as (
  select i.components, i.starts_at, least(i.ends_at, i.resolved_at) as ends_at
  from incidents i
  where i.impact = 'maintenance' and i.ends_at > (select since from span)
), judged as (
  select s.minute, s.component, case
    when exists (
      select from planned p
      where s.component = any(p.components) and s.minute + interval '1 minute' > p.starts_at and s.minute < p.ends_at
    ) then 'maintenance'
    else ${stateInSql}
  end as state
  from s
  join ${thresholdsInSql(1)} on t.component = s.component
)
insert into status_days as d (day, component, operational, degraded, outage, maintenance, counted_at)
select (minute at time zone 'UTC')::date, component, count(*) filter (where state = 'operational'),
  count(*) filter (where state = 'degraded'), count(*) filter (where state = 'outage'),
  count(*) filter (where state = 'maintenance'), statement_timestamp()
from judged
group by 1, 2
order by 1, 2
on conflict (day, component) do update
set operational = excluded.operational, degraded = excluded.degraded, outage = excluded.outage,
  maintenance = excluded.maintenance, counted_at = excluded.counted_at`,
  values: thresholdValues,
};

export interface DayRow extends Row, DayMinutes {
  /** YYYY-MM-DD, in UTC. */
  day: string;
  component: Component;
}

/** The last DAYS_SHOWN days, by the database's clock. */
export const selectDays: Statement = {
  name: "select status days",
  text: `select day, component, operational, degraded, outage, maintenance
from status_days
where day > (statement_timestamp() at time zone 'UTC')::date - ${DAYS_SHOWN}
order by day, component`,
};

/** Deletes minutes and days that are neither shown nor counted any more. */
export function expiredMeasurements(realNow: Micros): Statement[] {
  return [
    deleteOldest("status_minutes", { column: "minute", keptSeconds: MINUTES_KEPT_SECONDS }, realNow),
    {
      name: "delete old status days",
      text: `delete from status_days
where (day, component) in (select day, component from status_days where day < $1::date order by day, component limit ${STEP})
returning 1`,
      values: [sqlTime(realNow - DAYS_SHOWN * DAY).slice(0, "2026-01-01".length)],
    },
  ];
}

/** A first attempt counts as slow or bad when it is overdue for this long, unless a worker has leased it lately. */
const UNSENT_SLOW: Micros = 60 * SECOND;
const UNSENT_BAD: Micros = 180 * SECOND;

/**
 * Counts the books with due first attempts by the longest delay in their queues. A delivery that was leased lately counts as good, because its worker waits
 * for a concurrency slot at the receiver. `good` is 1 when nothing is due. Goes from book to queue to the queue's oldest delivery, along the index that
 * claims use, for at most sixteen queues of a book. 1,000 books with five queues each: 40 ms, once a minute.
 */
export function countBooksByDeliveryDelay(realNow: Micros): Statement {
  const waiting = `d.merchant_id = b.merchant_id and d.environment = b.environment and d.state = 'pending' and d.attempts = 0`;
  return {
    name: "books by delivery delay",
    text: `select ${countedByDelay}
from (
  select max(h.late_by) as late_by
  from ${booksWith("deliveries", "t.state = 'pending'")}
  cross join lateral (
    with recursive queues as (
      (select 1 as step, d.queue from deliveries d where ${waiting} order by d.queue limit 1)
      union all
      select q.step + 1, d.queue
      from queues q
      cross join lateral (select d.queue from deliveries d where ${waiting} and d.queue > q.queue order by d.queue limit 1) d
      where q.step < 16
    )
    select case
        when d.leased_until is null or d.leased_until < $1::timestamptz - $2::interval
        then $1::timestamptz + make_interval(secs => b.clock_offset_seconds) - d.next_attempt_at
      end as late_by
    from queues q
    cross join lateral (
      select d.next_attempt_at, d.leased_until
      from deliveries d
      where ${waiting} and d.queue = q.queue
      order by d.next_attempt_at
      limit 1
    ) d
    where d.next_attempt_at <= $1::timestamptz + make_interval(secs => b.clock_offset_seconds)
  ) h
  group by b.merchant_id, b.environment
) books_with_due`,
    values: [sqlTime(realNow), seconds(UNSENT_SLOW), seconds(UNSENT_BAD)],
  };
}

/** A settlement run or payout overdue for this long is slow or bad. Operators record payouts of production, so these have a day of grace. */
const UNSETTLED_SLOW: Micros = 120 * SECOND;
const UNSETTLED_BAD: Micros = 900 * SECOND;
const UNPAID_GRACE: Micros = DAY;

/** Counts all books by the delay of their settlement run or payout, from the rows that the settlement schedule uses. */
export function countBooksBySettlementDelay(realNow: Micros): Statement {
  return {
    name: "books by settlement delay",
    text: `select ${countedByDelay}
from (
  select greatest(
    $1::timestamptz + make_interval(secs => b.clock_offset_seconds) - c.next_run_at,
    (
      select $1::timestamptz + make_interval(secs => b.clock_offset_seconds) - s.pay_due_at
        - case when b.environment = 'sandbox' then interval '0' else $4::interval end
      from settlements s
      join merchants m on m.merchant_id = s.merchant_id
      where s.merchant_id = b.merchant_id and s.environment = b.environment and s.status = 'processing'
        and coalesce(m.settings::jsonb -> 'wallet_frozen' -> s.currency, 'false') <> 'true'
      order by s.pay_due_at
      limit 1
    )
  ) as late_by
  from books b
  left join settlement_clocks c using (merchant_id, environment)
) all_books`,
    values: [sqlTime(realNow), seconds(UNSETTLED_SLOW), seconds(UNSETTLED_BAD), seconds(UNPAID_GRACE)],
  };
}

/** Rows by their `late_by`, slow from $2 on and bad from $3 on. `good` is 1 when there is no row. */
const countedByDelay = `count(*) filter (where late_by is null or late_by < $2::interval) + (count(*) = 0)::integer as good,
  count(*) filter (where late_by >= $2::interval and late_by < $3::interval) as slow,
  count(*) filter (where late_by >= $3::interval) as bad`;

const seconds = (span: Micros): string => `${span / SECOND} seconds`;

/** The current state is derived from the measurements of this time. */
export const RECENT: Micros = 5 * MINUTE;
