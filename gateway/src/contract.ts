// The contract of the merchants' API: every endpoint that app.ts opens, described without running anything.
import type { z } from "zod";
import { disputeSchema } from "./disputes/disputes.routes.ts";
import type { Endpoint } from "./http/endpoint.ts";
import { healthSchema } from "./http/health.ts";
import { merchantDocument } from "./http/openapi.ts";
import { paymentEventSchema } from "./payments/payments.schema.ts";
import { refundStatusSchema } from "./refunds/refunds.schema.ts";
import { settlementSchema } from "./settlements/settlements.routes.ts";
import { version } from "./ground/version.ts";

const paymentEvents = ["created", "processing", "succeeded", "failed", "expired", "canceled"];
const refundEvents = ["succeeded", "failed"];
const settlementEvents = ["created", "paid"];
const disputeEvents = ["opened", "updated", "resolved"];

const named = (kind: string, events: readonly string[], schema: z.ZodType): [string, z.ZodType][] =>
  events.map((event) => [`${kind}.${event}`, schema]);

/** The data of every event type that is sent (section 6.5). */
const events = Object.fromEntries([
  ...named("payment", paymentEvents, paymentEventSchema),
  ...named("refund", refundEvents, refundStatusSchema),
  ...named("settlement", settlementEvents, settlementSchema),
  ...named("dispute", disputeEvents, disputeSchema),
]);

/** The OpenAPI document as committed in openapi/merchant.json: two spaces, a newline at the end. */
export function merchantContract(endpoints: readonly Endpoint[], headerPrefix: string): string {
  const document = merchantDocument({
    version,
    endpoints,
    health: healthSchema,
    events,
    headerPrefix,
  });
  return `${JSON.stringify(document, null, 2)}\n`;
}
