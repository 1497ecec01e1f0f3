// The schemas of payments in the API, and the order of their errors. The contract is generated from them.
import { z } from "zod";
import { wholeBetween, wholeFrom } from "../ground/whole.ts";
import { Fault, showable } from "../ground/fault.ts";
import { inPlainWords } from "../ground/plain-words.ts";
import { MINOR_MAX, type Minor, wireAmount } from "../ground/money.ts";
import { paymentMethodSchema } from "../merchants/settings.ts";
import { exampleAddress, exampleTimes } from "../http/examples.ts";
import type { FieldRules } from "../http/fields.ts";
import {
  HTTPS_PATTERN,
  checkedIdentity,
  currencyCode,
  environmentField,
  exponentField,
  identity,
  inPath,
  limitQuery,
  listSchema,
  minorAmount,
  rangeBound,
  startingAfter,
  text,
  textOrNull,
  timestamp,
  withExample,
} from "../http/shapes.ts";
import { returnUrlField } from "./return-url.ts";
import {
  exampleCanceledPayment,
  exampleCheckoutUrl,
  exampleCreatePayment,
  exampleCustomer,
  exampleDescription,
  exampleInstructions,
  exampleMetadata,
  examplePayment,
} from "./payments.examples.ts";
import { paymentStatuses } from "./states.ts";

export const amountMinor = wholeFrom(1)
  .max(Number(MINOR_MAX))
  .meta({ description: "Minor units of the currency.", examples: [15_000_000] });

/** Makes the fault INVALID_AMOUNT with the bounds of the amount in minor units. Its message names them for an amount that is whole. */
export function invalidAmount(value: unknown, maximum = MINOR_MAX, minimum = 1n, field = "amount_minor"): Fault {
  const isWhole = Number.isSafeInteger(value) && Number(value) > 0;
  const what = isWhole ? `from ${minimum} to ${maximum}` : "a positive integer within the limit for one transaction";
  return new Fault("INVALID_AMOUNT", {
    message: `${field} must be ${what}.`,
    details: { field, value: showable(value), minimum_minor: wireAmount(minimum), maximum_minor: wireAmount(maximum) },
  });
}

/** Makes the fault INVALID_AMOUNT for an `amount_minor` within its bounds that is not a multiple of `step`. */
export function tooFine(message: string, step: Minor, amount: Minor, minimum: Minor, maximum: Minor): Fault {
  const { details } = invalidAmount(wireAmount(amount), maximum, minimum).extras;
  return new Fault("INVALID_AMOUNT", {
    message: `${message}: amount_minor must be a multiple of ${step}.`,
    details: { ...details, multiple_of_minor: wireAmount(step) },
  });
}

export const customerSchema = z
  .strictObject({
    name: z.optional(text(1, 120)).meta({ examples: [exampleCustomer.name] }),
    email: text(3, 254)
      .refine((value) => value.split("@").length === 2, "must have exactly one @")
      .optional()
      .meta({
        description: "Exactly one `@` in it.",
        pattern: "^[^@\\u0000]*@[^@\\u0000]*$",
        examples: [exampleCustomer.email],
      }),
    phone: z
      .string()
      .regex(/^\+\d{8,15}$/, "must be + and 8 to 15 digits")
      .optional()
      .meta({
        description: "`+` and 8 to 15 digits, without spaces: +6281234567890 for 0812-3456-7890.",
        examples: [exampleCustomer.phone],
      }),
  })
  .meta({ id: "Customer", description: "Who pays, as far as you know: it lowers the risk score." });

const METADATA_MAX = 20;
const metadataName = text(1, 40);
const metadataText = text(0, 500);

/** Pairs of texts, checked by hand: `z.record` drops the key `__proto__`, a valid name here, and judges all pairs of a body that has thousands. */
export const metadataSchema = z
  .custom<Record<string, string>>(
    (value) => typeof value === "object" && value !== null && !Array.isArray(value),
    "must be an object of texts",
  )
  .superRefine((pairs, context) => {
    if (Object.keys(pairs).length > METADATA_MAX)
      context.addIssue({ code: "custom", message: `must have at most ${METADATA_MAX} pairs` });
    for (const [name, value] of Object.entries(pairs).slice(0, METADATA_MAX)) {
      const issue = [metadataName.safeParse(name), metadataText.safeParse(value, inPlainWords)].find(
        ({ success }) => !success,
      )?.error?.issues[0];
      if (issue) context.addIssue({ code: "custom", path: [name], message: issue.message });
    }
  })
  .meta({
    id: "Metadata",
    description: "Your own pairs of texts, returned as they were sent. `channel` chooses a bank or wallet.",
    type: "object",
    propertyNames: { minLength: 1, maxLength: 40, pattern: "^[^\\u0000]*$" },
    additionalProperties: { type: "string", maxLength: 500, pattern: "^[^\\u0000]*$" },
    maxProperties: METADATA_MAX,
    examples: [exampleMetadata],
  });

export const createPaymentSchema = z
  .strictObject({
    amount_minor: amountMinor,
    currency: currencyCode.meta({ description: "ISO 4217 code of a currency that is enabled for you." }),
    payment_method: paymentMethodSchema,
    reference_id: text(1, 64).meta({
      description: "Your own identity of the order, unique per merchant and environment.",
      examples: ["order-1042"],
    }),
    description: z.optional(text(0, 255)).meta({ examples: [exampleDescription] }),
    expires_in: z.int().min(60).max(86_400).optional().meta({
      description: "Seconds to pay in, after a review from the approval on; 1800 when absent.",
    }),
    customer: customerSchema.optional(),
    callback_url: z
      .string()
      .max(2048)
      .optional()
      .meta({
        description: "https address that overrides the registered one for this payment.",
        pattern: HTTPS_PATTERN,
        examples: [exampleAddress],
      }),
    return_url: returnUrlField,
    metadata: metadataSchema.optional(),
  })
  .meta({ id: "CreatePayment", examples: [exampleCreatePayment] });
export type CreatePayment = z.infer<typeof createPaymentSchema>;

/** Field rules of creation, in the order of the interface's table. */
export const createPaymentRules: FieldRules<CreatePayment> = {
  schema: createPaymentSchema,
  order: Object.keys(createPaymentSchema.shape),
  faultFor: (field, value) => (field === "amount_minor" ? invalidAmount(value) : undefined),
};

const cancelSchema = z
  .strictObject({ reason: text(0, 255).optional().meta({ description: "Yours; returned in the answer." }) })
  .meta({ id: "CancelPayment", examples: [{ reason: exampleCanceledPayment.reason }] });
export const cancelRules: FieldRules<z.infer<typeof cancelSchema>> = { schema: cancelSchema, order: ["reason"] };

const paymentStatus = z.enum(paymentStatuses).meta({
  id: "PaymentStatus",
  description:
    "`pending`: awaits the payer. `processing`: the acquirer works on it. `succeeded`: paid and in your books. `failed`, `expired`, " +
    "`canceled`: never paid. `partially_refunded`, `refunded`: paid, and given back in part or as a whole.",
});

export const listQuerySchema = z.strictObject({
  reference_id: text(1, 64)
    .optional()
    .meta({ description: "Your own identity of the order: finds one payment or none.", examples: ["order-1042"] }),
  status: paymentStatus.optional().meta({ description: "Only payments of this status." }),
  payment_method: paymentMethodSchema.optional().meta({ description: "Only payments by this method." }),
  payment_link: checkedIdentity("link", "is not the uuid of a payment link")
    .optional()
    .meta({ description: "Only payments that came by this payment link." }),
  created_from: rangeBound("YYYY-MM-DD in UTC or a timestamp; inclusive."),
  created_to: rangeBound("YYYY-MM-DD (the whole day, in UTC) or a timestamp; inclusive."),
  limit: limitQuery,
  starting_after: startingAfter(
    "payment",
    "is not the reference of a payment",
    "`reference` of the last payment received.",
  ),
});
export type ListQuery = z.infer<typeof listQuerySchema>;

/** The fields with which every payment begins. */
const head = {
  reference: identity("payment"),
  status: paymentStatus,
  amount_minor: amountMinor,
  currency: currencyCode,
  exponent: exponentField,
  fee_minor: minorAmount(
    "What the service costs you once the payment is paid. A payment that is never paid costs nothing.",
    105_000,
  ),
  net_minor: minorAmount("The amount less the fee: what you get once it is paid.", 14_895_000),
};
const refundedMinor = minorAmount("What was given back so far.", 0);
const gatewayCode = textOrNull("nusantara", "The acquirer that was chosen; null before one is.");
export const orderIdentity = z
  .string()
  .meta({ description: "Your own identity of the order.", examples: ["order-1042"] });

/** The batch of a payment, refund or dispute. */
export const batchIdentity = identity("settlement")
  .nullable()
  .meta({ description: "The settlement batch that it is in; null while it is in none." });

const paid = (description: string) => ({
  value: z.string().meta({ description }),
  expires_at: timestamp.meta({ examples: [exampleTimes.expires] }),
});
const account = {
  bank_name: z.string().meta({ examples: ["Bank Nusantara"] }),
  bank_code: z.string().meta({ examples: ["914"] }),
  biller_code: z.string().optional().meta({ description: "What some banks ask for before the number: show it." }),
  account_number: z.string(),
  account_name: z.string().meta({ examples: ["TOKO MELATI"] }),
};

const instructionsSchema = z
  .discriminatedUnion("type", [
    z
      .looseObject({
        type: z.literal("qr_string"),
        ...paid("The text of the QR code."),
        qr_string: z.string().meta({ description: "The same text: draw it as a QR code." }),
      })
      .meta({ id: "QrInstructions", description: "Of `qris`.", examples: [exampleInstructions.qr] }),
    z.looseObject({ type: z.literal("va_number"), ...paid("The number of the virtual account."), ...account }).meta({
      id: "VirtualAccountInstructions",
      description: "Of `va`: an account for this payment alone.",
      examples: [exampleInstructions.virtualAccount],
    }),
    z
      .looseObject({
        type: z.literal("bank_account"),
        ...paid("The number of the account."),
        ...account,
        transfer_code: z.string().meta({ description: "The payer gives it with the transfer." }),
      })
      .meta({
        id: "BankTransferInstructions",
        description: "Of `bank_transfer`.",
        examples: [exampleInstructions.bankTransfer],
      }),
    z
      .looseObject({
        type: z.literal("redirect"),
        ...paid("The address of the page."),
        redirect_url: z.string().meta({ description: "The same address: send the payer's browser there." }),
      })
      .meta({
        id: "RedirectInstructions",
        description: "Of `card` and `ewallet`.",
        examples: [exampleInstructions.redirect],
      }),
  ])
  .meta({
    id: "Instructions",
    description: "How the payer pays, by method. Each kind may gain fields, and more kinds may come.",
  });
const instructions = instructionsSchema
  .nullable()
  .meta({ description: "How the payer pays. Null under review and where no acquirer took the payment." });

/** Fields of a pending payment, in answers and in `payment.created`. */
const payingFields = {
  instructions: instructions.optional().meta({ description: "How the payer pays. Present while it is pending." }),
  expires_at: timestamp.optional().meta({
    description: "Until when it can be paid; under review, when that ends. Present while pending and once expired.",
    examples: [exampleTimes.expires],
  }),
};
const paymentLink = identity("link")
  .optional()
  .meta({ description: "The payment link that it came by. Present where it came by one." });
const paidAt = timestamp.optional().meta({ description: "Present once it is paid.", examples: [exampleTimes.paid] });

const riskSchema = z
  .strictObject({
    decision: z.enum(["approve", "review", "reject"]).meta({ description: "`review`: a person decides." }),
    score: wholeBetween(0, 100).meta({ description: "0 is no risk that we see.", examples: [0] }),
  })
  .meta({ id: "Risk", description: "What fraud detection made of it." });

export const createdPaymentSchema = withExample(
  z.strictObject({
    ...head,
    refunded_minor: refundedMinor,
    payment_method: paymentMethodSchema,
    reference_id: orderIdentity,
    description: z.string().nullable().meta({ description: "As you gave it; null when you gave none." }),
    gateway_code: gatewayCode,
    environment: environmentField,
    risk: riskSchema,
    instructions,
    checkout_url: z.string().meta({
      description:
        "The page where the payer pays, whatever the method. Send them there, if you have no page of your own.",
      examples: [exampleCheckoutUrl],
    }),
    expires_at: timestamp.meta({ description: "Until when it can be paid.", examples: [exampleTimes.expires] }),
    return_url: z.string().nullable().meta({ description: "As you gave it; null when you gave none." }),
    metadata: metadataSchema,
    created_at: timestamp,
    updated_at: timestamp,
  }),
  { id: "CreatedPayment", description: "A payment, as its creation answers." },
  {
    description: exampleDescription,
    risk: { decision: "approve", score: 0 },
    instructions: exampleInstructions.qr,
  },
);

const paymentSettlementSchema = z
  .strictObject({
    status: z.enum(["pending", "processing", "paid"]).meta({ description: "`pending`: in no batch yet." }),
    estimated_date: z.iso
      .date()
      .nullable()
      .meta({
        description:
          "The day of the payout, in the time zone of your settlement schedule: of its batch once it is in one, before that as things stand. Null " +
          "while no batch can take it: in a running dispute, with a refund under way, below the minimum payout, while it is more than what is " +
          "available, or with a frozen wallet. A simulation answers it of the payment by itself: read the payment for what else counts.",
        examples: ["2026-11-23"],
      }),
  })
  .meta({ id: "PaymentSettlement", description: "When a payment becomes money on your account." });

export const paymentStatusSchema = z
  .strictObject({
    ...head,
    refunded_minor: refundedMinor,
    payment_method: paymentMethodSchema,
    reference_id: orderIdentity,
    gateway_code: gatewayCode,
    environment: environmentField,
    payment_link: paymentLink,
    ...payingFields,
    checkout_url: z
      .string()
      .optional()
      .meta({
        description: "The page where the payer pays. Present where you read it while it is pending.",
        examples: [exampleCheckoutUrl],
      }),
    paid_at: paidAt,
    settlement_uuid: batchIdentity.optional(),
    settlement: paymentSettlementSchema.optional().meta({ description: "Present once the payment has succeeded." }),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "Payment", description: "A payment, as it stands.", examples: [examplePayment] });

export const paymentListSchema = listSchema(paymentStatusSchema, "PaymentList");

export const canceledPaymentSchema = z
  .strictObject({
    reference: identity("payment"),
    status: z.literal("canceled"),
    canceled_at: timestamp,
    reason: z.string().nullable().meta({ description: "As you gave it." }),
  })
  .meta({ id: "CanceledPayment", examples: [exampleCanceledPayment] });

export const paymentEventSchema = z.strictObject({
  ...head,
  payment_method: paymentMethodSchema,
  reference_id: orderIdentity,
  gateway_code: gatewayCode,
  payment_link: paymentLink,
  ...payingFields,
  paid_at: paidAt,
  metadata: metadataSchema,
});

export const paymentParams = {
  reference: inPath("payment", "PaymentReference", "`reference` of the payment."),
};
