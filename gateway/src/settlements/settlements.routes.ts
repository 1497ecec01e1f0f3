// The HTTP of settlements: the list of section 4.9, a batch's statement, and the sandbox's way to form and pay one.
import { z } from "zod";
import { Fault } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import { MINOR_MAX } from "../ground/money.ts";
import { type Call, type Endpoint, answering, readEndpoint, writeEndpoint } from "../http/endpoint.ts";
import { type Reply, reply } from "../ground/reply.ts";
import { page, rangeBefore, rangeFrom, unknownCursor } from "../http/lists.ts";
import { limitQuery, listSchema, timestamp } from "../http/shapes.ts";
import { type Book, environments } from "../merchants/books.ts";
import type { Database } from "../store/database.ts";
import { type Settlement, settlementStatuses, settlementView, statementOf } from "./settlement.ts";
import {
  selectSettlement,
  selectSettlements,
  selectStatement,
  settlementOfRow,
  statementLineOfRow,
} from "./settlements.sql.ts";
import { paySettlement, runNow } from "./settlements.ts";

const minor = z.int().min(0).max(Number(MINOR_MAX));

/** Also the data of settlement events. */
export const settlementSchema = z.strictObject({
  uuid: z.string(),
  environment: z.enum(environments),
  status: z.enum(settlementStatuses),
  currency: z.string(),
  exponent: z.int().min(0).max(4),
  period_start: timestamp,
  period_end: timestamp,
  gross_minor: minor,
  fee_minor: minor,
  refund_minor: minor,
  net_minor: minor,
  payment_count: z.int().min(0),
  paid_at: timestamp.nullable(),
  bank_reference: z.string().nullable(),
});

const date = z
  .string()
  .optional()
  .meta({ description: "YYYY-MM-DD or a timestamp; compares `period_end`, inclusive." });

export const settlementsQuerySchema = z.strictObject({
  status: z.enum(settlementStatuses).optional(),
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, "must be a currency code")
    .optional(),
  date_from: date,
  date_to: date,
  limit: limitQuery,
  starting_after: z
    .string()
    .refine((value) => isId("settlement", value), "is not the uuid of a settlement")
    .optional(),
});

const nothing = z.strictObject({});

export interface SettlementParts {
  database: Database;
}

export function settlementEndpoints(parts: SettlementParts): Endpoint[] {
  return [
    readEndpoint({
      path: "/v1/settlements",
      summary: "List settlement batches, newest first",
      tag: "Settlements",
      scope: "settlements:read",
      errors: ["VALIDATION_ERROR"],
      success: { status: 200, description: "A page of batches.", schema: listSchema(settlementSchema) },
      query: settlementsQuerySchema,
      handle: (call) => listSettlements(parts.database, call.book, call.query),
    }),
    readEndpoint({
      path: "/v1/settlements/{uuid}",
      summary: "Read a settlement batch",
      tag: "Settlements",
      scope: "settlements:read",
      errors: ["OBJECT_NOT_FOUND", "ENVIRONMENT_MISMATCH"],
      success: { status: 200, description: "The batch.", schema: settlementSchema },
      handle: async (call) => reply(200, settlementView(await findSettlement(parts.database, call))),
    }),
    readEndpoint({
      path: "/v1/settlements/{uuid}/statement",
      summary: "A batch as CSV: one line a payment, credited receipt, refund and lost dispute, adding up to the batch",
      tag: "Settlements",
      scope: "settlements:read",
      errors: ["OBJECT_NOT_FOUND", "ENVIRONMENT_MISMATCH"],
      success: { status: 200, description: "Comma-separated values.", schema: z.string(), mediaType: "text/csv" },
      async handle(call) {
        const settlement = await findSettlement(parts.database, call);
        const lines = (await parts.database.query(selectStatement(settlement))).map(statementLineOfRow);
        return { status: 200, body: statementOf(settlement, lines), contentType: "text/csv; charset=utf-8" };
      },
    }),
    writeEndpoint({
      path: "/v1/sandbox/settlements/run",
      summary: "Form batches of everything that waits, now",
      tag: "Sandbox",
      scope: "sandbox:write",
      sandboxOnly: true,
      errors: [],
      success: {
        status: 200,
        description: "The batches formed.",
        schema: z.strictObject({ data: z.array(settlementSchema) }),
      },
      body: { schema: nothing, order: [] },
      command(call) {
        const command = runNow(call);
        return answering(command, (formed) => reply(200, { data: formed.map(settlementView) }));
      },
      lane: "move",
    }),
    writeEndpoint({
      path: "/v1/sandbox/settlements/{uuid}/pay",
      summary: "Let the bank pay a batch",
      tag: "Sandbox",
      scope: "sandbox:write",
      sandboxOnly: true,
      errors: ["OBJECT_NOT_FOUND", "ENVIRONMENT_MISMATCH", "SETTLEMENT_CLOSED", "WALLET_FROZEN"],
      success: { status: 200, description: "The batch after it.", schema: settlementSchema },
      body: { schema: nothing, order: [] },
      command(call) {
        const command = paySettlement(call, call.params.uuid ?? "");
        return answering(command, (paid) => reply(200, settlementView(paid)));
      },
      lane: "move",
    }),
  ];
}

async function findSettlement(database: Database, call: Call): Promise<Settlement> {
  const settlement = await readSettlement(database, call.merchant.merchantId, call.params.uuid ?? "");
  if (!settlement) throw new Fault("OBJECT_NOT_FOUND", { message: "No such settlement." });
  if (settlement.book.environment !== call.book.environment) throw new Fault("ENVIRONMENT_MISMATCH");
  return settlement;
}

/** A batch of the merchant, or undefined. */
export async function readSettlement(
  database: Database,
  merchantId: string,
  uuid: string,
): Promise<Settlement | undefined> {
  if (!isId("settlement", uuid)) return undefined;
  const [row] = await database.query(selectSettlement(merchantId, uuid));
  return row && settlementOfRow(row);
}

/** A page of a book's list. `query` has passed `settlementsQuerySchema`. */
export async function listSettlements(
  database: Database,
  book: Book,
  query: z.infer<typeof settlementsQuerySchema>,
): Promise<Reply> {
  const after = query.starting_after;
  if (after !== undefined) {
    const cursor = await readSettlement(database, book.merchantId, after);
    if (cursor?.book.environment !== book.environment) throw unknownCursor(after);
  }
  const limit = Number(query.limit ?? 25);
  const rows = await database.query(
    selectSettlements({
      book,
      status: query.status,
      currency: query.currency,
      endFrom: rangeFrom("date_from", query.date_from),
      endBefore: rangeBefore("date_to", query.date_to),
      after,
      limit,
    }),
  );
  return page(rows.map(settlementOfRow), limit, settlementView, ({ uuid }) => uuid);
}
