// What fraud detection saw of a payment, for operators: the risk reasons, the counts behind them, and the bounds.
import { z } from "zod";
import { wholeBetween } from "../ground/whole.ts";
import { currencyCode, identity, minorAmount, timestamp, withExample } from "../http/shapes.ts";
import { wireTime } from "../ground/clock.ts";
import { DEFAULT_CURRENCY, wireAmount } from "../ground/money.ts";
import { type MerchantSettings, riskSettingsSchema } from "../merchants/settings.ts";
import type { Payment } from "../payments/payment.ts";
import { amountMinor, createdPaymentSchema } from "../payments/payments.schema.ts";
import { paymentOfRow } from "../payments/payments.sql.ts";
import type { Database, Row } from "../store/database.ts";
import { COUNTED_MAX, OTHERS_MAX, selectOthersOfPayer, selectVelocities } from "./risk-seen.sql.ts";

export const riskReasonSchema = z
  .strictObject({
    sign: z.string().meta({ examples: ["large_amount"] }),
    points: z.int().meta({ examples: [30] }),
  })
  .meta({ id: "RiskReason", description: "A sign of fraud that was seen." });

const otherPaymentSchema = withExample(
  z.strictObject({
    reference: identity("payment"),
    status: createdPaymentSchema.shape.status,
    amount_minor: amountMinor,
    currency: currencyCode,
    created_at: timestamp,
  }),
  { id: "OtherPayment", description: "Another payment of the same payer to the same merchant." },
  { status: "succeeded" },
);

const counted = (description: string) => wholeBetween(0, COUNTED_MAX).meta({ description, examples: [3] });

export const riskSeenSchema = withExample(
  z.strictObject({
    decision: createdPaymentSchema.shape.risk.shape.decision.meta({
      description: "As it stands: `approve` also after a person approved it, and the audit then says so.",
    }),
    score: createdPaymentSchema.shape.risk.shape.score,
    reasons: z.array(riskReasonSchema).meta({ description: "The signs that were seen; their points make the score." }),
    facts: z
      .strictObject({
        customer_payments: counted(
          `Payments of the same payer to this merchant in the hour before, by e-mail address or telephone, those begun by a link if paid by then; at most ${COUNTED_MAX}.`,
        ),
        merchant_payments: counted(`Payments of this merchant in the minute before; at most ${COUNTED_MAX}.`),
        amount_minor: amountMinor,
        currency: currencyCode,
      })
      .meta({ id: "RiskFacts", description: "What was counted, at the moment of the payment." }),
    bounds: riskSettingsSchema
      .omit({ weights: true, large_amount_minor_per_currency: true })
      .extend({
        large_amount_minor: minorAmount("From this amount on `large_amount` is a sign.", 5_000_000_000)
          .nullable()
          .meta({ description: "From this amount on `large_amount` is a sign. Null: this currency has none." }),
      })
      .meta({
        id: "RiskBounds",
        description: "The merchant's settings as they are now; the audit tells when they changed.",
      }),
    other_payments: z
      .array(otherPaymentSchema)
      .meta({ description: `Of the same payer to this merchant: the newest ${OTHERS_MAX}.` }),
  }),
  { id: "RiskSeen", description: "What fraud detection saw. Merchants are told the decision and the score." },
  {
    decision: "review",
    score: 75,
    reasons: [
      { sign: "large_amount", points: 30 },
      { sign: "disposable_email", points: 45 },
    ],
    facts: { customer_payments: 1, merchant_payments: 12, amount_minor: 6_000_000_000, currency: "IDR" },
    bounds: {
      customer_per_hour: 10,
      merchant_per_minute: 600,
      large_amount_minor: 5_000_000_000,
      review_at: 70,
      reject_at: 80,
    },
  },
);

/** Reads what fraud detection saw of a payment, with the bounds of the merchant's settings. */
export async function readRiskSeen(
  database: Database,
  payment: Payment,
  { risk: settings }: MerchantSettings,
): Promise<z.infer<typeof riskSeenSchema>> {
  const [[counts] = [], others = []] = await database.pipeline([
    selectVelocities(payment),
    selectOthersOfPayer(payment),
  ]);
  const { amountMinor: amount, currency, risk } = payment;
  const large =
    currency === DEFAULT_CURRENCY
      ? settings.large_amount_minor
      : (settings.large_amount_minor_per_currency[currency] ?? null);
  return {
    decision: risk.decision,
    score: risk.score,
    reasons: risk.reasons,
    facts: {
      customer_payments: counts?.customer_payments as number,
      merchant_payments: counts?.merchant_payments as number,
      amount_minor: wireAmount(amount),
      currency,
    },
    bounds: {
      customer_per_hour: settings.customer_per_hour,
      merchant_per_minute: settings.merchant_per_minute,
      large_amount_minor: large,
      review_at: settings.review_at,
      reject_at: settings.reject_at,
    },
    other_payments: oncePerPayment(others).map((other) => ({
      reference: other.reference,
      status: other.status,
      amount_minor: wireAmount(other.amountMinor),
      currency: other.currency,
      created_at: wireTime(other.createdAt),
    })),
  };
}

function oncePerPayment(rows: readonly Row[]): Payment[] {
  return [...new Map(rows.map((row) => [row.payment_id, row])).values()].slice(0, OTHERS_MAX).map(paymentOfRow);
}
