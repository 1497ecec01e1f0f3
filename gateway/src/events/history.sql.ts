// Forgetting the history of events: what is older than its time, by its book's clock, in small steps. Where a book's history
// begins is written down first, so that nobody takes a forgotten event for one that was never there.
import { type Micros, sqlTime } from "../ground/clock.ts";

import { type Book, bookArrays, bookOfRow } from "../merchants/books.ts";
import type { Database, Statement } from "../store/database.ts";

const STEP = 1_000;
const PAUSE_MS = 20;
const STEPS_MAX = 500;
const DAY = 86_400;

/** Books whose oldest event is over, with the moment before which everything of theirs is. */
function booksWithHistory(realNow: Micros, days: number): Statement {
  return {
    name: "books with old events",
    text: `select b.merchant_id, b.environment, t.forgotten_before
from books b
cross join lateral (
  select $1::timestamptz + make_interval(secs => b.clock_offset_seconds - $2::integer) as forgotten_before
) t
cross join lateral (
  select e.created_at
  from events e
  where e.merchant_id = b.merchant_id and e.environment = b.environment
  order by e.event_id
  limit 1
) e
where e.created_at < t.forgotten_before`,
    values: [sqlTime(realNow), days * DAY],
  };
}

function moveHorizons(books: readonly Book[], before: readonly Micros[]): Statement {
  return {
    name: "move event horizons",
    text: `insert into event_horizons as h (merchant_id, environment, forgotten_before)
select *
from unnest($1::uuid[], $2::text[]::environment[], $3::timestamptz[])
on conflict (merchant_id, environment) do update
set forgotten_before = greatest(h.forgotten_before, excluded.forgotten_before)`,
    values: [...bookArrays(books), before.map(sqlTime)],
  };
}

/**
 * One step in one book: the oldest events, with their deliveries and attempts. What still waits for its delivery stays, and
 * so does a minute before the horizon: a re-send that looked before the horizon moved has ended by then.
 */
function forgetEvents(book: Book, before: Micros): Statement {
  return {
    name: "forget events",
    text: `with old as (
  select e.merchant_id, e.environment, e.event_id
  from events e
  left join deliveries d using (merchant_id, environment, event_id)
  where e.merchant_id = any($1::uuid[]) and e.environment = any($2::text[]::environment[])
    and e.created_at < $3::timestamptz - interval '1 minute' and d.state is distinct from 'pending'
  order by e.event_id
  limit ${STEP}
), attempts as (
  delete from delivery_attempts a using old
  where a.merchant_id = old.merchant_id and a.environment = old.environment and a.event_id = old.event_id
), ways as (
  delete from deliveries d using old
  where d.merchant_id = old.merchant_id and d.environment = old.environment and d.event_id = old.event_id
)
delete from events e using old
where e.merchant_id = old.merchant_id and e.environment = old.environment and e.event_id = old.event_id
returning 1`,
    values: [...bookArrays([book]), sqlTime(before)],
  };
}

/** Forgets events older than `days` of their book's time, and all about them. Gives how many went. */
export async function forgetHistory(database: Database, realNow: Micros, days: number): Promise<number> {
  const rows = await database.query<{ forgotten_before: Micros }>(booksWithHistory(realNow, days));
  if (rows.length === 0) return 0;
  const books = rows.map((row) => bookOfRow(row));
  const before = rows.map((row) => row.forgotten_before);
  await database.query(moveHorizons(books, before));
  let forgotten = 0;
  for (const [at, book] of books.entries()) {
    for (let step = 0; step < STEPS_MAX; step++) {
      const gone = await database.query(forgetEvents(book, before[at] as Micros));
      forgotten += gone.length;
      if (gone.length < STEP) break;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
  return forgotten;
}
