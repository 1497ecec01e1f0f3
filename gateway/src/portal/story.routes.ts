// The story of a payment: what happened to it, step by step, for the page of that payment.
import { reply } from "../ground/reply.ts";
import type { BookOwner } from "../commands/command-context.ts";
import { type PaymentStanding, awaitsSettlement } from "../payments/payment.ts";
import { paymentParams } from "../payments/payments.schema.ts";
import { storySchema } from "../story/story.schema.ts";
import { readStory } from "../story/story.ts";
import type { Database } from "../store/database.ts";
import { type PortalEndpoint, memberEndpoint } from "./endpoint.ts";

export interface StoryEndpointParts {
  database: Database;
  /** The day on which each payment is paid out as things stand, by reference, null when none. */
  estimatePayouts: (
    owner: BookOwner,
    waiting: readonly PaymentStanding[],
  ) => Promise<ReadonlyMap<string, string | null>>;
}

export function storyEndpoints({ database, estimatePayouts }: StoryEndpointParts): PortalEndpoint[] {
  return [
    memberEndpoint({
      method: "GET",
      path: "/portal/v1/payments/{reference}/story",
      operationId: "getPaymentStory",
      summary: "Read what happened to a payment, step by step",
      tag: "Search",
      action: "payments:read",
      params: paymentParams,
      success: { status: 200, description: "The payment, and its steps, oldest first.", schema: storySchema },
      errors: ["PAYMENT_NOT_FOUND", "ENVIRONMENT_MISMATCH"],
      async handle({ params, book, merchant, principal }) {
        const story = await readStory(database, book, params.reference ?? "", principal.scopes, async (payment) =>
          awaitsSettlement(payment)
            ? ((await estimatePayouts({ merchant, book }, [payment])).get(payment.reference) ?? null)
            : null,
        );
        return reply(200, story);
      },
    }),
  ];
}
