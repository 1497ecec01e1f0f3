// The schemas of events, deliveries and attempts in the API, and the views that turn stored rows into them.
import { z } from "zod";
import { type Attempt, type Delivery, type StoredEvent, deliveryStates } from "../events/events.sql.ts";
import { wireTime } from "../ground/clock.ts";
import { wholeBetween, wholeFrom } from "../ground/whole.ts";
import { exampleAddress, exampleIds, exampleTimes } from "../http/examples.ts";
import type { FieldRules } from "../http/fields.ts";
import {
  headersSchema,
  identity,
  inPath,
  limitQuery,
  listSchema,
  rangeBound,
  startingAfter,
  textOrNull,
  timestamp,
} from "../http/shapes.ts";
import { examplePaymentEventData } from "../payments/payments.examples.ts";
import { envelopeFields, eventData, eventTypeSchema, exampleEnvelope } from "./envelopes.schema.ts";

/** Bytes of an answer that are stored. An answer of this length may have been cut inside a character. */
const KEPT_BYTES_MAX = 16_384;

const deliveryState = z.enum(deliveryStates).meta({
  id: "DeliveryState",
  description:
    "`pending`: the next attempt is due or will be. `undelivered`: all attempts failed; it can be sent again by hand.",
});

const eventDeliverySchema = z
  .strictObject({
    state: deliveryState,
    url: z.string().meta({ description: "Where it goes.", examples: [exampleAddress] }),
    attempts: wholeFrom(0).meta({ description: "Attempts made so far.", examples: [1] }),
    next_attempt_at: timestamp.nullable().meta({ description: "Null unless pending." }),
  })
  .meta({ id: "EventDelivery", description: "Where the delivery of an event stands." });

export const eventSchema = z
  .strictObject({
    ...envelopeFields,
    type: eventTypeSchema,
    data: z
      .union(Object.values(eventData))
      .meta({ description: "The object as it was then; its shape is that of the webhook of this type." }),
    delivery: eventDeliverySchema.nullable().meta({ description: "Null when there was no address to send it to." }),
  })
  .meta({
    id: "Event",
    description: "An event, and where its delivery stands.",
    examples: [
      {
        ...exampleEnvelope("payment.succeeded", examplePaymentEventData),
        delivery: { state: "delivered", url: exampleAddress, attempts: 1, next_attempt_at: null },
      },
    ],
  });
export const eventListSchema = listSchema(eventSchema, "EventList");

/** An attempt without what was sent and answered. */
export const exampleSummary = {
  attempt: 1,
  started_at: exampleTimes.paid,
  duration_ms: 48,
  succeeded: true,
  status: 200,
  reason: null,
  address: "203.0.113.10",
  note: null,
};
const exampleAttempt = {
  ...exampleSummary,
  request: { url: exampleAddress, headers: { "content-type": "application/json" }, body: "{}" },
  response: { headers: { "content-length": "2" }, body: "ok", base64: false },
};

const deliveryRequestSchema = z
  .strictObject({
    url: z.string().meta({ examples: [exampleAddress] }),
    headers: headersSchema,
    body: z
      .string()
      .meta({ description: "The bytes that were sent: the event's own, unless a misbehaviour changed them." }),
  })
  .meta({ id: "DeliveryRequest" });

const deliveryResponseSchema = z
  .strictObject({
    headers: headersSchema,
    body: z.string().meta({ description: "As far as it was kept: the first 16,384 bytes." }),
    base64: z.boolean().meta({ description: "True when the body is not UTF-8, and `body` is base64." }),
  })
  .meta({ id: "DeliveryResponse", description: "What your receiver answered." });

const attemptSchema = z
  .strictObject({
    attempt: wholeFrom(1).meta({ description: "1 for the first.", examples: [1] }),
    started_at: timestamp,
    duration_ms: wholeFrom(0).meta({ examples: [48] }),
    succeeded: z.boolean(),
    status: wholeBetween(100, 999)
      .nullable()
      .meta({ description: "Null when there was no answer.", examples: [200] }),
    reason: z.string().nullable().meta({ description: "Why it failed, in plain words." }),
    address: textOrNull("203.0.113.10", "The address connected to."),
    note: z.string().nullable().meta({
      description:
        "What was done on purpose in this attempt, in plain words: a sandbox misbehaved as it was told, or after a rotation the new secret's signature was tried alone.",
    }),
    request: deliveryRequestSchema,
    response: deliveryResponseSchema.nullable().meta({ description: "Null when there was no answer." }),
  })
  .meta({ id: "DeliveryAttempt", description: "One attempt to deliver an event.", examples: [exampleAttempt] });

export const attemptListSchema = listSchema(attemptSchema, "DeliveryAttemptList");

export const eventsQuerySchema = z.strictObject({
  type: eventTypeSchema.optional().meta({ description: "Only events of this type." }),
  delivery: z
    .enum([...deliveryStates, "none"])
    .optional()
    .meta({ description: "Where the delivery stands; `none`: there was no address to send it to." }),
  created_from: rangeBound("YYYY-MM-DD in UTC or a timestamp; inclusive."),
  created_to: rangeBound("YYYY-MM-DD (the whole day, in UTC) or a timestamp; inclusive."),
  limit: limitQuery,
  starting_after: startingAfter("event", "is not the id of an event", "`id` of the last event received."),
});

export const eventParams = { id: inPath("event", "EventId", "`id` of the event.") };

export const attemptsQuerySchema = z.strictObject({
  limit: limitQuery,
  starting_after: z
    .string()
    .regex(/^[1-9]\d{0,3}$/, "is not the number of an attempt")
    .optional()
    .meta({
      description: "`attempt` of the last one received. Send `next_cursor` of the page before.",
      examples: ["1"],
    }),
});

const resendSchema = z
  .strictObject({
    event_ids: z
      .array(identity("event"))
      .min(1)
      .max(100)
      .optional()
      .meta({ description: "These events, all or none." }),
    since: rangeBound("Instead of `event_ids`: the events since this moment; YYYY-MM-DD in UTC or a timestamp."),
    state: z
      .enum(["undelivered", "delivered", "all"])
      .optional()
      .meta({ description: "With `since`: which of them; `undelivered` when absent." }),
    starting_after: startingAfter("event", "is not the id of an event", "With `since`: only events after this one."),
  })
  .superRefine(({ event_ids, since, state, starting_after }, context) => {
    const refuse = (field: string, message: string): void =>
      context.addIssue({ code: "custom", path: [field], message });
    if (event_ids === undefined && since === undefined) refuse("event_ids", "is required, unless since is given");
    if (event_ids === undefined) return;
    const second = Object.entries({ since, state, starting_after }).find(([, value]) => value !== undefined);
    if (second) refuse(second[0], "cannot be combined with event_ids");
  })
  .meta({
    id: "ResendEvents",
    // `additionalProperties: true` keeps strict validators from rejecting the fields that a part does not name.
    if: { required: ["event_ids"], properties: { event_ids: { not: { type: "null" } } }, additionalProperties: true },
    // oxlint-disable-next-line unicorn/no-thenable -- a word of JSON Schema, and nobody awaits it
    then: {
      properties: { since: { type: "null" }, state: { type: "null" }, starting_after: { type: "null" } },
      additionalProperties: true,
    },
    else: { required: ["since"], properties: { since: { type: "string" } }, additionalProperties: true },
  });
export const resendExamples = {
  named: { summary: "These events", value: { event_ids: [exampleIds.event] } },
  since: { summary: "What was not delivered since a day", value: { since: "2026-11-22", state: "undelivered" } },
};
export type ResendBody = z.infer<typeof resendSchema>;
export const resendRules: FieldRules<ResendBody> = {
  schema: resendSchema,
  order: ["event_ids", "since", "state", "starting_after"],
};

export const resentSchema = z
  .strictObject({
    resent: wholeBetween(0, 1_000).meta({ description: "Events for which a try is due now.", examples: [1] }),
    has_more: z.boolean().meta({ description: "True when there are more than the 1,000 that one call takes." }),
    next_cursor: z.string().nullable().meta({ description: "`starting_after` of the call that goes on." }),
  })
  .meta({ id: "ResentEvents", examples: [{ resent: 1, has_more: false, next_cursor: null }] });

export function eventView({ body, delivery }: StoredEvent): z.infer<typeof eventSchema> {
  const envelope = JSON.parse(body) as Omit<z.infer<typeof eventSchema>, "delivery">;
  return { ...envelope, delivery: delivery ? deliveryView(delivery) : null };
}

function deliveryView({ state, url, attempts, nextAttemptAt }: Delivery): z.infer<typeof eventSchema>["delivery"] {
  return { state, url, attempts, next_attempt_at: state === "pending" ? wireTime(nextAttemptAt) : null };
}

/** Makes the view of an attempt that was sent to `url`; `body` is the event's own. */
export function attemptView(attempt: Attempt, url: string, body: string): z.infer<typeof attemptListSchema>["data"][0] {
  const { responseHeaders, responseBody } = attempt;
  return {
    attempt: attempt.attempt,
    started_at: wireTime(attempt.startedAt),
    duration_ms: attempt.durationMs,
    succeeded: attempt.succeeded,
    status: attempt.status ?? null,
    reason: attempt.reason ?? null,
    address: attempt.address ?? null,
    note: attempt.note ?? null,
    request: { url, headers: attempt.requestHeaders, body: attempt.requestBody ?? body },
    response: responseHeaders ? { headers: responseHeaders, ...textOf(responseBody ?? Buffer.alloc(0)) } : null,
  };
}

function textOf(bytes: Buffer): { body: string; base64: boolean } {
  const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  try {
    return { body: utf8.decode(bytes, { stream: bytes.length >= KEPT_BYTES_MAX }), base64: false };
  } catch {
    return { body: bytes.toString("base64"), base64: true };
  }
}
