// The request log as pages read it: lists, one request with its bodies, and what was left out.
import { wireTime } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import { reply } from "../ground/reply.ts";
import { type Diagnosis, explanations } from "../diagnostics/diagnoses.ts";
import { isOfMessages, messageExplanation } from "../diagnostics/message-diagnoses.ts";
import { page, rangeBefore, rangeFrom } from "../http/lists.ts";
import { KEPT_DAYS, KEPT_ROWS } from "../requests/request-log.sql.ts";
import type { KeptBody } from "../requests/request-record.ts";
import {
  type LoggedRequest,
  requestOfRow,
  selectGaps,
  selectRequest,
  selectRequests,
  wholeRequestOfRow,
} from "../requests/requests.sql.ts";
import type { Database } from "../store/database.ts";
import { type PortalEndpoint, memberEndpoint } from "./endpoint.ts";
import {
  loggedRequestListSchema,
  requestLogSchema,
  requestParams,
  requestsQuery,
  wholeRequestSchema,
} from "./requests.schema.ts";

export interface RequestEndpointParts {
  database: Database;
  /** Whether this service keeps a request log. */
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
      success: { status: 200, description: "A page of requests.", schema: loggedRequestListSchema },
      errors: [],
      async handle({ book, query }) {
        const limit = Number(query.limit ?? 25);
        const rows = await database.query(
          selectRequests({
            book,
            outcome: query.outcome,
            method: query.method,
            path: query.path,
            status: query.status === undefined ? undefined : Number(query.status),
            code: query.error_code,
            clientId: query.client_id,
            idempotencyKey: query.idempotency_key,
            createdFrom: rangeFrom("created_from", query.created_from),
            createdBefore: rangeBefore("created_to", query.created_to),
            after: query.starting_after,
            limit,
          }),
        );
        return page(rows.map(requestOfRow), limit, requestView, ({ requestId }) => requestId);
      },
    }),
    memberEndpoint({
      method: "GET",
      path: "/portal/v1/requests/{request_id}",
      operationId: "getRequest",
      summary: "Read one request with its bodies",
      tag,
      action: "requests:read",
      params: requestParams,
      success: { status: 200, description: "The request.", schema: wholeRequestSchema },
      errors: ["OBJECT_NOT_FOUND"],
      async handle({ book, params: { request_id: id = "" } }) {
        const [row] = isId("request", id) ? await database.query(selectRequest(book, id)) : [];
        if (!row) throw new Fault("OBJECT_NOT_FOUND", { message: "No request with this identity is in the log." });
        const whole = wholeRequestOfRow(row);
        return reply(200, {
          ...requestView(whole),
          request: bodyView(whole.request),
          response: bodyView(whole.response),
        });
      },
    }),
    memberEndpoint({
      method: "GET",
      path: "/portal/v1/request-log",
      operationId: "getRequestLog",
      summary: "Read what is logged, for how long, and what was left out",
      tag,
      action: "requests:read",
      success: { status: 200, description: "The state of the log.", schema: requestLogSchema },
      errors: [],
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

export function requestView(request: LoggedRequest) {
  return {
    request_id: request.requestId,
    at: wireTime(request.at),
    method: request.method,
    path: request.path,
    query: request.query ?? null,
    status: request.status,
    error_code: request.code ?? null,
    duration_ms: Math.round(request.tookUs / 100) / 10,
    client_id: request.clientId,
    proven: request.isProven,
    idempotency_key: request.idempotencyKey ?? null,
    replayed: request.replayed,
    diagnosis: request.diagnosis ? diagnosisView(request.diagnosis) : null,
  };
}

function diagnosisView({ name, subject, base }: NonNullable<LoggedRequest["diagnosis"]>) {
  return {
    diagnosis: name,
    explanation: isOfMessages(name) ? messageExplanation(name, subject ?? "") : explanations[name as Diagnosis],
    subject: subject ?? null,
    signature_base: base ?? null,
  };
}

export function bodyView({ size, text, omitted }: KeptBody) {
  return { bytes: size, text: text ?? null, omitted: omitted ?? null };
}
