// The outbox writes an event in the transaction of the change that it reports, with the bytes to deliver. The webhooks room sends them.
import type { Micros } from "../ground/clock.ts";
import { type Book, bookKey } from "../merchants/books.ts";
import type { Table } from "../store/table.ts";
import type { WorkingSet } from "../store/working-set.ts";
import { type EventType, envelopeOf } from "./event.ts";
import { deliveries, events } from "./outbox.sql.ts";

interface NewEvent {
  type: EventType;
  subjectId: string | undefined;
  /** Address of the delivery; undefined when the event has none and is recorded only. */
  url: string | undefined;
  /** True for the payment's callback_url, which stays. Otherwise the delivery follows the registered address. */
  ownUrl: boolean;
  data: unknown;
}

/** The context of a command, as far as `emitEvent` needs it. */
interface EventContext {
  readonly set: WorkingSet;
  readonly book: Book;
  /** The book's time. */
  readonly now: Micros;
  newId(kind: "event"): string;
}

/** Writes an event, and a delivery where there is an address. Gives the event's id. Nothing is sent before the commit (section 1, fact 3). */
export function emitEvent(context: EventContext, { type, subjectId, url, ownUrl, data }: NewEvent): string {
  const { set, book, now } = context;
  const head = { book, eventId: context.newId("event"), type, createdAt: now };
  set.insert(events, { ...head, subjectId, body: envelopeOf(head, data) });
  if (url !== undefined) set.insert(deliveries, { book, eventId: head.eventId, url, ownUrl, nextAttemptAt: now });
  return head.eventId;
}

/** Books in which a batch made existing deliveries due. This table exists in the working set only and is never written. */
export const dueBooks: Table<Book, Book> = { name: "due books", keyText: bookKey, keyOf: (book) => book };

/** Notes that a book has due deliveries, so that they are claimed right after the commit. */
export function markDue(set: WorkingSet, book: Book): void {
  if (!set.get(dueBooks, book)) set.insert(dueBooks, book);
}
