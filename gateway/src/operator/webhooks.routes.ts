// Endpoints of webhook signing secrets: rotation with an overlap, and when a receiver last needed the old secret.
import { z } from "zod";
import { wholeBetween } from "../ground/whole.ts";
import { DAY_SECONDS, type Micros } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import { reply } from "../ground/reply.ts";
import { exampleWebhookSecret } from "../http/examples.ts";
import { environmentField, withExample } from "../http/shapes.ts";
import type { Merchants } from "../merchants/merchants.ts";
import { registrationFields, registrationView } from "../webhooks/registration.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import { merchantParams } from "./params.ts";

const rotateSchema = z
  .strictObject({
    environment: environmentField,
    overlap_seconds: wholeBetween(0, 30 * DAY_SECONDS)
      .optional()
      .meta({ description: "How long the secret before signs as well; a day when absent." }),
  })
  .meta({ id: "RotateWebhookSecret", examples: [{ environment: "sandbox", overlap_seconds: DAY_SECONDS }] });
const rotatedSchema = z
  .strictObject({
    environment: environmentField,
    webhook_secret: z.string().meta({ description: "Registering an address shows it again." }),
  })
  .meta({
    id: "RotatedWebhookSecret",
    examples: [{ environment: "sandbox", webhook_secret: exampleWebhookSecret }],
  });
const registrationSchema = withExample(
  z.strictObject({
    environment: environmentField,
    ...registrationFields,
  }),
  { id: "WebhookRegistration" },
);

export function webhookEndpoints(merchants: Merchants, now: () => Micros): OperatorEndpoint[] {
  return [
    operatorEndpoint({
      method: "POST",
      operationId: "rotateWebhookSecret",
      path: "/ops/v1/merchants/{id}/webhook/rotate",
      params: merchantParams,
      summary: "Issue a new signing secret; the one before signs as well for a while",
      tag: "Merchants",
      role: "admin",
      body: rotateSchema,
      success: { description: "The new secret.", schema: rotatedSchema },
      async handle({ params: { id = "" }, body }) {
        const book = { merchantId: id, environment: body.environment };
        const found = isId("merchant", id);
        const secret = found ? await merchants.rotateWebhook(book, body.overlap_seconds ?? DAY_SECONDS) : undefined;
        if (secret === undefined) throw new Fault("OBJECT_NOT_FOUND");
        return reply(200, { environment: body.environment, webhook_secret: secret });
      },
    }),
    operatorEndpoint({
      method: "GET",
      operationId: "getWebhook",
      path: "/ops/v1/merchants/{id}/webhook",
      params: merchantParams,
      summary: "Where a merchant's events go, and how far the rotation of its secret is",
      tag: "Merchants",
      role: "viewer",
      query: z.strictObject({ environment: environmentField }),
      success: { description: "The registration.", schema: registrationSchema },
      async handle({ params: { id = "" }, query }) {
        const book = { merchantId: id, environment: query.environment };
        const found = isId("merchant", id) ? await merchants.webhook(book) : undefined;
        if (!found) throw new Fault("OBJECT_NOT_FOUND");
        return reply(200, { environment: query.environment, ...registrationView(found, now()) });
      },
    }),
  ];
}
