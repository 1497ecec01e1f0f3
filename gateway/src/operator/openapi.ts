// The contract of /ops/v1 as OpenAPI 3.1, generated from the same values that validate and route.
import { z } from "zod";
import type { FaultCode } from "../ground/fault.ts";
import {
  type Json,
  content,
  errorResponses,
  operationId,
  pathParameters,
  queryParameters,
  responseHeaders,
  schemaOf,
} from "../http/openapi.ts";
import { errorSchema } from "../http/shapes.ts";
import { type OperatorEndpoint, isChange } from "./endpoint.ts";

const generalCodes: FaultCode[] = [
  "UNAUTHORIZED",
  "RATE_LIMITED",
  "VALIDATION_ERROR",
  "SERVICE_UNAVAILABLE",
  "INTERNAL_ERROR",
];
const bodyCodes: FaultCode[] = ["MALFORMED_JSON", "PAYLOAD_TOO_LARGE"];

/** The document as committed in openapi/operator.json: two spaces, a newline at the end. */
export function operatorContract(endpoints: readonly OperatorEndpoint[], version: string): string {
  return `${JSON.stringify(operatorDocument(endpoints, version), null, 2)}\n`;
}

function operatorDocument(endpoints: readonly OperatorEndpoint[], version: string): Json {
  const paths: Record<string, Json> = {};
  for (const endpoint of endpoints) {
    paths[endpoint.path] = { ...paths[endpoint.path], [endpoint.method.toLowerCase()]: operationOf(endpoint) };
  }
  return {
    openapi: "3.1.1",
    info: {
      title: "Gerbang operator API",
      version,
      description:
        "For whoever runs the gateway: merchants, credentials, acquirers, routing rules, the audit. A viewer's token " +
        "reads, the operator's token changes things as well. Every change, a refused one too, is written into the audit.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/", description: "The address of the service; paths here are written in full." }],
    security: [{ operator: [] }],
    paths: Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1))),
    components: {
      securitySchemes: { operator: { type: "http", scheme: "bearer", description: "`Bearer <operator token>`" } },
      schemas: { Error: schemaOf(errorSchema) },
    },
  };
}

function operationOf(endpoint: OperatorEndpoint): Json {
  const { body, success } = endpoint;
  const codes = new Set([
    ...generalCodes,
    ...(endpoint.role === "admin" ? (["FORBIDDEN"] as const) : []),
    ...(body ? bodyCodes : []),
    ...endpoint.errors,
  ]);
  return {
    operationId: operationId(endpoint.method, endpoint.path),
    summary: endpoint.summary,
    tags: [endpoint.tag],
    description: `Role: \`${endpoint.role}\`.${isChange(endpoint) ? " Written into the audit." : ""}`,
    parameters: [...pathParameters(endpoint.path), ...queryParameters(endpoint.query)],
    ...(body
      ? {
          requestBody: {
            required: true,
            content: content(schemaOf(body instanceof z.ZodType ? body : body.schema, "input")),
          },
        }
      : {}),
    responses: {
      [success.status]: {
        description: success.description,
        headers: responseHeaders,
        content: content(schemaOf(success.schema), success.mediaType),
      },
      ...errorResponses([...codes]),
    },
  };
}
