// The schemas of erasing a payer, shared by the merchant portal and the operator API.
import { z } from "zod";
import { customerSchema } from "./payments.schema.ts";
import type { Erased } from "./payer-erasure.ts";

const { email, phone } = customerSchema.shape;

const erasePayerSchema = z
  .strictObject({
    payer: z
      .strictObject({ email, phone })
      .refine(({ email, phone }) => email !== undefined || phone !== undefined, "must have an `email` or a `phone`")
      .meta({
        id: "PayerContacts",
        minProperties: 1,
        description: "An e-mail address, a telephone, or both: payments with any of them are of this person.",
        examples: [{ email: "sari@pelanggan.id", phone: "+628123456789" }],
      }),
  })
  .meta({
    id: "ErasePayer",
    description: "Whom to erase.",
    examples: [{ payer: { email: "sari@pelanggan.id", phone: "+628123456789" } }],
  });

const erasedSchema = z
  .strictObject({
    erased_payments: z.int().meta({ description: "From how many payments this call erased the payer." }),
    complete: z.boolean().meta({ description: "False when more are left than one call erases. Call again." }),
  })
  .meta({ id: "ErasedPayer", description: "What came of it.", examples: [{ erased_payments: 3, complete: true }] });

/** What the endpoints that erase a payer say of it. */
export const payerErasure = {
  method: "POST",
  operationId: "erasePayer",
  summary: "Erase a payer: name, e-mail address and telephone, from all payments of an environment",
  description:
    "Payments, journals and settlements stay as they are. A description, metadata or evidence that name the payer stay as well: they are the merchant's words.",
  tag: "Payers",
  body: erasePayerSchema,
  success: { description: "How many payments it was.", schema: erasedSchema },
} as const;

export function erasedView({ payments, isComplete }: Erased): z.infer<typeof erasedSchema> {
  return { erased_payments: payments, complete: isComplete };
}
