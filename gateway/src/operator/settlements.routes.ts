// Settlements as the operator handles them: each merchant's batches, and what the bank did with one.
import { z } from "zod";
import { validationFault } from "../ground/fault.ts";
import { reply } from "../ground/reply.ts";
import type { Directory } from "../merchants/directory.ts";
import { settlementView } from "../settlements/settlement.ts";
import { listSettlements, readSettlement } from "../settlements/settlements.routes.ts";
import {
  settlementListSchema,
  settlementParams,
  settlementSchema,
  settlementsQuerySchema,
} from "../settlements/settlements.schema.ts";
import { itemOfRow, selectItems } from "../settlements/settlements.sql.ts";
import { paySettlement, returnSettlement } from "../settlements/settlements.ts";
import type { Database } from "../store/database.ts";
import type { Lanes } from "../store/lanes.ts";
import { OF_BOOK, findBook } from "./books.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import { bookParams } from "./params.ts";

export interface OperatorSettlementParts {
  database: Database;
  directory: Directory;
  lanes: Lanes;
}

const paidSchema = z
  .strictObject({
    bank_reference: z
      .string()
      .regex(/^[!-~]{1,64}$/, "must be 1 to 64 printable characters without spaces")
      .optional()
      .meta({ description: "The bank's reference of the transfer.", examples: ["TRF20261122001"] }),
  })
  .meta({ id: "RecordSettlementPaid", examples: [{ bank_reference: "TRF20261122001" }] });

/** What the bank did with the batches. */
export function operatorSettlementEndpoints({
  database,
  directory,
  lanes,
}: OperatorSettlementParts): OperatorEndpoint[] {
  const errors = ["OBJECT_NOT_FOUND", "SETTLEMENT_CLOSED"] as const;
  return [
    operatorEndpoint({
      method: "GET",
      operationId: "listMerchantSettlements",
      path: `${OF_BOOK}/settlements`,
      params: bookParams,
      summary: "List a merchant's settlement batches, newest first",
      tag: "Settlements",
      role: "viewer",
      query: settlementsQuerySchema,
      success: { status: 200, description: "A page of batches.", schema: settlementListSchema },
      errors: ["OBJECT_NOT_FOUND"],
      handle: async ({ params, query }) => listSettlements(database, (await findBook(directory, params)).book, query),
    }),
    operatorEndpoint({
      method: "POST",
      operationId: "recordSettlementPaid",
      path: `${OF_BOOK}/settlements/{uuid}/pay`,
      params: { ...bookParams, ...settlementParams },
      summary:
        "Record that the bank paid a batch, under its reference; without one in the sandbox, where there is no bank",
      tag: "Settlements",
      role: "admin",
      body: paidSchema,
      success: { status: 200, description: "The batch after it.", schema: settlementSchema },
      errors: [...errors, "WALLET_FROZEN"],
      async handle({ params, body: { bank_reference: reference } }) {
        const { book, merchant } = await findBook(directory, params);
        if (book.environment === "production" && reference === undefined)
          throw validationFault("bank_reference", undefined, "Give the bank's reference of the transfer.");
        const command = paySettlement({ merchant, book }, params.uuid ?? "", reference);
        return reply(200, settlementView(await lanes.move(book.merchantId, command)));
      },
    }),
    operatorEndpoint({
      method: "POST",
      operationId: "recordSettlementReturned",
      path: `${OF_BOOK}/settlements/{uuid}/return`,
      params: { ...bookParams, ...settlementParams },
      summary: "Record that the bank returned a batch; its funds are available again",
      tag: "Settlements",
      role: "admin",
      success: { status: 200, description: "The batch after it.", schema: settlementSchema },
      errors,
      async handle({ params }) {
        const owner = await findBook(directory, params);
        const { book } = owner;
        const settlement = await readSettlement(database, book.merchantId, params.uuid ?? "");
        const items = settlement ? (await database.query(selectItems(settlement))).map(itemOfRow) : [];
        const command = returnSettlement(owner, params.uuid ?? "", items);
        return reply(200, settlementView(await lanes.move(book.merchantId, command)));
      },
    }),
  ];
}
