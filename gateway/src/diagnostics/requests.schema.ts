// The schemas of logged requests and of the state of an idempotency key.
import { z } from "zod";
import { faultCodes } from "../ground/fault.ts";
import { exampleClientId, exampleTimes } from "../http/examples.ts";
import {
  exampleOf,
  identity,
  inPath,
  limitQuery,
  listSchema,
  parameterNames,
  rangeBound,
  startingAfter,
  text,
  timestamp,
  withExample,
} from "../http/shapes.ts";
import { useOutcomes } from "../requests/idempotency-uses.ts";
import { requestOmissions } from "../requests/request-record.ts";

const count = (description: string) => z.int().min(0).meta({ description });

const diagnosisSchema = z
  .strictObject({
    diagnosis: z.string().meta({ description: "One word, as the signature doctor gives it." }),
    explanation: z.string().meta({ description: "What was wrong and what to change." }),
    subject: z.string().nullable().meta({ description: "Of RFC 9421: the part of the request that it is about." }),
    signature_base: z.string().nullable().meta({ description: "Of RFC 9421: the text that should have been signed." }),
  })
  .meta({ id: "SignatureDiagnosis", description: "Why a signature was refused. Known for a day, in the sandbox." });

const exampleKey = "order-1042-pay";
const loggedRequestSchema = withExample(
  z.strictObject({
    request_id: identity("request"),
    at: timestamp.meta({ description: "When it came, in real time." }),
    method: z.string(),
    path: z.string(),
    query: z.string().nullable().meta({ description: "Redacted." }),
    status: z.int().min(100).max(599),
    error_code: z.string().nullable(),
    duration_ms: z.number().min(0),
    client_id: z.string().meta({ description: "The key that it was sent with." }),
    proven: z.boolean().meta({
      description:
        "False where no right and new signature proves the key: anybody who knows the client_id may have sent it.",
    }),
    idempotency_key: z.string().nullable(),
    replayed: z.boolean().meta({ description: "True where the stored answer of the idempotency key was given again." }),
    diagnosis: diagnosisSchema.nullable(),
  }),
  { id: "LoggedRequest", description: "A request of a merchant's system." },
  {
    method: "POST",
    path: "/v1/payments",
    status: 422,
    error_code: "INVALID_AMOUNT",
    duration_ms: 4.2,
    client_id: exampleClientId,
    proven: true,
    idempotency_key: exampleKey,
    replayed: false,
  },
);
export const loggedRequestListSchema = listSchema(loggedRequestSchema, "LoggedRequestList");

const bodySchema = z
  .strictObject({
    bytes: count("Its size as it was sent."),
    text: z.string().nullable().meta({
      description:
        "JSON, redacted: names, addresses, phone numbers, e-mail, cards, secrets and signatures are left out. Null where there is none.",
    }),
    omitted: z
      .enum([...requestOmissions, "needs_scope"])
      .nullable()
      .meta({
        description:
          "Why there is no text although bytes were sent: only JSON objects of at most 8192 bytes are kept. `needs_scope`: you may not read such an object elsewhere.",
      }),
  })
  .meta({ id: "LoggedBody", description: "A body as far as it is kept." });
const exampleRequestBody = { bytes: 35, text: '{"amount_minor":0,"currency":"IDR"}', omitted: null };
const exampleResponseBody = { bytes: 35, text: '{"error":{"code":"INVALID_AMOUNT"}}', omitted: null };

export const wholeRequestSchema = withExample(
  loggedRequestSchema.extend({ request: bodySchema, response: bodySchema }),
  { id: "WholeLoggedRequest", description: "A request of a merchant's system with its bodies." },
  { ...exampleOf(loggedRequestSchema), request: exampleRequestBody, response: exampleResponseBody },
);

export const requestParams = {
  request_id: inPath("request", "LoggedRequestId", "The request's identity: `X-Request-Id` of its answer."),
};

export const requestsQuery = z.strictObject({
  outcome: z.enum(["succeeded", "refused"]).optional().meta({ description: "`refused`: any status of 400 and above." }),
  method: z.enum(["GET", "POST", "PUT", "PATCH", "DELETE"]).optional(),
  path: text(1, 512).optional().meta({ description: "The beginning of the path." }),
  status: z
    .string()
    .regex(/^[1-5]\d\d$/, "must be a status of HTTP, such as 422")
    .optional()
    .meta({ type: "integer", pattern: undefined, minimum: 100, maximum: 599, description: "Exactly this one." }),
  error_code: z
    .string()
    .max(40)
    .regex(/^[A-Z_]+$/, "must be a code such as INVALID_AMOUNT")
    .optional()
    .meta({ examples: [faultCodes[0]] }),
  client_id: text(1, 80).optional(),
  idempotency_key: text(1, 255).optional(),
  created_from: rangeBound("YYYY-MM-DD in UTC or a timestamp; inclusive."),
  created_to: rangeBound("YYYY-MM-DD (the whole day, in UTC) or a timestamp; inclusive."),
  limit: limitQuery,
  starting_after: startingAfter("request", "is not the identity of a request", "Only requests older than this one."),
});
export type RequestsQuery = z.infer<typeof requestsQuery>;

export const requestLogSchema = z
  .strictObject({
    enabled: z.boolean().meta({ description: "False where whoever runs the service keeps no such log." }),
    logged: z.enum(["all", "refused"]).meta({ description: "Of a sandbox all requests, of production refused ones." }),
    kept_days: z.int(),
    kept_requests: z.int().meta({ description: "The newest so many are kept, in each environment." }),
    not_logged: count(
      "Requests of the last 24 hours that came too fast to be logged. They were answered like any other.",
    ),
    not_logged_unproven: count("The same of requests whose signature was refused: a minute takes 30."),
  })
  .meta({
    id: "RequestLog",
    description: "What is logged, and what was left out.",
    examples: [
      { enabled: true, logged: "all", kept_days: 7, kept_requests: 10_000, not_logged: 0, not_logged_unproven: 0 },
    ],
  });

const keyRecordSchema = z
  .strictObject({
    endpoint: z.string().meta({ description: "Method and path that the key is bound to." }),
    state: z.enum(["in_progress", "done"]),
    status: z.int().nullable().meta({ description: "Of the stored answer; null while the first request runs." }),
    first_seen_at: timestamp.meta({ description: "By the clock of the sandbox, where that was moved." }),
    expires_at: timestamp.meta({ description: "The key means nothing any more from then on, by the same clock." }),
  })
  .meta({ id: "IdempotencyRecord", description: "What is on record of a key." });
const exampleRecord = {
  endpoint: "POST /v1/payments",
  state: "done" as const,
  status: 201,
  first_seen_at: exampleTimes.created,
  expires_at: "2026-11-25T03:15:00Z",
};

const usedShape = {
  idempotency_key: z.string(),
  record: keyRecordSchema.nullable().meta({
    description: "Null where nothing is stored: the requests were refused before, or 72 hours have passed.",
  }),
  requests: count("Requests in the log that used it."),
  replays: count("Those of them that were answered with the stored answer."),
  conflicts: count("Those that were refused because they were another request."),
};
const exampleUsed = { idempotency_key: exampleKey, record: exampleRecord, requests: 3, replays: 1, conflicts: 1 };

const usedKeySchema = z.strictObject({ ...usedShape, last_request: loggedRequestSchema }).meta({
  id: "UsedIdempotencyKey",
  description: "An idempotency key that logged requests used.",
  examples: [{ ...exampleUsed, last_request: exampleOf(loggedRequestSchema) }],
});
export const usedKeyListSchema = listSchema(usedKeySchema, "UsedIdempotencyKeyList");
export const usedKeysQuery = z.strictObject({
  limit: limitQuery,
  starting_after: startingAfter(
    "request",
    "is not the identity of a request",
    "Only keys whose newest request is older than this one.",
  ),
});

const useSchema = loggedRequestSchema
  .extend({
    outcome: z.enum(useOutcomes).meta({
      description:
        "`answered`: it ran and its answer is stored. `refused`: nothing was stored, and the key is free for another try.",
    }),
    same_bytes: z.boolean().nullable().meta({
      description: "Whether its body is, byte by byte, the one that the key is bound to; null where not known.",
    }),
    request: bodySchema,
    response: bodySchema,
  })
  .meta({ id: "IdempotencyKeyUse", description: "One request that used the key." });

export const wholeKeySchema = z
  .strictObject({
    ...usedShape,
    stored_response: bodySchema.nullable().meta({ description: "What a replay gives; null while there is none." }),
    uses: z.array(useSchema).meta({ description: "Oldest first: the first 10 and the newest 40." }),
  })
  .meta({
    id: "WholeIdempotencyKey",
    description: "What became of an idempotency key.",
    examples: [
      {
        ...exampleUsed,
        requests: 1,
        replays: 0,
        conflicts: 0,
        stored_response: exampleResponseBody,
        uses: [
          {
            ...exampleOf(loggedRequestSchema),
            outcome: "refused",
            same_bytes: null,
            request: exampleRequestBody,
            response: exampleResponseBody,
          },
        ],
      },
    ],
  });

export const keyParams = {
  key: z
    .string()
    .meta({ description: "The key as it was sent.", examples: [exampleKey] })
    .register(parameterNames, { name: "IdempotencyKeyInPath" }),
};
