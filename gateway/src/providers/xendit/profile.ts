// Xendit's entry in acquirers.json: the fields of every provider, its keys, and the rules for its methods.
import { z } from "zod";
import { commonFields } from "../profile.ts";
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
    for (const [at, { method, channels, currencies }] of methods.entries()) {
      const wrong = (path: (string | number)[], message: string): void =>
        context.addIssue({ code: "custom", path: ["methods", at, ...path], message });
      const known = channelsOfMethod[method];
      if (known === undefined) {
        wrong(["method"], "is nothing that Xendit takes here");
        continue;
      }
      if (known.length === 0 && channels !== undefined)
        wrong(["channels"], `belongs to va and ewallet, not to ${method}`);
      if (known.length > 0 && channels === undefined)
        wrong(["channels"], `must name at least one of ${known.join(", ")}`);
      for (const [index, name] of (known.length > 0 ? (channels ?? []) : []).entries())
        if (!known.includes(name)) wrong(["channels", index], `must be one of ${known.join(", ")}`);
      for (const [index, currency] of currencies.entries())
        if (currency !== "IDR") wrong(["currencies", index], "must be IDR");
    }
  });
export type XenditProfile = z.infer<typeof xenditSchema>;
