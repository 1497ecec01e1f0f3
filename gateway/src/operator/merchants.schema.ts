// The JSON schemas of merchants, credentials and webhook addresses for operators.
import { z } from "zod";
import { roleField } from "../access/session.schema.ts";
import { wireTime, wireTimeOrNull } from "../ground/clock.ts";
import {
  exampleAddress,
  exampleClientId,
  exampleIds,
  exampleSecret,
  exampleTimes,
  exampleWebhookSecret,
} from "../http/examples.ts";
import {
  HTTPS_PATTERN,
  count,
  displayName,
  emailAddress,
  environmentField,
  identity,
  listSchema,
  positive,
  text,
  timestamp,
  withExample,
} from "../http/shapes.ts";
import type { Credential } from "../merchants/credentials.sql.ts";
import { type MerchantSummary, scopes, signatureDemands } from "../merchants/directory.ts";
import { defaultSettings, settingsSchema } from "../merchants/settings.ts";
import { pageFields, pageFieldsOf } from "./lists.ts";
import { CLIENT_ID_PATTERN } from "./params.ts";

const exampleMerchant = {
  merchant_id: exampleIds.merchant,
  name: "Toko Melati",
  suspended: false,
  rate_limit_per_minute: 100,
  ...defaultSettings,
};

export const signatureField = z.enum(signatureDemands).meta({
  id: "SignatureDemand",
  description: "Which signatures prove its requests: `any`, or those of RFC 9421 (HTTP Message Signatures) alone.",
});
export const scopeField = z.enum(scopes).meta({ id: "Scope", description: "What a credential may do." });
const webhookSecret = z.string().meta({ description: "As it is now.", examples: [exampleWebhookSecret] });

export const createMerchantSchema = z
  .strictObject({ name: displayName(120).meta({ description: "As payers see it.", examples: ["Toko Melati"] }) })
  .meta({ id: "CreateMerchant", examples: [{ name: "Toko Melati" }] });
export const createCredentialSchema = z
  .strictObject({
    environment: environmentField,
    scopes: z
      .array(scopeField)
      .min(1)
      .max(scopes.length)
      .optional()
      .meta({ description: "What it may do; everything when absent." }),
    signature: signatureField.optional().meta({ description: "Which signatures it takes; `any` when absent." }),
  })
  .meta({ id: "CreateCredential", examples: [{ environment: "sandbox" }] });
export const inviteToMerchantSchema = z
  .strictObject({
    role: roleField,
    email: emailAddress.optional().meta({ description: "Where given, only this person may accept." }),
  })
  .meta({ id: "InviteToMerchant", examples: [{ role: "owner" as const }] });
export const merchantInvitationSchema = withExample(
  z.strictObject({
    invitation_id: identity("invitation"),
    merchant_id: identity("merchant"),
    role: roleField,
    email: z.string().nullable(),
    expires_at: timestamp,
    url: z.string().meta({ description: "The link that lets them in. It is shown this once." }),
  }),
  { id: "MerchantInvitation" },
  {
    expires_at: exampleTimes.payout,
    url: "https://pay.example/portal/invitation#3q2x8Zf0vJt5cB1nY7mKdW4hR6sL9pGaEuTi-_oXQkM",
  },
);
export const changeCredentialSchema = z
  .strictObject({ signature: signatureField })
  .meta({ id: "UpdateCredential", examples: [{ signature: "rfc9421" }] });
export const setWebhookSchema = z
  .strictObject({
    environment: environmentField,
    url: z
      .string()
      .max(2048)
      .meta({ description: "A public https address.", pattern: HTTPS_PATTERN, examples: [exampleAddress] }),
  })
  .meta({ id: "SetWebhook", examples: [{ environment: "sandbox", url: exampleAddress }] });

export const merchantSchema = z
  .strictObject({
    merchant_id: identity("merchant"),
    name: z.string().meta({ examples: ["Toko Melati"] }),
    suspended: z.boolean().meta({ description: "True: every signed request is answered 403." }),
    rate_limit_per_minute: positive(100, "Requests a minute, by credential."),
    ...settingsSchema.shape,
  })
  .meta({ id: "Merchant", description: "A merchant and its settings.", examples: [exampleMerchant] });
const webhookSecretsSchema = z
  .strictObject({ sandbox: webhookSecret, production: webhookSecret })
  .meta({ id: "WebhookSecrets", description: "The secret of each book. Registering an address shows it again." });
export const createdMerchantSchema = merchantSchema.extend({ webhook_secrets: webhookSecretsSchema }).meta({
  id: "CreatedMerchant",
  description: "A merchant and the secrets of its webhooks.",
  examples: [
    { ...exampleMerchant, webhook_secrets: { sandbox: exampleWebhookSecret, production: exampleWebhookSecret } },
  ],
});
export const merchantListSchema = listSchema(merchantSchema, "MerchantList");
export const merchantListQuery = z.strictObject({
  name: text(1, 120)
    .optional()
    .meta({ description: "Only merchants whose name holds this text, in capitals or not.", examples: ["melati"] }),
  ...pageFieldsOf("merchant", "merchant_id"),
});

export function merchantView(merchant: MerchantSummary): z.infer<typeof merchantSchema> {
  return {
    merchant_id: merchant.merchantId,
    name: merchant.name,
    suspended: merchant.suspended,
    rate_limit_per_minute: merchant.rateLimitPerMinute,
    ...merchant.settings,
  };
}

const clientIdForm = new RegExp(CLIENT_ID_PATTERN);
export const isClientId = (value: string): boolean => clientIdForm.test(value);

const credentialFields = {
  client_id: z.string().meta({ pattern: CLIENT_ID_PATTERN, examples: [exampleClientId] }),
  environment: environmentField,
  scopes: z.array(z.string()).meta({ description: "What it may do.", examples: [["payments:read"]] }),
  signature: signatureField,
};

export const createdCredentialSchema = withExample(
  z.strictObject({
    ...credentialFields,
    secret: z.string().meta({ description: "Signs requests. Shown this once.", examples: [exampleSecret] }),
  }),
  { id: "CreatedCredential", description: "A credential with its secret." },
  { scopes: [...scopes] },
);
export const revokedCredentialSchema = z
  .strictObject({ client_id: credentialFields.client_id, revoked: z.literal(true) })
  .meta({ id: "RevokedCredential", examples: [{ client_id: exampleClientId, revoked: true }] });
export const credentialSchema = withExample(
  z.strictObject({
    ...credentialFields,
    name: z.string().nullable().meta({ description: "As the merchant calls it." }),
    allowed_addresses: z.array(z.string()).meta({
      description: "Networks from which it may be used; none: from anywhere.",
      examples: [["203.0.113.0/24"]],
    }),
    created_at: timestamp,
    expires_at: timestamp.nullable().meta({ description: "When it ends by itself; null: never." }),
    revoked_at: timestamp.nullable().meta({ description: "Null unless it was revoked." }),
  }),
  { id: "Credential" },
  { scopes: [...scopes], allowed_addresses: [] },
);
export function credentialView(credential: Credential): z.infer<typeof credentialSchema> {
  return {
    client_id: credential.clientId,
    environment: credential.environment,
    scopes: [...credential.scopes],
    signature: credential.signature,
    name: credential.name ?? null,
    allowed_addresses: [...credential.allowedAddresses],
    created_at: wireTime(credential.createdAt),
    expires_at: wireTimeOrNull(credential.expiresAt),
    revoked_at: wireTimeOrNull(credential.revokedAt),
  };
}
export const credentialListSchema = listSchema(credentialSchema, "CredentialList");
export const credentialListQuery = z.strictObject(
  pageFields("client_id", isClientId, CLIENT_ID_PATTERN, exampleClientId),
);

export const webhookSchema = withExample(
  z.strictObject({
    environment: environmentField,
    url: z.string().meta({ description: "The address as it is kept.", examples: [exampleAddress] }),
    webhook_secret: webhookSecret,
  }),
  { id: "Webhook" },
);

export const bookReportSchema = z
  .strictObject({
    clean: z.boolean().meta({ description: "True when nothing is wrong." }),
    journals: count(1, "Journals that were replayed."),
    wrong: z.string().optional().meta({ description: "The first thing found wrong; absent when the book is clean." }),
  })
  .meta({ id: "BookReport", examples: [{ clean: true, journals: 1 }] });
