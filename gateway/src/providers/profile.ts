// Fields of every provider's entry in acquirers.json, and its capabilities and channels. Fields of one provider are in its own folder.
import { z } from "zod";
import type { Acquirer, Capability } from "../acquirers/acquirer.ts";
import {
  capabilityOf,
  checkAcquirerUrl,
  checkLimits,
  checkPairs,
  entryFields,
  methodFields,
} from "../acquirers/remote-profile.ts";
import type { Minor } from "../ground/money.ts";
import type { PaymentMethod } from "../merchants/settings.ts";

const methodSchema = z
  .strictObject({
    ...methodFields,
    /** False switches the method off and keeps its entry. */
    on: z.boolean().default(true),
    /** Banks or wallets. The first is the default for payments that name none. */
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
  })
  .superRefine(checkLimits);
export type ProviderMethod = z.infer<typeof methodSchema>;

/** Fields of every provider. A provider's own schema is a strict object of these and of its own fields. */
export const commonFields = {
  ...entryFields,
  /** Replaces the provider's own address, to try a fake provider on this machine. */
  url: z.string().max(2048).superRefine(checkAcquirerUrl).optional(),
  /** Maximum number of sockets. */
  connections: z.int().min(1).max(256).default(64),
  methods: z.array(methodSchema).min(1).max(50).superRefine(checkPairs),
};
type CommonProfile = z.infer<z.ZodObject<typeof commonFields>> & { provider: string };

/**
 * Capabilities of the methods that are switched on. `stepMinor` gives the smallest step of amounts in a currency, if it is more than 1. `refunds`
 * gives whether the provider gives money of a method back.
 */
export function capabilitiesOf(
  methods: readonly ProviderMethod[],
  stepMinor: (currency: string) => Minor,
  refunds: (method: PaymentMethod) => boolean,
): Capability[] {
  return methods
    .filter(({ on }) => on)
    .flatMap((one) =>
      one.currencies.map((currency) => ({
        ...capabilityOf(one),
        currencies: [currency],
        stepMinor: stepMinor(currency),
        refunds: refunds(one.method),
      })),
    );
}

/** The bank or wallet of a payment: `metadata.channel` if the profile has it, else its first. Undefined when it names none for the method. */
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

/** An acquirer with connections of its own, which `close` closes when the service stops. */
export type OpenAcquirer = Acquirer & { close(): Promise<void> };

/** A provider with a built-in connector. */
export interface Provider {
  /** Value of `provider` in acquirers.json. */
  readonly name: string;
  readonly schema: z.ZodType<CommonProfile>;
  /** Makes the acquirer of an entry. Throws when the entry is invalid or a key cannot be read; messages contain no key. */
  open(profile: unknown): OpenAcquirer;
}

/** Makes a provider from its schema and from the function that opens a valid entry. */
export function provider<Profile extends CommonProfile>(
  name: string,
  schema: z.ZodType<Profile>,
  open: (profile: Profile) => OpenAcquirer,
): Provider {
  return { name, schema, open: (profile) => open(schema.parse(profile)) };
}
