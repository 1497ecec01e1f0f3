// Stripe's entry in acquirers.json: the fields of every provider, its keys, and the rules for its methods.
import { z } from "zod";
import { commonFields } from "../profile.ts";
import { secretSource } from "../secrets.ts";
import { boundsOf, isCharged } from "./amounts.ts";

export const stripeProfileSchema = z
  .strictObject({
    provider: z.literal("stripe"),
    ...commonFields,
    /** A secret key, or a restricted one: `sk_test_…`, `rk_live_…`. */
    secret_key: secretSource,
    /** The signing secret of Gerbang's endpoint in Stripe's dashboard: `whsec_…`. */
    webhook_secret: secretSource,
    /** When the payer's bank authenticates the payer: as rules and laws say, whenever it can, or always with a challenge. */
    three_d_secure: z.enum(["automatic", "any", "challenge"]).default("automatic"),
  })
  .superRefine(({ methods }, context) => {
    for (const [at, { method, channels, currencies, maximum_minor }] of methods.entries()) {
      const wrong = (field: string, message: string): void =>
        context.addIssue({ code: "custom", path: ["methods", at, field], message });
      if (method !== "card") wrong("method", "must be card: it is what this connector takes through Stripe");
      if (channels !== undefined)
        wrong("channels", "must be left out: a card goes through no bank of the payer's choice");
      for (const currency of currencies) {
        if (!isCharged(currency)) {
          wrong("currencies", `${currency} is not a currency that Stripe charges cards in`);
          continue;
        }
        const { maximumMinor, stepMinor } = boundsOf(currency);
        if (BigInt(maximum_minor) > maximumMinor) {
          wrong("maximum_minor", `is above ${maximumMinor}, the most that Stripe takes of ${currency}`);
        } else if (BigInt(maximum_minor) < stepMinor) {
          wrong("maximum_minor", `is below ${stepMinor}, the least that Stripe takes of ${currency}`);
        }
      }
    }
  });
export type StripeProfile = z.infer<typeof stripeProfileSchema>;

/** Why a key does not fit this environment, without any of the key; undefined when it may. The other mode's key would move real money, or none. */
export function objectionToKey(key: string, environment: StripeProfile["environment"]): string | undefined {
  const mode = /^(?:sk|rk)_(live|test)_/.exec(key)?.[1];
  const wanted = environment === "production" ? "live" : "test";
  if (mode !== undefined && mode !== wanted)
    return `is a key of ${mode} mode: an entry of the ${environment} environment takes sk_${wanted}_… or rk_${wanted}_…`;
  return key.startsWith("pk_") ? "is a publishable key: write a secret or a restricted one" : undefined;
}
