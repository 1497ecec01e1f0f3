// The SQL that claims the deliveries that a worker sends next. The results of deliveries are in `outbox.sql.ts`.
import { type Micros, sqlTime } from "../ground/clock.ts";
import { booksWith } from "../merchants/books-with.sql.ts";
import { type Book, bookArrays } from "../merchants/books.ts";
import type { Statement } from "../store/database.ts";

export interface ClaimedRow extends Record<string, unknown> {
  merchant_id: string;
  environment: string;
  event_id: string;
  url: string;
  /** False when the delivery follows the registered address. */
  own_url: boolean;
  attempts: number;
  type: string;
  body: string;
  event_created_at: Micros;
  next_attempt_at: Micros;
  clock_offset_seconds: bigint;
  host: string;
  /** Number of attempts that somebody asked for ahead of the schedule. */
  by_hand: number;
  /** State before somebody asked for this one attempt; the delivery returns to it if the attempt fails. */
  resend_of: "delivered" | "undelivered" | null;
}

export type AttemptKind = "first" | "retry";

const MILLISECOND: Micros = 1_000;
/** One claim visits at most twice this number of queues of a book, from a random one on, so that in time each queue is visited. */
const STEPS = 100;

/**
 * Part of every update of deliveries that leaves the address as it is. An update that touches no generated column makes PostgreSQL 18 read
 * the expressions of the generated columns anew for each row: 25 µs a row, where computing them costs 2 µs.
 */
export const SAME_URL = "url = d.url";

/** The key in `capacities` of a merchant's queue to a host. */
export function queueKey(merchantUuid: string, host: string): string {
  return `${merchantUuid} ${host}`;
}

/** The number of deliveries that may be claimed of a queue: the first entry of `capacities` for it (`uuid` is the merchant's), as the statement below reads it. */
export function capacityOf(capacities: ReadonlyMap<string, number>, uuid: string, host: string): number | undefined {
  return capacities.get(queueKey(uuid, host)) ?? capacities.get(uuid) ?? capacities.get(host);
}

export function merchantOf(key: string): string {
  return key.slice(0, key.indexOf(" "));
}

/** Looks up each book by its key, because a plain join scans all books while they are few. */
const named = `unnest($8::uuid[], $9::text[]::environment[]) as n(merchant_id, environment)
    cross join lateral (
      select *
      from books b
      where b.merchant_id = n.merchant_id and b.environment = n.environment
      limit 1
    ) b`;

/** What a claim asks for: how many deliveries, of which books, and of each queue at most so many. */
export interface Claim {
  /** First attempts or retries: each kind has a partial index, so that neither waits behind the other. */
  which: AttemptKind;
  /** Undefined for all books. */
  books: readonly Book[] | undefined;
  limit: number;
  perBook: number;
  /**
   * Numbers of deliveries that may be claimed of a merchant's queue to a host (by `queueKey`), of a merchant at any host (by its identity)
   * and of any merchant at a host (by its name). The first entry that exists in this order counts; without one, `capacityElsewhere`.
   */
  capacities: ReadonlyMap<string, number>;
}

/**
 * Leases due deliveries, oldest first in each queue (a book's deliveries to one host): at most the capacity of each host, `perBook` of each
 * of `books` (all books when undefined) and `limit` in all. Due times are compared with each book's own clock.
 *
 * Measured with one book that has 100,000 deliveries due at a full host and 50 newer ones at another (PostgreSQL 18, time to find the 50):
 *   one index by time, full hosts left out by a filter                    19.6 ms, and in proportion to the backlog
 *   the same, after the backlog was parked in bulk                        0.1 ms, but parking takes 2,190 ms each time
 *   this statement: a step of the index for each queue, then each due one  0.3 ms at any depth of the backlog
 * With the 100,000 spread over 20,000 hosts this statement takes 2.8 ms, because of `STEPS`.
 */
export function claimDeliveries(
  claim: Claim & { realNow: Micros; leaseMs: number; token: string; capacityElsewhere: number },
): Statement {
  const { books, realNow, which } = claim;
  const ofKind = (row: string): string =>
    `${row}.state = 'pending' and ${row}.attempts ${which === "first" ? "= 0" : "> 0"}`;
  const waiting = `d.merchant_id = b.merchant_id and d.environment = b.environment and ${ofKind("d")}`;
  return {
    name: `claim ${which} deliveries${books ? " of books" : ""}`,
    text: `with due as (
  select d.merchant_id, d.environment, d.event_id, b.clock_offset_seconds
  from (
    select b.*, ((random() - 0.5) * 1.8e19)::bigint as start
    from ${books ? named : booksWith("deliveries", ofKind("t"))}
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
      ...(books ? bookArrays(books) : []),
    ],
  };
}
