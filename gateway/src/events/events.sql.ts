// The SQL that reads events, the states of their deliveries, and their attempts. Writes nothing.
import type { Micros } from "../ground/clock.ts";
import { idOf, leastIdOf, uuidOf, uuidOrNull } from "../ground/ids.ts";
import { type Book, bookOfRow, bookValues, otherBook } from "../merchants/books.ts";
import { type Row, type Statement, optional } from "../store/database.ts";
import { LOOKED_AT_MAX, type Place, placesIn } from "../store/searches.sql.ts";
import type { EventType } from "./event.ts";

export const deliveryStates = ["pending", "delivered", "undelivered"] as const;
export type DeliveryState = (typeof deliveryStates)[number];

export interface Delivery {
  state: DeliveryState;
  url: string;
  attempts: number;
  /** The book's time; meaningful only while the delivery is pending. */
  nextAttemptAt: Micros;
}

export interface StoredEvent {
  book: Book;
  eventId: string;
  /** The envelope, as the bytes that every attempt sends. */
  body: string;
  /** Absent when there was no address to send the event to. */
  delivery: Delivery | undefined;
}

/** One attempt and its result. Times are real time. */
export interface Attempt {
  attempt: number;
  /** Address of the attempt; undefined for attempts that were recorded before this column existed. */
  url: string | undefined;
  startedAt: Micros;
  /** Time until the status line, which decides whether the attempt succeeded. */
  durationMs: number;
  succeeded: boolean;
  status: number | undefined;
  /** Why the attempt failed, in plain words. */
  reason: string | undefined;
  /** IP address to which the request was sent. */
  address: string | undefined;
  requestHeaders: Record<string, string>;
  /** The body that was sent where fault injection changed it; else undefined, and the event's own body was sent. */
  requestBody: string | undefined;
  /** Fault injection or probing that changed this attempt, in plain words. */
  note: string | undefined;
  /** Absent when no answer came. */
  responseHeaders: Record<string, string> | undefined;
  /** The first bytes of the answer. */
  responseBody: Buffer | undefined;
}

/** An attempt without the headers and bodies of its request and answer. */
export type AttemptSummary = Omit<Attempt, "requestHeaders" | "requestBody" | "responseHeaders" | "responseBody">;

const columns = `e.merchant_id, e.environment, e.event_id, e.body, d.state, d.url, d.attempts, d.next_attempt_at`;

export function eventOfRow(row: Row): StoredEvent {
  return {
    book: bookOfRow(row),
    eventId: idOf("event", row.event_id as string),
    body: row.body as string,
    delivery: row.state === null ? undefined : deliveryOfRow(row),
  };
}

export function deliveryOfRow(row: Row): Delivery {
  return {
    state: row.state as DeliveryState,
    url: row.url as string,
    attempts: row.attempts as number,
    nextAttemptAt: row.next_attempt_at as Micros,
  };
}

/** Selects an event of a merchant in either environment, so that the caller can tell "other environment" from "not found". */
export function selectEvent(merchantId: string, eventId: string): Statement {
  return {
    name: "select event",
    text: `select ${columns}
from events e
left join deliveries d using (merchant_id, environment, event_id)
where e.merchant_id = $1::uuid and e.environment = any('{sandbox,production}'::environment[]) and e.event_id = $2::uuid`,
    values: [uuidOf(merchantId), uuidOf(eventId)],
  };
}

interface EventFilter {
  book: Book;
  type: EventType | undefined;
  /** Event types that are left out. */
  hidden: readonly EventType[];
  /** "none": events that had no address to be sent to. */
  delivery: DeliveryState | "none" | undefined;
  createdFrom: Micros | undefined;
  /** Exclusive. */
  createdBefore: Micros | undefined;
  /** Only events older than this one. */
  after: string | undefined;
  limit: number;
}

/** Whether a list discards events that it examined. Indexes hold the events whose delivery is pending or undelivered, which are few. */
export const discards = ({ type, delivery }: EventFilter): boolean =>
  delivery === undefined ? type !== undefined : delivery === "none" || delivery === "delivered";

/** The events of a book and a range of time, as the primary key finds them. */
function ofBook({ book, createdFrom, createdBefore, after }: EventFilter, place: Place): string {
  const range = [
    createdFrom === undefined ? "" : ` and e.event_id >= ${place(leastIdOf(createdFrom))}::uuid`,
    createdBefore === undefined ? "" : ` and e.event_id < ${place(leastIdOf(createdBefore))}::uuid`,
    after === undefined ? "" : ` and e.event_id < ${place(uuidOf(after))}::uuid`,
  ].join("");
  return `e.merchant_id = ${place(uuidOf(book.merchantId))}::uuid and e.environment = ${place(book.environment)}::environment${range}`;
}

/** The delivery of each event, looked up one after another: PostgreSQL would read the deliveries of the whole book otherwise. */
export const deliveryOfEach = `left join lateral (
  select *
  from deliveries d
  where d.merchant_id = e.merchant_id and d.environment = e.environment and d.event_id = e.event_id
  limit 1
) d on true`;

const lookedAt = (filter: EventFilter, place: Place): string => `(
  select *
  from events e
  where ${ofBook(filter, place)}
  order by e.event_id desc
  limit ${LOOKED_AT_MAX}
) e`;

/** Selects a page of events, newest first, and one row more than `limit`. One that `discards` examines `LOOKED_AT_MAX` events. */
export function selectEvents(filter: EventFilter): Statement {
  const { type, hidden, delivery } = filter;
  const values: unknown[] = [];
  const place = placesIn(values);
  const source = discards(filter)
    ? `${lookedAt(filter, place)}\n${deliveryOfEach}`
    : "events e\nleft join deliveries d using (merchant_id, environment, event_id)";
  const conditions = [
    discards(filter) ? "true" : ofBook(filter, place),
    type === undefined ? "" : `e.type = ${place(type)}::text`,
    hidden.length === 0 ? "" : `e.type <> all(${place(hidden)}::text[])`,
    // The state is a literal, not a parameter: only then can PostgreSQL use the partial index of that state.
    delivery === undefined ? "" : delivery === "none" ? "d.event_id is null" : `d.state = '${delivery}'`,
  ];
  return {
    text: `select ${columns}
from ${source}
where ${conditions.filter((condition) => condition !== "").join("\n  and ")}
order by e.event_id desc
limit ${place(filter.limit + 1)}::integer`,
    values,
  };
}

/** The oldest event that a list that `discards` examines. Gives no row when it examines all of them. */
export function selectLookedTo(filter: EventFilter): Statement {
  const values: unknown[] = [];
  return {
    text: `select event_id
from ${lookedAt(filter, placesIn(values))}
order by event_id desc
offset ${LOOKED_AT_MAX - 1}
limit 1`,
    values,
  };
}

/** Selects a page of an event's attempts, newest first, and one row more than `limit`. */
export function selectAttempts(
  { book, eventId }: { book: Book; eventId: string },
  after: number | undefined,
  limit: number,
): Statement {
  return {
    name: "select delivery attempts",
    text: `select *
from delivery_attempts
where merchant_id = $1::uuid and environment = $2::environment and event_id = $3::uuid
  and ($4::smallint is null or attempt < $4::smallint)
order by attempt desc
limit $5::integer`,
    values: [...bookValues(book), uuidOf(eventId), after, limit + 1],
  };
}

export function attemptSummaryOfRow(row: Row): AttemptSummary {
  return {
    attempt: row.attempt as number,
    url: optional<string>(row.url),
    startedAt: row.started_at as Micros,
    durationMs: row.duration_ms as number,
    succeeded: row.succeeded as boolean,
    status: optional<number>(row.status),
    reason: optional<string>(row.reason),
    address: optional<string>(row.address),
    note: optional<string>(row.note),
  };
}

export function attemptOfRow(row: Row): Attempt {
  const { response_headers: answered } = row;
  return {
    ...attemptSummaryOfRow(row),
    requestHeaders: JSON.parse(row.request_headers as string) as Record<string, string>,
    requestBody: optional<string>(row.request_body),
    responseHeaders: answered === null ? undefined : (JSON.parse(answered as string) as Record<string, string>),
    responseBody: optional<Buffer>(row.response_body),
  };
}

/** Selects those of the events that belong to the merchant's other environment. */
export function selectElsewhere(book: Book, eventIds: readonly string[]): Statement {
  const other = otherBook(book);
  return {
    name: "select events elsewhere",
    text: `select event_id
from events
where merchant_id = $1::uuid and environment = $2::environment and event_id = any($3::uuid[])`,
    values: [uuidOf(other.merchantId), other.environment, eventIds.map(uuidOf)],
  };
}

/** Selects the identities of a book's events since a moment, oldest first, in one state or in all; one row more than `limit`. */
export function selectSince(since: {
  book: Book;
  from: Micros;
  state: "delivered" | "undelivered" | "all";
  /** Only events newer than this one. */
  after: string | undefined;
  limit: number;
}): Statement {
  const { book, state, after } = since;
  return {
    name: `select ${state} events since`,
    text: `select event_id
from ${state === "all" ? "events" : "deliveries"}
where merchant_id = $1::uuid and environment = $2::environment${state === "all" ? "" : ` and state = '${state}'`}
  and event_id >= $3::uuid and ($4::uuid is null or event_id > $4::uuid)
order by event_id
limit $5::integer`,
    values: [...bookValues(book), leastIdOf(since.from), uuidOrNull(after), since.limit + 1],
  };
}
