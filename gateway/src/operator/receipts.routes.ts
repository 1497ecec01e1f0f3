// Endpoints of receipts: money that acquirers received, applied to a payment or unapplied until an operator decides.
import { readable, wireAmount } from "../ground/money.ts";
import { z } from "zod";
import { wireTime, wireTimeOrNull } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import { reply } from "../ground/reply.ts";
import { answering } from "../http/endpoint.ts";
import { cursorOf, limitOf, page } from "../http/lists.ts";
import { exampleTimes } from "../http/examples.ts";
import {
  currencyCode,
  environmentField,
  identity,
  listSchema,
  minorAmount,
  timestamp,
  withExample,
} from "../http/shapes.ts";
import { amountMinor } from "../payments/payments.schema.ts";
import { type ReceiptDecision, decideReceipt } from "../acquiring/receipts.ts";
import { type KeptReceipt, receiptStatuses } from "../acquiring/receipt.ts";
import { receiptOfRow, selectReceipt, selectReceipts } from "../acquiring/receipts.sql.ts";
import { unappliedCreditPostings, unappliedReturnPostings } from "../ledger/journal.ts";
import type { Directory } from "../merchants/directory.ts";
import type { Database } from "../store/database.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import type { KeyedMoves } from "./keyed-moves.ts";
import { pageFieldsOf } from "./lists.ts";
import { receiptParams } from "./params.ts";

const receiptStatus = z.enum(receiptStatuses).meta({
  id: "ReceiptStatus",
  description: "`unapplied`: no payment awaited it, and it waits for your decision.",
});
export const receiptSchema = withExample(
  z.strictObject({
    uuid: identity("receipt"),
    merchant_id: identity("merchant"),
    environment: environmentField,
    payment_reference: identity("payment").meta({ description: "The payment that it names." }),
    gateway_code: z.string().meta({ examples: ["nusantara"] }),
    transaction_id: z.string().meta({ description: "The acquirer's own.", examples: ["NQR-20261122-000418"] }),
    amount_minor: amountMinor,
    currency: currencyCode,
    acquirer_fee_minor: minorAmount("What the acquirer kept of it; null where it does not say so.", 105_000).nullable(),
    status: receiptStatus,
    received_at: timestamp,
    decided_at: timestamp.nullable().meta({ description: "Null before a decision." }),
  }),
  { id: "Receipt", description: "Money that an acquirer reported." },
  { acquirer_fee_minor: null, status: "unapplied", received_at: exampleTimes.paid },
);
const receiptsQuery = z.strictObject({
  ...pageFieldsOf("receipt", "uuid"),
  status: receiptStatus.optional().meta({ description: "Only receipts of this status." }),
});

export function receiptEndpoints(database: Database, directory: Directory, moves: KeyedMoves): OperatorEndpoint[] {
  const find = async (uuid = ""): Promise<KeptReceipt> => {
    const receipt = isId("receipt", uuid) ? await database.first(selectReceipt(uuid), receiptOfRow) : undefined;
    if (!receipt) throw new Fault("OBJECT_NOT_FOUND");
    return receipt;
  };
  const decide = (word: "return" | "credit", decision: ReceiptDecision, summary: string): OperatorEndpoint =>
    operatorEndpoint({
      method: "POST",
      operationId: `${word}Receipt`,
      path: `/ops/v1/receipts/{uuid}/${word}`,
      params: receiptParams,
      summary,
      tag: "Receipts",
      role: "admin",
      success: { description: "The receipt after it.", schema: receiptSchema },
      errors: ["OBJECT_NOT_FOUND", "PAYMENT_NOT_PAYABLE"],
      approval: {
        action: "decide_receipt",
        async foresee({ params }) {
          const receipt = await find(params.uuid);
          const { amountMinor, currency, status, gatewayCode, transactionId, paymentReference, book } = receipt;
          if (status !== "unapplied") throw new Fault("PAYMENT_NOT_PAYABLE", { details: { status } });
          const to = decision === "credited" ? "Assign to the merchant" : "Return to the payer, through the acquirer,";
          return {
            summary: `${to} ${currency} ${readable(amountMinor, currency)} of ${gatewayCode} ${transactionId}`,
            book,
            paymentReference,
            amount: { amountMinor, currency },
            postings:
              decision === "credited"
                ? unappliedCreditPostings(receipt)
                : unappliedReturnPostings(gatewayCode, receipt),
          };
        },
      },
      async handle(call) {
        const receipt = await find(call.params.uuid);
        const merchant = await directory.merchant(receipt.book.merchantId);
        if (!merchant) throw new Fault("OBJECT_NOT_FOUND");
        const command = answering(decideReceipt(merchant, receipt, decision), (done) => reply(200, receiptView(done)));
        return moves.move(receipt.book, call, command);
      },
    });
  return [
    operatorEndpoint({
      method: "GET",
      operationId: "listReceipts",
      path: "/ops/v1/receipts",
      summary: "Money that acquirers reported, oldest first; `status=unapplied` waits for a decision",
      tag: "Receipts",
      role: "viewer",
      query: receiptsQuery,
      success: { description: "A page of receipts.", schema: listSchema(receiptSchema, "ReceiptList") },
      async handle({ query }) {
        const after = await cursorOf(query, (id) => database.first(selectReceipt(id), receiptOfRow));
        const rows = await database.query(selectReceipts(query.status, after, limitOf(query)));
        return page(rows.map(receiptOfRow), query, receiptView, ({ uuid }) => uuid);
      },
    }),
    decide(
      "return",
      "returned",
      "Write unapplied money off to its acquirer, which gives it back to its payer: arrange that with it first",
    ),
    decide("credit", "credited", "Give unapplied money to the merchant"),
  ];
}

export function receiptView(receipt: KeptReceipt): z.infer<typeof receiptSchema> {
  return {
    uuid: receipt.uuid,
    merchant_id: receipt.book.merchantId,
    environment: receipt.book.environment,
    payment_reference: receipt.paymentReference,
    gateway_code: receipt.gatewayCode,
    transaction_id: receipt.transactionId,
    amount_minor: wireAmount(receipt.amountMinor),
    currency: receipt.currency,
    acquirer_fee_minor: receipt.feeMinor === undefined ? null : wireAmount(receipt.feeMinor),
    status: receipt.status,
    received_at: wireTime(receipt.receivedAt),
    decided_at: wireTimeOrNull(receipt.decidedAt),
  };
}
