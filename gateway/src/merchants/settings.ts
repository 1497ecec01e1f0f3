// The settings of a merchant, their defaults, and how an operator's change is merged in. Storing them is in merchants.ts.
import { z } from "zod";
import { defaultSchedule, settlementScheduleSchema } from "./settlement-schedule.ts";
import { Fault, assert, validationFault } from "../ground/fault.ts";
import { DEFAULT_CURRENCY, type FeeRule, MINOR_MAX, isCurrency } from "../ground/money.ts";

export const paymentMethods = ["qris", "va", "card", "ewallet", "bank_transfer"] as const;
export type PaymentMethod = (typeof paymentMethods)[number];
export const paymentMethodSchema = z
  .enum(paymentMethods)
  .meta({ id: "PaymentMethod", description: "How the payer pays.", examples: ["qris"] });

const minor = z.int().min(0).max(Number(MINOR_MAX));
const positiveMinor = z.int().min(1).max(Number(MINOR_MAX));
const currency = z.string().refine(isCurrency, "is not a currency of ISO 4217").meta({ pattern: "^[A-Z]{3}$" });

/** Values by currency; amounts are each in their currency's own minor units. */
const perCurrency = <Amount extends z.ZodType>(amount: Amount) => z.record(currency, amount);

/** A price. Flat parts are minor units of the payment's currency, so `per_currency` has prices for other currencies. */
const currencyFeeSchema = z
  .strictObject({
    basis_points: z.int().min(0).max(10_000),
    flat_minor: minor,
    minimum_minor: minor.optional(),
    maximum_minor: minor.optional(),
  })
  .refine((fee) => (fee.minimum_minor ?? 0) <= (fee.maximum_minor ?? Infinity), {
    path: ["maximum_minor"],
    message: "is below the minimum",
  })
  .meta({
    id: "CurrencyFee",
    description: "A price in one currency: a share in basis points and a flat part, between a minimum and a maximum.",
  });
const feeSchema = currencyFeeSchema.safeExtend({ per_currency: perCurrency(currencyFeeSchema).optional() }).meta({
  id: "Fee",
  description: "A price, with others for other currencies.",
  examples: [{ basis_points: 70, flat_minor: 0 }],
});

const methodSchema = z
  .strictObject({ enabled: z.boolean(), max_amount_minor: positiveMinor.optional() })
  .meta({ id: "MethodSettings", description: "Whether a method is on, and the most that one payment in IDR may be." });

const score = z.int().min(0).max(100);
const riskWeightsSchema = z
  .strictObject({
    customer_velocity: score,
    merchant_velocity: score,
    large_amount: score,
    disposable_email: score,
    malformed_contact: score,
    no_customer: score,
  })
  .meta({
    id: "RiskWeights",
    description: "Points for each sign of fraud; the score is their sum, at most 100.",
  });
const positiveTo = (most: number, description: string) => z.int().min(1).max(most).meta({ description });
export const riskSettingsSchema = z
  .strictObject({
    weights: riskWeightsSchema,
    customer_per_hour: positiveTo(1000, "From this many on `customer_velocity` is a sign."),
    merchant_per_minute: positiveTo(2000, "From this many on `merchant_velocity` is a sign."),
    large_amount_minor: positiveMinor.meta({ description: "From this amount in IDR on `large_amount` is a sign." }),
    large_amount_minor_per_currency: perCurrency(positiveMinor).meta({
      description: "The same in other currencies; in one that is not named it never is.",
    }),
    review_at: positiveTo(101, "From this score on a person looks at it; 101: never."),
    reject_at: positiveTo(101, "From this score on it is refused; 101: never."),
  })
  .meta({ id: "RiskSettings", description: "What fraud detection looks at, and from which score on it acts." });
export type RiskSettings = z.infer<typeof riskSettingsSchema>;

const perMethod = <Value extends z.ZodType>(value: Value) =>
  z.strictObject({ qris: value, va: value, card: value, ewallet: value, bank_transfer: value });
const methodsSchema = perMethod(methodSchema).meta({ id: "Methods", description: "By method." });
const feesSchema = perMethod(feeSchema).meta({ id: "Fees", description: "The price of each method." });

export const settingsSchema = z.strictObject({
  currencies: z.array(currency).min(1).max(50),
  max_amount_minor: positiveMinor.meta({ description: "The most that one payment in IDR may be." }),
  max_amount_minor_per_currency: perCurrency(positiveMinor).meta({ description: "The same in other currencies." }),
  methods: methodsSchema,
  fees: feesSchema,
  wallet_frozen: perCurrency(z.boolean()).meta({ description: "True: no refunds, no new batches, no payouts." }),
  risk: riskSettingsSchema,
  settlement: settlementScheduleSchema.prefault(defaultSchedule),
});
export type MerchantSettings = z.infer<typeof settingsSchema>;

/** A new merchant: IDR and all five methods, prices of the Indonesian market. */
export const defaultSettings: MerchantSettings = {
  currencies: [DEFAULT_CURRENCY],
  max_amount_minor: 10_000_000_000,
  max_amount_minor_per_currency: {},
  methods: {
    qris: { enabled: true },
    va: { enabled: true },
    card: { enabled: true },
    ewallet: { enabled: true },
    bank_transfer: { enabled: true },
  },
  fees: {
    qris: { basis_points: 70, flat_minor: 0 },
    va: { basis_points: 0, flat_minor: 400_000 },
    card: { basis_points: 290, flat_minor: 200_000 },
    ewallet: { basis_points: 150, flat_minor: 0 },
    bank_transfer: { basis_points: 0, flat_minor: 300_000 },
  },
  wallet_frozen: {},
  settlement: defaultSchedule,
  risk: {
    weights: {
      customer_velocity: 60,
      merchant_velocity: 20,
      large_amount: 30,
      disposable_email: 45,
      malformed_contact: 25,
      no_customer: 5,
    },
    customer_per_hour: 10,
    merchant_per_minute: 600,
    large_amount_minor: 5_000_000_000,
    large_amount_minor_per_currency: {},
    review_at: 70,
    reject_at: 80,
  },
};

const changeOf = <Shape extends z.ZodRawShape>(settings: z.ZodObject<Shape>, id: string) =>
  settings.partial().meta({ id, description: "What changes; the rest stays." });
const methodChange = z.union([z.boolean(), changeOf(methodSchema, "MethodChange")]);
const methodsChange = changeOf(perMethod(methodChange), "MethodsChange");
const feesChange = perMethod(feeSchema).partial().meta({
  id: "FeesChange",
  description: "By method: its whole price, also the minimum, the maximum and other currencies. Other methods stay.",
});

/** An operator's change of a merchant. Absent fields stay as they are. */
export const settingsChangeSchema = z
  .strictObject({
    suspended: z.boolean().optional().meta({ description: "True: every signed request is answered 403." }),
    rate_limit_per_minute: z.int().min(1).max(100_000_000).optional(),
    currencies: z.array(currency).min(1).max(50).optional().meta({
      description:
        "All that are enabled. Each but IDR needs fees of its own for every enabled method, and a largest amount.",
    }),
    max_amount_minor: z
      .union([positiveMinor, perCurrency(positiveMinor)])
      .optional()
      .meta({ description: "A number is for IDR; an object has amounts by currency, and others stay." }),
    methods: z
      .union([z.array(paymentMethodSchema).min(1), methodsChange])
      .optional()
      .meta({ description: "A list: only these are enabled. An object: changes of some methods, and others stay." }),
    fees: feesChange.optional(),
    wallet_frozen: settingsSchema.shape.wallet_frozen.optional(),
    risk: changeOf(riskSettingsSchema, "RiskChange").optional(),
    settlement: changeOf(settlementScheduleSchema, "SettlementScheduleChange").optional(),
  })
  .meta({
    id: "UpdateMerchant",
    examples: [{ rate_limit_per_minute: 600, fees: { qris: { basis_points: 50, flat_minor: 0 } } }],
  });
export type SettingsChange = z.infer<typeof settingsChangeSchema>;

/** Gives the settings after a change. Throws VALIDATION_ERROR when it gives one amount in two ways. Pure. */
export function applyChange(settings: MerchantSettings, change: SettingsChange): MerchantSettings {
  const methods = { ...settings.methods };
  for (const method of paymentMethods) {
    const wanted = Array.isArray(change.methods) ? change.methods.includes(method) : change.methods?.[method];
    methods[method] = changed(methods[method], typeof wanted === "boolean" ? { enabled: wanted } : wanted);
  }
  const { max_amount_minor: most } = change;
  const maxima = typeof most === "object" ? { max_amount_minor_per_currency: most } : { max_amount_minor: most };
  const { max_amount_minor, max_amount_minor_per_currency } = settings;
  const fees = { ...settings.fees };
  for (const method of paymentMethods) fees[method] = change.fees?.[method] ?? fees[method];
  return {
    settlement: changed(settings.settlement, change.settlement),
    currencies: change.currencies === undefined ? settings.currencies : [...new Set(change.currencies)],
    ...changed({ max_amount_minor, max_amount_minor_per_currency }, maxima),
    methods,
    fees,
    wallet_frozen: { ...settings.wallet_frozen, ...change.wallet_frozen },
    risk: changed(settings.risk, change.risk),
  };
}

const PER_CURRENCY = "_per_currency";

/** Replaces the fields, and the currencies of amounts, that `change` names. The default currency's amount has a field of its own. */
function changed<Part extends object>(before: Part, change: object | undefined): Part {
  const after = { ...before };
  for (const [name, value] of Object.entries(change ?? {})) {
    if (value === undefined) continue;
    if (!name.endsWith(PER_CURRENCY)) {
      Object.assign(after, { [name]: value as unknown });
      continue;
    }
    const { [DEFAULT_CURRENCY]: own, ...others } = value as Record<string, unknown>;
    Object.assign(after, { [name]: { ...(Reflect.get(before, name) as object), ...others } });
    if (own === undefined) continue;
    const field = name.slice(0, -PER_CURRENCY.length);
    const given = Reflect.get(change ?? {}, field) as unknown;
    if (given !== undefined && given !== own)
      throw validationFault(
        `${name}.${DEFAULT_CURRENCY}`,
        own,
        `This is not what ${field} says for the same currency.`,
      );
    Object.assign(after, { [field]: own });
  }
  return after;
}

/** The first price or limit that an enabled currency lacks: amounts of one currency are never applied to another. */
export function missingOf(settings: MerchantSettings): { field: string; message: string } | undefined {
  for (const currency of settings.currencies.filter((one) => one !== DEFAULT_CURRENCY)) {
    if (settings.max_amount_minor_per_currency[currency] === undefined) {
      const message = `${currency} needs a largest amount: send max_amount_minor as an object of amounts by currency.`;
      return { field: `max_amount_minor.${currency}`, message };
    }
    const unpriced = paymentMethods.find(
      (method) => settings.methods[method].enabled && settings.fees[method].per_currency?.[currency] === undefined,
    );
    if (unpriced) {
      const field = `fees.${unpriced}.per_currency.${currency}`;
      return {
        field,
        message: `${currency} needs a fee of its own for ${unpriced}, in its own minor units: send ${field}.`,
      };
    }
  }
  return undefined;
}

/** True while the merchant's wallet of a currency is frozen: no refunds, no new settlement batches and no payouts. */
export function isFrozen(settings: Pick<MerchantSettings, "wallet_frozen">, currency: string): boolean {
  return settings.wallet_frozen[currency] === true;
}

/** Throws WALLET_FROZEN while the wallet is frozen. */
export function refuseFrozen(settings: Pick<MerchantSettings, "wallet_frozen">, currency: string): void {
  if (isFrozen(settings, currency)) throw new Fault("WALLET_FROZEN");
}

/** The largest amount of a payment of this method and currency, in minor units. A method's own limit holds for the default currency only. */
export function maximumOf(settings: MerchantSettings, method: PaymentMethod | undefined, currency: string): bigint {
  if (currency !== DEFAULT_CURRENCY) return BigInt(settings.max_amount_minor_per_currency[currency] ?? 0);
  const own = method && settings.methods[method].max_amount_minor;
  return BigInt(Math.min(own ?? settings.max_amount_minor, settings.max_amount_minor));
}

export function feeRuleOf(settings: MerchantSettings, method: PaymentMethod, currency: string): FeeRule {
  const general = settings.fees[method];
  const fee = general.per_currency?.[currency] ?? (currency === DEFAULT_CURRENCY ? general : undefined);
  assert(fee, `${currency} is enabled without a fee for ${method}`);
  return {
    basisPoints: fee.basis_points,
    flatMinor: BigInt(fee.flat_minor),
    minimumMinor: fee.minimum_minor === undefined ? undefined : BigInt(fee.minimum_minor),
    maximumMinor: fee.maximum_minor === undefined ? undefined : BigInt(fee.maximum_minor),
  };
}
