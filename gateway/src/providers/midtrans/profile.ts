// Midtrans' entry in acquirers.json: the server key beside the fields of every provider, and the rules for its methods.
import { z } from "zod";
import { commonFields } from "../profile.ts";
import { secretSource } from "../secrets.ts";
import { STEP_MINOR, channelsOf } from "./requests.ts";

export const midtransSchema = z
  .strictObject({
    provider: z.literal("midtrans"),
    ...commonFields,
    /** "Server Key" under Settings, Access Keys of Midtrans' dashboard. Sandbox and production have one each. */
    server_key: secretSource,
  })
  .superRefine(({ methods }, context) => {
    for (const [at, { method, channels = [], currencies, minimum_minor, maximum_minor }] of methods.entries()) {
      const wrong = (field: string, message: string): void =>
        context.addIssue({ code: "custom", path: ["methods", at, field], message });
      const known = channelsOf(method);
      if (known.length === 0) wrong("method", `${method} is not taken by Midtrans`);
      const unknown = channels.find((channel) => known.length > 0 && !known.includes(channel));
      if (unknown !== undefined) wrong("channels", `${unknown} is none of ${known.join(", ")}`);
      if (currencies.some((currency) => currency !== "IDR")) wrong("currencies", "Midtrans knows IDR only");
      for (const [field, amount] of Object.entries({ minimum_minor, maximum_minor })) {
        if (BigInt(amount) % STEP_MINOR !== 0n) wrong(field, "must be whole rupiah: a multiple of 100");
      }
    }
  });
export type MidtransProfile = z.infer<typeof midtransSchema>;

/** Midtrans' hosts of an environment, or the one address of a fake. `dashboard`: where a person looks up a transaction by its order id. */
export function addressesOf({ environment, url }: Pick<MidtransProfile, "environment" | "url">) {
  if (url !== undefined) return { core: url, snap: url, dashboard: undefined };
  const zone = environment === "production" ? "midtrans.com" : "sandbox.midtrans.com";
  return {
    core: `https://api.${zone}`,
    snap: `https://app.${zone}`,
    dashboard: `https://dashboard.${zone}/transactions`,
  };
}
