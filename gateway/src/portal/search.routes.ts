// Portal endpoints for search: payments by their properties (list of payments), any object by its identity (palette), and a payment's story.
import type { BookOwner } from "../commands/command-context.ts";
import { wireTimeOrNull } from "../ground/clock.ts";
import { reply } from "../ground/reply.ts";
import { limitOf, pageBody } from "../http/lists.ts";
import { findPayments } from "../payments/payment-search.ts";
import { type Payment, type PaymentSummary, awaitsSettlement, statusView } from "../payments/payment.ts";
import { paymentParams } from "../payments/payments.schema.ts";
import { foundPaymentsSchema, hitsSchema, paymentSearchQuery, searchQuery } from "../search/search.schema.ts";
import { paymentSearchOf, searchAnything } from "../search/search.ts";
import { storySchema } from "../story/story.schema.ts";
import { type StoryParts, readStory } from "../story/story.ts";
import { type PortalEndpoint, memberEndpoint } from "./endpoint.ts";

interface SearchEndpointParts extends StoryParts {
  /** Estimated payout day of each payment by its reference; null when there is no estimate. */
  estimatePayouts: (
    owner: BookOwner,
    waiting: readonly PaymentSummary[],
  ) => Promise<ReadonlyMap<string, string | null>>;
}

const tag = "Search";

export function searchEndpoints(parts: SearchEndpointParts): PortalEndpoint[] {
  const estimate = async (owner: BookOwner, shown: readonly Payment[]) => {
    const waiting = shown.filter(awaitsSettlement);
    const dates = waiting.length === 0 ? undefined : await parts.estimatePayouts(owner, waiting);
    return ({ reference }: Payment): string | null => dates?.get(reference) ?? null;
  };
  return [
    memberEndpoint({
      method: "GET",
      path: "/portal/v1/search",
      operationId: "search",
      summary: "Find anything of this environment by what one knows of it",
      tag,
      action: "payments:read",
      query: searchQuery,
      success: { description: "What was found and the role may read.", schema: hitsSchema },
      handle: async ({ query, book, principal }) =>
        reply(200, { data: await searchAnything(parts, book, query.q, principal.scopes) }),
    }),
    memberEndpoint({
      method: "GET",
      path: "/portal/v1/payments/search",
      operationId: "searchPayments",
      summary: "Find payments by reference, payer, amount, metadata, state and time, newest first",
      description:
        "References and payers are found by an index. Everything else is looked for among the newest ten thousand payments that are left, or those of " +
        "the time that is asked for; the search goes on from `next_cursor`.",
      tag,
      action: "payments:read",
      query: paymentSearchQuery,
      success: { description: "A page of payments.", schema: foundPaymentsSchema },
      async handle({ query, book, merchant }) {
        const search = paymentSearchOf(parts.payers, book, query);
        const { payments, stoppedAt } = await findPayments(parts.database, search, limitOf(query));
        const dateOf = await estimate({ merchant, book }, payments);
        const found = pageBody(
          payments,
          query,
          (payment) => statusView(payment, dateOf(payment)),
          ({ reference }) => reference,
          stoppedAt?.reference,
        );
        return reply(200, { ...found, searched_to: wireTimeOrNull(stoppedAt?.createdAt) });
      },
    }),
    memberEndpoint({
      method: "GET",
      path: "/portal/v1/payments/{reference}/story",
      operationId: "getPaymentStory",
      summary: "Read what happened to a payment, step by step",
      tag,
      action: "payments:read",
      params: paymentParams,
      success: { description: "The payment, and its steps, oldest first.", schema: storySchema },
      errors: ["PAYMENT_NOT_FOUND", "ENVIRONMENT_MISMATCH"],
      async handle(call) {
        const dateOf = async (payment: Payment) => (await estimate(call, [payment]))(payment);
        return reply(200, await readStory(parts, call, call.params.reference ?? "", call.principal.scopes, dateOf));
      },
    }),
  ];
}
