// The outbox: an event is written in the transaction of what it tells, with the exact bytes that will be delivered.
import type { Micros } from "../ground/clock.ts";
import { newId } from "../ground/ids.ts";
import { type Book, bookKey } from "../merchants/books.ts";
import type { WorkingSet } from "../store/working-set.ts";
import { type EventType, envelopeOf } from "./event.ts";
import { deliveries, events } from "./outbox.sql.ts";

export class Outbox {
  private readonly listeners: ((bookKeys: string) => void)[] = [];

  /** `listener` hears the book of every committed event that has somewhere to go. Within this process only. */
  onDeliverable(listener: (bookKey: string) => void): void {
    this.listeners.push(listener);
  }

  /** Says that a book has something due. For after the commit that made it so. */
  wake(key: string): void {
    for (const listener of this.listeners) listener(key);
  }

  /**
   * Writes an event, and a delivery when there is an address. `now` is the book's time. Gives the event's identity.
   * Answers to section 1, fact 3: nothing is sent before the commit.
   */
  emit(
    set: WorkingSet,
    event: { book: Book; type: EventType; subjectId: string | undefined; url: string | undefined; data: unknown },
    now: Micros,
  ): string {
    const { book, type, subjectId, url, data } = event;
    const head = { book, eventId: newId("event", now), type, createdAt: now };
    set.insert(events, { ...head, subjectId, body: envelopeOf(head, data) });
    if (url !== undefined) {
      set.insert(deliveries, { book, eventId: head.eventId, url, nextAttemptAt: now });
      set.afterCommit(() => this.wake(bookKey(book)));
    }
    return head.eventId;
  }
}
