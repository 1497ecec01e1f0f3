// The HTTP endpoints of payments (interface 4.2 to 4.5). Their commands are in payments.ts.
import type { BookOwner } from "../commands/command-context.ts";
import { Fault } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import { type Call, type Endpoint, answering, readEndpoint, writeEndpoint } from "../http/endpoint.ts";
import { type Reply, reply } from "../ground/reply.ts";
import { limitOf, page, rangeBefore, rangeFrom } from "../http/lists.ts";
import { ofThisBook } from "../http/one-object.ts";
import type { Intent } from "../idempotency/idempotency.ts";
import type { Database } from "../store/database.ts";
import type { Command } from "../store/command.ts";
import { SharedRead } from "../store/shared-read.ts";
import { type CreationRuleParts, judgeCreation } from "./creation-rules.ts";
import {
  type Payment,
  type PaymentSummary,
  awaitsSettlement,
  canceledView,
  type StoredPayer,
  createdView,
  statusView,
} from "./payment.ts";
import { createPaymentExamples, paymentExamples } from "./payments.examples.ts";
import {
  type CreatePayment,
  type ListQuery,
  canceledPaymentSchema,
  cancelRules,
  createPaymentRules,
  createdPaymentSchema,
  listQuerySchema,
  paymentListSchema,
  paymentParams,
  paymentStatusSchema,
} from "./payments.schema.ts";
import { type PaymentName, summaryOfRow, selectSummaries } from "./payments.sql.ts";
import { findPayments } from "./payment-search.ts";
import type { PayerData } from "./payer-data.ts";
import { type CallToMake, type PaymentParts, cancelPayment, createPayment } from "./payments.ts";

/** The part of acquiring/ that creations use when an acquirer must be asked for instructions. */
interface OpensPayments {
  /** Asks the acquirers, one after another, to take a committed payment. Gives the creation's answer; throws GATEWAY_ERROR, GATEWAY_TIMEOUT. */
  finish(payment: Payment, call: CallToMake): Promise<Reply>;
  /** For a repeated request whose key is in progress: gives the command that goes on with it, or undefined when the request must wait. */
  resume(
    owner: BookOwner,
    intent: Intent,
  ): Promise<Command<{ payment: Payment; call: CallToMake } | { reply: Reply }> | undefined>;
}

/** The reply of a creation whose acquirer is called after the commit. */
function awaited({ acquiring }: PaymentRouteParts, payment: Payment, call: CallToMake): Reply {
  return {
    status: 201,
    body: "",
    subject: { id: payment.reference, status: payment.status },
    continues: () => acquiring.finish(payment, call),
  };
}

interface PaymentRouteParts extends PaymentParts, CreationRuleParts {
  database: Database;
  acquiring: OpensPayments;
  payers: PayerData;
  /** The expected payout day of each payment, by reference; null when no batch can take it. Part of settlements/. */
  estimatePayouts(owner: BookOwner, waiting: readonly PaymentSummary[]): Promise<ReadonlyMap<string, string | null>>;
}

export function paymentEndpoints(parts: PaymentRouteParts): Endpoint[] {
  const summaries = new SharedRead(parts.database, selectSummaries);
  return [
    writeEndpoint<CreatePayment>({
      operationId: "createPayment",
      path: "/v1/payments",
      summary: "Create a payment",
      description:
        "Chooses an acquirer and answers with the instructions for the payer. What comes of it arrives by webhook. A payment that must be " +
        "looked at by a person is answered 202 with `RISK_REVIEW`.",
      tag: "Payments",
      scope: "payments:write",
      errors: [
        "INVALID_AMOUNT",
        "CURRENCY_NOT_SUPPORTED",
        "PAYMENT_METHOD_UNAVAILABLE",
        "REFERENCE_ID_DUPLICATE",
        "RISK_REJECTED",
        "RISK_REVIEW",
        "NO_ROUTE_AVAILABLE",
        "GATEWAY_ERROR",
        "GATEWAY_TIMEOUT",
        "PAYMENT_EXPIRED",
        "PAYMENT_NOT_PAYABLE",
      ],
      success: {
        status: 201,
        description: "The payment, with the instructions for the payer.",
        schema: createdPaymentSchema,
      },
      links: [
        { operationId: "getPayment", description: "Read what came of it.", path: { reference: "reference" } },
        {
          operationId: "cancelPayment",
          description: "Cancel it while it is pending.",
          path: { reference: "reference" },
        },
        { operationId: "createRefund", description: "Refund it once it has succeeded, as `payment_reference`." },
        {
          operationId: "simulatePayment",
          description: "In the sandbox: let the acquirer report an outcome.",
          path: { reference: "reference" },
        },
      ],
      body: createPaymentRules,
      bodyExamples: createPaymentExamples,
      judge: (call, input, found) => judgeCreation(parts, call, input, found),
      command: (call, body) =>
        answering(
          createPayment(parts, call, body, { ...call, payer: payerOf(parts, call, body) }),
          ({ payment, call: next }) => (next ? awaited(parts, payment, next) : createdReply(parts, payment)),
        ),
      lane: "create",
      async resume(call, intent) {
        const resuming = await parts.acquiring.resume(call, intent);
        return (
          resuming &&
          answering(resuming, (resumed) =>
            "reply" in resumed ? resumed.reply : awaited(parts, resumed.payment, resumed.call),
          )
        );
      },
    }),
    readEndpoint({
      operationId: "getPayment",
      path: "/v1/payments/{reference}",
      params: paymentParams,
      summary: "Read a payment's status",
      tag: "Payments",
      scope: "payments:read",
      errors: ["PAYMENT_NOT_FOUND", "ENVIRONMENT_MISMATCH"],
      success: { description: "The payment.", schema: paymentStatusSchema, examples: paymentExamples },
      async handle(call) {
        const payment = await findSummary(summaries, call);
        return reply(200, (await statusViewer(parts, call, [payment]))(payment));
      },
    }),
    readEndpoint({
      operationId: "listPayments",
      path: "/v1/payments",
      summary: "Find payments, newest first; by `reference_id`, zero or one",
      description:
        "With `status` or `payment_method` a page looks at ten thousand payments at most, the newest that are left or those of the time that is " +
        "asked for: it may be short, or empty, and have more after it. Go on from `next_cursor` while `has_more` is true.",
      tag: "Payments",
      scope: "payments:read",
      success: { description: "A page of payments.", schema: paymentListSchema },
      query: listQuerySchema,
      handle: (call) => listPayments(parts, call),
    }),
    writeEndpoint({
      operationId: "cancelPayment",
      path: "/v1/payments/{reference}/cancel",
      params: paymentParams,
      summary: "Cancel a pending payment",
      tag: "Payments",
      scope: "payments:write",
      errors: ["PAYMENT_NOT_FOUND", "ENVIRONMENT_MISMATCH", "PAYMENT_NOT_CANCELABLE"],
      success: { description: "The payment is canceled.", schema: canceledPaymentSchema },
      body: cancelRules,
      command: (call, { reason }) =>
        answering(cancelPayment(parts, call, call.params.reference ?? "", reason), (payment) =>
          reply(200, canceledView(payment)),
        ),
    }),
  ];
}

/** The answer of a creation, as its idempotency key stores it. */
export function createdReply({ payUrl }: Pick<PaymentParts, "payUrl">, payment: Payment): Reply {
  return reply(201, createdView(payment, payUrl(payment.book, payment.reference)));
}

function payerOf({ payers }: PaymentRouteParts, { book }: Call, body: CreatePayment): StoredPayer {
  return payers.seal({ book, referenceId: body.reference_id }, body.customer);
}

/** The payment named in the path. Throws PAYMENT_NOT_FOUND or ENVIRONMENT_MISMATCH. */
async function findSummary(summaries: SharedRead<PaymentName>, call: Call): Promise<PaymentSummary> {
  const reference = call.params.reference ?? "";
  if (!isId("payment", reference)) throw new Fault("PAYMENT_NOT_FOUND");
  const name = { merchantId: call.merchant.merchantId, reference };
  const row = await summaries.read(name);
  return ofThisBook(call.book, row && summaryOfRow(row, name), "PAYMENT_NOT_FOUND");
}

async function listPayments(parts: PaymentRouteParts, call: Call): Promise<Reply> {
  const query = call.query as ListQuery;
  const { payments, stoppedAt } = await findPayments(
    parts.database,
    {
      book: call.book,
      referenceId: query.reference_id,
      status: query.status,
      method: query.payment_method,
      link: query.payment_link,
      createdFrom: rangeFrom("created_from", query.created_from),
      createdBefore: rangeBefore("created_to", query.created_to),
      after: query.starting_after,
    },
    limitOf(query),
  );
  const view = await statusViewer(parts, call, payments);
  return page(payments, query, view, ({ reference }) => reference, stoppedAt?.reference);
}

/** Gives the function that shows these payments, with the expected payout dates of those that await settlement. */
async function statusViewer(
  parts: PaymentRouteParts,
  call: Call,
  shown: readonly PaymentSummary[],
): Promise<(payment: PaymentSummary) => Record<string, unknown>> {
  const waiting = shown.filter(awaitsSettlement);
  const dates = waiting.length === 0 ? undefined : await parts.estimatePayouts(call, waiting);
  return (payment) => {
    const checkoutUrl = payment.status === "pending" ? parts.payUrl(payment.book, payment.reference) : undefined;
    return statusView(payment, dates?.get(payment.reference) ?? null, checkoutUrl);
  };
}
