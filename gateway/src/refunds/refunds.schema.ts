// The shapes of refunds on the wire, and the order in which their errors prevail.
import { z } from "zod";
import { isId } from "../ground/ids.ts";
import { MINOR_MAX } from "../ground/money.ts";
import type { FieldRules } from "../http/fields.ts";
import { limitQuery, text, timestamp } from "../http/shapes.ts";
import { environments } from "../merchants/books.ts";
import { amountMinor, invalidAmount } from "../payments/payments.schema.ts";
import { refundStatuses } from "./refund.ts";

export const createRefundSchema = z.strictObject({
  payment_reference: z.string().meta({ description: "The payment to refund." }),
  amount_minor: amountMinor.optional().meta({ description: "The whole remainder when absent." }),
  reason: text(0, 255).optional().meta({ description: "Kept in the audit trail." }),
  currency: z.string().optional().meta({ description: "Must be the payment's, when given." }),
});
export type CreateRefund = z.infer<typeof createRefundSchema>;

export const createRefundRules: FieldRules<CreateRefund> = {
  schema: createRefundSchema,
  order: Object.keys(createRefundSchema.shape),
  faultFor: (field, value) => (field === "amount_minor" ? invalidAmount(value) : undefined),
};

export const refundsQuerySchema = z.strictObject({
  payment_reference: z
    .string()
    .refine((value) => isId("payment", value), "is not the reference of a payment")
    .optional(),
  status: z.enum(refundStatuses).optional(),
  limit: limitQuery,
  starting_after: z
    .string()
    .refine((value) => isId("refund", value), "is not the uuid of a refund")
    .optional()
    .meta({ description: "`uuid` of the last refund received." }),
});

const refundFields = {
  uuid: z.string(),
  payment_reference: z.string(),
  status: z.enum(refundStatuses),
  amount_minor: amountMinor,
  currency: z.string(),
  exponent: z.int().min(0).max(4),
};

export const createdRefundSchema = z.strictObject({
  ...refundFields,
  remaining_refundable_minor: z.int().min(0).max(Number(MINOR_MAX)),
  reason: z.string().nullable(),
  environment: z.enum(environments),
  created_at: timestamp,
});

/** Also the data of refund events. */
export const refundStatusSchema = z.strictObject({
  ...refundFields,
  environment: z.enum(environments),
  created_at: timestamp,
  completed_at: timestamp.nullable(),
});
