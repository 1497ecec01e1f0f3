// The contract of the merchants' API: every endpoint that app.ts opens, described without running anything.
import type { Endpoint } from "./http/endpoint.ts";
import { healthSchema, unhealthySchema } from "./http/health.ts";
import { merchantDocument } from "./http/merchant-openapi.ts";
import { version } from "./ground/version.ts";
import { webhookShapes } from "./webhooks/envelopes.schema.ts";

/** The OpenAPI document as committed in openapi/merchant.json: two spaces, a newline at the end. */
export function merchantContract(endpoints: readonly Endpoint[], headerPrefix: string): string {
  const document = merchantDocument({
    version,
    endpoints,
    health: { well: healthSchema, unwell: unhealthySchema },
    webhooks: webhookShapes,
    headerPrefix,
  });
  return `${JSON.stringify(document, null, 2)}\n`;
}
