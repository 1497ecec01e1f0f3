// The OpenAPI document of /v1: the merchants' endpoints, health and the webhooks.
import type { z } from "zod";
import type { FaultCode } from "../ground/fault.ts";
import { type Endpoint, methodOf } from "./endpoint.ts";
import { exampleClientId, exampleIds, exampleSignature } from "./examples.ts";
import { allOptional } from "./fields.ts";
import type { Json } from "./json-schema.ts";
import { Document, type Operation, type Success, sharedErrors } from "./openapi.ts";

/** The description of the webhook of an event type. */
interface WebhookShape {
  type: string;
  summary: string;
  tag: string;
  schema: z.ZodType;
  example: unknown;
}

interface MerchantDocumentParts {
  version: string;
  endpoints: readonly Endpoint[];
  health: { well: z.ZodType; unwell: z.ZodType };
  webhooks: readonly WebhookShape[];
  /** Prefix of the service's own webhook headers. */
  headerPrefix: string;
}

const generalCodes: FaultCode[] = [
  "MALFORMED_REQUEST",
  ...sharedErrors.NotAuthenticated,
  ...sharedErrors.NotAllowed,
  "RATE_LIMITED",
  "VALIDATION_ERROR", // every call refuses a query parameter that it does not name
  "INTERNAL_ERROR",
  "SERVICE_UNAVAILABLE",
];

export const keyCodes: FaultCode[] = ["IDEMPOTENCY_KEY_REQUIRED", "IDEMPOTENCY_KEY_INVALID", ...sharedErrors.KeyTaken];
const writeCodes: FaultCode[] = ["MALFORMED_JSON", "PAYLOAD_TOO_LARGE", ...keyCodes];

/** Tags of the merchants' endpoints, each with its description. */
export const merchantTags = [
  ["Payments", "Take money: create a payment, hand its instructions to the payer, read what came of it, cancel it."],
  ["Payment links", "Addresses where whoever has one pays you, once or again and again: no code of yours is needed."],
  ["Refunds", "Give money back, all of a payment or part of it."],
  ["Balances", "What is yours in each currency, and the journal entries behind each figure."],
  ["Settlements", "Batches in which your money is paid out, and their statements."],
  ["Disputes", "Payments that a payer contests. Evidence is submitted through the portal."],
  ["Events", "What was sent to your webhook receiver, how each attempt went, and sending it again."],
  [
    "Sandbox",
    "What only a sandbox key can do: play the acquirer, the bank and the payer, move the clock, test a receiver.",
  ],
  ["Health", "Whether the service works. The only call without a signature."],
].map(([name, description]) => ({ name, description }));

const description = `Payments through several acquirers, recorded in a double-entry ledger.

**Amounts** are integers in minor units: \`150000\` IDR is Rp 1,500.00. **Times** are UTC, in whole seconds.

**Signing.** Every request but health carries \`Authorization: Bearer <client_id>\`, \`X-Timestamp\` (Unix seconds) and \`X-Signature\`: the
lower-case hex HMAC-SHA256, by your secret, of the timestamp, a full stop and the exact bytes of the body (none for a GET). A signature is
good once, within 300 seconds. HTTP Message Signatures (RFC 9421, HMAC-SHA256) are taken as well.

**Idempotency.** Every write carries an \`Idempotency-Key\`: one for one intent, the same on each retry. A repeated request gets the
stored answer with \`X-Idempotent-Replay: true\`: a success with 200, a refusal with its own status.

**Errors.** Every call may also be answered 408 or 431 with \`MALFORMED_REQUEST\`: it did not arrive in time, or its headers are too large;
and 413 with \`PAYLOAD_TOO_LARGE\`, a read too: its body has more than 262,144 bytes.
A path that is not here is answered 404 with \`ROUTE_NOT_FOUND\`, another method 405 with \`METHOD_NOT_ALLOWED\` and the header \`Allow\`.

**Growth.** Answers and events may gain fields, and lists of values may gain members: ignore what you do not know. Requests may not carry
fields that are not listed here; an optional field that is \`null\` counts as left out.`;

export const idempotencyKey: Json = {
  name: "Idempotency-Key",
  in: "header",
  required: true,
  description: "One key for one intent, the same on each retry; kept for 72 hours.",
  schema: {
    type: "string",
    minLength: 8,
    maxLength: 255,
    pattern: "^[\\u0000-\\u007f]+$",
    examples: ["order-1042-pay"],
  },
};

const inHeader = (name: string, described: string): Json => ({
  type: "apiKey",
  in: "header",
  name,
  description: described,
});

const securitySchemes: Json = {
  client: {
    type: "http",
    scheme: "bearer",
    description: `\`Bearer <client_id>\`, such as \`Bearer ${exampleClientId}\`.`,
  },
  timestamp: inHeader("X-Timestamp", "Unix seconds, at most 300 from our clock."),
  signature: inHeader(
    "X-Signature",
    "Lower-case hex HMAC-SHA256 of timestamp + '.' + body, by your secret. Good once.",
  ),
  contentDigest: inHeader(
    "Content-Digest",
    "With RFC 9421: `sha-256` or `sha-512` of the body, of the empty body too.",
  ),
  signatureInput: inHeader("Signature-Input", "With RFC 9421: the components and parameters of the signature."),
  messageSignature: inHeader(
    "Signature",
    "With RFC 9421, in place of X-Timestamp and X-Signature: HMAC-SHA256 in base64.",
  ),
};

export function merchantDocument(parts: MerchantDocumentParts): Json {
  const document = new Document();
  document.details.FORBIDDEN = { scope: "payments:write" };
  for (const endpoint of parts.endpoints) document.add(merchantOperation(document, endpoint, generalCodes));
  document.addOperation("/v1/health", "get", healthOperation(document, parts));
  return document.toJson(
    {
      info: {
        title: "Gerbang merchant API",
        version: parts.version,
        description,
      },
      servers: [{ url: "/", description: "The base address ends in /v1; paths here are written in full." }],
      tags: merchantTags,
      security: [
        { client: [], timestamp: [], signature: [] },
        { client: [], contentDigest: [], signatureInput: [], messageSignature: [] },
      ],
    },
    { webhooks: webhooksOf(document, parts) },
    securitySchemes,
  );
}

/** Makes an operation from a merchant's endpoint. `general` are the codes that every call of this API may answer. */
export function merchantOperation(document: Document, endpoint: Endpoint, general: readonly FaultCode[]): Operation {
  const { scope, sandboxOnly, success } = endpoint;
  const rights = `Scope: \`${scope}\`.${sandboxOnly ? " Sandbox keys only." : ""}`;
  const common = {
    ...endpoint,
    method: methodOf(endpoint),
    description: endpoint.description === undefined ? rights : `${endpoint.description}\n\n${rights}`,
    errors: [
      ...general,
      ...(sandboxOnly ? (["ENVIRONMENT_MISMATCH"] as const) : []),
      ...(endpoint.kind === "write" ? writeCodes : []),
      ...(endpoint.errors ?? []),
    ],
  };
  if (endpoint.kind === "read") return { ...common, query: endpoint.query, body: undefined };
  return {
    ...common,
    body: {
      schema: endpoint.body.schema,
      examples: endpoint.bodyExamples,
      isRequired: !allOptional(endpoint.body),
      nullIsAbsent: true,
    },
    headers: { IdempotencyKey: idempotencyKey },
    replies: replayReplies(document, success),
  };
}

/**
 * The answer for a replay. It is documented as the range 2XX where the success is not 200, because tools take the lowest status for the
 * usual answer, and a creation answers 201. Where the success is 200, a replay differs by its header only, which stands with that answer.
 */
export function replayReplies(document: Document, success: Success): Json {
  if (success.status === undefined) return {};
  const replay = { ...success, status: 200, description: "Status 200: a replay of the stored answer." };
  return { "2XX": document.response(replay, "X-Idempotent-Replay") };
}

function healthOperation(document: Document, { health }: MerchantDocumentParts): Json {
  const unwell = document.response({
    status: 503,
    description: "The same object, beside the error.",
    schema: health.unwell,
  });
  return {
    operationId: "getHealth",
    summary: "Read the service's health",
    description: "Asks the database and the ledger. The only call without authentication.",
    tags: ["Health"],
    security: [],
    responses: {
      200: document.response({ status: 200, description: "All is well.", schema: health.well }),
      ...document.errorResponses(["MALFORMED_REQUEST", "RATE_LIMITED"]),
      503: { ...unwell, headers: document.headers("Retry-After") },
    },
  };
}

function webhooksOf(document: Document, { webhooks, headerPrefix }: MerchantDocumentParts): Json {
  const { components } = document;
  const header = (id: string, name: string, said: string, schema: Json): Json =>
    components.keep("parameters", id, { name, in: "header", required: true, description: said, schema });
  const own = (name: string, said: string, schema: Json): Json =>
    header(`Webhook${name.replaceAll("-", "")}`, headerPrefix + name, said, schema);
  const event: Json = { type: "string", examples: [exampleIds.event] };
  const seconds: Json = { type: "integer", format: "int64", examples: [1_795_317_240] };
  const parameters = [
    own("Event-Id", "The same on every retry: deduplicate on it.", event),
    own("Event-Type", "Equal to `type` in the body.", { type: "string", examples: ["payment.succeeded"] }),
    own("Timestamp", "Unix seconds when this attempt was formed.", seconds),
    own("Signature", "Hex HMAC-SHA256 with the webhook secret over timestamp + '.' + raw body.", {
      type: "string",
      examples: [exampleSignature],
    }),
    own("Delivery-Attempt", "1 for the first attempt.", {
      type: "integer",
      format: "int32",
      minimum: 1,
      examples: [1],
    }),
    header("StandardWebhookId", "webhook-id", "For libraries of Standard Webhooks: the event's id.", event),
    header("StandardWebhookTimestamp", "webhook-timestamp", "For them: the same timestamp.", seconds),
    header(
      "StandardWebhookSignature",
      "webhook-signature",
      "For them: one signature for each secret that is valid, separated by spaces.",
      { type: "string", examples: ["v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4="] },
    ),
  ];
  return Object.fromEntries(
    webhooks.map(({ type, summary, tag, schema, example }) => [
      type,
      {
        post: {
          operationId: `on${type
            .split(".")
            .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
            .join("")}`,
          summary,
          description:
            "Verify the signature over the raw body first, deduplicate by the event's id, then answer 2xx and work on.",
          tags: [tag],
          security: [],
          parameters,
          requestBody: { required: true, content: document.content(components.output(schema), example) },
          responses: {
            "2XX": { description: "Taken. Anything else is retried, eight attempts in twelve hours." },
            "4XX": { description: "Not taken: it is tried again." },
          },
        },
      },
    ]),
  );
}
