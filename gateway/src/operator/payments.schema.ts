// The JSON schemas of payments for operators, and of a refund by an operator.
import { z } from "zod";
import { wireTime, wireTimeOrNull } from "../ground/clock.ts";
import { exponentOf, wireAmount } from "../ground/money.ts";
import { exampleIds, exampleTimes } from "../http/examples.ts";
import type { FieldRules } from "../http/fields.ts";
import {
  currencyCode,
  environmentField,
  exampleOf,
  exponentField,
  identity,
  listSchema,
  minorAmount,
  rangeBound,
  text,
  timestamp,
  withExample,
} from "../http/shapes.ts";
import { paymentMethodSchema } from "../merchants/settings.ts";
import type { Payment } from "../payments/payment.ts";
import { amountMinor, createdPaymentSchema, invalidAmount, listQuerySchema } from "../payments/payments.schema.ts";
import { createRefundSchema, createdRefundSchema } from "../refunds/refunds.schema.ts";
import { searchedToField } from "../search/search.schema.ts";
import { idField, pageFieldsOf } from "./lists.ts";
import { referenceId } from "./shapes.ts";

/** An amount as a query parameter, which is text. */
const amountQuery = z
  .string()
  .regex(/^[1-9]\d{0,15}$/, "must be an amount in minor units, like 150000")
  .refine((digits) => Number(digits) <= Number.MAX_SAFE_INTEGER, "must be at most 9007199254740991")
  .optional()
  .meta({ description: "Exactly this amount in minor units, in any currency.", examples: ["15000000"] });

export const paymentsQuery = z.strictObject({
  reference: idField("payment").meta({ description: "This payment, whoever's it is." }),
  reference_id: text(1, 64)
    .optional()
    .meta({
      description: "The merchant's own identity of the order, whoever's it is.",
      examples: ["order-1042"],
    }),
  merchant_id: idField("merchant"),
  environment: environmentField.optional().meta({ description: "Only payments of this environment." }),
  status: listQuerySchema.shape.status,
  amount_minor: amountQuery,
  created_from: rangeBound("YYYY-MM-DD in UTC or a timestamp; inclusive."),
  created_to: rangeBound("YYYY-MM-DD (the whole day, in UTC) or a timestamp; inclusive."),
  ...pageFieldsOf("payment", "reference"),
});

export const paymentSummarySchema = withExample(
  z.strictObject({
    reference: identity("payment"),
    merchant_id: identity("merchant"),
    merchant_name: z.string().meta({ examples: ["Kopi Melati"] }),
    environment: environmentField,
    status: createdPaymentSchema.shape.status,
    amount_minor: amountMinor,
    currency: currencyCode,
    exponent: exponentField,
    fee_minor: minorAmount("What the merchant is charged for it.", 105_000),
    refunded_minor: minorAmount("What was given back so far.", 0),
    payment_method: paymentMethodSchema,
    reference_id: referenceId,
    gateway_code: createdPaymentSchema.shape.gateway_code,
    risk: createdPaymentSchema.shape.risk,
    created_at: timestamp,
    paid_at: timestamp.nullable().meta({ description: "Null while it is not paid.", examples: [exampleTimes.paid] }),
    updated_at: timestamp,
  }),
  { id: "PaymentSummary", description: "A payment as it is found; `GET /ops/v1/payments/{reference}` has everything." },
  {
    environment: "production",
    status: "succeeded",
    risk: { decision: "approve", score: 0 },
    updated_at: exampleTimes.paid,
  },
);

export function summaryView(payment: Payment, merchantName: string): z.infer<typeof paymentSummarySchema> {
  return {
    reference: payment.reference,
    merchant_id: payment.book.merchantId,
    merchant_name: merchantName,
    environment: payment.book.environment,
    status: payment.status,
    amount_minor: wireAmount(payment.amountMinor),
    currency: payment.currency,
    exponent: exponentOf(payment.currency),
    fee_minor: wireAmount(payment.feeMinor),
    refunded_minor: wireAmount(payment.refundedMinor),
    payment_method: payment.method,
    reference_id: payment.referenceId,
    gateway_code: payment.gatewayCode ?? null,
    risk: { decision: payment.risk.decision, score: payment.risk.score },
    created_at: wireTime(payment.createdAt),
    paid_at: wireTimeOrNull(payment.paidAt),
    updated_at: wireTime(payment.updatedAt),
  };
}

const pageSchema = listSchema(paymentSummarySchema, "PaymentSummaryList");
export const searchedPaymentsSchema = pageSchema.extend({ searched_to: searchedToField }).meta({
  id: "SearchedPayments",
  examples: [{ ...exampleOf(pageSchema), searched_to: null }],
});

const exampleReason = "Paid twice; the merchant asked by phone";
const operatorRefundSchema = createRefundSchema
  .omit({ payment_reference: true })
  .extend({
    reason: text(1, 255).meta({
      description: "Why. The merchant sees it with the refund, and nobody can change it.",
      examples: [exampleReason],
    }),
  })
  .meta({ id: "RefundByOperator", examples: [{ amount_minor: 5_000_000, reason: exampleReason }] });
export type OperatorRefund = z.infer<typeof operatorRefundSchema>;

export const refundByOperatorSchema = createdRefundSchema
  .extend({ merchant_id: identity("merchant"), reason: z.string().meta({ examples: [exampleReason] }) })
  .meta({
    id: "RefundedByOperator",
    description: "The refund, and whose payment it was.",
    examples: [{ ...exampleOf(createdRefundSchema), merchant_id: exampleIds.merchant, reason: exampleReason }],
  });

export const operatorRefundRules: FieldRules<OperatorRefund> = {
  schema: operatorRefundSchema,
  order: Object.keys(operatorRefundSchema.shape),
  faultFor: (field, value) => (field === "amount_minor" ? invalidAmount(value) : undefined),
};
