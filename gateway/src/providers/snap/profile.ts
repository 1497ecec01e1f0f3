// An entry of acquirers.json for a bank or provider of SNAP: Gerbang's ids there, the places of its keys, and its account ranges.
import type { KeyObject } from "node:crypto";
import { z } from "zod";
import { commonFields } from "../profile.ts";
import { type Secret, openSecret, secretSource } from "../secrets.ts";
import type { OwnKeys } from "./client.ts";
import type { Dialect } from "./dialect.ts";
import { dialectNames, dialects } from "./dialects.ts";
import type { Partner } from "./partner.ts";
import type { TheirKeys } from "./received.ts";
import { privateKeyOf, publicKeyOf } from "./signature.ts";

const digits = (max: number): z.ZodString =>
  z.string().regex(new RegExp(`^\\d{1,${max}}$`), `must be 1 to ${max} digits`);
const given = z.string().regex(/^[\x21-\x7e]{1,64}$/, "must be 1 to 64 printable characters without spaces");

const rangeSchema = z.strictObject({
  /** The company code, without the spaces that stand before it on the wire. */
  partner_service_id: digits(8),
  /** Beginning of the customer's part of each number. */
  customer_prefix: z
    .string()
    .regex(/^\d{0,12}$/, "must be at most 12 digits")
    .default(""),
  /** `registered`: as the dialect does it. `ours`: registered with numbers of Gerbang's own. `asked`: the bank asks Gerbang for each bill. */
  numbers: z.enum(["registered", "ours", "asked"]).default("registered"),
});

export const snapSchema = z
  .strictObject({
    provider: z.literal("snap"),
    ...commonFields,
    /** Name of the dialect. */
    profile: z.enum(dialectNames),
    /** Value of the header `X-CLIENT-KEY`. */
    client_id: given,
    /** Value of the header `X-PARTNER-ID`, if it differs from `client_id`. */
    partner_id: given.optional(),
    /** Value of the header `CHANNEL-ID`, if each partner is given its own. */
    channel_id: z
      .string()
      .regex(/^[A-Za-z0-9]{1,5}$/, "must be 1 to 5 letters or digits")
      .optional(),
    /** The shared secret: it signs transactions, and the tokens that Gerbang issues. */
    client_secret: secretSource,
    /** Gerbang's RSA key in PEM; the provider has its public half. */
    private_key: secretSource,
    /** The provider's RSA public key in PEM: it verifies the provider's requests for tokens. */
    provider_public_key: secretSource,
    virtual_accounts: z.record(z.string().regex(/^[a-z0-9_]{1,30}$/), rangeSchema).default({}),
    qris: z.strictObject({ merchant_id: given, terminal_id: given, postal_code: digits(5).optional() }).optional(),
  })
  .superRefine((entry, context) => {
    const dialect: Dialect = dialects[entry.profile];
    const wrong = (path: (string | number)[], message: string): void =>
      context.addIssue({ code: "custom", path, message });
    if (dialect.channelId === undefined && entry.channel_id === undefined)
      wrong(["channel_id"], "is needed for this profile");
    for (const [bank, range] of Object.entries(entry.virtual_accounts)) {
      const traits = dialect.virtualAccounts;
      if (!traits || !Object.hasOwn(traits.banks, bank))
        wrong(["virtual_accounts", bank], "is no bank of this profile");
      else if (range.numbers === "asked" && !traits.tellsBillAgain)
        wrong(["virtual_accounts", bank, "numbers"], "this profile's payments do not tell which bill they are for");
      else if (range.customer_prefix.length > traits.customerDigits - 6)
        wrong(["virtual_accounts", bank, "customer_prefix"], "leaves fewer than 6 digits");
    }
    for (const [at, { method, currencies, channels = [] }] of entry.methods.entries()) {
      if (currencies.some((currency) => currency !== "IDR"))
        wrong(["methods", at, "currencies"], "SNAP knows IDR alone");
      const known = knownChannels(entry, dialect, method);
      if (!known) wrong(["methods", at, "method"], "is not taken through this profile");
      else if (method !== "qris" && channels.length === 0)
        wrong(["methods", at, "channels"], `must name some of ${known.join(", ")}`);
      else
        for (const [index, channel] of channels.entries())
          if (!known.includes(channel))
            wrong(["methods", at, "channels", index], `must be one of ${known.join(", ") || "none"}`);
      if (method === "qris" && entry.qris === undefined) wrong(["qris"], "is needed for QRIS");
    }
  });
export type SnapProfile = z.infer<typeof snapSchema>;

/** Channels that a method may have; undefined when the profile does not have the method. */
function knownChannels(
  entry: { virtual_accounts: Record<string, unknown> },
  { virtualAccounts, qris, wallets }: Dialect,
  method: string,
): readonly string[] | undefined {
  if (method === "va" && virtualAccounts) return Object.keys(entry.virtual_accounts);
  if (method === "qris" && qris) return [];
  return method === "ewallet" && wallets ? Object.keys(wallets.channels) : undefined;
}

export function partnerOf(entry: SnapProfile): Partner {
  const dialect: Dialect = dialects[entry.profile];
  const own = dialect.virtualAccounts?.numbers ?? "theirs";
  return {
    code: entry.code,
    dialect,
    clientId: entry.client_id,
    partnerId: entry.partner_id ?? entry.client_id,
    channelId: entry.channel_id ?? dialect.channelId ?? "",
    accounts: Object.fromEntries(
      Object.entries(entry.virtual_accounts).map(([bank, { partner_service_id, customer_prefix, numbers }]) => [
        bank,
        {
          partnerServiceId: partner_service_id,
          customerPrefix: customer_prefix,
          numbers: numbers === "registered" ? own : numbers,
        },
      ]),
    ),
    qris: entry.qris && {
      merchantId: entry.qris.merchant_id,
      terminalId: entry.qris.terminal_id,
      postalCode: entry.qris.postal_code,
    },
  };
}

/** The provider's base address: its own, or for tries a server on this machine. */
export function urlOf({ url, profile, environment }: Pick<SnapProfile, "url" | "profile" | "environment">): string {
  return url ?? dialects[profile].urls[environment];
}

/** Opens the three keys. Throws an Error that names the field when a key is missing or invalid, and quotes nothing of the key. */
export function openKeys(entry: Pick<SnapProfile, "client_secret" | "private_key" | "provider_public_key">): {
  own: OwnKeys;
  theirs: () => TheirKeys;
} {
  const named = <Value>(field: string, open: () => Value): Value => {
    try {
      return open();
    } catch (error) {
      throw new Error(`${field}: ${error instanceof Error ? error.message : "cannot be read"}`, { cause: error });
    }
  };
  const secret = named("client_secret", () => openSecret(entry.client_secret));
  const ours = named("private_key", () => openSecret(entry.private_key));
  const theirs = named("provider_public_key", () => openSecret(entry.provider_public_key));
  const privateKey = readKeys(ours, privateKeyOf);
  const publicKeys = readKeys(theirs, publicKeyOf);
  named("private_key", privateKey);
  named("provider_public_key", publicKeys);
  return {
    own: { secret: () => secret.current(), privateKey: () => named("private_key", () => firstOf(privateKey())) },
    theirs: () => ({ secrets: secret.accepted(), publicKeys: publicKeys() }),
  };
}

/** Parsing an RSA key costs more than a signature, so a key is parsed again only when its text has changed. */
function readKeys(secret: Secret, read: (pem: string) => KeyObject): () => readonly KeyObject[] {
  let texts: readonly string[] = [];
  let keys: readonly KeyObject[] = [];
  return () => {
    const accepted = secret.accepted();
    if (accepted.length !== texts.length || accepted.some((text, at) => text !== texts[at])) {
      keys = accepted.map(read);
      texts = accepted;
    }
    return keys;
  };
}

function firstOf(keys: readonly KeyObject[]): KeyObject {
  const [first] = keys;
  if (!first) throw new Error("there is no key");
  return first;
}
