// Currencies besides the default one, with the prices and limits that they must have.
import {
  type MerchantSettings,
  type SettingsChange,
  defaultSettings,
  paymentMethods,
} from "../src/merchants/settings.ts";

/** A change that enables the default currency and these others. Their fees are those of each method, without the flat part. */
export function alsoIn(settings: Pick<MerchantSettings, "fees">, ...currencies: string[]) {
  const fees = { ...settings.fees };
  for (const method of paymentMethods) {
    const { basis_points } = fees[method];
    const own = currencies.map((currency) => [currency, { basis_points, flat_minor: 0 }] as const);
    fees[method] = { ...fees[method], per_currency: { ...fees[method].per_currency, ...Object.fromEntries(own) } };
  }
  const maxima = Object.fromEntries(currencies.map((currency) => [currency, 10_000_000_000]));
  return { currencies: ["IDR", ...currencies], fees, max_amount_minor: maxima } satisfies SettingsChange;
}

/** Settings with the same currencies enabled, for pure tests. */
export function settingsIn(settings: MerchantSettings, ...currencies: string[]): MerchantSettings {
  const { max_amount_minor: maxima, ...rest } = alsoIn(settings, ...currencies);
  return { ...settings, ...rest, max_amount_minor_per_currency: maxima };
}

type Price = { basis_points: number; flat_minor: number };

/** A change that enables these currencies with prices of the same numbers, each in its own units. Methods without a price here keep the default. */
export function sameNumbersIn(prices: Readonly<Record<string, Price>>, ...others: string[]): SettingsChange {
  const { currencies, max_amount_minor } = alsoIn(defaultSettings, ...others);
  const fees = Object.entries({ ...defaultSettings.fees, ...prices }).map(([method, { basis_points, flat_minor }]) => {
    const own = others.map((currency) => [currency, { basis_points, flat_minor }] as const);
    return [method, { basis_points, flat_minor, per_currency: Object.fromEntries(own) }] as const;
  });
  return { currencies, max_amount_minor, fees: Object.fromEntries(fees) };
}
