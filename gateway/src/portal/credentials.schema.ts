// The shapes of API keys in the portal.
import { z } from "zod";
import { wholeBetween } from "../ground/whole.ts";
import { DAY_SECONDS, type Micros, parseWireTime, wireTime, wireTimeOrNull } from "../ground/clock.ts";
import { validationFault } from "../ground/fault.ts";
import { readNetwork } from "../ground/networks.ts";
import { exampleClientId, exampleSecret, exampleTimes } from "../http/examples.ts";
import { environmentField, listSchema, parameterNames, text, timestamp, withExample } from "../http/shapes.ts";
import { isLive } from "../merchants/credentials.ts";
import type { Credential } from "../merchants/credentials.sql.ts";
import { scopes } from "../merchants/directory.ts";
import { scopeField, signatureField } from "../operator/merchants.schema.ts";
import { CLIENT_ID_PATTERN } from "../operator/params.ts";

const ADDRESSES_MAX = 20;
const OVERLAP_MAX_SECONDS = 30 * DAY_SECONDS;
const TEN_YEARS = 3_653 * DAY_SECONDS * 1_000_000;

const clientId = z.string().meta({ pattern: CLIENT_ID_PATTERN, examples: [exampleClientId] });
export const keyParams = {
  client_id: clientId
    .meta({ description: "`client_id` of the key." })
    .register(parameterNames, { name: "KeyClientId" }),
};

const nameField = text(1, 60).meta({ description: "As you call it: the system that uses it.", examples: ["checkout"] });
const scopesField = z.array(scopeField).min(1).max(scopes.length).meta({ description: "What it may do." });
const addressField = z
  .string()
  .max(60)
  .superRefine((value, context) => {
    const read = readNetwork(value);
    if ("objection" in read) context.addIssue({ code: "custom", message: read.objection });
  })
  .meta({ examples: ["203.0.113.0/24"] });
const addressesField = z
  .array(addressField)
  .max(ADDRESSES_MAX)
  .meta({
    description: "Addresses and networks from which it may be used; none: from anywhere.",
    examples: [["203.0.113.0/24"]],
  });
const expiryField = timestamp.nullable().meta({
  description: "When it ends by itself, at most ten years from now; null: never.",
});

export const createKeySchema = z
  .strictObject({
    name: nameField,
    scopes: scopesField.optional().meta({ description: "Everything when left out." }),
    signature: signatureField.optional().meta({ description: "`any` when left out." }),
    allowed_addresses: addressesField.optional(),
    expires_at: expiryField.optional(),
  })
  .meta({ id: "CreateKey", examples: [{ name: "checkout", allowed_addresses: ["203.0.113.0/24"] }] });
export const changeKeySchema = z
  .strictObject({
    name: nameField.optional(),
    scopes: scopesField.optional(),
    signature: signatureField.optional(),
    allowed_addresses: addressesField.optional(),
    expires_at: expiryField.optional(),
  })
  .meta({ id: "ChangeKey", description: "What is left out stays.", examples: [{ signature: "rfc9421" }] });
export const rollKeySchema = z
  .strictObject({
    overlap_seconds: wholeBetween(0, OVERLAP_MAX_SECONDS)
      .optional()
      .meta({ description: "How long the key before stays good; a day when left out." }),
  })
  .meta({ id: "RollKey", examples: [{ overlap_seconds: DAY_SECONDS }] });

const keyFields = {
  client_id: clientId,
  name: z.string().nullable().meta({ description: "Null: nobody named it." }),
  environment: environmentField,
  state: z
    .enum(["live", "expired", "revoked"])
    .meta({ id: "KeyState", description: "Only a live one proves requests." }),
  scopes: z.array(z.string()).meta({ description: "What it may do.", examples: [["payments:read"]] }),
  signature: signatureField,
  allowed_addresses: z.array(z.string()).meta({ description: "None: from anywhere.", examples: [["203.0.113.0/24"]] }),
  created_at: timestamp,
  expires_at: timestamp.nullable().meta({ description: "Null: never." }),
  revoked_at: timestamp.nullable(),
  replaced_by: clientId.nullable().meta({ description: "The key that it was rolled to." }),
  last_used: z
    .strictObject({ at: timestamp, address: z.string().meta({ examples: ["203.0.113.7"] }) })
    .nullable()
    .meta({ id: "LastUse", description: "Seconds behind at most; null: never used." }),
};
const exampleKey = { name: "checkout", scopes: [...scopes] };
export const keySchema = withExample(
  z.strictObject(keyFields),
  { id: "Key", description: "A credential of the merchant's systems." },
  { ...exampleKey, last_used: { at: exampleTimes.paid, address: "203.0.113.7" } },
);
const secret = z.string().meta({ description: "Signs requests. Shown this once.", examples: [exampleSecret] });
export const createdKeySchema = withExample(z.strictObject({ ...keyFields, secret }), { id: "CreatedKey" }, exampleKey);
export const keyListSchema = listSchema(keySchema, "KeyList");
export function keyView(key: Credential, now: Micros): z.infer<typeof keySchema> {
  const ended = key.revokedAt === undefined ? ("expired" as const) : ("revoked" as const);
  return {
    client_id: key.clientId,
    name: key.name ?? null,
    environment: key.environment,
    state: isLive(key, now) ? "live" : ended,
    scopes: [...key.scopes],
    signature: key.signature,
    allowed_addresses: [...key.allowedAddresses],
    created_at: wireTime(key.createdAt),
    expires_at: wireTimeOrNull(key.expiresAt),
    revoked_at: wireTimeOrNull(key.revokedAt),
    replaced_by: key.replacedBy ?? null,
    last_used: key.lastUse ? { at: wireTime(key.lastUse.at), address: key.lastUse.address } : null,
  };
}

/** Validated networks in canonical form, without duplicates. */
export function networksOf(texts: readonly string[]): string[] {
  return [...new Set(texts.map(readNetwork).flatMap((read) => ("network" in read ? [read.network] : [])))];
}

/** The expiry of a key; null (undefined in the result) means never. Throws VALIDATION_ERROR for a time in the past or more than ten years away. */
export function expiryOf(value: string | null, now: Micros): Micros | undefined {
  if (value === null) return undefined;
  const at = parseWireTime(value)?.at;
  if (at === undefined) throw validationFault("expires_at", value, "expires_at is no time of the calendar.");
  if (at <= now) throw validationFault("expires_at", value, "expires_at must be in the future.");
  if (at > now + TEN_YEARS) throw validationFault("expires_at", value, "expires_at is at most ten years from now.");
  return at;
}
