// What an operator does with money: judge reviews, pay and return settlements.
import { wireAmount } from "../ground/money.ts";
import { z } from "zod";
import type { BookOwner } from "../commands/command-context.ts";
import type { Command } from "../store/lane.ts";
import { wireTime } from "../ground/clock.ts";
import { Fault, validationFault } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import { reply } from "../ground/reply.ts";
import { listSchema, timestamp } from "../http/shapes.ts";
import { environments } from "../merchants/books.ts";
import type { Directory } from "../merchants/directory.ts";
import { amountMinor, createdPaymentSchema } from "../payments/payments.schema.ts";
import { paymentOfRow, selectUnderReview } from "../payments/payments.sql.ts";
import { type Payment, createdView } from "../payments/payment.ts";
import type { PaymentParts } from "../payments/payments.ts";
import { approvePayment, refusePayment } from "../payments/review.ts";
import { settlementView } from "../settlements/settlement.ts";
import {
  listSettlements,
  readSettlement,
  settlementSchema,
  settlementsQuerySchema,
} from "../settlements/settlements.routes.ts";
import { itemOfRow, selectItems } from "../settlements/settlements.sql.ts";
import { paySettlement, returnSettlement } from "../settlements/settlements.ts";
import type { Database } from "../store/database.ts";
import type { Lanes } from "../store/lanes.ts";
import { OF_BOOK, findBook } from "./books.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import { page } from "../http/lists.ts";
import { limitOf, pageFields } from "./lists.ts";

export interface MoneyParts {
  database: Database;
  directory: Directory;
  lanes: Lanes;
  payments: PaymentParts;
}

const reviewSchema = z.strictObject({
  reference: z.string(),
  merchant_id: z.string(),
  environment: z.enum(environments),
  amount_minor: amountMinor,
  currency: z.string(),
  payment_method: z.string(),
  reference_id: z.string(),
  customer: z.looseObject({}).nullable(),
  score: z.int(),
  reasons: z.array(z.strictObject({ sign: z.string(), points: z.int() })),
  created_at: timestamp,
  decide_before: timestamp,
});

const judgedSchema = createdPaymentSchema.extend({ merchant_id: z.string() });
const reviewsQuery = z.strictObject(pageFields("reference", (value) => isId("payment", value)));
const paidSchema = z.strictObject({
  bank_reference: z
    .string()
    .regex(/^[!-~]{1,64}$/, "must be 1 to 64 printable characters without spaces")
    .optional(),
});

export function moneyEndpoints(parts: MoneyParts): OperatorEndpoint[] {
  return [...reviewEndpoints(parts), ...settlementEndpoints(parts)];
}

function reviewEndpoints(parts: MoneyParts): OperatorEndpoint[] {
  const judge = (
    word: "approve" | "refuse",
    command: (owner: BookOwner, reference: string) => Command<Payment>,
  ): OperatorEndpoint =>
    operatorEndpoint({
      method: "POST",
      path: `/ops/v1/reviews/{reference}/${word}`,
      summary: word === "approve" ? "Let a payment under review go on" : "Refuse a payment under review",
      tag: "Reviews",
      role: "admin",
      success: { status: 200, description: "The payment after it.", schema: judgedSchema },
      errors: ["PAYMENT_NOT_FOUND", "PAYMENT_NOT_PAYABLE", "NO_ROUTE_AVAILABLE"],
      async handle({ params }) {
        const { book, reference } = await findReviewed(parts.database, params.reference ?? "");
        const merchant = await parts.directory.merchant(book.merchantId);
        if (!merchant) throw new Fault("PAYMENT_NOT_FOUND");
        const judged = await parts.lanes.move(book.merchantId, command({ merchant, book }, reference));
        return reply(200, { ...createdView(judged), merchant_id: book.merchantId });
      },
    });
  return [
    operatorEndpoint({
      method: "GET",
      path: "/ops/v1/reviews",
      summary: "Payments that wait for a judgement, oldest first",
      tag: "Reviews",
      role: "viewer",
      query: reviewsQuery,
      success: { status: 200, description: "A page of the queue.", schema: listSchema(reviewSchema) },
      errors: [],
      async handle({ query }) {
        const limit = limitOf(query);
        const rows = await parts.database.query(selectUnderReview(undefined, query.starting_after, limit));
        return page(rows.map(paymentOfRow), limit, reviewView, ({ reference }) => reference);
      },
    }),
    judge("approve", (owner, reference) => approvePayment(parts.payments, owner, reference)),
    judge("refuse", refusePayment),
  ];
}

async function findReviewed(database: Database, reference: string): Promise<Payment> {
  const [row] = isId("payment", reference) ? await database.query(selectUnderReview(reference, undefined, 1)) : [];
  if (!row) throw new Fault("PAYMENT_NOT_FOUND", { message: "No such payment is under review." });
  return paymentOfRow(row);
}

function reviewView(payment: Payment): z.infer<typeof reviewSchema> {
  return {
    reference: payment.reference,
    merchant_id: payment.book.merchantId,
    environment: payment.book.environment,
    amount_minor: wireAmount(payment.amountMinor),
    currency: payment.currency,
    payment_method: payment.method,
    reference_id: payment.referenceId,
    customer: payment.customer ? { ...payment.customer } : null,
    score: payment.risk.score,
    reasons: payment.risk.reasons,
    created_at: wireTime(payment.createdAt),
    decide_before: wireTime(payment.expiresAt),
  };
}

function settlementEndpoints({ database, directory, lanes }: MoneyParts): OperatorEndpoint[] {
  const errors = ["OBJECT_NOT_FOUND", "SETTLEMENT_CLOSED"] as const;
  return [
    operatorEndpoint({
      method: "GET",
      path: `${OF_BOOK}/settlements`,
      summary: "List a merchant's settlement batches, newest first",
      tag: "Settlements",
      role: "viewer",
      query: settlementsQuerySchema,
      success: { status: 200, description: "A page of batches.", schema: listSchema(settlementSchema) },
      errors: ["OBJECT_NOT_FOUND"],
      handle: async ({ params, query }) => listSettlements(database, (await findBook(directory, params)).book, query),
    }),
    operatorEndpoint({
      method: "POST",
      path: `${OF_BOOK}/settlements/{uuid}/pay`,
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
      path: `${OF_BOOK}/settlements/{uuid}/return`,
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
