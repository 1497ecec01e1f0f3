// The commands that send events again (section 6.4): one more attempt, due now, with the same bytes, to the event's present address.
import { type BookOwner, bookCommand } from "../commands/command-context.ts";
import { ATTEMPTS_KEPT_MAX, attemptOffsetsSeconds } from "../events/event.ts";
import type { Delivery, StoredEvent } from "../events/events.sql.ts";
import { deliveries } from "../events/outbox.sql.ts";
import { markDue } from "../events/outbox.ts";
import { type Resendable, resendables } from "../events/resend.sql.ts";
import type { Micros } from "../ground/clock.ts";
import { Fault, showable, validationFault } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import type { Book } from "../merchants/books.ts";
import type { Command } from "../store/command.ts";
import { type WorkingSet, need } from "../store/working-set.ts";

/** The fault for a missing event. `named` is its id where the request named several. */
export function noSuchEvent(named?: string): Fault {
  const details = named === undefined ? {} : { details: { event_id: showable(named) } };
  return new Fault("OBJECT_NOT_FOUND", { message: "No such event.", ...details });
}

/**
 * Sends one event again. `event` was read before, from either environment; undefined when there is none. Gives the event with its new
 * delivery state. Throws OBJECT_NOT_FOUND (no such event, or no address for it), ENVIRONMENT_MISMATCH, VALIDATION_ERROR.
 */
export function resendEvent(owner: BookOwner, event: StoredEvent | undefined): Command<StoredEvent> {
  const { book } = owner;
  const own = event?.book.environment === book.environment ? event : undefined;
  return bookCommand(owner, {
    name: "resend event",
    needs: own ? [need(resendables, own)] : [],
    execute({ set, now }) {
      if (event && !own) throw new Fault("ENVIRONMENT_MISMATCH");
      const found = own && set.get(resendables, own);
      if (!found) throw noSuchEvent();
      const tried = tryAgain(owner, set, found, now);
      if ("objection" in tried) throw tried.objection;
      markDue(set, book);
      return { ...own, delivery: tried.delivery };
    },
  });
}

/** Several events: named in the request (all or none), or found by their state, which is checked again when the command runs. */
export type Chosen =
  | { eventIds: readonly string[]; elsewhere: ReadonlySet<string> }
  | { found: readonly string[]; state: "delivered" | "undelivered" | "all" };

/**
 * Sends several events again. Gives the number of events whose attempt is due or in flight. Throws OBJECT_NOT_FOUND (a named event does
 * not exist or has no address, or none of the events found has one), ENVIRONMENT_MISMATCH, VALIDATION_ERROR.
 */
export function resendEvents(owner: BookOwner, chosen: Chosen): Command<number> {
  const { book } = owner;
  const eventIds = "found" in chosen ? chosen.found : chosen.eventIds;
  return bookCommand(owner, {
    name: "resend events",
    needs: eventIds.filter((id) => isId("event", id)).map((eventId) => need(resendables, { book, eventId })),
    execute({ set, now }) {
      const wanted = "found" in chosen ? stillIn(set, book, chosen) : named(set, book, chosen);
      const tried = wanted.map((event) => tryAgain(owner, set, event, now));
      const objections = tried.flatMap((one) => ("objection" in one ? [one.objection] : []));
      const [objection] = objections;
      if (objection && ("eventIds" in chosen || objections.length === tried.length)) throw objection;
      markDue(set, book);
      return tried.length - objections.length;
    },
  });
}

function named(set: WorkingSet, book: Book, chosen: Extract<Chosen, { eventIds: unknown }>): Resendable[] {
  const { eventIds, elsewhere } = chosen;
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

/** Makes an event's delivery due now. Gives its new state, or the objection. */
function tryAgain(
  { merchant, book }: BookOwner,
  set: WorkingSet,
  event: Resendable,
  now: Micros,
): { delivery: Delivery } | { objection: Fault } {
  const { delivery } = event;
  // A lease means that an attempt is in flight or about to be made.
  if (delivery?.leased) return { delivery: { ...delivery, state: "pending" } };
  const url = event.callbackUrl ?? merchant.webhooks[book.environment]?.url;
  if (url === undefined) return { objection: nowhere(event) };
  // What is left then is for the schedule's own attempts.
  if (delivery && delivery.attempts >= ATTEMPTS_KEPT_MAX - attemptOffsetsSeconds.length)
    return { objection: exhausted(event, delivery.attempts) };
  if (!delivery) return { delivery: newDelivery(set, event, url, now) };
  // An attempt ahead of its schedule is made by hand, and is none of the schedule's.
  const ahead = delivery.nextAttemptAt > now ? 1 : 0;
  const due =
    delivery.state === "pending"
      ? { ...delivery, url, nextAttemptAt: Math.min(delivery.nextAttemptAt, now), byHand: delivery.byHand + ahead }
      : { ...delivery, url, nextAttemptAt: now, state: "pending" as const, resendOf: delivery.state };
  set.update(resendables, { ...event, delivery: due });
  return { delivery: due };
}

/** Inserts the delivery of an event that had no address when it happened, unless a command of the same batch has inserted it. */
function newDelivery(set: WorkingSet, { book, eventId, callbackUrl }: Resendable, url: string, now: Micros): Delivery {
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

function exhausted({ eventId }: Resendable, attempts: number): Fault {
  const message = `This event has been tried ${attempts} times, and no more attempts are kept. Read it by its id instead.`;
  return validationFault("event_id", eventId, message);
}
