// The JSON schemas of searches: the filters and the results.
import { z } from "zod";
import { exampleIds } from "../http/examples.ts";
import {
  checkedIdentity,
  currencyCode,
  exampleOf,
  exponentField,
  limitQuery,
  rangeBound,
  startingAfter,
  text,
  textOrNull,
  timestamp,
  wholeOrNull,
  withExample,
} from "../http/shapes.ts";
import { paymentMethodSchema } from "../merchants/settings.ts";
import { listQuerySchema, paymentListSchema } from "../payments/payments.schema.ts";

export const paymentSearchQuery = z.strictObject({
  reference: checkedIdentity("payment", "is not the reference of a payment").optional(),
  reference_id: text(1, 64)
    .optional()
    .meta({ description: "Your own identity of the order.", examples: ["order-1042"] }),
  payer: text(3, 254)
    .optional()
    .meta({ description: "Their e-mail address or telephone, in full.", examples: ["sari@example.com"] }),
  amount: z
    .string()
    .regex(/^\d{1,16}(\.\d{1,4})?$/, "must be an amount like 150000 or 1500.50")
    .optional()
    .meta({ description: "As people write it, in any of your currencies.", examples: ["150000.00"] }),
  metadata: text(2, 541)
    .refine((pair) => pair.indexOf(":") > 0, "must be a name and a value, like order:1042")
    .optional()
    .meta({ description: "A name and its value.", pattern: "^[^:\\u0000]+:[^\\u0000]*$", examples: ["order:1042"] }),
  status: listQuerySchema.shape.status,
  payment_method: paymentMethodSchema.optional(),
  created_from: rangeBound("YYYY-MM-DD in UTC or a timestamp; inclusive."),
  created_to: rangeBound("YYYY-MM-DD (the whole day, in UTC) or a timestamp; inclusive."),
  limit: limitQuery,
  starting_after: startingAfter("payment", "is not the reference of a payment", "A payment: only older ones."),
});
export type PaymentSearchQuery = z.infer<typeof paymentSearchQuery>;

export const searchedToField = timestamp.nullable().meta({
  description:
    "Null when everything was looked at. Otherwise the search stopped at a payment of this time, and goes on from `next_cursor`; a page may " +
    "be empty and have more after it.",
});

export const foundPaymentsSchema = paymentListSchema
  .extend({ searched_to: searchedToField })
  .meta({ id: "FoundPayments", examples: [{ ...exampleOf(paymentListSchema), searched_to: null }] });

export const searchQuery = z.strictObject({
  q: text(2, 254).meta({
    description:
      "An identity of a payment, refund, dispute, settlement, event or journal; the beginning of a `reference_id`; an e-mail address or telephone of a payer.",
    examples: ["order-1042"],
  }),
});

const hitSchema = withExample(
  z.strictObject({
    kind: z.enum(["payment", "refund", "dispute", "settlement", "event", "journal"]),
    id: z.string().meta({ examples: [exampleIds.payment] }),
    title: z.string().meta({ description: "What people know it by.", examples: ["order-1042"] }),
    status: textOrNull("succeeded"),
    amount_minor: wholeOrNull(15_000_000),
    currency: currencyCode.nullable(),
    exponent: exponentField.nullable(),
    at: timestamp,
  }),
  {
    id: "SearchHit",
  },
  { currency: "IDR", exponent: 2 },
);
export type Hit = z.infer<typeof hitSchema>;

export const hitsSchema = withExample(z.strictObject({ data: z.array(hitSchema) }), { id: "SearchHits" });
