// A merchant's methods and their prices, as its settings have them.
import type { Schema } from "../../api/client.ts";

export type Method = Schema<"PaymentMethod">;
/** A price in one currency. */
export type Fee = Schema<"CurrencyFee">;

/** The currency whose amounts stand without a name. */
export const DEFAULT_CURRENCY = "IDR";

export const methodsOf = ({ methods }: Schema<"Merchant">): Method[] => Object.keys(methods) as Method[];

/** The prices of a method: the default currency's first. */
export function feesOf({ fees }: Schema<"Merchant">, method: Method): [currency: string, fee: Fee][] {
  const { per_currency: others = {}, ...own } = fees[method];
  const rest = Object.entries(others).filter(([currency]) => currency !== DEFAULT_CURRENCY);
  return [[DEFAULT_CURRENCY, others[DEFAULT_CURRENCY] ?? own], ...rest];
}

/** The fault of a currency to be added. One that is there has prices, and adding it would put those of the form in their place. */
export function faultOfAdded(typed: string, currencies: readonly string[]): string | undefined {
  const currency = typed.trim().toUpperCase();
  if (!/^[A-Z]{3}$/.test(currency)) return "Three letters of ISO 4217 are needed.";
  if (!currencies.includes(currency)) return undefined;
  return `${currency} is there already. Change its limit and its prices on this page.`;
}
