// The shapes of payments on the wire, and the order in which their errors prevail. The contract is generated from these.
import { z } from "zod";
import { Fault, showable } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import { MINOR_MAX, type Minor, wireAmount } from "../ground/money.ts";
import { environments } from "../merchants/books.ts";
import { paymentMethods } from "../merchants/settings.ts";
import type { FieldRules } from "../http/fields.ts";
import { limitQuery, listSchema, text, timestamp } from "../http/shapes.ts";
import { paymentStatuses } from "./states.ts";

export const amountMinor = z.int().min(1).max(Number(MINOR_MAX)).meta({ description: "Minor units of the currency." });

/** INVALID_AMOUNT, with the bounds that the amount breaks. */
export function invalidAmount(value: unknown, maximum: Minor = MINOR_MAX, minimum: Minor = 1n): Fault {
  return new Fault("INVALID_AMOUNT", {
    details: {
      field: "amount_minor",
      value: showable(value),
      minimum_minor: wireAmount(minimum),
      maximum_minor: wireAmount(maximum),
    },
  });
}

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

const METADATA_MAX = 20;
const metadataName = text(1, 40);
const metadataText = text(0, 500);

/** Pairs of texts. Checked by hand: a record of zod's leaves out the key `__proto__`, which is a name like any other here. */
const metadataSchema = z
  .custom<Record<string, string>>(
    (value) => typeof value === "object" && value !== null && !Array.isArray(value),
    "must be an object of texts",
  )
  .superRefine((pairs, context) => {
    if (Object.keys(pairs).length > METADATA_MAX)
      context.addIssue({ code: "custom", message: `must have at most ${METADATA_MAX} pairs` });
    for (const [name, value] of Object.entries(pairs)) {
      const issue = [metadataName.safeParse(name), metadataText.safeParse(value)].find(({ success }) => !success)?.error
        ?.issues[0];
      if (issue) context.addIssue({ code: "custom", path: [name], message: issue.message });
    }
  })
  .meta({
    type: "object",
    propertyNames: { minLength: 1, maxLength: 40 },
    additionalProperties: { type: "string", maxLength: 500 },
    maxProperties: METADATA_MAX,
  });

/** An address that a browser is sent to: https, and without a name and password in it. */
const returnUrl = z
  .string()
  .max(2048)
  .refine((text) => {
    const url = text.startsWith("https://") ? URL.parse(text) : null;
    return url !== null && url.username === "" && url.password === "" && !/[\s\\]/.test(text);
  }, "must be an https address without user information")
  .refine((text) => text.isWellFormed(), "must be Unicode text");

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
  return_url: returnUrl.optional().meta({
    description: "https address to which the payer's browser goes back after paying by wallet or card.",
  }),
  metadata: metadataSchema.optional(),
});
export type CreatePayment = z.infer<typeof createPaymentSchema>;

/** Field rules of creation, in the order of the interface's table. */
export const createPaymentRules: FieldRules<CreatePayment> = {
  schema: createPaymentSchema,
  order: Object.keys(createPaymentSchema.shape),
  faultFor: (field, value) => (field === "amount_minor" ? invalidAmount(value) : undefined),
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

/** While a payment is pending: in every answer and in `payment.created`. */
const payingFields = {
  instructions: instructionsSchema.nullable().optional(),
  expires_at: timestamp.optional(),
};

export const createdPaymentSchema = z.strictObject({
  reference: z.string(),
  status: z.enum(paymentStatuses),
  ...amounts,
  refunded_minor: nonNegative,
  payment_method: z.enum(paymentMethods),
  reference_id: z.string(),
  description: z.string().nullable(),
  gateway_code: z.string().nullable(),
  environment: z.enum(environments),
  risk: z.strictObject({ decision: z.enum(["approve", "review", "reject"]), score: z.int().min(0).max(100) }),
  instructions: instructionsSchema.nullable(),
  expires_at: timestamp,
  return_url: z.string().nullable(),
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
  ...payingFields,
  paid_at: timestamp.optional(),
  settlement: z
    .strictObject({
      status: z.enum(["pending", "processing", "paid"]),
      estimated_date: z.iso
        .date()
        .nullable()
        .meta({
          description:
            "The day of the payout: of its batch once it is in one, before that as things stand. Null while no batch can take it: " +
            "in a running dispute, below the minimum payout, or with a frozen wallet.",
        }),
    })
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
  ...payingFields,
  paid_at: timestamp.optional(),
  metadata: z.record(z.string(), z.string()),
});
