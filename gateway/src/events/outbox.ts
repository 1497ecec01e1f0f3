// The outbox: an event is written in the transaction of what it reports, with the exact bytes that will be delivered. Who delivers it is
// not decided here.
import type { Micros } from "../ground/clock.ts";
import { newId } from "../ground/ids.ts";
import { type Book, bookKey } from "../merchants/books.ts";
import type { Table } from "../store/table.ts";
import type { WorkingSet } from "../store/working-set.ts";
import { type EventType, envelopeOf } from "./event.ts";
import { deliveries, events } from "./outbox.sql.ts";

export interface NewEvent {
  book: Book;
  type: EventType;
  subjectId: string | undefined;
  /** Where it is delivered; nowhere without one. */
  url: string | undefined;
  data: unknown;
}

/**
 * Writes an event, and a delivery when there is an address. `now` is the book's time. Gives the event's identity.
 * Answers to section 1, fact 3: nothing is sent before the commit.
 */
export function emitEvent(set: WorkingSet, { book, type, subjectId, url, data }: NewEvent, now: Micros): string {
  const head = { book, eventId: newId("event", now), type, createdAt: now };
  set.insert(events, { ...head, subjectId, body: envelopeOf(head, data) });
  if (url !== undefined) set.insert(deliveries, { book, eventId: head.eventId, url, nextAttemptAt: now });
  return head.eventId;
}

export class Outbox {
  readonly emit = emitEvent;
}

/** Books in which a batch made older deliveries due. In the working set alone: nothing of it is written. */
export const dueBooks: Table<Book, Book> = { name: "due books", keyText: bookKey, keyOf: (book) => book };

/** Notes that a book has deliveries due, so that they are looked for right after the commit. */
export function markDue(set: WorkingSet, book: Book): void {
  if (!set.get(dueBooks, book)) set.insert(dueBooks, book);
}
