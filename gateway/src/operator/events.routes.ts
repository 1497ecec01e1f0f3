// Endpoints of a merchant's events and their deliveries for operators, and sending an event again.
import { reply } from "../ground/reply.ts";
import type { Directory } from "../merchants/directory.ts";
import type { Database } from "../store/database.ts";
import type { Lanes } from "../store/lanes.ts";
import { listAttempts, listEvents, readEvent, resentReply, selectEventsToResend } from "../webhooks/events.routes.ts";
import {
  attemptListSchema,
  attemptsQuerySchema,
  eventListSchema,
  eventParams,
  eventSchema,
  eventView,
  eventsQuerySchema,
  resendExamples,
  resendRules,
  resentSchema,
} from "../webhooks/events.schema.ts";
import { noSuchEvent, resendEvent, resendEvents } from "../webhooks/resend.ts";
import { OF_BOOK, findBook } from "./books.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import { bookParams } from "./params.ts";

interface OperatorEventParts {
  database: Database;
  directory: Directory;
  lanes: Lanes;
}

export function operatorEventEndpoints({ database, directory, lanes }: OperatorEventParts): OperatorEndpoint[] {
  const ofBook = { params: bookParams, tag: "Events", errors: ["OBJECT_NOT_FOUND"] } as const;
  const ofEvent = { ...ofBook, params: { ...bookParams, event_id: eventParams.id } } as const;
  const find = async (params: Readonly<Record<string, string>>) => {
    const { book, merchant } = await findBook(directory, params);
    const event = await readEvent(database, book.merchantId, params.event_id);
    if (event?.book.environment !== book.environment) throw noSuchEvent();
    return { book, merchant, event };
  };
  return [
    operatorEndpoint({
      ...ofBook,
      method: "GET",
      operationId: "listMerchantEvents",
      path: `${OF_BOOK}/events`,
      summary: "List a merchant's events, newest first, with where their deliveries stand",
      role: "viewer",
      query: eventsQuerySchema,
      success: { description: "A page of events.", schema: eventListSchema },
      handle: async ({ params, query }) => listEvents(database, (await findBook(directory, params)).book, query),
    }),
    operatorEndpoint({
      ...ofEvent,
      method: "GET",
      operationId: "getMerchantEvent",
      path: `${OF_BOOK}/events/{event_id}`,
      summary: "Read a merchant's event",
      role: "viewer",
      success: { description: "The event.", schema: eventSchema },
      handle: async ({ params }) => reply(200, eventView((await find(params)).event)),
    }),
    operatorEndpoint({
      ...ofEvent,
      method: "GET",
      operationId: "listMerchantEventDeliveries",
      path: `${OF_BOOK}/events/{event_id}/deliveries`,
      summary: "List the attempts to deliver a merchant's event, newest first, each as it went",
      role: "viewer",
      query: attemptsQuerySchema,
      success: { description: "A page of attempts.", schema: attemptListSchema },
      handle: async ({ params, query }) => listAttempts(database, (await find(params)).event, query),
    }),
    operatorEndpoint({
      ...ofEvent,
      method: "POST",
      operationId: "resendMerchantEvent",
      path: `${OF_BOOK}/events/{event_id}/resend`,
      summary: "Try a merchant's event once more, now, at the address where it belongs today",
      role: "support",
      success: { description: "The event; its delivery is due.", schema: eventSchema },
      async handle({ params }) {
        const { book, merchant, event } = await find(params);
        return reply(200, eventView(await lanes.move(book.merchantId, resendEvent({ merchant, book }, event))));
      },
    }),
    operatorEndpoint({
      ...ofBook,
      method: "POST",
      operationId: "resendMerchantEvents",
      path: `${OF_BOOK}/events/resend`,
      summary: "Try several events of a merchant once more, such as all that were given up while its receiver failed",
      description: "As `POST /v1/events/resend` of the merchant's own: at most 1,000 in one call, oldest first.",
      role: "support",
      body: resendRules,
      bodyExamples: resendExamples,
      success: { description: "How many are due now.", schema: resentSchema },
      errors: ["OBJECT_NOT_FOUND", "ENVIRONMENT_MISMATCH"],
      async handle({ params, body }) {
        const { book, merchant } = await findBook(directory, params);
        const choice = await selectEventsToResend(database, book, body);
        return resentReply(await lanes.move(book.merchantId, resendEvents({ merchant, book }, choice.chosen)), choice);
      },
    }),
  ];
}
