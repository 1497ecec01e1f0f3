// GET /portal/v1/payments/{reference}/acquirer: the acquirer's side of a payment, for members who may read the payment's story.
import { reply } from "../ground/reply.ts";
import { paymentParams } from "../payments/payments.schema.ts";
import { atAcquirerSchema } from "../story/at-acquirer.schema.ts";
import { type AtAcquirerParts, readAtAcquirer } from "../story/at-acquirer.ts";
import { findPayment } from "../story/story.ts";
import { type PortalEndpoint, memberEndpoint } from "./endpoint.ts";

export function paymentAtAcquirerEndpoint(parts: AtAcquirerParts): PortalEndpoint {
  return memberEndpoint({
    method: "GET",
    path: "/portal/v1/payments/{reference}/acquirer",
    operationId: "getPaymentAtAcquirer",
    summary: "Read which acquirer took a payment, what it calls it, and the messages exchanged with it",
    tag: "Search",
    action: "payments:read",
    params: paymentParams,
    success: { description: "The payment as its acquirer has it.", schema: atAcquirerSchema },
    errors: ["PAYMENT_NOT_FOUND", "ENVIRONMENT_MISMATCH"],
    async handle({ book, params }) {
      return reply(200, await readAtAcquirer(parts, await findPayment(parts.database, book, params.reference ?? "")));
    },
  });
}
