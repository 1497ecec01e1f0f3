// Endpoints of settlements for operators: each merchant's batches, and recording what the bank did with a batch.
import { z } from "zod";
import type { BookOwner } from "../commands/command-context.ts";
import { Fault, validationFault } from "../ground/fault.ts";
import { readable } from "../ground/money.ts";
import { type Reply, reply } from "../ground/reply.ts";
import { answering } from "../http/endpoint.ts";
import { settlementPaidPostings, settlementReturnedPostings } from "../ledger/journal.ts";
import type { Book } from "../merchants/books.ts";
import type { Directory } from "../merchants/directory.ts";
import { refuseFrozen } from "../merchants/settings.ts";
import { type Settlement, settlementView } from "../settlements/settlement.ts";
import { findSettlement, listSettlements, readSettlement } from "../settlements/settlements.routes.ts";
import {
  settlementListSchema,
  settlementParams,
  settlementSchema,
  settlementsQuerySchema,
} from "../settlements/settlements.schema.ts";
import { selectStatement, statementLineOfRow } from "../settlements/settlements.sql.ts";
import { paySettlement, returnSettlement } from "../settlements/settlements.ts";
import type { Command } from "../store/command.ts";
import type { Database } from "../store/database.ts";
import type { Foreseen } from "./approval.ts";
import { OF_BOOK, findBook } from "./books.ts";
import { type OperatorCall, type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import type { KeyedMoves } from "./keyed-moves.ts";
import { bookParams } from "./params.ts";

interface OperatorSettlementParts {
  database: Database;
  directory: Directory;
  moves: KeyedMoves;
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

export function operatorSettlementEndpoints({
  database,
  directory,
  moves,
}: OperatorSettlementParts): OperatorEndpoint[] {
  const foresee = async ({ merchant, book }: BookOwner, uuid: string, word: "paid" | "returned"): Promise<Foreseen> => {
    const { status, netMinor: amountMinor, currency } = await findSettlement(database, { book, params: { uuid } });
    if (status !== "processing") throw new Fault("SETTLEMENT_CLOSED", { details: { status } });
    if (word === "paid") refuseFrozen(merchant.settings, currency);
    const amount = { amountMinor, currency };
    return {
      summary: `Record that the bank ${word} the batch ${uuid} of ${currency} ${readable(amountMinor, currency)}`,
      book,
      amount,
      postings: word === "paid" ? settlementPaidPostings(amount) : settlementReturnedPostings(amount),
    };
  };
  const record = (call: OperatorCall, book: Book, command: Command<Settlement>): Promise<Reply> => {
    const answered = answering(command, (settlement) => reply(200, settlementView(settlement)));
    return moves.move(book, call, answered);
  };
  const errors = ["OBJECT_NOT_FOUND", "ENVIRONMENT_MISMATCH", "SETTLEMENT_CLOSED"] as const;
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
      success: { description: "A page of batches.", schema: settlementListSchema },
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
      success: { description: "The batch after it.", schema: settlementSchema },
      errors: [...errors, "WALLET_FROZEN"],
      approval: {
        action: "record_payout",
        async foresee({ params, body: { bank_reference: reference } }) {
          const owner = await findBook(directory, params);
          requireReference(owner.book, reference);
          return foresee(owner, params.uuid ?? "", "paid");
        },
      },
      async handle(call) {
        const { params, body } = call;
        const owner = await findBook(directory, params);
        requireReference(owner.book, body.bank_reference);
        return record(call, owner.book, paySettlement(owner, params.uuid ?? "", body.bank_reference));
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
      success: { description: "The batch after it.", schema: settlementSchema },
      errors,
      approval: {
        action: "record_payout",
        foresee: async ({ params }) => foresee(await findBook(directory, params), params.uuid ?? "", "returned"),
      },
      async handle(call) {
        const { uuid = "" } = call.params;
        const owner = await findBook(directory, call.params);
        const settlement = await readSettlement(database, owner.book.merchantId, uuid);
        const items = settlement ? (await database.query(selectStatement(settlement))).map(statementLineOfRow) : [];
        return record(call, owner.book, returnSettlement(owner, uuid, items));
      },
    }),
  ];
}

/** The bank's reference is required in production; the sandbox has no bank. Throws VALIDATION_ERROR. */
function requireReference({ environment }: Book, reference: string | undefined): void {
  if (environment === "production" && reference === undefined)
    throw validationFault("bank_reference", undefined, "Give the bank's reference of the transfer.");
}
