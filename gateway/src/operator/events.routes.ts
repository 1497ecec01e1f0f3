// Endpoints of a merchant's events and their deliveries for operators, and sending an event again.
import { reply } from "../ground/reply.ts";
import type { Directory } from "../merchants/directory.ts";
import type { Database } from "../store/database.ts";
import type { Lanes } from "../store/lanes.ts";
import { listAttempts, listEvents, readEvent } from "../webhooks/events.routes.ts";
import {
  attemptListSchema,
  attemptsQuerySchema,
  eventListSchema,
  eventParams,
  eventSchema,
  eventView,
  eventsQuerySchema,
} from "../webhooks/events.schema.ts";
import { noSuchEvent, resendEvent } from "../webhooks/resend.ts";
import { OF_BOOK, findBook } from "./books.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import { bookParams } from "./params.ts";

export interface OperatorEventParts {
  database: Database;
  directory: Directory;
  lanes: Lanes;
}

export function operatorEventEndpoints({ database, directory, lanes }: OperatorEventParts): OperatorEndpoint[] {
  const errors = ["OBJECT_NOT_FOUND"] as const;
  const shared = { params: { ...bookParams, event_id: eventParams.id }, tag: "Events", errors } as const;
  const find = async (params: Readonly<Record<string, string>>) => {
    const { book, merchant } = await findBook(directory, params);
    const event = await readEvent(database, book.merchantId, params.event_id ?? "");
    if (event?.book.environment !== book.environment) throw noSuchEvent();
    return { book, merchant, event };
  };
  return [
    operatorEndpoint({
      method: "GET",
      operationId: "listMerchantEvents",
      path: `${OF_BOOK}/events`,
      params: bookParams,
      summary: "List a merchant's events, newest first, with where their deliveries stand",
      tag: "Events",
      role: "viewer",
      query: eventsQuerySchema,
      success: { description: "A page of events.", schema: eventListSchema },
      errors,
      handle: async ({ params, query }) => listEvents(database, (await findBook(directory, params)).book, query),
    }),
    operatorEndpoint({
      ...shared,
      method: "GET",
      operationId: "getMerchantEvent",
      path: `${OF_BOOK}/events/{event_id}`,
      summary: "Read a merchant's event",
      role: "viewer",
      success: { description: "The event.", schema: eventSchema },
      handle: async ({ params }) => reply(200, eventView((await find(params)).event)),
    }),
    operatorEndpoint({
      ...shared,
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
      ...shared,
      method: "POST",
      operationId: "resendMerchantEvent",
      path: `${OF_BOOK}/events/{event_id}/resend`,
      summary: "Try a merchant's event once more, now, at the address where it belongs today",
      role: "support",
      success: { description: "The event; its delivery is due.", schema: eventSchema },
      async handle({ params }) {
        const { book, merchant, event } = await find(params);
        const command = resendEvent({ merchant, book }, event);
        return reply(200, eventView(await lanes.move(book.merchantId, command)));
      },
    }),
  ];
}
