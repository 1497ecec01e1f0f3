// What every provider's entry in acquirers.json has: who it is, where, what is taken through it and at what cost.
import { z } from "zod";
import type { Acquirer, Capability } from "../acquirers/acquirer.ts";
import {
  capabilityCost,
  checkAcquirerUrl,
  codeSchema,
  minorSchema,
  weightSchema,
} from "../acquirers/remote-profile.ts";
import type { Minor } from "../ground/money.ts";
import { type PaymentMethod, paymentMethods } from "../merchants/settings.ts";

const methodSchema = z
  .strictObject({
    method: z.enum(paymentMethods),
    /** False takes it out without losing what is written here. */
    on: z.boolean().default(true),
    /** Banks or wallets; the first is taken where the merchant names none. */
    channels: z
      .array(z.string().regex(/^[a-z0-9_]{1,30}$/))
      .min(1)
      .max(30)
      .optional(),
    currencies: z
      .array(z.string().regex(/^[A-Z]{3}$/))
      .min(1)
      .max(200)
      .default(["IDR"]),
    minimum_minor: minorSchema.min(1),
    maximum_minor: minorSchema.min(1),
    /** What the provider charges the platform: routing compares it. */
    cost: capabilityCost,
  })
  .refine(({ minimum_minor, maximum_minor }) => minimum_minor <= maximum_minor, {
    path: ["maximum_minor"],
    message: "is below minimum_minor",
  });
export type ProviderMethod = z.infer<typeof methodSchema>;

/** The fields that all providers share. A provider's own schema is a strict object of these and its own. */
export const commonFields = {
  code: codeSchema,
  name: z.string().trim().min(1).max(100),
  environment: z.enum(["sandbox", "production"]),
  weight: weightSchema,
  /** In place of the provider's own address: for tries on this machine only. */
  url: z.string().max(2048).superRefine(checkAcquirerUrl).optional(),
  deadline_ms: z.int().min(100).max(30_000).default(8_000),
  /** Sockets that it may hold. */
  connections: z.int().min(1).max(256).default(64),
  methods: z
    .array(methodSchema)
    .min(1)
    .max(50)
    .superRefine((methods, context) => {
      const seen = new Set<string>();
      for (const [at, { method, currencies }] of methods.entries()) {
        for (const currency of currencies) {
          const pair = `${method} in ${currency}`;
          if (seen.has(pair)) context.addIssue({ code: "custom", path: [at], message: `${pair} is there already` });
          seen.add(pair);
        }
      }
    }),
};
export type CommonProfile = z.infer<z.ZodObject<typeof commonFields>> & { provider: string };

/** What an acquirer of this profile takes. `stepMinor` says the finest amount of a currency, where it is coarser than ours. */
export function capabilitiesOf(
  methods: readonly ProviderMethod[],
  stepMinor: (currency: string) => Minor = () => 1n,
): Capability[] {
  return methods
    .filter(({ on }) => on)
    .flatMap(({ method, currencies, minimum_minor, maximum_minor, cost }) =>
      currencies.map((currency) => ({
        method,
        currencies: [currency],
        minimumMinor: BigInt(minimum_minor),
        maximumMinor: BigInt(maximum_minor),
        cost: { basisPoints: cost.basis_points, flatMinor: BigInt(cost.flat_minor) },
        stepMinor: stepMinor(currency),
      })),
    );
}

/**
 * The bank or wallet that a payment goes through: what the merchant names in `metadata.channel`, where the profile has it, else the
 * profile's first. Undefined where the profile names none for this method.
 */
export function channelOf(
  methods: readonly ProviderMethod[],
  {
    method,
    currency,
    metadata,
  }: { method: PaymentMethod; currency: string; metadata?: Readonly<Record<string, string>> | undefined },
): string | undefined {
  const channels = methods.find(
    (one) => one.on && one.method === method && one.currencies.includes(currency),
  )?.channels;
  const wished = metadata?.channel;
  return wished !== undefined && channels?.includes(wished) === true ? wished : channels?.[0];
}

/** An acquirer with connections of its own, to be given back when the service stops. */
export type OpenAcquirer = Acquirer & { close(): Promise<void> };

/** A provider that the service speaks to itself. */
export interface Provider {
  /** `provider` in acquirers.json. */
  readonly name: string;
  readonly schema: z.ZodType<CommonProfile>;
  /** Makes the acquirer of an entry. Throws when the entry is not valid, or a key cannot be read; messages show no key. */
  open(profile: unknown): OpenAcquirer;
}

/** A provider from its schema, and what makes an acquirer of an entry. */
export function provider<Profile extends CommonProfile>(
  name: string,
  schema: z.ZodType<Profile>,
  open: (profile: Profile) => OpenAcquirer,
): Provider {
  return { name, schema, open: (profile) => open(schema.parse(profile)) };
}
