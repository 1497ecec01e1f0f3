// The portal endpoint that erases a payer's data.
import { reply } from "../ground/reply.ts";
import {
  ERASURE_DESCRIPTION,
  ERASURE_SUMMARY,
  erasePayerSchema,
  erasedSchema,
  erasedView,
} from "../payments/payer-erasure.schema.ts";
import { type ErasureParts, erasePayer } from "../payments/payer-erasure.ts";
import { type PortalEndpoint, memberEndpoint } from "./endpoint.ts";

export function payerEndpoints(parts: ErasureParts): PortalEndpoint[] {
  return [
    memberEndpoint({
      method: "POST",
      path: "/portal/v1/payers/erase",
      operationId: "erasePayer",
      summary: ERASURE_SUMMARY,
      description: ERASURE_DESCRIPTION,
      tag: "Payers",
      action: "payers:erase",
      fresh: "production",
      body: erasePayerSchema,
      success: { status: 200, description: "How many payments it was.", schema: erasedSchema },
      handle: async ({ merchant, book, body }) =>
        reply(200, erasedView(await erasePayer(parts, { merchant, book }, body.payer))),
    }),
  ];
}
