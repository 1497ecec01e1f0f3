// Event types, the envelope of an event, and the schedule of its delivery attempts.
import { type Micros, wireTime } from "../ground/clock.ts";
import type { Book } from "../merchants/books.ts";

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
  /** Identity of the object that the event is about. */
  subjectId: string | undefined;
  createdAt: Micros;
  body: string;
}

/** The schedule of section 6.4: seconds after the event at which attempt 1 to 8 is due. After the eighth the event is undelivered. */
export const attemptOffsetsSeconds = [0, 30, 120, 600, 3_600, 10_800, 21_600, 43_200] as const;

/** Most attempts of one event that are kept, resends included. */
export const ATTEMPTS_KEPT_MAX = 1_000;

/** The host of an `https` address, with its port, as in the column `deliveries.host`. */
export function hostOf(url: string): string {
  const [host = ""] = url.slice("https://".length).split(/[/?#]/, 1);
  return host.toLowerCase();
}

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
