// Portal endpoints for the request log: the list, one request with its bodies, and the number of requests that were not logged.
import { listRequests, readRequest } from "../diagnostics/request-view.ts";
import {
  loggedRequestListSchema,
  requestLogSchema,
  requestParams,
  requestsQuery,
  wholeRequestSchema,
} from "../diagnostics/requests.schema.ts";
import { reply } from "../ground/reply.ts";
import { KEPT_DAYS, KEPT_ROWS } from "../requests/request-log.sql.ts";
import { selectGaps } from "../requests/requests.sql.ts";
import type { Database } from "../store/database.ts";
import { type PortalEndpoint, memberEndpoint } from "./endpoint.ts";

interface RequestEndpointParts {
  database: Database;
  /** True when this service keeps a request log. */
  requestLog: boolean;
}

const tag = "Requests";
const GAPS_HOURS = 24;

export function requestEndpoints({ database, requestLog }: RequestEndpointParts): PortalEndpoint[] {
  return [
    memberEndpoint({
      method: "GET",
      path: "/portal/v1/requests",
      operationId: "listRequests",
      summary: "List the requests of the merchant's systems, newest first",
      description: "Every one of the sandbox, and refused ones of production, as far as there was room.",
      tag,
      action: "requests:read",
      query: requestsQuery,
      success: { description: "A page of requests.", schema: loggedRequestListSchema },
      handle: ({ book, query }) => listRequests(database, book, query),
    }),
    memberEndpoint({
      method: "GET",
      path: "/portal/v1/requests/{request_id}",
      operationId: "getRequest",
      summary: "Read one request with its bodies",
      tag,
      action: "requests:read",
      params: requestParams,
      success: { description: "The request.", schema: wholeRequestSchema },
      handle: async ({ principal, params }) => reply(200, await readRequest(database, principal, params.request_id)),
    }),
    memberEndpoint({
      method: "GET",
      path: "/portal/v1/request-log",
      operationId: "getRequestLog",
      summary: "Read what is logged, for how long, and what was left out",
      tag,
      action: "requests:read",
      success: { description: "The state of the log.", schema: requestLogSchema },
      async handle({ book }) {
        const [gaps] = await database.query<{ dropped: number; unproven: number }>(selectGaps(book, GAPS_HOURS));
        return reply(200, {
          enabled: requestLog,
          logged: book.environment === "sandbox" ? "all" : "refused",
          kept_days: KEPT_DAYS,
          kept_requests: KEPT_ROWS,
          not_logged: gaps?.dropped ?? 0,
          not_logged_unproven: gaps?.unproven ?? 0,
        });
      },
    }),
  ];
}
