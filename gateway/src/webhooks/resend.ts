// Sending events again, by hand: one more try, now, of the same bytes, to where the event belongs today. For the lanes.
import { ATTEMPTS_KEPT_MAX, attemptOffsetsSeconds } from "../events/event.ts";
import type { Delivery, StoredEvent } from "../events/events.sql.ts";
import { deliveries } from "../events/outbox.sql.ts";
import { markDue } from "../events/outbox.ts";
import { type Resendable, resendables } from "../events/resend.sql.ts";
import type { Micros } from "../ground/clock.ts";
import { Fault, showable, validationFault } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import { type Book, bookClocks, bookNow } from "../merchants/books.ts";
import type { Merchant } from "../merchants/directory.ts";
import type { Command } from "../store/lane.ts";
import { type WorkingSet, need } from "../store/working-set.ts";

/** Whose events. */
export interface ResendParts {
  merchant: Merchant;
  book: Book;
}

/** `named`: among several, which. */
export function noSuchEvent(named?: string): Fault {
  const details = named === undefined ? {} : { details: { event_id: showable(named) } };
  return new Fault("OBJECT_NOT_FOUND", { message: "No such event.", ...details });
}

const isEventId = (text: string): boolean => isId("event", text);

/**
 * Tries one event again; `event` is what was read of it, of either environment, if anything was. Gives it as it stands
 * then. Throws OBJECT_NOT_FOUND (the event, or any address for it), ENVIRONMENT_MISMATCH, VALIDATION_ERROR.
 */
export function resendEvent(parts: ResendParts, event: StoredEvent | undefined): Command<StoredEvent> {
  const { book } = parts;
  const own = event?.book.environment === book.environment ? event : undefined;
  return {
    name: "resend event",
    book,
    needs: [need(bookClocks, book), ...(own ? [need(resendables, own)] : [])],
    execute(set, { realNow }) {
      if (event && !own) throw new Fault("ENVIRONMENT_MISMATCH");
      const found = own && set.get(resendables, own);
      if (!found) throw noSuchEvent();
      const tried = tryAgain(parts, set, found, bookNow(set, book, realNow));
      if ("objection" in tried) throw tried.objection;
      markDue(set, book);
      return { ...own, delivery: tried.delivery };
    },
  };
}

/** Several events: named, which is all or nothing, or found in a state, which they must still be in when it comes to it. */
export type Chosen =
  | { eventIds: readonly string[]; elsewhere: ReadonlySet<string> }
  | { found: readonly string[]; state: "delivered" | "undelivered" | "all" };

/**
 * Tries several events again. Gives for how many a try is due or on its way. Throws OBJECT_NOT_FOUND (one that was named,
 * or any address for it or for all that were found), ENVIRONMENT_MISMATCH, VALIDATION_ERROR.
 */
export function resendEvents(parts: ResendParts, chosen: Chosen): Command<number> {
  const { book } = parts;
  const eventIds = "found" in chosen ? chosen.found : chosen.eventIds;
  return {
    name: "resend events",
    book,
    needs: [
      need(bookClocks, book),
      ...eventIds.filter(isEventId).map((eventId) => need(resendables, { book, eventId })),
    ],
    execute(set, { realNow }) {
      const now = bookNow(set, book, realNow);
      const wanted = "found" in chosen ? stillIn(set, book, chosen) : named(set, book, chosen);
      const tried = wanted.map((event) => tryAgain(parts, set, event, now));
      const objections = tried.flatMap((one) => ("objection" in one ? [one.objection] : []));
      const [objection] = objections;
      if (objection && ("eventIds" in chosen || objections.length === tried.length)) throw objection;
      markDue(set, book);
      return tried.length - objections.length;
    },
  };
}

function named(
  set: WorkingSet,
  book: Book,
  { eventIds, elsewhere }: { eventIds: readonly string[]; elsewhere: ReadonlySet<string> },
): Resendable[] {
  return eventIds.map((eventId) => {
    const event = set.get(resendables, { book, eventId });
    if (event) return event;
    if (elsewhere.has(eventId)) throw new Fault("ENVIRONMENT_MISMATCH", { details: { event_id: eventId } });
    throw noSuchEvent(eventId);
  });
}

function stillIn(set: WorkingSet, book: Book, { found, state }: Extract<Chosen, { found: unknown }>): Resendable[] {
  return found
    .map((eventId) => set.get(resendables, { book, eventId }))
    .filter((event) => event !== undefined)
    .filter(({ delivery }) => state === "all" || delivery?.state === state);
}

/** Makes an event's delivery due, now. Gives it as it stands then, or why it cannot be. */
function tryAgain(
  { merchant, book }: ResendParts,
  set: WorkingSet,
  event: Resendable,
  now: Micros,
): { delivery: Delivery } | { objection: Fault } {
  const { delivery } = event;
  // A worker is trying it at this moment, or another process is just making it due.
  if (delivery?.leased) return { delivery: { ...delivery, state: "pending" } };
  const url = event.callbackUrl ?? merchant.webhooks[book.environment]?.url;
  if (url === undefined) return { objection: nowhere(event) };
  if (delivery && delivery.attempts >= ATTEMPTS_KEPT_MAX - attemptOffsetsSeconds.length)
    return { objection: exhausted(event) };
  if (!delivery) return { delivery: firstDelivery(set, event, url, now) };
  const ahead = delivery.nextAttemptAt > now ? 1 : 0;
  const due =
    delivery.state === "pending"
      ? { ...delivery, url, nextAttemptAt: Math.min(delivery.nextAttemptAt, now), byHand: delivery.byHand + ahead }
      : { ...delivery, url, nextAttemptAt: now, state: "pending" as const, resendOf: delivery.state };
  set.update(resendables, { ...event, delivery: due });
  return { delivery: due };
}

/** For an event that had no address when it happened. A command of the same batch may have made it already. */
function firstDelivery(
  set: WorkingSet,
  { book, eventId, callbackUrl }: Resendable,
  url: string,
  now: Micros,
): Delivery {
  const made = set.get(deliveries, { book, eventId });
  if (!made) set.insert(deliveries, { book, eventId, url, ownUrl: callbackUrl !== undefined, nextAttemptAt: now });
  return { state: "pending", attempts: 0, url: made?.url ?? url, nextAttemptAt: made?.nextAttemptAt ?? now };
}

function nowhere({ eventId }: Resendable): Fault {
  return new Fault("OBJECT_NOT_FOUND", {
    message:
      "No webhook address is registered for this environment, so the event has nowhere to go. Register one first.",
    details: { event_id: eventId },
  });
}

function exhausted({ eventId }: Resendable): Fault {
  return validationFault(
    "event_id",
    eventId,
    `This event has been tried ${ATTEMPTS_KEPT_MAX} times; no more are kept.`,
  );
}
