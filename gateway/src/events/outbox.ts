// The outbox: an event is written in the transaction of what it reports, with the exact bytes that will be delivered. Who delivers it is
// not decided here.
import type { Micros } from "../ground/clock.ts";
import { type Book, bookKey } from "../merchants/books.ts";
import type { Table } from "../store/table.ts";
import type { WorkingSet } from "../store/working-set.ts";
import { type EventType, envelopeOf } from "./event.ts";
import { deliveries, events } from "./outbox.sql.ts";

export interface NewEvent {
  type: EventType;
  subjectId: string | undefined;
  /** Where it is delivered; nowhere without one. */
  url: string | undefined;
  /** True for an address of the event's own: it stays. Otherwise the delivery follows the registered address. */
  ownUrl: boolean;
  data: unknown;
}

/** What an event is written into: a command's context has it all. */
export interface EventContext {
  readonly set: WorkingSet;
  readonly book: Book;
  /** The book's time. */
  readonly now: Micros;
  newId(kind: "event"): string;
}

/**
 * Writes an event, and a delivery when there is an address. Gives the event's identity. Answers to section 1, fact 3: nothing is sent
 * before the commit.
 */
export function emitEvent(context: EventContext, { type, subjectId, url, ownUrl, data }: NewEvent): string {
  const { set, book, now } = context;
  const head = { book, eventId: context.newId("event"), type, createdAt: now };
  set.insert(events, { ...head, subjectId, body: envelopeOf(head, data) });
  if (url !== undefined) set.insert(deliveries, { book, eventId: head.eventId, url, ownUrl, nextAttemptAt: now });
  return head.eventId;
}

/** Books in which a batch made older deliveries due. In the working set alone: nothing of it is written. */
export const dueBooks: Table<Book, Book> = { name: "due books", keyText: bookKey, keyOf: (book) => book };

/** Notes that a book has deliveries due, so that they are looked for right after the commit. */
export function markDue(set: WorkingSet, book: Book): void {
  if (!set.get(dueBooks, book)) set.insert(dueBooks, book);
}
