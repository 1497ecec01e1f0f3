// The shapes of payments on the wire, and the order in which their errors prevail. The contract is generated from these.
import { z } from "zod";
import { Fault } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import { MINOR_MAX } from "../ground/money.ts";
import { environments } from "../merchants/books.ts";
import { paymentMethods } from "../merchants/settings.ts";
import type { FieldRules } from "../http/fields.ts";
import { limitQuery, listSchema, text, timestamp } from "../http/shapes.ts";
import { paymentStatuses } from "./states.ts";

export const amountMinor = z.int().min(1).max(Number(MINOR_MAX)).meta({ description: "Minor units of the currency." });

export const customerSchema = z.strictObject({
  name: text(1, 120).optional(),
  email: text(3, 254)
    .refine((value) => value.split("@").length === 2, "must have exactly one @")
    .optional(),
  phone: z
    .string()
    .regex(/^\+\d{8,15}$/, "must be + and 8 to 15 digits")
    .optional(),
});

const metadataSchema = z
  .record(text(1, 40), text(0, 500))
  .refine((pairs) => Object.keys(pairs).length <= 20, "must have at most 20 pairs")
  .meta({ maxProperties: 20 });

export const createPaymentSchema = z.strictObject({
  amount_minor: amountMinor,
  currency: z.string().meta({ description: "ISO 4217 code.", examples: ["IDR"] }),
  payment_method: z.enum(paymentMethods),
  reference_id: text(1, 64).meta({
    description: "Your own identity of the order, unique per merchant and environment.",
  }),
  description: text(0, 255).optional(),
  expires_in: z.int().min(60).max(86_400).optional().meta({ description: "Seconds; 1800 when absent." }),
  customer: customerSchema.optional(),
  callback_url: z
    .string()
    .max(2048)
    .optional()
    .meta({ description: "https address that overrides the registered one for this payment." }),
  metadata: metadataSchema.optional(),
});
export type CreatePayment = z.infer<typeof createPaymentSchema>;

/** Field rules of creation, in the order of the interface's table. */
export const createPaymentRules: FieldRules<CreatePayment> = {
  schema: createPaymentSchema,
  order: Object.keys(createPaymentSchema.shape),
  faultFor: (field) => (field === "amount_minor" ? new Fault("INVALID_AMOUNT") : undefined),
};

export const cancelSchema = z.strictObject({ reason: text(0, 255).optional() });
export const cancelRules: FieldRules<z.infer<typeof cancelSchema>> = { schema: cancelSchema, order: ["reason"] };

export const listQuerySchema = z.strictObject({
  reference_id: text(1, 64).optional(),
  status: z.enum(paymentStatuses).optional(),
  payment_method: z.enum(paymentMethods).optional(),
  created_from: z.string().optional().meta({ description: "YYYY-MM-DD or a timestamp; inclusive." }),
  created_to: z.string().optional().meta({ description: "YYYY-MM-DD (the whole day) or a timestamp; inclusive." }),
  limit: limitQuery,
  starting_after: z
    .string()
    .refine((value) => isId("payment", value), "is not the reference of a payment")
    .optional()
    .meta({ description: "`reference` of the last payment received." }),
});
export type ListQuery = z.infer<typeof listQuerySchema>;

const nonNegative = z.int().min(0).max(Number(MINOR_MAX));

const amounts = {
  amount_minor: amountMinor,
  currency: z.string(),
  exponent: z.int().min(0).max(4),
  fee_minor: nonNegative,
  net_minor: nonNegative,
};

const instructionsSchema = z
  .looseObject({
    type: z.enum(["qr_string", "va_number", "bank_account", "redirect"]),
    value: z.string(),
    expires_at: timestamp,
    qr_string: z.string().optional(),
    bank_name: z.string().optional(),
    bank_code: z.string().optional(),
    account_number: z.string().optional(),
    account_name: z.string().optional(),
    transfer_code: z.string().optional(),
    redirect_url: z.string().optional(),
  })
  .meta({ description: "How the payer pays. The object may gain fields." });

export const createdPaymentSchema = z.strictObject({
  reference: z.string(),
  status: z.enum(paymentStatuses),
  ...amounts,
  refunded_minor: nonNegative,
  payment_method: z.enum(paymentMethods),
  reference_id: z.string(),
  description: z.string().optional(),
  gateway_code: z.string().nullable(),
  environment: z.enum(environments),
  risk: z.strictObject({ decision: z.enum(["approve", "review", "reject"]), score: z.int().min(0).max(100) }),
  instructions: instructionsSchema.nullable(),
  expires_at: timestamp,
  metadata: z.record(z.string(), z.string()),
  created_at: timestamp,
  updated_at: timestamp,
});

export const paymentStatusSchema = z.strictObject({
  reference: z.string(),
  status: z.enum(paymentStatuses),
  ...amounts,
  refunded_minor: nonNegative,
  payment_method: z.enum(paymentMethods),
  reference_id: z.string(),
  gateway_code: z.string().nullable(),
  environment: z.enum(environments),
  paid_at: timestamp.optional(),
  settlement: z
    .strictObject({ status: z.enum(["pending", "processing", "paid"]), estimated_date: z.iso.date() })
    .optional()
    .meta({ description: "Present once the payment has succeeded." }),
  created_at: timestamp,
  updated_at: timestamp,
});

export const paymentListSchema = listSchema(paymentStatusSchema);

export const canceledPaymentSchema = z.strictObject({
  reference: z.string(),
  status: z.literal("canceled"),
  canceled_at: timestamp,
  reason: z.string().nullable(),
});

export const paymentEventSchema = z.strictObject({
  reference: z.string(),
  status: z.enum(paymentStatuses),
  ...amounts,
  payment_method: z.enum(paymentMethods),
  reference_id: z.string(),
  gateway_code: z.string().nullable(),
  paid_at: timestamp.optional(),
  metadata: z.record(z.string(), z.string()),
});
