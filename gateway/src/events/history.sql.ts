// The SQL that deletes history: it finds books with old events, deletes those that may go, and notes the events that are retained.
import { DAY_SECONDS, type Micros, sqlTime } from "../ground/clock.ts";
import { LEAST_UUID, leastIdOf } from "../ground/ids.ts";
import { booksWith } from "../merchants/books-with.sql.ts";
import { type Book, bookArrays } from "../merchants/books.ts";
import type { Statement } from "../store/database.ts";

/** Events of one book that one step examines. */
export const STEP = 250;

export interface OldBookRow extends Record<string, unknown> {
  /** The retention watermark, by the book's clock: events before it are old. */
  forgotten_before: Micros;
  swept_to: string | null;
}

/** Selects books with old events that were not examined yet, or with retained events that are due to be examined again. */
export function booksWithHistory(realNow: Micros, days: number): Statement {
  return {
    name: "books with old events",
    text: `select b.merchant_id, b.environment, t.forgotten_before, h.swept_to
from ${booksWith("events", "true")}
cross join lateral (
  select $1::timestamptz + make_interval(secs => b.clock_offset_seconds - $2::integer) as forgotten_before
) t
left join retention_watermarks h on h.merchant_id = b.merchant_id and h.environment = b.environment
left join lateral (
  select e.created_at
  from events e
  where e.merchant_id = b.merchant_id and e.environment = b.environment
    and e.event_id > coalesce(h.swept_to, '${LEAST_UUID}')
  order by e.event_id
  limit 1
) e on true
where e.created_at < t.forgotten_before - interval '1 minute'
  or exists (
    select from retained_events r
    where r.merchant_id = b.merchant_id and r.environment = b.environment and r.look_at <= $1::timestamptz
  )`,
    values: [sqlTime(realNow), days * DAY_SECONDS],
  };
}

export function moveWatermarks(books: readonly Book[], before: readonly Micros[]): Statement {
  return {
    name: "move retention watermarks",
    text: `insert into retention_watermarks as h (merchant_id, environment, forgotten_before)
select *
from unnest($1::uuid[], $2::text[]::environment[], $3::timestamptz[])
on conflict (merchant_id, environment) do update
set forgotten_before = greatest(h.forgotten_before, excluded.forgotten_before)`,
    values: [...bookArrays(books), before.map(sqlTime)],
  };
}

export interface OldEventRow extends Record<string, unknown> {
  event_id: string;
  pending: boolean;
  /** Real time; null when no attempt was made. */
  last_attempt_at: Micros | null;
}

/** Joins that decide whether an event may be deleted. They use the primary keys alone, with one index probe for each event. */
const facts = `left join deliveries d using (merchant_id, environment, event_id)
left join lateral (
  select a.started_at
  from delivery_attempts a
  where a.merchant_id = e.merchant_id and a.environment = e.environment and a.event_id = e.event_id
  order by a.attempt desc
  limit 1
) a on true`;

/** Selects the next old events of a book, in the order of their identities. */
export function selectOld(book: Book, after: string | null, before: Micros): Statement {
  return {
    name: "old events",
    text: `select e.event_id, coalesce(d.state = 'pending', false) as pending, a.started_at as last_attempt_at
from events e
${facts}
where e.merchant_id = any($1::uuid[]) and e.environment = any($2::text[]::environment[])
  and ($3::uuid is null or e.event_id > $3::uuid) and e.event_id < $4::uuid
order by e.event_id
limit ${STEP}`,
    values: [...bookArrays([book]), after, leastIdOf(before)],
  };
}

/** Selects retained events that are due to be examined again, those included whose event is deleted already: they may be deleted too. */
export function selectRetained(book: Book, realNow: Micros): Statement {
  return {
    name: "retained events",
    text: `select e.event_id, coalesce(d.state = 'pending', false) as pending, a.started_at as last_attempt_at
from retained_events e
${facts}
where e.merchant_id = any($1::uuid[]) and e.environment = any($2::text[]::environment[]) and e.look_at <= $3::timestamptz
order by e.look_at
limit ${STEP}`,
    values: [...bookArrays([book]), sqlTime(realNow)],
  };
}

export function retainEvents(book: Book, kept: readonly { eventId: string; lookAt: Micros }[]): Statement {
  return {
    name: "retain events",
    text: `insert into retained_events (merchant_id, environment, event_id, look_at)
select b.merchant_id, b.environment, v.event_id, v.look_at
from unnest($1::uuid[], $2::text[]::environment[]) as b(merchant_id, environment)
cross join unnest($3::uuid[], $4::timestamptz[]) as v(event_id, look_at)
order by v.event_id
on conflict (merchant_id, environment, event_id) do update
set look_at = excluded.look_at`,
    values: [...bookArrays([book]), kept.map(({ eventId }) => eventId), kept.map(({ lookAt }) => sqlTime(lookAt))],
  };
}

/**
 * Deletes events with their deliveries and attempts, and gives the deleted ones. An event stays while its delivery is locked, because a
 * resend is under way, or pending. `sweptTo` is the last event of the book that has been examined.
 */
export function forgetEvents(book: Book, eventIds: readonly string[], sweptTo: string | null): Statement {
  return {
    name: "forget events",
    text: `with asked as (
  select b.merchant_id, b.environment, v.event_id
  from unnest($1::uuid[], $2::text[]::environment[]) as b(merchant_id, environment)
  cross join unnest($3::uuid[]) as v(event_id)
), old as (
  select v.*
  from asked v
  left join lateral (
    select d.state
    from deliveries d
    where d.merchant_id = v.merchant_id and d.environment = v.environment and d.event_id = v.event_id
    for update skip locked
  ) free on true
  where (
      free.state <> 'pending'
      or not exists (
        select from deliveries d
        where d.merchant_id = v.merchant_id and d.environment = v.environment and d.event_id = v.event_id
      )
    )
    -- the roll-up counts it first; one that was restored from another database has a transaction that is none of ours
    and not exists (
      select from events e
      where e.merchant_id = v.merchant_id and e.environment = v.environment and e.event_id = v.event_id
        and e.xact >= coalesce((select counted_to from roll_ups where name = 'payment_quarters'), '0')
        and e.xact < pg_snapshot_xmax(pg_current_snapshot())
    )
), attempts as (
  delete from delivery_attempts a using old
  where a.merchant_id = old.merchant_id and a.environment = old.environment and a.event_id = old.event_id
), ways as (
  delete from deliveries d using old
  where d.merchant_id = old.merchant_id and d.environment = old.environment and d.event_id = old.event_id
), retained as (
  delete from retained_events r using old
  where r.merchant_id = old.merchant_id and r.environment = old.environment and r.event_id = old.event_id
), gone as (
  delete from events e using old
  where e.merchant_id = old.merchant_id and e.environment = old.environment and e.event_id = old.event_id
), watermark as (
  update retention_watermarks h
  set swept_to = greatest(h.swept_to, $4::uuid),
    last_forgotten = greatest(h.last_forgotten, (select event_id from old order by event_id desc limit 1))
  where h.merchant_id = any($1::uuid[]) and h.environment = any($2::text[]::environment[])
)
select event_id
from old`,
    values: [...bookArrays([book]), eventIds, sweptTo],
  };
}
