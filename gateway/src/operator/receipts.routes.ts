// Money that acquirers received: what it paid, and what no payment awaited until an operator decides.
import { wireAmount } from "../ground/money.ts";
import { z } from "zod";
import { wireTime } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import { reply } from "../ground/reply.ts";
import { page } from "../http/lists.ts";
import { listSchema, timestamp } from "../http/shapes.ts";
import { environments } from "../merchants/books.ts";
import { amountMinor } from "../payments/payments.schema.ts";
import { type ReceiptDecision, decideReceipt } from "../acquiring/receipts.ts";
import { type KeptReceipt, receiptStatuses } from "../acquiring/receipt.ts";
import { receiptOfRow, selectReceipts } from "../acquiring/receipts.sql.ts";
import type { Directory } from "../merchants/directory.ts";
import type { Database } from "../store/database.ts";
import type { Lanes } from "../store/lanes.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import { limitOf, pageFields } from "./lists.ts";

const receiptSchema = z.strictObject({
  uuid: z.string(),
  merchant_id: z.string(),
  environment: z.enum(environments),
  payment_reference: z.string(),
  gateway_code: z.string(),
  transaction_id: z.string(),
  amount_minor: amountMinor,
  currency: z.string(),
  status: z.enum(receiptStatuses),
  received_at: timestamp,
  decided_at: timestamp.nullable(),
});
const receiptsQuery = z.strictObject({
  ...pageFields("uuid", (value) => isId("receipt", value)),
  status: z.enum(receiptStatuses).optional(),
});

export function receiptEndpoints(database: Database, directory: Directory, lanes: Lanes): OperatorEndpoint[] {
  const decide = (word: "return" | "credit", decision: ReceiptDecision, summary: string): OperatorEndpoint =>
    operatorEndpoint({
      method: "POST",
      path: `/ops/v1/receipts/{uuid}/${word}`,
      summary,
      tag: "Receipts",
      role: "admin",
      success: { status: 200, description: "The receipt after it.", schema: receiptSchema },
      errors: ["OBJECT_NOT_FOUND", "PAYMENT_NOT_PAYABLE"],
      async handle({ params: { uuid = "" } }) {
        const filter = { uuid, status: undefined };
        const [row] = isId("receipt", uuid) ? await database.query(selectReceipts(filter, undefined, 1)) : [];
        if (!row) throw new Fault("OBJECT_NOT_FOUND");
        const receipt = receiptOfRow(row);
        const { merchantId } = receipt.book;
        const merchant = await directory.merchant(merchantId);
        if (!merchant) throw new Fault("OBJECT_NOT_FOUND");
        return reply(200, viewOf(await lanes.move(merchantId, decideReceipt(merchant, receipt, decision))));
      },
    });
  return [
    operatorEndpoint({
      method: "GET",
      path: "/ops/v1/receipts",
      summary: "Money that acquirers reported, oldest first; `status=unapplied` waits for a decision",
      tag: "Receipts",
      role: "viewer",
      query: receiptsQuery,
      success: { status: 200, description: "A page of receipts.", schema: listSchema(receiptSchema) },
      errors: [],
      async handle({ query }) {
        const limit = limitOf(query);
        const filter = { uuid: undefined, status: query.status };
        const rows = await database.query(selectReceipts(filter, query.starting_after, limit));
        return page(rows.map(receiptOfRow), limit, viewOf, ({ uuid }) => uuid);
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

function viewOf(receipt: KeptReceipt): z.infer<typeof receiptSchema> {
  return {
    uuid: receipt.uuid,
    merchant_id: receipt.book.merchantId,
    environment: receipt.book.environment,
    payment_reference: receipt.paymentReference,
    gateway_code: receipt.gatewayCode,
    transaction_id: receipt.transactionId,
    amount_minor: wireAmount(receipt.amountMinor),
    currency: receipt.currency,
    status: receipt.status,
    received_at: wireTime(receipt.receivedAt),
    decided_at: receipt.decidedAt === undefined ? null : wireTime(receipt.decidedAt),
  };
}
