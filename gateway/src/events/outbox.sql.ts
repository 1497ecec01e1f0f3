// SQL of events and deliveries: inserted by the lanes, updated by the workers of the webhooks room. How deliveries are claimed
// is in `claim.sql.ts`.
import { type Micros, sqlTime } from "../ground/clock.ts";
import { uuidBytes, uuidOf } from "../ground/ids.ts";
import { type Book, bookColumns, bookKey } from "../merchants/books.ts";
import type { Statement } from "../store/database.ts";
import { type Columns, type Table, arraysOf, bulkInsert, rowsOf } from "../store/table.ts";
import { type ClaimedRow, SAME_URL } from "./claim.sql.ts";
import type { OutboxEvent } from "./event.ts";

type EventKey = { book: Book; eventId: string };

const keyText = ({ book, eventId }: EventKey): string => `${bookKey(book)}/${eventId}`;

const keyColumns = {
  ...bookColumns,
  event_id: ["uuid", (row: EventKey) => uuidBytes(row.eventId)],
} as const;

export const events: Table<EventKey, OutboxEvent> = {
  name: "events",
  keyText,
  keyOf: (event) => event,
  insert: bulkInsert<OutboxEvent>("events", {
    ...keyColumns,
    type: ["text", (event) => event.type],
    subject_id: ["uuid", (event) => (event.subjectId === undefined ? null : uuidBytes(event.subjectId))],
    created_at: ["timestamptz", (event) => event.createdAt],
    body: ["text", (event) => event.body],
  }),
};

/** Who has a delivery, until when in real time. */
export interface Lease {
  token: string;
  until: Micros;
}

export interface NewDelivery extends EventKey {
  url: string;
  /** True for the payment's callback_url, which stays; otherwise the delivery follows the registered address. */
  ownUrl: boolean;
  nextAttemptAt: Micros;
  /** Absent when any process may claim it. */
  lease?: Lease | undefined;
}

export const deliveries: Table<EventKey, NewDelivery> = {
  name: "deliveries",
  keyText,
  keyOf: (delivery) => delivery,
  insert: bulkInsert<NewDelivery>("deliveries", {
    ...keyColumns,
    url: ["text", (delivery) => delivery.url],
    own_url: ["boolean", (delivery) => delivery.ownUrl],
    next_attempt_at: ["timestamptz", (delivery) => delivery.nextAttemptAt],
    lease_token: ["uuid", ({ lease }) => lease?.token],
    leased_until: ["timestamptz", ({ lease }) => lease?.until],
  }),
};

/** A delivery that a process holds, and the token of its lease. */
export interface HeldLease {
  row: Pick<ClaimedRow, "merchant_id" | "environment" | "event_id">;
  token: string;
}

const heldArrays = (held: readonly HeldLease[]): string[][] => [
  held.map(({ row }) => row.merchant_id),
  held.map(({ row }) => row.environment),
  held.map(({ row }) => row.event_id),
  held.map(({ token }) => token),
];

/** Ends the leases of deliveries that were not sent. No process claims them before `until`; without one any may at once. */
export function parkDeliveries(held: readonly HeldLease[], until: Micros | undefined): Statement {
  return {
    name: "park deliveries",
    text: `update deliveries d
set ${SAME_URL}, leased_until = $5::timestamptz, lease_token = null
from unnest($1::uuid[], $2::text[]::environment[], $3::uuid[], $4::uuid[]) as v(merchant_id, environment, event_id, lease_token)
where d.merchant_id = v.merchant_id and d.environment = v.environment and d.event_id = v.event_id
  and d.lease_token = v.lease_token`,
    values: [...heldArrays(held), until === undefined ? null : sqlTime(until)],
  };
}

/**
 * Sends deliveries that are held to the registered address instead of the one that was registered before, and ends their leases: whoever
 * claims them finds them in the queue of the new host.
 */
export function readdressDeliveries(held: readonly HeldLease[]): Statement {
  return {
    name: "readdress deliveries",
    text: `update deliveries d
set url = w.url, lease_token = null, leased_until = null
from unnest($1::uuid[], $2::text[]::environment[], $3::uuid[], $4::uuid[]) as v(merchant_id, environment, event_id, lease_token)
join webhook_endpoints w on w.merchant_id = v.merchant_id and w.environment = v.environment
where d.merchant_id = v.merchant_id and d.environment = v.environment and d.event_id = v.event_id
  and d.lease_token = v.lease_token and not d.own_url and w.url is not null`,
    values: heldArrays(held),
  };
}

/** Pending deliveries of a book that `readdressPending` moves at once. */
export const READDRESS_MAX = 5_000;

/**
 * Sends a book's pending deliveries to the registered address, where they were meant for the one before: some of them, and a row for each.
 * What a process holds is left alone; that process looks at the address before it sends.
 */
export function readdressPending(book: Book): Statement {
  return {
    name: "readdress pending deliveries",
    text: `update deliveries d
set url = w.url, lease_token = null, leased_until = null
from webhook_endpoints w
cross join lateral (
  select d.event_id
  from deliveries d
  where d.merchant_id = w.merchant_id and d.environment = w.environment and d.state = 'pending' and not d.own_url
    and d.url <> w.url and d.lease_token is null
  limit ${READDRESS_MAX}
  for update skip locked
) old
where w.merchant_id = $1::uuid and w.environment = $2::environment and w.url is not null
  and d.merchant_id = w.merchant_id and d.environment = w.environment and d.event_id = old.event_id
returning 1`,
    values: [uuidOf(book.merchantId), book.environment],
  };
}

/**
 * Makes the leases of deliveries last until a later moment, where they are still held. What another statement has locked is left out:
 * it is being recorded or claimed, and this one never waits while it holds locks of its own.
 */
export function renewLeases(held: readonly HeldLease[], until: Micros): Statement {
  return {
    name: "renew leases",
    text: `update deliveries d
set ${SAME_URL}, leased_until = $5::timestamptz
from (
  select d.merchant_id, d.environment, d.event_id
  from unnest($1::uuid[], $2::text[]::environment[], $3::uuid[], $4::uuid[]) as v(merchant_id, environment, event_id, lease_token)
  cross join lateral (
    select d.merchant_id, d.environment, d.event_id
    from deliveries d
    where d.merchant_id = v.merchant_id and d.environment = v.environment and d.event_id = v.event_id
      and d.lease_token = v.lease_token
    for update skip locked
  ) d
) v
where d.merchant_id = v.merchant_id and d.environment = v.environment and d.event_id = v.event_id`,
    values: [...heldArrays(held), sqlTime(until)],
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
  /** What was sent where it was not the event's own body. */
  requestBody?: string | undefined;
  /** What was done on purpose, in plain words. */
  note?: string | undefined;
  responseHeaders: string | undefined;
  responseBody: Buffer | undefined;
  state: "pending" | "delivered" | "undelivered";
  nextAttemptAt: Micros;
  leaseToken: string;
}

const attemptColumns: Columns<AttemptRecord> = {
  ...keyColumns,
  attempt: ["smallint", (record) => record.attempt],
  started_at: ["timestamptz", (record) => record.startedAt],
  duration_ms: ["integer", (record) => record.durationMs],
  succeeded: ["boolean", (record) => record.succeeded],
  status: ["smallint", (record) => record.status],
  reason: ["text", (record) => record.reason],
  address: ["text", (record) => record.address],
  request_headers: ["json", (record) => record.requestHeaders],
  response_headers: ["json", (record) => record.responseHeaders],
  response_body: ["bytea", (record) => record.responseBody],
  request_body: ["text", (record) => record.requestBody],
  note: ["text", (record) => record.note],
};
const outcomeColumns: Columns<AttemptRecord> = {
  lease_token: ["uuid", (record) => record.leaseToken],
  state: ["delivery_state", (record) => record.state],
  next_attempt_at: ["timestamptz", (record) => record.nextAttemptAt],
};
const recordColumns = { ...attemptColumns, ...outcomeColumns };

const recording = `with lazily as (
  select set_config('synchronous_commit', 'off', true) as setting
), v as (
${rowsOf(recordColumns)}
), moved as (
  update deliveries d
  set ${SAME_URL}, state = v.state, attempts = v.attempt, next_attempt_at = v.next_attempt_at, lease_token = null,
    leased_until = null, resend_of = null
  from v
  where d.merchant_id = v.merchant_id and d.environment = v.environment and d.event_id = v.event_id
    and d.lease_token = v.lease_token
  returning d.merchant_id, d.environment, d.event_id, d.url
)
insert into delivery_attempts (url, ${Object.keys(attemptColumns).join(", ")})
select moved.url, ${Object.keys(attemptColumns)
  .map((name) => `v.${name}`)
  .join(", ")}
from v
join moved using (merchant_id, environment, event_id), lazily
returning event_id`;

/**
 * Records attempts and moves their deliveries on, in one statement: an attempt whose lease was lost meanwhile is not
 * recorded, because another worker has it now. Gives the events recorded. Its commit does not wait for the disk, as nobody waits for
 * it: a record that a power cut loses leaves a lease that ends, and an attempt that is made again under the same number, as when this
 * process dies before it has recorded.
 */
export function recordAttempts(records: readonly AttemptRecord[]): Statement {
  return { name: "record attempts", text: recording, values: arraysOf(recordColumns, records) };
}

/**
 * The most overdue delivery, in seconds of real time; null when nothing is to be sent. Over the index by time alone: without
 * one, at 100,000 deliveries, this took 53 ms; with it 0.5 ms for 200 books.
 */
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
