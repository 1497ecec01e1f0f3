// Claiming: which deliveries a worker takes next. What becomes of them is written by `outbox.sql.ts`.
import { type Micros, sqlTime } from "../ground/clock.ts";
import { type Book, bookArrays } from "../merchants/books.ts";
import type { Statement } from "../store/database.ts";

export interface ClaimedRow extends Record<string, unknown> {
  merchant_id: string;
  environment: string;
  event_id: string;
  url: string;
  /** False where it follows the registered address. */
  own_url: boolean;
  attempts: number;
  type: string;
  body: string;
  event_created_at: Micros;
  next_attempt_at: Micros;
  clock_offset_seconds: bigint;
  host: string;
  /** Attempts that somebody asked for. */
  by_hand: number;
  /** Its state before somebody asked for this one attempt; it goes back to that if the attempt fails. */
  resend_of: "delivered" | "undelivered" | null;
}

/** First attempts, or later ones. */
export type AttemptKind = "first" | "retry";

const MILLISECOND: Micros = 1_000;
/** Of a book, one claim visits at most twice as many queues; with more, each claim begins elsewhere among them. */
const STEPS = 100;

/**
 * Part of every update of deliveries that changes no address. PostgreSQL 18 reads the expressions of generated columns anew for each row
 * if an update has none of them to compute: 25 µs a row, where computing them costs two.
 */
export const SAME_URL = "url = d.url";

/** The key in `capacities` of a merchant's queue to a host. */
export function queueKey(merchantUuid: string, host: string): string {
  return `${merchantUuid} ${host}`;
}

export function merchantOf(key: string): string {
  return key.slice(0, key.indexOf(" "));
}

/** Book by book through the key: a join reads all of them while they are few. */
const named = `unnest($8::uuid[], $9::text[]::environment[]) as n(merchant_id, environment)
    cross join lateral (
      select *
      from books b
      where b.merchant_id = n.merchant_id and b.environment = n.environment
      limit 1
    ) b`;

/**
 * Leases what is due, oldest first in each queue, a queue being a book's deliveries to one host: of each host at most as many as
 * it has capacity for, `perBook` of each of `books` (all books when undefined) and `limit` in all. Each book is asked with its
 * own clock.
 *
 * One book with 100,000 due at a host that takes no more, and 50 newer ones at another (PostgreSQL 18, time to find them):
 *   one index by time, full hosts left out by a filter                 19.6 ms, and in proportion to the backlog
 *   the same, after the backlog was set aside in bulk for a while      0.1 ms, but setting it aside takes 2,190 ms each time
 *   this: from queue to queue by the index, then into each that is due  0.3 ms at any depth of the backlog
 * And where those 100,000 are spread over 20,000 hosts: 2.8 ms, because of `STEPS`.
 */
export function claimDeliveries(claim: {
  books: readonly Book[] | undefined;
  realNow: Micros;
  leaseMs: number;
  token: string;
  perBook: number;
  limit: number;
  /** First attempts, or later ones: each has its own part of the index, so that neither waits behind the other. */
  which: AttemptKind;
  /**
   * How many more deliveries a host takes now of a merchant (by `queueKey`), any host of a merchant (by its identity), and a host
   * of any merchant (by its name), where that is not `capacityElsewhere`. The first that is there counts.
   */
  capacities: ReadonlyMap<string, number>;
  capacityElsewhere: number;
}): Statement {
  const { books, realNow, which } = claim;
  const [merchants, environments] = bookArrays(books ?? []);
  const waiting = `d.merchant_id = b.merchant_id and d.environment = b.environment and d.state = 'pending'
          and d.attempts ${which === "first" ? "= 0" : "> 0"}`;
  return {
    name: `claim ${which} deliveries${books ? " of books" : ""}`,
    text: `with due as (
  select d.merchant_id, d.environment, d.event_id, b.clock_offset_seconds
  from (
    select b.*, ((random() - 0.5) * 1.8e19)::bigint as start
    from ${books ? named : "books b"}
    order by random() -- no book always comes first
  ) b
  cross join lateral (
    with recursive queues as (
      select 1 as step, half.last, d.queue, d.host
      from (values (b.start, 9223372036854775807), (-9223372036854775808, b.start - 1)) as half(first, last)
      cross join lateral (
        select d.queue, d.host
        from deliveries d
        where ${waiting}
          and d.queue between half.first and half.last
        order by d.queue
        limit 1
      ) d
      union all
      select q.step + 1, q.last, d.queue, d.host
      from queues q
      cross join lateral (
        select d.queue, d.host
        from deliveries d
        where ${waiting}
          and d.queue > q.queue and d.queue <= q.last
        order by d.queue
        limit 1
      ) d
      where q.step < ${STEPS}
    )
    select d.*
    from (
      select *
      from queues
      order by random() -- nor any host of a book
    ) q
    cross join lateral (
      select d.merchant_id, d.environment, d.event_id, d.next_attempt_at
      from deliveries d
      where ${waiting}
        and d.queue = q.queue
        and d.next_attempt_at <= $1::timestamptz + make_interval(secs => b.clock_offset_seconds)
        and (d.leased_until is null or d.leased_until <= $1::timestamptz)
      order by d.next_attempt_at
      limit coalesce($6::jsonb ->> (b.merchant_id || ' ' || q.host), $6::jsonb ->> b.merchant_id::text, $6::jsonb ->> q.host, $7::text)::integer
      for update skip locked
    ) d
    limit $4::integer
  ) d
  limit $5::integer
), leased as (
  update deliveries d
  set ${SAME_URL}, lease_token = $2::uuid, leased_until = $3::timestamptz
  from due
  where d.merchant_id = due.merchant_id and d.environment = due.environment and d.event_id = due.event_id
  returning d.merchant_id, d.environment, d.event_id, d.url, d.own_url, d.host, d.attempts, d.by_hand, d.resend_of,
    d.next_attempt_at,
    due.clock_offset_seconds
)
select l.*, e.type, e.body, e.created_at as event_created_at
from leased l
join events e on e.merchant_id = l.merchant_id and e.environment = l.environment and e.event_id = l.event_id
order by l.next_attempt_at`,
    values: [
      sqlTime(realNow),
      claim.token,
      sqlTime(realNow + claim.leaseMs * MILLISECOND),
      claim.perBook,
      claim.limit,
      JSON.stringify(Object.fromEntries(claim.capacities)),
      claim.capacityElsewhere,
      ...(books ? [merchants, environments] : []),
    ],
  };
}
