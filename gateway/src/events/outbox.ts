// The outbox: an event is written in the transaction of what it tells, with the exact bytes that will be delivered.
import { type Micros, wireTime } from "../ground/clock.ts";
import { newId } from "../ground/ids.ts";
import { type Book, bookKey } from "../merchants/books.ts";
import type { WorkingSet } from "../store/working-set.ts";
import { deliveries, events } from "./outbox.sql.ts";

/** The types of section 6.5. The list will grow. */
export const eventTypes = [
  "payment.created",
  "payment.processing",
  "payment.succeeded",
  "payment.failed",
  "payment.expired",
  "payment.canceled",
  "refund.succeeded",
  "refund.failed",
  "settlement.created",
  "settlement.paid",
  "dispute.opened",
  "dispute.updated",
  "dispute.resolved",
] as const;
export type EventType = (typeof eventTypes)[number];

export interface OutboxEvent {
  book: Book;
  eventId: string;
  type: EventType;
  /** The object the event is about. */
  subjectId: string | undefined;
  createdAt: Micros;
  body: string;
}

/** The schedule of section 6.4: seconds after the event at which attempt 1 to 8 is due. */
export const attemptDelaysSeconds = [0, 30, 120, 600, 3_600, 10_800, 21_600, 43_200] as const;

/** The envelope of section 6.2, as the bytes that every attempt sends. */
export function envelopeOf(event: Omit<OutboxEvent, "body" | "subjectId">, data: unknown): string {
  return JSON.stringify({
    id: event.eventId,
    type: event.type,
    created_at: wireTime(event.createdAt),
    environment: event.book.environment,
    api_version: "v1",
    data,
  });
}

export class Outbox {
  private readonly listeners: ((bookKeys: string) => void)[] = [];

  /** `listener` hears the book of every committed event that has somewhere to go. Within this process only. */
  onDeliverable(listener: (bookKey: string) => void): void {
    this.listeners.push(listener);
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
      set.afterCommit(() => {
        for (const listener of this.listeners) listener(bookKey(book));
      });
    }
    return head.eventId;
  }
}
