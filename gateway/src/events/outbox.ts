// The outbox: an event is written in the transaction of what it tells, with the exact bytes that will be delivered.
import type { Micros } from "../ground/clock.ts";
import { newId, uuidOf } from "../ground/ids.ts";
import { type Book, bookClocks, bookKey } from "../merchants/books.ts";
import type { WorkingSet } from "../store/working-set.ts";
import type { ClaimedRow } from "./claim.sql.ts";
import { type EventType, envelopeOf, hostOf } from "./event.ts";
import { type Lease, deliveries, events } from "./outbox.sql.ts";

/**
 * Who delivers within this process, and may take a delivery as it is made: then nobody has to look for it. If this process
 * ends before it is sent, its lease runs out and another one finds it.
 */
export interface Courier {
  /** The lease with which it would take a delivery to a host; undefined when it has to wait for its turn. */
  leaseFor(book: Book, host: string): Lease | undefined;
  /** Whether a host in doubt has no place for any more of a book's: looking for a delivery at once would find none for it. */
  isFull(book: Book, host: string): boolean;
  /** Takes a delivery that is committed with such a lease. */
  take(delivery: ClaimedRow, lease: Lease): void;
  /** Ends such a lease, unsent, where there may be a delivery or none: whoever finds it has it. */
  release(delivery: ClaimedRow, lease: Lease): void;
}

export class Outbox {
  private readonly listeners: ((bookKeys: string) => void)[] = [];
  private courier: Courier | undefined;

  /** Says who delivers within this process. */
  setCourier(courier: Courier): void {
    this.courier = courier;
  }

  /** `listener` hears the book of every committed event that waits to be claimed. Within this process only. */
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
    const body = envelopeOf(head, data);
    set.insert(events, { ...head, subjectId, body });
    if (url !== undefined) {
      const { courier } = this;
      const host = hostOf(url);
      const lease = courier?.leaseFor(book, host);
      set.insert(deliveries, { book, eventId: head.eventId, url, nextAttemptAt: now, lease });
      if (!courier || !lease)
        set.afterCommit(() => {
          if (courier?.isFull(book, host) !== true) this.wake(bookKey(book));
        });
      else {
        const delivery = {
          merchant_id: uuidOf(book.merchantId),
          environment: book.environment,
          event_id: uuidOf(head.eventId),
          url,
          host,
          attempts: 0,
          by_hand: 0,
          resend_of: null,
          type,
          body,
          event_created_at: now,
          next_attempt_at: now,
          clock_offset_seconds: BigInt(set.get(bookClocks, book)?.offsetSeconds ?? 0),
        };
        set.afterCommit(
          () => courier.take(delivery, lease),
          () => courier.release(delivery, lease),
        );
      }
    }
    return head.eventId;
  }
}
