// The HTTP of disputes: the list of section 4.10, and the sandbox's way to open and decide one.
import { z } from "zod";
import { Fault } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import { type Endpoint, answering, readEndpoint, writeEndpoint } from "../http/endpoint.ts";
import { type Reply, reply } from "../ground/reply.ts";
import { page, unknownCursor } from "../http/lists.ts";
import { limitQuery, listSchema, timestamp } from "../http/shapes.ts";
import { disputeStatuses } from "../payments/payment.ts";
import { amountMinor, invalidAmount } from "../payments/payments.schema.ts";
import { type Book, environments } from "../merchants/books.ts";
import type { Database } from "../store/database.ts";
import { disputeOfRow, selectDispute, selectDisputes } from "./disputes.sql.ts";
import { type Dispute, disputeReasons, disputeView, outcomes } from "./dispute.ts";
import { openDispute, resolveDispute } from "./disputes.ts";

/** Also the data of dispute events. */
export const disputeSchema = z.strictObject({
  uuid: z.string(),
  environment: z.enum(environments),
  payment_reference: z.string(),
  status: z.enum(disputeStatuses),
  reason: z.enum(disputeReasons),
  amount_minor: amountMinor,
  currency: z.string(),
  exponent: z.int().min(0).max(4),
  evidence_due_at: timestamp,
  opened_at: timestamp,
  resolved_at: timestamp.nullable(),
  outcome: z.enum(outcomes).nullable(),
});

export const disputesQuerySchema = z.strictObject({
  status: z.enum(disputeStatuses).optional(),
  payment_reference: z
    .string()
    .refine((value) => isId("payment", value), "is not the reference of a payment")
    .optional(),
  limit: limitQuery,
  starting_after: z
    .string()
    .refine((value) => isId("dispute", value), "is not the uuid of a dispute")
    .optional(),
});

const openSchema = z.strictObject({ reason: z.enum(disputeReasons), amount_minor: amountMinor.optional() });
const resolveSchema = z.strictObject({ outcome: z.enum(outcomes) });

export interface DisputeParts {
  database: Database;
}

export function disputeEndpoints(parts: DisputeParts): Endpoint[] {
  return [
    readEndpoint({
      path: "/v1/disputes",
      summary: "List disputes, newest first",
      tag: "Disputes",
      scope: "disputes:read",
      errors: ["VALIDATION_ERROR"],
      success: { status: 200, description: "A page of disputes.", schema: listSchema(disputeSchema) },
      query: disputesQuerySchema,
      handle: (call) => listDisputes(parts.database, call.book, call.query),
    }),
    readEndpoint({
      path: "/v1/disputes/{uuid}",
      summary: "Read a dispute",
      tag: "Disputes",
      scope: "disputes:read",
      errors: ["OBJECT_NOT_FOUND", "ENVIRONMENT_MISMATCH"],
      success: { status: 200, description: "The dispute.", schema: disputeSchema },
      async handle(call) {
        const dispute = await readDispute(parts.database, call.merchant.merchantId, call.params.uuid ?? "");
        if (!dispute) throw new Fault("OBJECT_NOT_FOUND", { message: "No such dispute." });
        if (dispute.book.environment !== call.book.environment) throw new Fault("ENVIRONMENT_MISMATCH");
        return reply(200, disputeView(dispute));
      },
    }),
    writeEndpoint<z.infer<typeof openSchema>>({
      path: "/v1/sandbox/payments/{reference}/dispute",
      summary: "Let the payer contest a payment",
      tag: "Sandbox",
      scope: "sandbox:write",
      sandboxOnly: true,
      errors: ["PAYMENT_NOT_FOUND", "PAYMENT_NOT_REFUNDABLE", "INVALID_AMOUNT"],
      success: { status: 201, description: "The dispute; the amount is held.", schema: disputeSchema },
      body: {
        schema: openSchema,
        order: ["reason", "amount_minor"],
        faultFor: (field, value) => (field === "amount_minor" ? invalidAmount(value) : undefined),
      },
      command(call, body) {
        const command = openDispute(call, call.params.reference ?? "", body);
        return answering(command, (dispute) => reply(201, disputeView(dispute)));
      },
      lane: "move",
    }),
    writeEndpoint<z.infer<typeof resolveSchema> & { dispute?: Dispute | undefined }>({
      path: "/v1/sandbox/disputes/{uuid}/resolve",
      summary: "Decide a dispute",
      tag: "Sandbox",
      scope: "sandbox:write",
      sandboxOnly: true,
      errors: ["OBJECT_NOT_FOUND", "ENVIRONMENT_MISMATCH", "DISPUTE_RESOLVED"],
      success: { status: 200, description: "The dispute after it.", schema: disputeSchema },
      body: { schema: resolveSchema, order: ["outcome"] },
      async judge(call, _input, found) {
        if ("fault" in found) throw found.fault;
        return {
          ...found.value,
          dispute: await readDispute(parts.database, call.merchant.merchantId, call.params.uuid ?? ""),
        };
      },
      command(call, { outcome, dispute }) {
        const key = { uuid: call.params.uuid ?? "", paymentReference: dispute?.paymentReference };
        const command = resolveDispute(call, key, outcome);
        return answering(command, (resolved) => reply(200, disputeView(resolved)));
      },
      lane: "move",
    }),
  ];
}

/** A dispute of the merchant, or undefined. */
export async function readDispute(database: Database, merchantId: string, uuid: string): Promise<Dispute | undefined> {
  if (!isId("dispute", uuid)) return undefined;
  const [row] = await database.query(selectDispute(merchantId, uuid));
  return row && disputeOfRow(row);
}

/** A page of a book's list. `query` has passed `disputesQuerySchema`. */
export async function listDisputes(
  database: Database,
  book: Book,
  query: z.infer<typeof disputesQuerySchema>,
): Promise<Reply> {
  const after = query.starting_after;
  if (after !== undefined) {
    const cursor = await readDispute(database, book.merchantId, after);
    if (cursor?.book.environment !== book.environment) throw unknownCursor(after);
  }
  const limit = Number(query.limit ?? 25);
  const rows = await database.query(
    selectDisputes({ book, status: query.status, paymentReference: query.payment_reference, after, limit }),
  );
  return page(rows.map(disputeOfRow), limit, disputeView, ({ uuid }) => uuid);
}
