// What an operator does with money: judge reviews, pay and return settlements.
import { wireAmount } from "../ground/money.ts";
import { z } from "zod";
import type { BookOwner } from "../commands/command-context.ts";
import type { Command } from "../store/lane.ts";
import { wireTime } from "../ground/clock.ts";
import { Fault, validationFault } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import { reply } from "../ground/reply.ts";
import { exampleIds, exampleTimes } from "../http/examples.ts";
import { currencyCode, environmentField, identity, listSchema, timestamp } from "../http/shapes.ts";
import { exampleCreatedPayment, exampleCustomer } from "../payments/payments.examples.ts";
import { paymentMethodSchema } from "../merchants/settings.ts";
import type { Directory } from "../merchants/directory.ts";
import { amountMinor, createdPaymentSchema, customerSchema, paymentParams } from "../payments/payments.schema.ts";
import { paymentOfRow, selectUnderReview } from "../payments/payments.sql.ts";
import { type Payment, createdView } from "../payments/payment.ts";
import type { PayerData } from "../payments/payer-data.ts";
import type { PaymentParts } from "../payments/payments.ts";
import type { Customer } from "../risk/risk.ts";
import { approvePayment, refusePayment } from "../payments/review.ts";
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
import { page } from "../http/lists.ts";
import { limitOf, pageFieldsOf } from "./lists.ts";
import { bookParams } from "./params.ts";

export interface MoneyParts {
  database: Database;
  directory: Directory;
  lanes: Lanes;
  payments: PaymentParts;
  payers: PayerData;
}

const riskReasonSchema = z
  .strictObject({
    sign: z.string().meta({ examples: ["large_amount"] }),
    points: z.int().meta({ examples: [30] }),
  })
  .meta({ id: "RiskReason", description: "A sign of fraud that was seen." });
const reviewSchema = z
  .strictObject({
    reference: identity("payment"),
    merchant_id: identity("merchant"),
    environment: environmentField,
    amount_minor: amountMinor,
    currency: currencyCode,
    payment_method: paymentMethodSchema,
    reference_id: z.string().meta({ description: "The merchant's own identity of the order." }),
    customer: customerSchema.nullable().meta({ description: "Who pays, as far as the merchant knows." }),
    score: z
      .int()
      .min(0)
      .max(100)
      .meta({ examples: [75] }),
    reasons: z.array(riskReasonSchema),
    created_at: timestamp,
    decide_before: timestamp.meta({ description: "Without a decision by then the payment is refused." }),
  })
  .meta({
    id: "Review",
    description: "A payment that waits for a person's judgement.",
    examples: [
      {
        reference: exampleIds.payment,
        merchant_id: exampleIds.merchant,
        environment: "sandbox",
        amount_minor: 6_000_000_000,
        currency: "IDR",
        payment_method: "card",
        reference_id: "order-1042",
        customer: exampleCustomer,
        score: 75,
        reasons: [
          { sign: "large_amount", points: 30 },
          { sign: "disposable_email", points: 45 },
        ],
        created_at: exampleTimes.created,
        decide_before: exampleTimes.disputed,
      },
    ],
  });

const judgedSchema = createdPaymentSchema.extend({ merchant_id: identity("merchant") }).meta({
  id: "JudgedPayment",
  description: "A payment after its review.",
  examples: [{ ...exampleCreatedPayment, merchant_id: exampleIds.merchant }],
});
const reviewsQuery = z.strictObject(pageFieldsOf("payment", "reference"));
const paidSchema = z
  .strictObject({
    bank_reference: z
      .string()
      .regex(/^[!-~]{1,64}$/, "must be 1 to 64 printable characters without spaces")
      .optional()
      .meta({ description: "The bank's reference of the transfer.", examples: ["TRF20261122001"] }),
  })
  .meta({ id: "RecordSettlementPaid", examples: [{ bank_reference: "TRF20261122001" }] });

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
      operationId: `${word}Payment`,
      path: `/ops/v1/reviews/{reference}/${word}`,
      params: paymentParams,
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
      operationId: "listReviews",
      path: "/ops/v1/reviews",
      summary: "Payments that wait for a judgement, oldest first",
      tag: "Reviews",
      role: "viewer",
      query: reviewsQuery,
      success: { status: 200, description: "A page of the queue.", schema: listSchema(reviewSchema, "ReviewList") },
      errors: [],
      async handle({ query }) {
        const limit = limitOf(query);
        const rows = await parts.database.query(selectUnderReview(undefined, query.starting_after, limit));
        const reviewed = await Promise.all(
          rows.map(paymentOfRow).map(async (payment) => ({ payment, customer: await parts.payers.open(payment) })),
        );
        return page(reviewed, limit, reviewView, ({ payment }) => payment.reference);
      },
    }),
    judge("approve", (owner, reference) => approvePayment(parts.payments, owner, reference)),
    judge("refuse", refusePayment),
  ];
}

interface Reviewed {
  payment: Payment;
  customer: Customer | undefined;
}

async function findReviewed(database: Database, reference: string): Promise<Payment> {
  const [row] = isId("payment", reference) ? await database.query(selectUnderReview(reference, undefined, 1)) : [];
  if (!row) throw new Fault("PAYMENT_NOT_FOUND", { message: "No such payment is under review." });
  return paymentOfRow(row);
}

function reviewView({ payment, customer }: Reviewed): z.infer<typeof reviewSchema> {
  return {
    reference: payment.reference,
    merchant_id: payment.book.merchantId,
    environment: payment.book.environment,
    amount_minor: wireAmount(payment.amountMinor),
    currency: payment.currency,
    payment_method: payment.method,
    reference_id: payment.referenceId,
    customer: customer ? { ...customer } : null,
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
