// The contract of the merchants' API: every endpoint that app.ts opens, described without running anything.
import type { Endpoint } from "./http/endpoint.ts";
import { healthSchema } from "./http/health.ts";
import { merchantDocument } from "./http/openapi.ts";
import { paymentEventSchema } from "./payments/payments.schema.ts";
import { version } from "./version.ts";

const paymentEvents = ["created", "processing", "succeeded", "failed", "expired", "canceled"] as const;

/** The OpenAPI document as committed in openapi/merchant.json: two spaces, a newline at the end. */
export function merchantContract(endpoints: readonly Endpoint[], headerPrefix: string): string {
  const document = merchantDocument({
    version,
    endpoints,
    health: healthSchema,
    events: Object.fromEntries(paymentEvents.map((name) => [`payment.${name}`, paymentEventSchema])),
    headerPrefix,
  });
  return `${JSON.stringify(document, null, 2)}\n`;
}
