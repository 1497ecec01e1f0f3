// The shapes of a book's webhook settings in the portal: address, rotation of the secret, and health of the receiver.
import { z } from "zod";
import { wholeBetween } from "../ground/whole.ts";
import { COUNTED_MAX } from "../events/deliveries.sql.ts";
import { attemptOffsetsSeconds } from "../events/event.ts";
import { DAY_SECONDS, type Micros, wireTimeOrNull } from "../ground/clock.ts";
import { exampleAddress, exampleTimes, exampleWebhookSecret } from "../http/examples.ts";
import { HTTPS_PATTERN, exampleOf, timestamp, withExample } from "../http/shapes.ts";
import type { WebhookRegistration } from "../merchants/webhook-endpoints.sql.ts";
import { type EndpointHealth, healthStates } from "../webhooks/endpoint-health.ts";
import { registrationFields, registrationView } from "../webhooks/registration.ts";

export const setAddressSchema = z
  .strictObject({
    url: z
      .string()
      .min(1)
      .max(2048)
      .meta({ description: "A public https address.", pattern: HTTPS_PATTERN, examples: [exampleAddress] }),
  })
  .meta({ id: "SetWebhookAddress", examples: [{ url: exampleAddress }] });
export const rotateSchema = z
  .strictObject({
    overlap_seconds: wholeBetween(0, 30 * DAY_SECONDS)
      .optional()
      .meta({ description: "How long the secret before signs as well; a day when left out." }),
  })
  .meta({ id: "RotateSecret", examples: [{ overlap_seconds: DAY_SECONDS }] });

const count = (description: string) => z.int().min(0).max(COUNTED_MAX).meta({ description });
const healthSchema = z
  .strictObject({
    state: z.enum(healthStates).meta({
      id: "WebhookHealthState",
      description: "`failing`: the last five attempts failed, or all of fewer. `degraded`: some of the latest failed.",
    }),
    attempts: z.int().min(0).meta({ description: "Of the book's latest 200 attempts those at this address." }),
    accepted: z.int().min(0).meta({ description: "How many of them were accepted." }),
    median_ms: z.int().min(0).nullable().meta({ description: "How long half of them took at most." }),
    last_accepted_at: timestamp.nullable(),
    last_failed_at: timestamp.nullable(),
    last_failure: z.string().nullable().meta({ description: "Why the last one that failed did." }),
    pending: count("Deliveries that wait for an attempt, wherever they go. More than 1,000 are not counted."),
    undelivered: count("Deliveries that were given up. More than 1,000 are not counted."),
  })
  .meta({ id: "WebhookHealth" });

export const webhookSettingsSchema = withExample(
  z.strictObject({
    ...registrationFields,
    attempt_offsets_seconds: z.array(z.int()).meta({
      description: "When the attempts of a delivery are made, counted from its event, until one is accepted.",
    }),
    health: healthSchema,
  }),
  { id: "WebhookSettings" },
  {
    attempt_offsets_seconds: [...attemptOffsetsSeconds],
    health: {
      state: "healthy",
      attempts: 12,
      accepted: 12,
      median_ms: 48,
      last_accepted_at: exampleTimes.paid,
      last_failed_at: null,
      last_failure: null,
      pending: 0,
      undelivered: 0,
    },
  },
);
const exampleOfSecret = { ...exampleOf(webhookSettingsSchema), webhook_secret: exampleWebhookSecret };
export const addressSetSchema = withExample(
  webhookSettingsSchema.extend({
    webhook_secret: z.string().nullable().meta({
      description:
        "What signs the events: shown with the first address, this once. Null afterwards: rotate for another.",
    }),
  }),
  { id: "WebhookAddressSet" },
  exampleOfSecret,
);
export const rotatedSecretSchema = withExample(
  webhookSettingsSchema.extend({ webhook_secret: z.string().meta({ description: "Shown this once." }) }),
  { id: "RotatedSecret" },
  exampleOfSecret,
);

export function settingsView(
  registration: WebhookRegistration,
  health: EndpointHealth,
  open: { pending: number; undelivered: number },
  now: Micros,
): z.infer<typeof webhookSettingsSchema> {
  return {
    ...registrationView(registration, now),
    attempt_offsets_seconds: [...attemptOffsetsSeconds],
    health: {
      state: health.state,
      attempts: health.attempts,
      accepted: health.accepted,
      median_ms: health.medianMs ?? null,
      last_accepted_at: wireTimeOrNull(health.lastAcceptedAt),
      last_failed_at: wireTimeOrNull(health.lastFailedAt),
      last_failure: health.lastFailure ?? null,
      ...open,
    },
  };
}
