// The portal endpoint that erases a payer's data.
import { reply } from "../ground/reply.ts";
import { erasedView, payerErasure } from "../payments/payer-erasure.schema.ts";
import { type ErasureParts, erasePayer } from "../payments/payer-erasure.ts";
import { type PortalEndpoint, memberEndpoint } from "./endpoint.ts";

export function payerEndpoint(parts: ErasureParts): PortalEndpoint {
  return memberEndpoint({
    ...payerErasure,
    path: "/portal/v1/payers/erase",
    action: "payers:erase",
    fresh: "production",
    handle: async ({ merchant, book, body }) =>
      reply(200, erasedView(await erasePayer(parts, { merchant, book }, body.payer))),
  });
}
