// The SQL of events and deliveries: the lanes insert them, the workers of the webhooks room update them. `claim.sql.ts` claims them.
import { type Micros, sqlTime, sqlTimeOrNull } from "../ground/clock.ts";
import { uuidBytes } from "../ground/ids.ts";
import { booksWith } from "../merchants/books-with.sql.ts";
import { type Book, bookColumns, bookKey, bookValues } from "../merchants/books.ts";
import type { Statement } from "../store/database.ts";
import { type Columns, type Table, arraysOf, bulkInsert, rowsOf } from "../store/table.ts";
import { type ClaimedRow, SAME_URL } from "./claim.sql.ts";
import type { OutboxEvent } from "./event.ts";
import type { Attempt, DeliveryState } from "./events.sql.ts";

export type EventKey = { book: Book; eventId: string };

export const eventKeyText = ({ book, eventId }: EventKey): string => `${bookKey(book)}/${eventId}`;

export const eventKeyColumns = {
  ...bookColumns,
  event_id: ["uuid", (row: EventKey) => uuidBytes(row.eventId)],
} as const;

export const events: Table<EventKey, OutboxEvent> = {
  name: "events",
  keyText: eventKeyText,
  keyOf: (event) => event,
  insert: bulkInsert<OutboxEvent>("events", {
    ...eventKeyColumns,
    type: ["text", (event) => event.type],
    subject_id: ["uuid", (event) => (event.subjectId === undefined ? null : uuidBytes(event.subjectId))],
    created_at: ["timestamptz", (event) => event.createdAt],
    body: ["text", (event) => event.body],
  }),
};

/** A process's hold on a delivery, until a moment of real time. */
interface Lease {
  token: string;
  until: Micros;
}

export interface NewDelivery extends EventKey {
  url: string;
  /** True for the payment's callback_url, which stays; otherwise the delivery follows the registered address. */
  ownUrl: boolean;
  nextAttemptAt: Micros;
  /** Absent when any process may claim the delivery. */
  lease?: Lease | undefined;
}

export const deliveries: Table<EventKey, NewDelivery> = {
  name: "deliveries",
  keyText: eventKeyText,
  keyOf: (delivery) => delivery,
  insert: bulkInsert<NewDelivery>("deliveries", {
    ...eventKeyColumns,
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

/** Ends the leases of deliveries that were not sent. Any process may claim them from `until` on, or at once without it. */
export function parkDeliveries(held: readonly HeldLease[], until: Micros | undefined): Statement {
  return {
    name: "park deliveries",
    text: `update deliveries d
set ${SAME_URL}, leased_until = $5::timestamptz, lease_token = null
from unnest($1::uuid[], $2::text[]::environment[], $3::uuid[], $4::uuid[]) as v(merchant_id, environment, event_id, lease_token)
where d.merchant_id = v.merchant_id and d.environment = v.environment and d.event_id = v.event_id
  and d.lease_token = v.lease_token`,
    values: [...heldArrays(held), sqlTimeOrNull(until)],
  };
}

/** Moves held deliveries to the address that is registered now, and ends their leases: the next claim finds them with the new host. */
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

/** Deliveries that one `readdressPending` moves. */
export const READDRESS_MAX = 5_000;

/**
 * Moves up to READDRESS_MAX pending deliveries of a book to the registered address, and gives a row for each. Leased deliveries do not
 * move: the process that holds them compares the address before it sends.
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
    values: [...bookValues(book)],
  };
}

/**
 * Extends the leases of deliveries that are still held. A delivery that another statement has locked is being recorded or claimed and is
 * skipped, so that this statement never waits while it holds locks.
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

/** The result of an attempt and the next state of its delivery. `nextAttemptAt` is the book's time, the other times are real time. */
export interface AttemptRecord
  extends EventKey, Omit<Attempt, "url" | "requestHeaders" | "requestBody" | "note" | "responseHeaders"> {
  requestHeaders: string;
  /** The body that was sent where fault injection changed the event's body. */
  requestBody?: string | undefined;
  /** Fault injection or probing that changed this attempt, in plain words. */
  note?: string | undefined;
  responseHeaders: string | undefined;
  state: DeliveryState;
  nextAttemptAt: Micros;
  leaseToken: string;
}

const attemptColumns: Columns<AttemptRecord> = {
  ...eventKeyColumns,
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
 * Records attempts and updates their deliveries in one statement. Gives the recorded events. An attempt whose lease was lost is not
 * recorded, because another worker has the delivery. The commit does not wait for the disk. When a power cut loses a record, its lease
 * ends and the attempt is made again under the same number, as when the process dies before it records.
 */
export function recordAttempts(records: readonly AttemptRecord[]): Statement {
  return { name: "record attempts", text: recording, values: arraysOf(recordColumns, records) };
}

/**
 * Selects by how many seconds the most overdue pending delivery is late; null when none is pending. The index by time alone serves this
 * statement: without it 100,000 deliveries took 53 ms; with it 200 books take 0.5 ms.
 */
export function oldestDue(realNow: Micros): Statement {
  return {
    name: "oldest due delivery",
    text: `select max(extract(epoch from $1::timestamptz + make_interval(secs => b.clock_offset_seconds) - d.next_attempt_at))::float8
  as seconds
from ${booksWith("deliveries", "t.state = 'pending'")}
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
