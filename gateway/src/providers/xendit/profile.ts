// Xendit's entry in acquirers.json: the fields of every provider, its keys, and the rules for its methods.
import { z } from "zod";
import { type ProviderMethod, commonFields } from "../profile.ts";
import { secretSource } from "../secrets.ts";
import { bankNames, walletNames } from "./channels.ts";

/** The banks or wallets of each method; empty for a method with a single channel. */
const channelsOfMethod: Readonly<Record<string, readonly string[] | undefined>> = {
  qris: [],
  card: [],
  va: bankNames,
  ewallet: walletNames,
};

export const xenditSchema = z
  .strictObject({
    provider: z.literal("xendit"),
    ...commonFields,
    /** A secret key with the permission to write Money-in. */
    secret_key: secretSource,
    /** The webhook verification token, which Xendit sends with each notification. */
    callback_token: secretSource,
    /** False when the account's QR codes accept no expiry time. */
    qris_expiry: z.boolean().default(true),
  })
  .superRefine(({ methods }, context) => {
    for (const [at, method] of methods.entries()) {
      for (const { path, message } of objectionsTo(method))
        context.addIssue({ code: "custom", path: ["methods", at, ...path], message });
    }
  });
export type XenditProfile = z.infer<typeof xenditSchema>;

function objectionsTo({
  method,
  channels,
  currencies,
}: ProviderMethod): { path: (string | number)[]; message: string }[] {
  const known = channelsOfMethod[method];
  if (known === undefined) return [{ path: ["method"], message: "is nothing that Xendit takes here" }];
  const objections: { path: (string | number)[]; message: string }[] = [];
  if (known.length === 0 && channels !== undefined)
    objections.push({ path: ["channels"], message: `belongs to va and ewallet, not to ${method}` });
  if (known.length > 0 && channels === undefined)
    objections.push({ path: ["channels"], message: `must name at least one of ${known.join(", ")}` });
  for (const [index, name] of (known.length > 0 ? (channels ?? []) : []).entries()) {
    if (!known.includes(name))
      objections.push({ path: ["channels", index], message: `must be one of ${known.join(", ")}` });
  }
  for (const [index, currency] of currencies.entries()) {
    if (currency !== "IDR") objections.push({ path: ["currencies", index], message: "must be IDR" });
  }
  return objections;
}
