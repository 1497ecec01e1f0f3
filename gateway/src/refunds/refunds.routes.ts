// HTTP routes of refunds: sections 4.6 and 4.7, and the sandbox's endpoint that completes the refund of a slow acquirer.
import type { z } from "zod";
import { type Call, type Endpoint, answering, ofSandbox, readEndpoint, writeEndpoint } from "../http/endpoint.ts";
import { type Reply, reply } from "../ground/reply.ts";
import { checkCursor, limitOf, page, rangeBefore, rangeFrom } from "../http/lists.ts";
import { ofThisBook, readerOf } from "../http/one-object.ts";
import { listSchema } from "../http/shapes.ts";
import type { Database } from "../store/database.ts";
import {
  type CreateRefund,
  createRefundRules,
  createdRefundSchema,
  refundErrors,
  refundOutcomeSchema,
  refundParams,
  refundStatusSchema,
  refundsQuerySchema,
} from "./refunds.schema.ts";
import { refundOfOrderRow, selectRefund, selectRefunds } from "./refunds.sql.ts";
import { type Refund, createdRefundView, refundView } from "./refund.ts";
import { type RefundParts, completeRefund, createRefund } from "./refunds.ts";

export function refundEndpoints(parts: RefundParts & { database: Database }): Endpoint[] {
  return [
    writeEndpoint<CreateRefund>({
      operationId: "createRefund",
      path: "/v1/refunds",
      description:
        "Only a payment that has succeeded and is in no running dispute can be refunded. Several refunds may add up to its amount.",
      summary: "Refund all or part of a payment",
      tag: "Refunds",
      scope: "refunds:write",
      errors: refundErrors,
      success: { status: 201, description: "The refund; its funds are reversed.", schema: createdRefundSchema },
      links: [
        { operationId: "getRefund", description: "Read what came of it.", path: { uuid: "uuid" } },
        {
          operationId: "getPayment",
          description: "Read the payment after it.",
          path: { reference: "payment_reference" },
        },
        {
          operationId: "simulateRefund",
          description: "In the sandbox: let the acquirer report the outcome of a pending one.",
          path: { uuid: "uuid" },
        },
      ],
      body: createRefundRules,
      command: (call, body) =>
        answering(createRefund(parts, call, body), ({ refund, remainingMinor }) =>
          reply(201, createdRefundView(refund, remainingMinor)),
        ),
    }),
    readEndpoint({
      operationId: "listRefunds",
      path: "/v1/refunds",
      summary: "List refunds, newest first",
      tag: "Refunds",
      scope: "refunds:read",
      success: { description: "A page of refunds.", schema: listSchema(refundStatusSchema, "RefundList") },
      query: refundsQuerySchema,
      handle: (call) => listRefunds(parts.database, call),
    }),
    readEndpoint({
      operationId: "getRefund",
      path: "/v1/refunds/{uuid}",
      params: refundParams,
      summary: "Read a refund's status",
      tag: "Refunds",
      scope: "refunds:read",
      errors: ["REFUND_NOT_FOUND", "ENVIRONMENT_MISMATCH"],
      success: { description: "The refund.", schema: refundStatusSchema },
      async handle(call) {
        const refund = await readRefund(parts.database, call.book.merchantId, call.params.uuid);
        return reply(200, refundView(ofThisBook(call.book, refund, "REFUND_NOT_FOUND")));
      },
    }),
    writeEndpoint<z.infer<typeof refundOutcomeSchema> & { refund?: Refund | undefined }>({
      operationId: "simulateRefund",
      path: "/v1/sandbox/refunds/{uuid}/simulate",
      params: refundParams,
      summary: "Let the simulated acquirer report the outcome of a pending refund",
      ...ofSandbox,
      errors: ["REFUND_NOT_FOUND", "ENVIRONMENT_MISMATCH", "PAYMENT_NOT_PAYABLE"],
      success: { description: "The refund after it.", schema: refundStatusSchema },
      body: { schema: refundOutcomeSchema, order: ["outcome"] },
      async judge(call, _input, found) {
        if ("fault" in found) throw found.fault;
        return { ...found.value, refund: await readRefund(parts.database, call.book.merchantId, call.params.uuid) };
      },
      command(call, { outcome, refund }) {
        const key = { uuid: call.params.uuid ?? "", paymentReference: refund?.paymentReference };
        return answering(completeRefund(call, key, outcome), (completed) => reply(200, refundView(completed)));
      },
    }),
  ];
}

async function listRefunds(database: Database, call: Call): Promise<Reply> {
  const query = call.query as z.infer<typeof refundsQuerySchema>;
  const { book } = call;
  const after = query.starting_after;
  await checkCursor(book, after, (id) => readRefund(database, book.merchantId, id));
  const statement = selectRefunds({
    book,
    paymentReference: query.payment_reference,
    status: query.status,
    from: rangeFrom("created_from", query.created_from),
    before: rangeBefore("created_to", query.created_to),
    after,
    limit: limitOf(query),
  });
  const rows = await database.query(statement);
  return page(rows.map(refundOfOrderRow), query, refundView, ({ uuid }) => uuid);
}

/** A refund of the merchant in either environment; undefined when there is none. */
const readRefund = readerOf("refund", selectRefund, refundOfOrderRow);
