// The shapes of delivery attempts across all events of a book.
import { z } from "zod";
import type { AttemptName, ListedAttempt } from "../events/deliveries.sql.ts";
import { wireTime } from "../ground/clock.ts";
import { isId } from "../ground/ids.ts";
import { exampleAddress, exampleIds } from "../http/examples.ts";
import { exampleOf, identity, limitQuery, listSchema, parameterNames, rangeBound, timestamp } from "../http/shapes.ts";
import { attemptListSchema, exampleSummary } from "../webhooks/events.schema.ts";

const deliveryId = z.string().meta({
  description: "The event and the number of the attempt.",
  pattern: "^evt_[0-9a-z]{26}-[1-9]\\d{0,3}$",
  examples: [`${exampleIds.event}-1`],
});
export const deliveryParams = { id: deliveryId.register(parameterNames, { name: "DeliveryId" }) };

const attemptFields = {
  id: deliveryId,
  event_id: identity("event"),
  type: z.string().meta({ examples: ["payment.succeeded"] }),
};
const listedSchema = z
  .strictObject({
    ...attemptFields,
    attempt: z.int().min(1).meta({ description: "1 for the first." }),
    url: z.string().nullable().meta({ description: "Where it went." }),
    started_at: timestamp,
    duration_ms: z.int().min(0),
    succeeded: z.boolean(),
    status: z.int().min(100).max(999).nullable().meta({ description: "Null when there was no answer." }),
    reason: z.string().nullable().meta({ description: "Why it failed, in plain words." }),
    address: z.string().nullable().meta({ description: "The address connected to." }),
    note: z.string().nullable().meta({ description: "What was done on purpose in this attempt." }),
  })
  .meta({
    id: "ListedDelivery",
    description: "One attempt to deliver an event, without what was sent and answered.",
    examples: [
      {
        id: `${exampleIds.event}-1`,
        event_id: exampleIds.event,
        type: "payment.succeeded",
        url: exampleAddress,
        ...exampleSummary,
      },
    ],
  });
export const deliveryListSchema = listSchema(listedSchema, "ListedDeliveryList");
export const deliveryQuery = z.strictObject({
  outcome: z.enum(["failed"]).optional().meta({ description: "`failed`: only attempts that failed." }),
  started_from: rangeBound("YYYY-MM-DD in UTC or a timestamp; inclusive."),
  started_to: rangeBound("YYYY-MM-DD (the whole day, in UTC) or a timestamp; inclusive."),
  limit: limitQuery,
  starting_after: z
    .string()
    .refine((value) => attemptNamed(value) !== undefined, "is not the id of a delivery")
    .optional()
    .meta({
      description: "`id` of the last one received. Send `next_cursor` of the page before.",
      examples: [`${exampleIds.event}-1`],
    }),
});

const attempt = attemptListSchema.shape.data.element;
export const wholeDeliverySchema = z.strictObject({ ...attemptFields, ...attempt.shape }).meta({
  id: "WholeDelivery",
  description: "One attempt with everything that was sent and answered.",
  examples: [
    { ...exampleOf(attempt), id: `${exampleIds.event}-1`, event_id: exampleIds.event, type: "payment.succeeded" },
  ],
});

/** Reads the identity of a delivery attempt; undefined for a text that cannot be one. */
export function attemptNamed(text: string): AttemptName | undefined {
  const [eventId = "", number = "", ...rest] = text.split("-");
  if (!isId("event", eventId) || !/^[1-9]\d{0,3}$/.test(number) || rest.length > 0) return undefined;
  return { eventId, attempt: Number(number) };
}

export function deliveryIdOf({ eventId, attempt: number }: AttemptName): string {
  return `${eventId}-${number}`;
}

export function listedView(listed: ListedAttempt): z.infer<typeof listedSchema> {
  return {
    id: deliveryIdOf(listed),
    event_id: listed.eventId,
    type: listed.type,
    attempt: listed.attempt,
    url: listed.url ?? null,
    started_at: wireTime(listed.startedAt),
    duration_ms: listed.durationMs,
    succeeded: listed.succeeded,
    status: listed.status ?? null,
    reason: listed.reason ?? null,
    address: listed.address ?? null,
    note: listed.note ?? null,
  };
}
