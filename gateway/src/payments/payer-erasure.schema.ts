// The schemas of erasing a payer, shared by the merchant portal and the operator API.
import { z } from "zod";
import { customerSchema } from "./payments.schema.ts";
import type { Erased } from "./payer-erasure.ts";

const { email, phone } = customerSchema.shape;

export const erasePayerSchema = z
  .strictObject({
    payer: z
      .strictObject({ email, phone })
      .refine(({ email, phone }) => email !== undefined || phone !== undefined, "must have an `email` or a `phone`")
      .meta({
        id: "PayerContacts",
        description: "An e-mail address, a telephone, or both: payments with any of them are of this person.",
        examples: [{ email: "sari@pelanggan.id", phone: "+628123456789" }],
      }),
  })
  .meta({
    id: "ErasePayer",
    description: "Whom to erase.",
    examples: [{ payer: { email: "sari@pelanggan.id", phone: "+628123456789" } }],
  });

export const erasedSchema = z
  .strictObject({
    erased_payments: z.int().meta({ description: "From how many payments this call erased the payer." }),
    complete: z.boolean().meta({ description: "False when more are left than one call erases. Call again." }),
  })
  .meta({ id: "ErasedPayer", description: "What came of it.", examples: [{ erased_payments: 3, complete: true }] });

export const ERASURE_SUMMARY = "Erase a payer: name, e-mail address and telephone, from all payments of an environment";
export const ERASURE_DESCRIPTION =
  "Payments, journals and settlements stay as they are. A description, metadata or evidence that name the payer stay as well: they are the merchant's words.";

export function erasedView({ payments, isComplete }: Erased): z.infer<typeof erasedSchema> {
  return { erased_payments: payments, complete: isComplete };
}
