// The shapes of payment links in the API, and which of several errors is reported first.
import { z } from "zod";
import { wholeBetween } from "../ground/whole.ts";
import type { FieldRules } from "../http/fields.ts";
import {
  currencyCode,
  environmentField,
  exponentField,
  identity,
  inPath,
  limitQuery,
  startingAfter,
  text,
  textOrNull,
  timestamp,
  withExample,
} from "../http/shapes.ts";
import { paymentMethodSchema, paymentMethods } from "../merchants/settings.ts";
import { amountMinor, invalidAmount, metadataSchema } from "../payments/payments.schema.ts";
import { returnUrlField } from "../payments/return-url.ts";
import { linkStatuses } from "./link.ts";

/** A year, in seconds. */
const EXPIRES_IN_MAX = 31_536_000;

const exampleCreateLink = {
  amount_minor: 15_000_000,
  currency: "IDR",
  description: "Two bags of coffee",
  reusable: false,
  expires_in: 604_800,
};

export const createLinkExamples = {
  once: { summary: "An invoice: this amount, paid once, within a week", value: exampleCreateLink },
  open: {
    summary: "A tip jar: whatever the payer gives within bounds, again and again",
    value: { currency: "IDR", minimum_minor: 500_000, maximum_minor: 500_000_000, reusable: true },
  },
};

const methods = z
  .array(paymentMethodSchema)
  .min(1)
  .max(paymentMethods.length)
  .refine((list) => new Set(list).size === list.length, "must name each method once")
  .meta({ uniqueItems: true });

const createLinkSchema = z
  .strictObject({
    amount_minor: amountMinor.optional().meta({ description: "Minor units. Left out, the payer says how much." }),
    minimum_minor: amountMinor
      .optional()
      .meta({ description: "The least that a payer may say. Only without `amount_minor`.", examples: [500_000] }),
    maximum_minor: amountMinor
      .optional()
      .meta({ description: "The most that a payer may say. Only without `amount_minor`.", examples: [500_000_000] }),
    currency: currencyCode.meta({ description: "ISO 4217 code of a currency that is enabled for you." }),
    description: text(0, 255)
      .optional()
      .meta({ description: "What it is for; the payer reads it.", examples: ["Two bags of coffee"] }),
    reusable: z.boolean().meta({ description: "False: paid once. True: paid again and again, by anybody." }),
    expires_in: wholeBetween(60, EXPIRES_IN_MAX)
      .optional()
      .meta({ description: "Seconds for which payers may begin to pay; it never ends when absent." }),
    payment_expires_in: wholeBetween(60, 86_400).optional().meta({
      description:
        "Seconds in which each of its payments can be paid; 1800 when absent. A payment ends with its link, but is open for a minute at least.",
    }),
    payment_methods: methods.optional().meta({
      description: "Which methods the payer may choose; every active one when absent.",
      examples: [["qris", "va"]],
    }),
    customer_required: z
      .boolean()
      .optional()
      .meta({ description: "True: the payer gives a name and an e-mail address. False when absent." }),
    return_url: returnUrlField,
    metadata: metadataSchema
      .optional()
      .meta({ description: "Your own pairs of texts; each of its payments has them." }),
  })
  .meta({
    id: "CreatePaymentLink",
    examples: [exampleCreateLink],
    // Bounds are for a link whose amount the payer chooses. `additionalProperties: true` keeps strict validators from rejecting other fields.
    if: { required: ["amount_minor"], properties: { amount_minor: { type: "integer" } }, additionalProperties: true },
    // oxlint-disable-next-line unicorn/no-thenable -- a word of JSON Schema, and nobody awaits it
    then: {
      properties: { minimum_minor: { type: "null" }, maximum_minor: { type: "null" } },
      additionalProperties: true,
    },
  });
export type CreateLink = z.infer<typeof createLinkSchema>;

const amounts: readonly string[] = ["amount_minor", "minimum_minor", "maximum_minor"];

export const createLinkRules: FieldRules<CreateLink> = {
  schema: createLinkSchema,
  order: Object.keys(createLinkSchema.shape),
  faultFor: (field, value) => (amounts.includes(field) ? invalidAmount(value, undefined, undefined, field) : undefined),
};

const linkStatus = z.enum(linkStatuses).meta({
  id: "PaymentLinkStatus",
  description:
    "`active`: payers may begin to pay. `paid`: it was to be paid once, and is. `expired`: its time is over. `deactivated`: you closed it.",
});

export const linksQuerySchema = z.strictObject({
  status: linkStatus.optional().meta({ description: "Only links of this status." }),
  limit: limitQuery,
  starting_after: startingAfter("link", "is not the uuid of a payment link", "`uuid` of the last link received."),
});
export type LinksQuery = z.infer<typeof linksQuerySchema>;

const nullableAmount = (description: string) => amountMinor.nullable().meta({ description });

export const linkSchema = withExample(
  z.strictObject({
    uuid: identity("link"),
    url: z.string().meta({
      description: "The page where it is paid. Send it, print it, or draw it as a QR code.",
      examples: ["https://pay.example.com/pay/l/01k9w7h2x4q6tn0ejr8zb5vcym5kq2w8zr4h6t1n3yq0ejr8zb5v"],
    }),
    status: linkStatus,
    reusable: z.boolean().meta({ description: "False: paid once." }),
    amount_minor: nullableAmount("Minor units; null where the payer says how much."),
    minimum_minor: nullableAmount("The least that a payer may say; null where you gave none."),
    maximum_minor: nullableAmount("The most that a payer may say; null where you gave none."),
    currency: currencyCode,
    exponent: exponentField,
    description: textOrNull("Two bags of coffee", "As you gave it; null when you gave none."),
    payment_methods: z
      .array(paymentMethodSchema)
      .nullable()
      .meta({ description: "As you gave them; null: every active one." }),
    customer_required: z.boolean().meta({ description: "Whether the payer gives a name and an e-mail address." }),
    payment_expires_in: z.int().meta({
      description:
        "Seconds in which each of its payments can be paid. A payment ends with its link, but is open for a minute at least.",
    }),
    payment_reference: identity("payment")
      .nullable()
      .meta({
        description:
          "Of a link that is paid once: the payment that is open, or has paid it. Null where there is none, and always of a reusable link: " +
          "`GET /v1/payments?payment_link=` lists its payments.",
      }),
    environment: environmentField,
    return_url: z.string().nullable().meta({ description: "As you gave it; null when you gave none." }),
    metadata: metadataSchema,
    created_at: timestamp,
    expires_at: timestamp.nullable().meta({ description: "Null: never." }),
    deactivated_at: timestamp.nullable().meta({ description: "Null while you have not closed it." }),
  }),
  { id: "PaymentLink", description: "A payment link, as it stands." },
  {
    reusable: false,
    amount_minor: 15_000_000,
    customer_required: false,
    payment_expires_in: 1_800,
    expires_at: "2026-11-29T03:15:00Z",
  },
);

export const linkParams = { uuid: inPath("link", "PaymentLinkUuid", "`uuid` of the payment link.") };
