// The shapes of merchants, credentials and webhook addresses on the operator's wire.
import { z } from "zod";
import { isId } from "../ground/ids.ts";
import { listSchema, text, timestamp } from "../http/shapes.ts";
import { environments } from "../merchants/books.ts";
import { scopes, signatureDemands } from "../merchants/directory.ts";
import type { MerchantSummary } from "../merchants/merchants.ts";
import { settingsSchema } from "../merchants/settings.ts";
import { pageFields } from "./lists.ts";

const environment = z.enum(environments);
const signature = z.enum(signatureDemands).meta({
  description: "Which signatures prove its requests: `any`, or those of RFC 9421 (HTTP Message Signatures) alone.",
});
const secret = z.string().meta({ description: "Shown this once." });

export const createMerchantSchema = z.strictObject({ name: text(1, 120) });
export const createCredentialSchema = z.strictObject({
  environment,
  scopes: z.array(z.enum(scopes)).min(1).max(scopes.length).optional(),
  signature: signature.optional(),
});
export const changeCredentialSchema = z.strictObject({ signature });
export const setWebhookSchema = z.strictObject({ environment, url: z.string().max(2048) });

export const merchantSchema = z.strictObject({
  merchant_id: z.string(),
  name: z.string(),
  suspended: z.boolean(),
  rate_limit_per_minute: z.int(),
  ...settingsSchema.shape,
});
export const createdMerchantSchema = merchantSchema.extend({
  webhook_secrets: z.strictObject({ sandbox: secret, production: secret }),
});
export const merchantListSchema = listSchema(merchantSchema);
export const merchantListQuery = z.strictObject(pageFields("merchant_id", (value) => isId("merchant", value)));

export function merchantView(merchant: MerchantSummary): z.infer<typeof merchantSchema> {
  return {
    merchant_id: merchant.merchantId,
    name: merchant.name,
    suspended: merchant.suspended,
    rate_limit_per_minute: merchant.rateLimitPerMinute,
    ...merchant.settings,
  };
}

export const isClientId = (value: string): boolean => /^ak_(test|live)_[0-9a-z]{20,60}$/.test(value);

export const createdCredentialSchema = z.strictObject({
  client_id: z.string(),
  secret,
  environment,
  scopes: z.array(z.string()),
  signature,
});
export const revokedCredentialSchema = z.strictObject({ client_id: z.string(), revoked: z.literal(true) });
export const credentialSchema = z.strictObject({
  client_id: z.string(),
  environment,
  scopes: z.array(z.string()),
  signature,
  created_at: timestamp,
  revoked_at: timestamp.nullable().meta({ description: "Null while it is live." }),
});
export const credentialListSchema = listSchema(credentialSchema);
export const credentialListQuery = z.strictObject(pageFields("client_id", isClientId));

export const webhookSchema = z.strictObject({ environment, url: z.string(), webhook_secret: secret });

export const bookReportSchema = z.strictObject({
  clean: z.boolean(),
  journals: z.int().min(0).meta({ description: "Journals that were replayed." }),
  wrong: z.string().optional().meta({ description: "The first thing found wrong; absent when the book is clean." }),
});
