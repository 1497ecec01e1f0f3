// The contract of /v1 as OpenAPI 3.1, generated from the same values that validate and route.
import { z } from "zod";
import { Fault, type FaultCode } from "../ground/fault.ts";
import { type Endpoint, methodOf } from "./endpoint.ts";
import { allOptional } from "./fields.ts";
import { errorSchema, timestamp } from "./shapes.ts";

export type Json = Record<string, unknown>;

export interface DocumentParts {
  version: string;
  endpoints: readonly Endpoint[];
  health: z.ZodType;
  /** Data of each event type that can be sent. */
  events: Readonly<Record<string, z.ZodType>>;
  headerPrefix: string;
}

const authenticationCodes: FaultCode[] = [
  "UNAUTHORIZED",
  "CLIENT_NOT_FOUND",
  "SIGNATURE_MISSING",
  "SIGNATURE_INVALID",
  "TIMESTAMP_OUT_OF_WINDOW",
  "SIGNATURE_REPLAYED",
  "FORBIDDEN",
  "MERCHANT_SUSPENDED",
  "RATE_LIMITED",
  "SERVICE_UNAVAILABLE",
  "INTERNAL_ERROR",
];

const writeCodes: FaultCode[] = [
  "MALFORMED_JSON",
  "PAYLOAD_TOO_LARGE",
  "VALIDATION_ERROR",
  "IDEMPOTENCY_KEY_REQUIRED",
  "IDEMPOTENCY_KEY_INVALID",
  "IDEMPOTENCY_CONFLICT",
  "IDEMPOTENCY_IN_PROGRESS",
];

export function schemaOf(schema: z.ZodType, io: "input" | "output" = "output"): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    target: "draft-2020-12",
    unrepresentable: "any",
    io,
  }) as Json;
  return rest;
}

/** The whole document, as a value. */
export function merchantDocument(parts: DocumentParts): Json {
  const paths: Record<string, Json> = {};
  for (const endpoint of parts.endpoints) {
    const method = methodOf(endpoint).toLowerCase();
    paths[endpoint.path] = { ...paths[endpoint.path], [method]: operationOf(endpoint) };
  }
  paths["/v1/health"] = {
    get: {
      operationId: "getHealth",
      summary: "Service health; the only call without authentication",
      tags: ["Health"],
      security: [],
      responses: {
        200: { description: "All is well.", headers: responseHeaders, content: content(schemaOf(parts.health)) },
        503: {
          description: "The same object, beside the error.",
          headers: responseHeaders,
          content: content({ type: "object" }),
        },
      },
    },
  };
  return {
    openapi: "3.1.1",
    info: {
      title: "Gerbang merchant API",
      version: parts.version,
      description:
        "Payments through several acquirers, recorded in a double-entry ledger. Amounts are integers in minor units. " +
        "Every request but health is signed: HMAC-SHA256 over timestamp + '.' + the exact body, lower-case hex.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/", description: "The base address ends in /v1; paths here are written in full." }],
    security: [{ client: [], timestamp: [], signature: [] }],
    paths: Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1))),
    webhooks: webhooksOf(parts),
    components: {
      securitySchemes: {
        client: { type: "http", scheme: "bearer", description: "`Bearer <client_id>`" },
        timestamp: { type: "apiKey", in: "header", name: "X-Timestamp", description: "Unix seconds, at most 300 off." },
        signature: { type: "apiKey", in: "header", name: "X-Signature", description: "Hex HMAC-SHA256; used once." },
      },
      schemas: { Error: schemaOf(errorSchema) },
    },
  };
}

export function content(schema: Json, mediaType = "application/json"): Json {
  return { [mediaType]: { schema } };
}

const integerHeader = (description: string): Json => ({ description, schema: { type: "integer" } });
export const responseHeaders: Json = {
  "X-Request-Id": { description: "Identity of this request.", schema: { type: "string" } },
  "X-RateLimit-Limit": integerHeader("Requests allowed in the window."),
  "X-RateLimit-Remaining": integerHeader("Requests left in it."),
  "X-RateLimit-Reset": integerHeader("Unix time at which it ends."),
};

function operationOf(endpoint: Endpoint): Json {
  const write = endpoint.kind === "write";
  const codes = [...new Set([...authenticationCodes, ...(write ? writeCodes : []), ...endpoint.errors])];
  const success = {
    description: endpoint.success.description,
    content: content(schemaOf(endpoint.success.schema), endpoint.success.mediaType),
  };
  return {
    operationId: operationId(methodOf(endpoint), endpoint.path),
    summary: endpoint.summary,
    tags: [endpoint.tag],
    description: `Scope: \`${endpoint.scope}\`.${endpoint.sandboxOnly ? " Sandbox keys only." : ""}`,
    parameters: [
      ...pathParameters(endpoint.path),
      ...(endpoint.kind === "write" ? [keyParameter] : queryParameters(endpoint.query)),
    ],
    ...(endpoint.kind === "write"
      ? {
          requestBody: {
            required: !allOptional(endpoint.body),
            content: content(schemaOf(endpoint.body.schema, "input")),
          },
        }
      : {}),
    responses: {
      [endpoint.success.status]: { ...success, headers: responseHeaders },
      ...(write && endpoint.success.status !== 200
        ? {
            200: {
              ...success,
              description: "A replay of the stored answer (`X-Idempotent-Replay: true`).",
              headers: responseHeaders,
            },
          }
        : {}),
      ...errorResponses(codes),
    },
  };
}

const keyParameter: Json = {
  name: "Idempotency-Key",
  in: "header",
  required: true,
  description: "One key for one intent, the same on each retry; kept for 72 hours.",
  schema: { type: "string", minLength: 8, maxLength: 255 },
};

/** One name for a method and a path, like `postPaymentsOneCancel`. */
export function operationId(method: string, path: string): string {
  const words = path.replace(/^\/(ops\/)?v1\//, "").split("/");
  const name = words.map((word) => (word.startsWith("{") ? "one" : word).replaceAll(/[^a-z]/g, ""));
  return [method.toLowerCase(), ...name.map((word) => word.charAt(0).toUpperCase() + word.slice(1))].join("");
}

export function pathParameters(path: string): Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
}

export function queryParameters(query: z.ZodType | undefined): Json[] {
  if (!query) return [];
  const { properties = {} } = schemaOf(query, "input") as { properties?: Record<string, Json> };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    required: false,
    ...(description === undefined ? {} : { description }),
    schema,
  }));
}

export function errorResponses(codes: readonly FaultCode[]): Json {
  const byStatus = new Map<number, FaultCode[]>();
  for (const code of codes) {
    const { status } = new Fault(code);
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, named]) => [
      status,
      {
        description: named.map((code) => `\`${code}\``).join(", "),
        headers: {
          ...responseHeaders,
          ...(status === 429 || status === 503 ? { "Retry-After": integerHeader("Seconds to wait.") } : {}),
        },
        content: content({ $ref: "#/components/schemas/Error" }),
      },
    ]),
  );
}

function webhooksOf({ events, headerPrefix }: DocumentParts): Json {
  const header = (name: string, description: string): Json => ({
    name: headerPrefix + name,
    in: "header",
    required: true,
    description,
    schema: { type: "string" },
  });
  const parameters = [
    header("Event-Id", "The same on every retry: deduplicate on it."),
    header("Event-Type", "Equal to `type` in the body."),
    header("Timestamp", "Unix seconds when this attempt was formed."),
    header("Signature", "Hex HMAC-SHA256 with the webhook secret over timestamp + '.' + raw body."),
    header("Delivery-Attempt", "1 for the first attempt."),
  ];
  return Object.fromEntries(
    Object.entries(events).map(([type, data]) => [
      type,
      {
        post: {
          operationId: `on_${type.replace(".", "_")}`,
          summary: `Sent for ${type}`,
          parameters,
          requestBody: {
            required: true,
            content: content(
              schemaOf(
                z.strictObject({
                  id: z.string(),
                  type: z.literal(type),
                  created_at: timestamp,
                  environment: z.enum(["sandbox", "production"]),
                  api_version: z.literal("v1"),
                  data,
                }),
              ),
            ),
          },
          responses: { "2XX": { description: "Taken. Anything else is retried, eight attempts in twelve hours." } },
        },
      },
    ]),
  );
}
