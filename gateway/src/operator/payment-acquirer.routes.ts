// GET /ops/v1/payments/{reference}/acquirer: a payment of any merchant with its acquirer's identities and messages.
import { Fault } from "../ground/fault.ts";
import { reply } from "../ground/reply.ts";
import { paymentParams } from "../payments/payments.schema.ts";
import { atAcquirerSchema } from "../story/at-acquirer.schema.ts";
import { type AtAcquirerParts, readAtAcquirer } from "../story/at-acquirer.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import { findAnyPayment } from "./payments.routes.ts";

export function paymentAtAcquirerEndpoint(parts: AtAcquirerParts): OperatorEndpoint {
  return operatorEndpoint({
    method: "GET",
    operationId: "getPaymentAtAcquirer",
    path: "/ops/v1/payments/{reference}/acquirer",
    params: paymentParams,
    summary: "Read which acquirer took a payment, what it calls it, and the messages exchanged with it",
    description:
      "For the acquirer's support: its own ids and ours, where its dashboard shows them, and the messages of each step without secrets and personal data.",
    tag: "Payments",
    role: "viewer",
    success: { description: "The payment as its acquirer has it.", schema: atAcquirerSchema },
    errors: ["PAYMENT_NOT_FOUND"],
    async handle({ params }) {
      const payment = await findAnyPayment(parts.database, params.reference ?? "");
      if (!payment) throw new Fault("PAYMENT_NOT_FOUND");
      return reply(200, await readAtAcquirer(parts, payment));
    },
  });
}
