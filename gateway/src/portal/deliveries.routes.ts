// Portal endpoints for delivery attempts: the list across all events of a book, newest first, and one attempt in full.
import { type AttemptName, listedAttemptOfRow, selectAttempt, selectBookAttempts } from "../events/deliveries.sql.ts";
import { hiddenTypes, refuseUnlessShown } from "../events/event-rights.ts";
import { attemptOfRow } from "../events/events.sql.ts";
import { Fault } from "../ground/fault.ts";
import { reply } from "../ground/reply.ts";
import { limitOf, page, rangeBefore, rangeFrom, unknownCursor } from "../http/lists.ts";
import type { Book } from "../merchants/books.ts";
import type { Database } from "../store/database.ts";
import { readEvent } from "../webhooks/events.routes.ts";
import { attemptView } from "../webhooks/events.schema.ts";
import {
  attemptNamed,
  deliveryIdOf,
  deliveryListSchema,
  deliveryParams,
  deliveryQuery,
  listedView,
  wholeDeliverySchema,
} from "./deliveries.schema.ts";
import { type PortalEndpoint, memberEndpoint } from "./endpoint.ts";

const path = "/portal/v1/deliveries";
const tag = "Webhooks";
const noDelivery = (): Fault => new Fault("OBJECT_NOT_FOUND", { message: "No such delivery." });

export function deliveryEndpoints(database: Database): PortalEndpoint[] {
  const find = (book: Book, name: AttemptName) => database.first(selectAttempt(book, name), attemptOfRow);
  return [
    memberEndpoint({
      method: "GET",
      path,
      operationId: "listDeliveries",
      summary: "List attempts to deliver, of all events of the environment, newest first",
      tag,
      action: "webhooks:read",
      query: deliveryQuery,
      success: { description: "A page of attempts.", schema: deliveryListSchema },
      async handle({ book, principal, query }) {
        const { starting_after: cursor } = query;
        const after = cursor === undefined ? undefined : attemptNamed(cursor);
        if (cursor !== undefined && !(after && (await find(book, after)))) throw unknownCursor(cursor);
        const statement = selectBookAttempts({
          book,
          hidden: hiddenTypes(principal.scopes),
          failedOnly: query.outcome === "failed",
          startedFrom: rangeFrom("started_from", query.started_from),
          startedBefore: rangeBefore("started_to", query.started_to),
          after,
          limit: limitOf(query),
        });
        const rows = await database.query(statement);
        return page(rows.map(listedAttemptOfRow), query, listedView, deliveryIdOf);
      },
    }),
    memberEndpoint({
      method: "GET",
      path: `${path}/{id}`,
      operationId: "getDelivery",
      summary: "Read one attempt to deliver, with everything that was sent and answered",
      tag,
      action: "webhooks:read",
      params: deliveryParams,
      success: { description: "The attempt.", schema: wholeDeliverySchema },
      async handle({ book, principal, params }) {
        const name = attemptNamed(params.id ?? "");
        const attempt = name && (await find(book, name));
        const event = attempt && (await readEvent(database, book.merchantId, name.eventId));
        if (!event) throw noDelivery();
        refuseUnlessShown(principal.scopes, event.body);
        const { type } = JSON.parse(event.body) as { type: string };
        return reply(200, {
          id: deliveryIdOf(name),
          event_id: name.eventId,
          type,
          ...attemptView(attempt, attempt.url ?? event.delivery?.url ?? "", event.body),
        });
      },
    }),
  ];
}
