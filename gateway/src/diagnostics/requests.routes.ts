// The routes of a sandbox's request log for the merchant's developers: requests, their answers, and why a signature was refused.
import { reply } from "../ground/reply.ts";
import { type Endpoint, ofSandbox, readEndpoint } from "../http/endpoint.ts";
import type { Database } from "../store/database.ts";
import { listRequests, readRequest } from "./request-view.ts";
import { loggedRequestListSchema, requestParams, requestsQuery, wholeRequestSchema } from "./requests.schema.ts";

const path = "/v1/sandbox/requests";
const shared = { ...ofSandbox, forCredentialsOnly: true } as const;

/** The endpoints of the request log. The portal shows the same log, also that of production. */
export function loggedRequestEndpoints(database: Database): Endpoint[] {
  return [
    readEndpoint({
      ...shared,
      operationId: "listSandboxRequests",
      path,
      summary: "List the requests to your sandbox, newest first",
      description: "They are kept for seven days, the newest 10,000 of them. Reading this list is not in it.",
      query: requestsQuery,
      success: { description: "A page of requests.", schema: loggedRequestListSchema },
      handle: ({ book, query }) => listRequests(database, book, query),
    }),
    readEndpoint({
      ...shared,
      operationId: "getSandboxRequest",
      path: `${path}/{request_id}`,
      summary: "Read one request to your sandbox with its bodies",
      params: requestParams,
      errors: ["OBJECT_NOT_FOUND"],
      success: { description: "The request.", schema: wholeRequestSchema },
      handle: async ({ principal, params }) => reply(200, await readRequest(database, principal, params.request_id)),
    }),
  ];
}
