// The merchant routes of events: they list events and attempts (section 6.6), and send events again (section 6.4).
import type { z } from "zod";
import type { EventType } from "../events/event.ts";
import { hiddenTypes, refuseUnlessShown } from "../events/event-rights.ts";
import {
  type Attempt,
  type StoredEvent,
  attemptOfRow,
  eventOfRow,
  selectAttempts,
  selectElsewhere,
  selectEvent,
  discards,
  selectEvents,
  selectLookedTo,
  selectSince,
} from "../events/events.sql.ts";
import type { Micros } from "../ground/clock.ts";
import { assert } from "../ground/fault.ts";
import { idOf, isId } from "../ground/ids.ts";
import { type Call, type Endpoint, answering, readEndpoint, writeEndpoint } from "../http/endpoint.ts";
import { type Reply, reply } from "../ground/reply.ts";
import { checkCursor, limitOf, page, rangeBefore, rangeFrom, unknownCursor } from "../http/lists.ts";
import { ofThisBook, readerOf } from "../http/one-object.ts";
import { nothing } from "../http/shapes.ts";
import type { Book } from "../merchants/books.ts";
import type { Database } from "../store/database.ts";
import {
  type ResendBody,
  attemptListSchema,
  attemptView,
  attemptsQuerySchema,
  eventListSchema,
  eventParams,
  eventSchema,
  eventView,
  eventsQuerySchema,
  resendExamples,
  resendRules,
  resentSchema,
} from "./events.schema.ts";
import { type Chosen, resendEvent, resendEvents } from "./resend.ts";

/** Most events that one call sends again. */
const RESEND_MAX = 1_000;

/** What the endpoints of one event have in common. */
const ofEvent = { params: eventParams, tag: "Events", errors: ["OBJECT_NOT_FOUND", "ENVIRONMENT_MISMATCH"] } as const;

export function eventEndpoints(database: Database): Endpoint[] {
  return [...readingEndpoints(database), resendEndpoint(database), bulkEndpoint(database)];
}

function readingEndpoints(database: Database): Endpoint[] {
  return [
    readEndpoint({
      operationId: "listEvents",
      path: "/v1/events",
      summary: "List events, newest first, with where their deliveries stand",
      description:
        "With `type`, or `delivery` as `delivered` or `none`, a page looks at ten thousand events at most, the newest that are left or those of the " +
        "time that is asked for: it may be short, or empty, and have more after it. Go on from `next_cursor` while `has_more` is true.",
      tag: "Events",
      scope: "events:read",
      success: { description: "A page of events.", schema: eventListSchema },
      query: eventsQuerySchema,
      handle: (call) => listEvents(database, call.book, call.query, hiddenTypes(call.principal.scopes)),
    }),
    readEndpoint({
      operationId: "getEvent",
      path: "/v1/events/{id}",
      summary: "Read an event",
      ...ofEvent,
      scope: "events:read",
      success: { description: "The event.", schema: eventSchema },
      handle: async (call) => reply(200, eventView(await findEvent(database, call))),
    }),
    readEndpoint({
      operationId: "listEventDeliveries",
      path: "/v1/events/{id}/deliveries",
      summary: "List the attempts to deliver an event, newest first, each as it went",
      ...ofEvent,
      scope: "events:read",
      success: { description: "A page of attempts.", schema: attemptListSchema },
      query: attemptsQuerySchema,
      handle: async (call) => listAttempts(database, await findEvent(database, call), call.query),
    }),
  ];
}

function resendEndpoint(database: Database): Endpoint {
  return writeEndpoint<{ event?: StoredEvent | undefined }>({
    operationId: "resendEvent",
    path: "/v1/events/{id}/resend",
    summary: "Try an event once more, now, at the address where it belongs today",
    description:
      "Without a registered webhook address, or a `callback_url` of its payment, it has nowhere to go: OBJECT_NOT_FOUND. What `gerbang listen` was handed is not " +
      "sent again by this.",
    ...ofEvent,
    scope: "events:write",
    success: { description: "The event; its delivery is due.", schema: eventSchema },
    body: { schema: nothing, order: [] },
    async judge(call, _input, found) {
      if ("fault" in found) throw found.fault;
      const event = await readEvent(database, call.merchant.merchantId, call.params.id);
      // The answer contains the event, so the credential must have the scope to read it.
      if (event) refuseUnlessShown(call.principal.scopes, event.body);
      return { event };
    },
    command(call, { event }) {
      return answering(resendEvent(call, event), (sent) => reply(200, eventView(sent)));
    },
  });
}

function bulkEndpoint(database: Database): Endpoint {
  return writeEndpoint<ResendBody & { choice?: Choice }>({
    operationId: "resendEvents",
    path: "/v1/events/resend",
    summary: "Try several events once more",
    description:
      "Those that `event_ids` names, all or none; or those since a moment, oldest first, at most 1,000 in one call. Name either, never both.",
    tag: "Events",
    scope: "events:write",
    errors: ["OBJECT_NOT_FOUND", "ENVIRONMENT_MISMATCH"],
    success: { description: "How many are due now.", schema: resentSchema },
    body: resendRules,
    bodyExamples: resendExamples,
    async judge(call, _input, found) {
      if ("fault" in found) throw found.fault;
      return { ...found.value, choice: await selectEventsToResend(database, call.book, found.value) };
    },
    command(call, { choice }) {
      assert(choice, "a body that was judged has its events chosen");
      return answering(resendEvents(call, choice.chosen), (resent) => resentReply(resent, choice));
    },
  });
}

interface Choice {
  chosen: Chosen;
  /** Cursor of the next call; null when no event is left. */
  next: string | null;
}

export function resentReply(resent: number, { next }: Choice): Reply {
  return reply(200, { resent, has_more: next !== null, next_cursor: next });
}

/** Selects the events of a body before the command is queued; the command reads them again. */
export async function selectEventsToResend(database: Database, book: Book, body: ResendBody): Promise<Choice> {
  if (body.event_ids) {
    const eventIds = [...new Set(body.event_ids)];
    const rows = await database.query(
      selectElsewhere(
        book,
        eventIds.filter((id) => isId("event", id)),
      ),
    );
    const elsewhere = new Set(rows.map((row) => idOf("event", row.event_id as string)));
    return { chosen: { eventIds, elsewhere }, next: null };
  }
  const { state = "undelivered", starting_after: after } = body;
  const from = rangeFrom("since", body.since) as Micros;
  await checkCursor(book, after, (id) => readEvent(database, book.merchantId, id));
  const rows = await database.query(selectSince({ book, from, state, after, limit: RESEND_MAX }));
  const found = rows.slice(0, RESEND_MAX).map((row) => idOf("event", row.event_id as string));
  return { chosen: { found, state }, next: rows.length > RESEND_MAX ? (found.at(-1) ?? null) : null };
}

/** Reads an event of the merchant from either environment. Gives undefined when there is none. */
export const readEvent = readerOf("event", selectEvent, eventOfRow);

async function findEvent(database: Database, call: Call): Promise<StoredEvent> {
  const found = await readEvent(database, call.merchant.merchantId, call.params.id);
  const event = ofThisBook(call.book, found, "OBJECT_NOT_FOUND", "No such event.");
  refuseUnlessShown(call.principal.scopes, event.body);
  return event;
}

/** Gives a page of a book's events, without the `hidden` types. `query` has passed `eventsQuerySchema`. */
export async function listEvents(
  database: Database,
  book: Book,
  query: z.infer<typeof eventsQuerySchema>,
  hidden: readonly EventType[] = [],
): Promise<Reply> {
  const { type, delivery, starting_after: after } = query;
  const createdFrom = rangeFrom("created_from", query.created_from);
  const createdBefore = rangeBefore("created_to", query.created_to);
  await checkCursor(book, after, (id) => readEvent(database, book.merchantId, id));
  const limit = limitOf(query);
  const filter = { book, type, hidden, delivery, createdFrom, createdBefore, after, limit };
  const rows = await database.query(selectEvents(filter));
  const isSearched = rows.length <= limit && discards(filter);
  const [stopped] = isSearched ? await database.query(selectLookedTo(filter)) : [];
  const stoppedAt = stopped && idOf("event", stopped.event_id as string);
  return page(rows.map(eventOfRow), query, eventView, ({ eventId }) => eventId, stoppedAt);
}

/** Gives a page of an event's attempts. `query` has passed `attemptsQuerySchema`. */
export async function listAttempts(
  database: Database,
  event: StoredEvent,
  query: z.infer<typeof attemptsQuerySchema>,
): Promise<Reply> {
  const { delivery } = event;
  const after = query.starting_after === undefined ? undefined : Number(query.starting_after);
  // Attempts are numbered from 1 without gaps, so a cursor up to their number exists.
  if (after !== undefined && after > (delivery?.attempts ?? 0)) throw unknownCursor(String(after));
  const rows = await database.query(selectAttempts(event, after, limitOf(query)));
  const view = (attempt: Attempt): unknown => attemptView(attempt, attempt.url ?? delivery?.url ?? "", event.body);
  return page(rows.map(attemptOfRow), query, view, ({ attempt }) => String(attempt));
}
