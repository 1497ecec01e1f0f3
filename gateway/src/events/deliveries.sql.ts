// The SQL that reads the delivery attempts of a book across all its events, and counts its open deliveries. Writes nothing.
import { type Micros, sqlTime } from "../ground/clock.ts";
import { idOf, uuidOf } from "../ground/ids.ts";
import { type Book, bookValues } from "../merchants/books.ts";
import type { Row, Statement } from "../store/database.ts";
import type { EventType } from "./event.ts";
import { type AttemptSummary, attemptSummaryOfRow } from "./events.sql.ts";

export interface ListedAttempt extends AttemptSummary {
  eventId: string;
  type: string;
}

/** Identifies one attempt of a book. */
export interface AttemptName {
  eventId: string;
  attempt: number;
}

interface AttemptFilter {
  book: Book;
  /** Event types that are left out. */
  hidden: readonly EventType[];
  failedOnly: boolean;
  startedFrom: Micros | undefined;
  /** Exclusive. */
  startedBefore: Micros | undefined;
  /** Only attempts older than this one. */
  after: AttemptName | undefined;
  limit: number;
}

/** Selects a page of attempts, newest first, and one row more than `limit`. */
export function selectBookAttempts(filter: AttemptFilter): Statement {
  const { book, hidden, failedOnly, startedFrom, startedBefore, after } = filter;
  const values: unknown[] = [...bookValues(book), filter.limit + 1];
  const conditions: string[] = [];
  const where = (condition: string, ...given: unknown[]): void => {
    const filled = condition.replaceAll("?", () => `$${values.push(given.shift())}`);
    conditions.push(`  and ${filled}\n`);
  };
  // The condition is a literal, not a parameter: only then can PostgreSQL use the partial index of failures.
  if (failedOnly) conditions.push("  and not a.succeeded\n");
  if (hidden.length > 0) where("e.type <> all(?::text[])", hidden);
  if (startedFrom !== undefined) where("a.started_at >= ?::timestamptz", sqlTime(startedFrom));
  if (startedBefore !== undefined) where("a.started_at < ?::timestamptz", sqlTime(startedBefore));
  if (after) {
    where(
      `(a.started_at, a.event_id, a.attempt) < (
    select c.started_at, c.event_id, c.attempt
    from delivery_attempts c
    where c.merchant_id = $1::uuid and c.environment = $2::environment and c.event_id = ?::uuid and c.attempt = ?::smallint
  )`,
      uuidOf(after.eventId),
      after.attempt,
    );
  }
  return {
    text: `select a.event_id, a.attempt, a.url, a.started_at, a.duration_ms, a.succeeded, a.status, a.reason, a.address, a.note, e.type
from delivery_attempts a
join events e using (merchant_id, environment, event_id)
where a.merchant_id = $1::uuid and a.environment = $2::environment
${conditions.join("")}order by a.started_at desc, a.event_id desc, a.attempt desc
limit $3::integer`,
    values,
  };
}

export function listedAttemptOfRow(row: Row): ListedAttempt {
  return { eventId: idOf("event", row.event_id as string), type: row.type as string, ...attemptSummaryOfRow(row) };
}

/** Selects one attempt with all columns, for `attemptOfRow`. */
export function selectAttempt(book: Book, { eventId, attempt }: AttemptName): Statement {
  return {
    text: `select *
from delivery_attempts
where merchant_id = $1::uuid and environment = $2::environment and event_id = $3::uuid and attempt = $4::smallint`,
    values: [...bookValues(book), uuidOf(eventId), attempt],
  };
}

/** Counts stop at this number. */
export const COUNTED_MAX = 1_000;

/** Counts the `pending` and the `undelivered` deliveries of a book, each up to COUNTED_MAX. */
export function countOpen(book: Book): Statement {
  const counted = (state: "pending" | "undelivered"): string => `(select count(*)::integer from (
    select from deliveries
    where merchant_id = $1::uuid and environment = $2::environment and state = '${state}'
    limit ${COUNTED_MAX}
  ) d) as ${state}`;
  return {
    text: `select ${counted("pending")}, ${counted("undelivered")}`,
    values: [...bookValues(book)],
  };
}
