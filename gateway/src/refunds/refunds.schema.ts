// The shapes of refunds in the API, and which of several errors is reported first.
import { z } from "zod";
import { exampleIds, exampleTimes } from "../http/examples.ts";
import type { FieldRules } from "../http/fields.ts";
import {
  checkedIdentity,
  currencyCode,
  environmentField,
  exponentField,
  identity,
  inPath,
  limitQuery,
  minorAmount,
  rangeBound,
  startingAfter,
  text,
  textOrNull,
  timestamp,
  withExample,
} from "../http/shapes.ts";
import { amountMinor, batchIdentity, invalidAmount, orderIdentity } from "../payments/payments.schema.ts";
import { refundStatuses } from "./refund.ts";

export const refundErrors = [
  "INVALID_AMOUNT",
  "PAYMENT_NOT_FOUND",
  "ENVIRONMENT_MISMATCH",
  "PAYMENT_NOT_REFUNDABLE",
  "CURRENCY_MISMATCH",
  "REFUND_EXCEEDS_PAYMENT",
  "WALLET_NOT_FOUND",
  "WALLET_FROZEN",
  "DISPUTE_LOCKED",
  "INSUFFICIENT_FUNDS",
] as const;

const exampleReason = "One bag arrived torn";

export const createRefundSchema = z
  .strictObject({
    payment_reference: identity("payment").meta({ description: "The payment to refund." }),
    amount_minor: amountMinor
      .optional()
      .meta({ description: "Minor units; the whole remainder when absent.", examples: [5_000_000] }),
    reason: z.optional(text(0, 255)).meta({ description: "Kept in the audit trail.", examples: [exampleReason] }),
    currency: currencyCode.optional().meta({ description: "Must be the payment's, when given." }),
  })
  .meta({
    id: "CreateRefund",
    examples: [{ payment_reference: exampleIds.payment, amount_minor: 5_000_000, reason: exampleReason }],
  });
export type CreateRefund = z.infer<typeof createRefundSchema>;

export const createRefundRules: FieldRules<CreateRefund> = {
  schema: createRefundSchema,
  order: Object.keys(createRefundSchema.shape),
  faultFor: (field, value) => (field === "amount_minor" ? invalidAmount(value) : undefined),
};

export const refundStatus = z.enum(refundStatuses).meta({
  id: "RefundStatus",
  description:
    "`pending`: the acquirer has not answered yet; the funds are reversed already. `failed`: no funds moved.",
});

export const refundsQuerySchema = z.strictObject({
  payment_reference: checkedIdentity("payment", "is not the reference of a payment")
    .optional()
    .meta({ description: "Only refunds of this payment." }),
  status: refundStatus.optional().meta({ description: "Only refunds of this status." }),
  created_from: rangeBound("YYYY-MM-DD in UTC or a timestamp; inclusive."),
  created_to: rangeBound("YYYY-MM-DD (the whole day, in UTC) or a timestamp; inclusive."),
  limit: limitQuery,
  starting_after: startingAfter("refund", "is not the uuid of a refund", "`uuid` of the last refund received."),
});

const refundFields = {
  uuid: identity("refund"),
  payment_reference: identity("payment").meta({ description: "The payment that is refunded." }),
  reference_id: orderIdentity,
  status: refundStatus,
  amount_minor: amountMinor.meta({ examples: [5_000_000] }),
  currency: currencyCode,
  exponent: exponentField,
};
const example = { status: "succeeded" as const, created_at: exampleTimes.refunded };

export const createdRefundSchema = withExample(
  z.strictObject({
    ...refundFields,
    remaining_refundable_minor: minorAmount("What of the payment can still be refunded.", 10_000_000),
    reason: textOrNull(exampleReason, "As you gave it."),
    environment: environmentField,
    created_at: timestamp,
  }),
  { id: "CreatedRefund", description: "A refund, as its creation answers." },
  example,
);

/** A refund, also as the data of refund events. */
export const refundStatusSchema = withExample(
  z.strictObject({
    ...refundFields,
    environment: environmentField,
    created_at: timestamp,
    completed_at: timestamp.nullable().meta({ description: "Null while it is pending." }),
    settlement_uuid: batchIdentity,
  }),
  { id: "Refund", description: "A refund, as it stands." },
  { ...example, completed_at: exampleTimes.refunded, settlement_uuid: exampleIds.settlement },
);

export const refundParams = { uuid: inPath("refund", "RefundUuid", "`uuid` of the refund.") };

export const refundOutcomeSchema = z
  .strictObject({ outcome: z.enum(["succeeded", "failed"]).meta({ description: "What the acquirer reports." }) })
  .meta({ id: "SimulateRefund", examples: [{ outcome: "succeeded" }] });
