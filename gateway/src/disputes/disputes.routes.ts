// HTTP routes of disputes: the list of section 4.10, and the sandbox's endpoints that open and decide a dispute.
import type { z } from "zod";
import { type Call, type Endpoint, answering, ofSandbox, readEndpoint, writeEndpoint } from "../http/endpoint.ts";
import { type Reply, reply } from "../ground/reply.ts";
import { checkCursor, limitOf, page, rangeBefore, rangeFrom } from "../http/lists.ts";
import { ofThisBook, readerOf } from "../http/one-object.ts";
import { invalidAmount, paymentParams } from "../payments/payments.schema.ts";
import type { Book } from "../merchants/books.ts";
import type { Database } from "../store/database.ts";
import { disputeOfOrderRow, selectDispute, selectDisputes } from "./disputes.sql.ts";
import { type Dispute, type DisputeOfOrder, disputeView } from "./dispute.ts";
import {
  disputeListSchema,
  disputeParams,
  disputeSchema,
  disputesQuerySchema,
  openDisputeErrors,
  openDisputeSchema,
  resolveDisputeSchema,
  resolvedExamples,
} from "./disputes.schema.ts";
import { openDispute, resolveDispute } from "./disputes.ts";

export function disputeEndpoints(database: Database): Endpoint[] {
  return [
    readEndpoint({
      operationId: "listDisputes",
      path: "/v1/disputes",
      summary: "List disputes, newest first",
      tag: "Disputes",
      scope: "disputes:read",
      success: { description: "A page of disputes.", schema: disputeListSchema },
      query: disputesQuerySchema,
      handle: (call) => listDisputes(database, call.book, call.query),
    }),
    readEndpoint({
      operationId: "getDispute",
      path: "/v1/disputes/{uuid}",
      params: disputeParams,
      summary: "Read a dispute",
      tag: "Disputes",
      scope: "disputes:read",
      errors: ["OBJECT_NOT_FOUND", "ENVIRONMENT_MISMATCH"],
      success: { description: "The dispute.", schema: disputeSchema },
      handle: async (call) => reply(200, disputeView(await findDispute(database, call))),
    }),
    writeEndpoint<z.infer<typeof openDisputeSchema>>({
      operationId: "openDispute",
      path: "/v1/sandbox/payments/{reference}/dispute",
      params: paymentParams,
      summary: "Let the payer contest a payment",
      ...ofSandbox,
      errors: openDisputeErrors,
      success: { status: 201, description: "The dispute; the amount is held.", schema: disputeSchema },
      links: [
        { operationId: "getDispute", description: "Read how it stands.", path: { uuid: "uuid" } },
        { operationId: "resolveDispute", description: "Decide it.", path: { uuid: "uuid" } },
      ],
      body: {
        schema: openDisputeSchema,
        order: ["reason", "amount_minor"],
        faultFor: (field, value) => (field === "amount_minor" ? invalidAmount(value) : undefined),
      },
      command(call, body) {
        const command = openDispute(call, call.params.reference ?? "", body);
        return answering(command, (dispute) => reply(201, disputeView(dispute)));
      },
    }),
    writeEndpoint<z.infer<typeof resolveDisputeSchema> & { dispute?: Dispute | undefined }>({
      operationId: "resolveDispute",
      path: "/v1/sandbox/disputes/{uuid}/resolve",
      params: disputeParams,
      summary: "Decide a dispute",
      ...ofSandbox,
      errors: ["OBJECT_NOT_FOUND", "ENVIRONMENT_MISMATCH", "DISPUTE_RESOLVED"],
      success: { description: "The dispute after it.", schema: disputeSchema, examples: resolvedExamples },
      body: { schema: resolveDisputeSchema, order: ["outcome"] },
      async judge(call, _input, found) {
        if ("fault" in found) throw found.fault;
        const dispute = await readDispute(database, call.merchant.merchantId, call.params.uuid);
        return { ...found.value, dispute };
      },
      command(call, { outcome, dispute }) {
        const key = { uuid: call.params.uuid ?? "", paymentReference: dispute?.paymentReference };
        return answering(resolveDispute(call, key, outcome), (resolved) => reply(200, disputeView(resolved)));
      },
    }),
  ];
}

/** The dispute of a path. Throws OBJECT_NOT_FOUND (also for a dispute of another merchant), ENVIRONMENT_MISMATCH. */
export async function findDispute(
  database: Database,
  { book, params }: Pick<Call, "book" | "params">,
): Promise<DisputeOfOrder> {
  const dispute = await readDispute(database, book.merchantId, params.uuid);
  return ofThisBook(book, dispute, "OBJECT_NOT_FOUND", "No such dispute.");
}

/** A dispute of the merchant in either environment; undefined when there is none. */
export const readDispute = readerOf("dispute", selectDispute, disputeOfOrderRow);

/** A page of a book's disputes. `query` has passed `disputesQuerySchema`. */
export async function listDisputes(
  database: Database,
  book: Book,
  query: z.infer<typeof disputesQuerySchema>,
): Promise<Reply> {
  const after = query.starting_after;
  await checkCursor(book, after, (id) => readDispute(database, book.merchantId, id));
  const statement = selectDisputes({
    book,
    status: query.status,
    paymentReference: query.payment_reference,
    from: rangeFrom("opened_from", query.opened_from),
    before: rangeBefore("opened_to", query.opened_to),
    after,
    limit: limitOf(query),
  });
  const rows = await database.query(statement);
  return page(rows.map(disputeOfOrderRow), query, disputeView, ({ uuid }) => uuid);
}
