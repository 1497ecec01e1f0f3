// All SQL of listening: the events of a book after a cursor, and the offset of the book's clock, in one snapshot.
import type { EventType } from "../events/event.ts";
import type { Micros } from "../ground/clock.ts";
import { uuidOf } from "../ground/ids.ts";
import { type Book, bookValues } from "../merchants/books.ts";
import type { Statement } from "../store/database.ts";
import { type Cursor, PAGE_MAX, SEEN_MAX } from "./listen-page.ts";

/** Every row repeats the clock offset and the retention watermark; a book without new events has one row without an event. */
export interface ListenRow extends Record<string, unknown> {
  clock_offset_seconds: bigint;
  /** The book's retention watermark, and the newest event deleted by retention; null when none was. */
  forgotten_before: Micros | null;
  last_forgotten: string | null;
  event_id: string | null;
  type: string;
  created_at: number;
  body: string;
}

/** A page of the events behind the cursor that are of no `hidden` type, oldest first, and one more. */
export function selectEventsAfter(book: Book, { after, seen }: Cursor, hidden: readonly EventType[]): Statement {
  return {
    name: "listen to events",
    text: `select b.clock_offset_seconds, h.forgotten_before, h.last_forgotten, e.event_id, e.type, e.created_at, e.body
from books b
left join retention_watermarks h on h.merchant_id = b.merchant_id and h.environment = b.environment
left join lateral (
  select e.event_id, e.type, e.created_at, e.body
  from events e
  where e.merchant_id = b.merchant_id and e.environment = b.environment
    and e.event_id > $3::uuid and e.event_id <> all($4::uuid[]) and e.type <> all($5::text[])
  order by e.event_id
  limit ${PAGE_MAX + 1}
) e on true
where b.merchant_id = $1::uuid and b.environment = $2::environment
order by e.event_id`,
    values: [...bookValues(book), uuidOf(after), seen.map(uuidOf), hidden],
  };
}

/** The newest events of a book that are of no `hidden` type, newest first: of each row of `selectEventsAfter` only the offset and the id. */
export function selectNewest(book: Book, hidden: readonly EventType[]): Statement {
  return {
    name: "newest events",
    text: `select b.clock_offset_seconds, e.event_id
from books b
left join lateral (
  select e.event_id
  from events e
  where e.merchant_id = b.merchant_id and e.environment = b.environment and e.type <> all($3::text[])
  order by e.event_id desc
  limit ${SEEN_MAX + 1}
) e on true
where b.merchant_id = $1::uuid and b.environment = $2::environment
order by e.event_id desc`,
    values: [...bookValues(book), hidden],
  };
}

export function selectEventBody(book: Book, eventId: string): Statement {
  return {
    name: "body of an event",
    text: `select body
from events
where merchant_id = $1::uuid and environment = $2::environment and event_id = $3::uuid`,
    values: [...bookValues(book), uuidOf(eventId)],
  };
}
