// All SQL of events and deliveries: written by the lanes, claimed and settled by the workers of the webhooks room.
import { type Micros, SECOND, sqlTime } from "../ground/clock.ts";
import { uuidOf } from "../ground/ids.ts";
import { type Book, bookArrays, bookColumns, bookKey } from "../merchants/books.ts";
import type { Statement } from "../store/database.ts";
import { type Table, bulkInsert } from "../store/table.ts";
import type { OutboxEvent } from "./event.ts";

type EventKey = { book: Book; eventId: string };

const keyText = ({ book, eventId }: EventKey): string => `${bookKey(book)}/${eventId}`;

const keyColumns = {
  ...bookColumns,
  event_id: ["uuid", (row: EventKey) => uuidOf(row.eventId)],
} as const;

export const events: Table<EventKey, OutboxEvent> = {
  name: "events",
  rank: 50,
  keyText,
  keyOf: (event) => event,
  insert: bulkInsert<OutboxEvent>("events", {
    ...keyColumns,
    type: ["text", (event) => event.type],
    subject_id: ["uuid", (event) => (event.subjectId === undefined ? null : uuidOf(event.subjectId))],
    created_at: ["timestamptz", (event) => sqlTime(event.createdAt)],
    body: ["text", (event) => event.body],
  }),
};

export interface NewDelivery extends EventKey {
  url: string;
  nextAttemptAt: Micros;
}

export const deliveries: Table<EventKey, NewDelivery> = {
  name: "deliveries",
  rank: 51,
  keyText,
  keyOf: (delivery) => delivery,
  insert: bulkInsert<NewDelivery>("deliveries", {
    ...keyColumns,
    url: ["text", (delivery) => delivery.url],
    next_attempt_at: ["timestamptz", (delivery) => sqlTime(delivery.nextAttemptAt)],
  }),
};

export interface ClaimedRow extends Record<string, unknown> {
  merchant_id: string;
  environment: string;
  event_id: string;
  url: string;
  attempts: number;
  type: string;
  body: string;
  event_created_at: Micros;
  next_attempt_at: Micros;
  clock_offset_seconds: bigint;
  host: string;
  /** Tries that somebody asked for. */
  by_hand: number;
  /** What it was before somebody asked for this one try; it goes back to that if the try fails. */
  resend_of: "delivered" | "undelivered" | null;
}

/**
 * Leases what is due, oldest first in each book, at most `perBook` of each of `books` (all books when undefined) and
 * `limit` in all. Each book is asked with its own clock, by its own part of the index, so a claim costs the same at any
 * depth of the backlog.
 */
export function claimDeliveries(claim: {
  books: readonly Book[] | undefined;
  realNow: Micros;
  leaseSeconds: number;
  token: string;
  perBook: number;
  limit: number;
  /** First attempts, or later ones: each has its own part of the index, so that neither waits behind the other. */
  which: "first" | "again";
  /** Hosts that take no more for the moment: what is due there stays where it is. */
  fullHosts: readonly string[];
}): Statement {
  const { books, realNow, which } = claim;
  const [merchants, environments] = bookArrays(books ?? []);
  return {
    name: `claim ${which} deliveries${books ? " of books" : ""}`,
    text: `with due as (
  select d.merchant_id, d.environment, d.event_id, b.clock_offset_seconds
  from (
    select *
    from books
    ${books ? "where (merchant_id, environment) in (select * from unnest($7::uuid[], $8::text[]::environment[]))" : ""}
    order by random() -- no book always comes first
  ) b
  cross join lateral (
    select d.merchant_id, d.environment, d.event_id, d.next_attempt_at
    from deliveries d
    where d.merchant_id = b.merchant_id and d.environment = b.environment and d.state = 'pending'
      and d.attempts ${which === "first" ? "= 0" : "> 0"}
      and d.next_attempt_at <= $1::timestamptz + make_interval(secs => b.clock_offset_seconds)
      and (d.leased_until is null or d.leased_until <= $1::timestamptz)
      and d.host <> all($6::text[])
    order by d.next_attempt_at
    limit $4::integer
    for update skip locked
  ) d
  limit $5::integer
), leased as (
  update deliveries d
  set lease_token = $2::uuid, leased_until = $3::timestamptz
  from due
  where d.merchant_id = due.merchant_id and d.environment = due.environment and d.event_id = due.event_id
  returning d.merchant_id, d.environment, d.event_id, d.url, d.host, d.attempts, d.by_hand, d.resend_of,
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
      sqlTime(realNow + claim.leaseSeconds * SECOND),
      claim.perBook,
      claim.limit,
      claim.fullHosts,
      ...(books ? [merchants, environments] : []),
    ],
  };
}

/** Sets claimed deliveries aside for a moment, untried; or gives them back, without a moment. */
export function parkDeliveries(rows: readonly ClaimedRow[], token: string, until: Micros | undefined): Statement {
  return {
    name: "park deliveries",
    text: `update deliveries d
set leased_until = $5::timestamptz, lease_token = case when $5::timestamptz is not null then d.lease_token end
from unnest($1::uuid[], $2::text[]::environment[], $3::uuid[]) as v(merchant_id, environment, event_id)
where d.merchant_id = v.merchant_id and d.environment = v.environment and d.event_id = v.event_id
  and d.lease_token = $4::uuid`,
    values: [
      rows.map((row) => row.merchant_id),
      rows.map((row) => row.environment),
      rows.map((row) => row.event_id),
      token,
      until === undefined ? null : sqlTime(until),
    ],
  };
}

/** How an attempt ended and what becomes of its delivery. `nextAttemptAt` is the book's time, the rest real time. */
export interface AttemptRecord extends EventKey {
  attempt: number;
  startedAt: Micros;
  durationMs: number;
  succeeded: boolean;
  status: number | undefined;
  reason: string | undefined;
  address: string | undefined;
  requestHeaders: string;
  responseHeaders: string | undefined;
  responseBody: Buffer | undefined;
  state: "pending" | "delivered" | "undelivered";
  nextAttemptAt: Micros;
  leaseToken: string;
}

/**
 * Records attempts and moves their deliveries on, in one statement: an attempt whose lease was lost meanwhile is not
 * recorded, because another worker has it now. Gives the events recorded.
 */
export function recordAttempts(records: readonly AttemptRecord[]): Statement {
  return {
    name: "record attempts",
    text: `with v as (
  select *
  from unnest($1::uuid[], $2::text[]::environment[], $3::uuid[], $4::uuid[], $5::text[]::delivery_state[], $6::smallint[],
    $7::timestamptz[], $8::timestamptz[], $9::integer[], $10::boolean[], $11::smallint[], $12::text[], $13::text[],
    $14::text[], $15::text[], $16::bytea[])
    as v(merchant_id, environment, event_id, lease_token, state, attempt, next_attempt_at, started_at, duration_ms,
      succeeded, status, reason, address, request_headers, response_headers, response_body)
), settled as (
  update deliveries d
  set state = v.state, attempts = v.attempt, next_attempt_at = v.next_attempt_at, lease_token = null, leased_until = null,
    resend_of = null
  from v
  where d.merchant_id = v.merchant_id and d.environment = v.environment and d.event_id = v.event_id
    and d.lease_token = v.lease_token
  returning d.merchant_id, d.environment, d.event_id, d.url
)
insert into delivery_attempts (merchant_id, environment, event_id, url, attempt, started_at, duration_ms, succeeded, status,
  reason, address, request_headers, response_headers, response_body)
select v.merchant_id, v.environment, v.event_id, settled.url, v.attempt, v.started_at, v.duration_ms, v.succeeded, v.status,
  v.reason, v.address, v.request_headers::json, v.response_headers::json, v.response_body
from v
join settled using (merchant_id, environment, event_id)
returning event_id`,
    values: [
      records.map((record) => uuidOf(record.book.merchantId)),
      records.map((record) => record.book.environment),
      records.map((record) => uuidOf(record.eventId)),
      records.map((record) => record.leaseToken),
      records.map((record) => record.state),
      records.map((record) => record.attempt),
      records.map((record) => sqlTime(record.nextAttemptAt)),
      records.map((record) => sqlTime(record.startedAt)),
      records.map((record) => record.durationMs),
      records.map((record) => record.succeeded),
      records.map((record) => record.status),
      records.map((record) => record.reason),
      records.map((record) => record.address),
      records.map((record) => record.requestHeaders),
      records.map((record) => record.responseHeaders),
      records.map((record) => record.responseBody),
    ],
  };
}

/** The most overdue delivery, in seconds of real time; zero rows when nothing is due. */
export function oldestDue(realNow: Micros): Statement {
  return {
    name: "oldest due delivery",
    text: `select max(extract(epoch from $1::timestamptz + make_interval(secs => b.clock_offset_seconds) - d.next_attempt_at))::float8
  as seconds
from books b
cross join lateral (
  select d.next_attempt_at
  from deliveries d
  where d.merchant_id = b.merchant_id and d.environment = b.environment and d.state = 'pending'
  order by d.next_attempt_at
  limit 1
) d`,
    values: [sqlTime(realNow)],
  };
}
