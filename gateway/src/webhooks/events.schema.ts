// The shapes of events and their deliveries on the wire, and how what is kept becomes them.
import { z } from "zod";
import { eventTypes } from "../events/event.ts";
import { type Attempt, type Delivery, type StoredEvent, deliveryStates } from "../events/events.sql.ts";
import { wireTime } from "../ground/clock.ts";
import { isId } from "../ground/ids.ts";
import type { FieldRules } from "../http/fields.ts";
import { limitQuery, listSchema, timestamp } from "../http/shapes.ts";
import { environments } from "../merchants/books.ts";

/** Of an answer so many bytes are kept: one that has them all may have been cut inside a character. */
const KEPT_BYTES_MAX = 16_384;

export const eventSchema = z.strictObject({
  id: z.string(),
  type: z.enum(eventTypes),
  created_at: timestamp,
  environment: z.enum(environments),
  api_version: z.literal("v1"),
  data: z
    .looseObject({})
    .meta({ description: "The object as it was then; its shape is that of the webhook of this type." }),
  delivery: z
    .strictObject({
      state: z.enum(deliveryStates),
      url: z.string(),
      attempts: z.int().min(0),
      next_attempt_at: timestamp.nullable().meta({ description: "Null unless pending." }),
    })
    .nullable()
    .meta({ description: "Null when there was no address to send it to." }),
});
export const eventListSchema = listSchema(eventSchema);

const headers = z.record(z.string(), z.string());

export const attemptListSchema = listSchema(
  z.strictObject({
    attempt: z.int().min(1),
    started_at: timestamp,
    duration_ms: z.int().min(0),
    succeeded: z.boolean(),
    status: z.int().nullable().meta({ description: "Null when there was no answer." }),
    reason: z.string().nullable().meta({ description: "Why it failed, in plain words." }),
    address: z.string().nullable().meta({ description: "The address connected to." }),
    note: z.string().nullable().meta({
      description:
        "What was done on purpose in this attempt, in plain words: a sandbox misbehaved as it was told, or after a rotation the new secret's signature was tried alone.",
    }),
    request: z.strictObject({
      url: z.string(),
      headers,
      body: z
        .string()
        .meta({ description: "The bytes that were sent: the event's own, unless a misbehaviour changed them." }),
    }),
    response: z
      .strictObject({
        headers,
        body: z.string().meta({ description: "As far as it was kept: the first 16,384 bytes." }),
        base64: z.boolean().meta({ description: "True when the body is not UTF-8, and `body` is base64." }),
      })
      .nullable(),
  }),
);

const startingAfter = z
  .string()
  .refine((value) => isId("event", value), "is not the id of an event")
  .optional();

export const eventsQuerySchema = z.strictObject({
  type: z.enum(eventTypes).optional(),
  delivery: z
    .enum([...deliveryStates, "none"])
    .optional()
    .meta({ description: "Where the delivery stands; `none`: there was no address to send it to." }),
  created_from: z.string().optional().meta({ description: "YYYY-MM-DD or a timestamp; inclusive." }),
  created_to: z.string().optional().meta({ description: "YYYY-MM-DD (the whole day) or a timestamp; inclusive." }),
  limit: limitQuery,
  starting_after: startingAfter.meta({ description: "`id` of the last event received." }),
});

export const attemptsQuerySchema = z.strictObject({
  limit: limitQuery,
  starting_after: z
    .string()
    .regex(/^[1-9]\d{0,3}$/, "is not the number of an attempt")
    .optional()
    .meta({ description: "`attempt` of the last one received." }),
});

const resendSchema = z
  .strictObject({
    event_ids: z.array(z.string()).min(1).max(100).optional().meta({ description: "These events, all or none." }),
    since: z
      .string()
      .optional()
      .meta({ description: "Instead of `event_ids`: the events since this moment; YYYY-MM-DD or a timestamp." }),
    state: z
      .enum(["undelivered", "delivered", "all"])
      .optional()
      .meta({ description: "With `since`: which of them; `undelivered` when absent." }),
    starting_after: startingAfter.meta({
      description: "With `since`: only events after this one; `next_cursor` of the call before.",
    }),
  })
  .superRefine(({ event_ids, since, state, starting_after }, context) => {
    const refuse = (field: string, message: string): void =>
      context.addIssue({ code: "custom", path: [field], message });
    if (event_ids === undefined && since === undefined) refuse("event_ids", "is required, unless since is given");
    if (event_ids === undefined) return;
    const second = Object.entries({ since, state, starting_after }).find(([, value]) => value !== undefined);
    if (second) refuse(second[0], "cannot be combined with event_ids");
  });
export type ResendBody = z.infer<typeof resendSchema>;
export const resendRules: FieldRules<ResendBody> = {
  schema: resendSchema,
  order: ["event_ids", "since", "state", "starting_after"],
};

export const resentSchema = z.strictObject({
  resent: z.int().min(0).max(1_000).meta({ description: "Events for which a try is due now." }),
  has_more: z.boolean().meta({ description: "True when there are more than the 1,000 that one call takes." }),
  next_cursor: z.string().nullable().meta({ description: "`starting_after` of the call that goes on." }),
});

export function eventView({ body, delivery }: StoredEvent): z.infer<typeof eventSchema> {
  const envelope = JSON.parse(body) as Omit<z.infer<typeof eventSchema>, "delivery">;
  return { ...envelope, delivery: delivery ? deliveryView(delivery) : null };
}

function deliveryView({ state, url, attempts, nextAttemptAt }: Delivery): z.infer<typeof eventSchema>["delivery"] {
  return { state, url, attempts, next_attempt_at: state === "pending" ? wireTime(nextAttemptAt) : null };
}

/** An attempt that went to `url`; `body` is the event's own. */
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
