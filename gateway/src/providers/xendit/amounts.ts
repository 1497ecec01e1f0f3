// Converts between minor units and Xendit's amounts: JSON numbers of whole units with decimals, and text in disputes. Nothing is rounded.
import { type Minor, exponentOf, isCurrency } from "../../ground/money.ts";

/** Xendit takes whole rupiah only: IDR amounts are multiples of this. Other currencies have their own decimals. */
export const RUPIAH: Minor = 100n;

/** Converts minor units to the number that Xendit reads; undefined when that is not exact, such as for a part of a rupiah. */
export function majorOf(amountMinor: Minor, currency: string): number | undefined {
  if (currency === "IDR" && amountMinor % RUPIAH !== 0n) return undefined;
  const unit = 10n ** BigInt(exponentOf(currency));
  const text = `${amountMinor / unit}.${(amountMinor % unit).toString().padStart(exponentOf(currency), "0")}`;
  const number = Number(text);
  return readAmount(number, currency) === amountMinor ? number : undefined;
}

/**
 * Converts a Xendit amount to minor units; undefined when it is no amount, or has more decimals than its currency. Takes a number, a text, and
 * the symbol that `parseObject` makes of a number such as 10000.00.
 */
export function readAmount(value: unknown, currency: unknown): Minor | undefined {
  if (typeof currency !== "string" || !isCurrency(currency)) return undefined;
  const text = typeof value === "symbol" ? value.description : typeof value === "number" ? String(value) : value;
  if (typeof text !== "string") return undefined;
  const parts = /^(\d{1,15})(?:\.(\d{1,8}))?$/.exec(text);
  if (!parts) return undefined;
  const exponent = exponentOf(currency);
  const decimals = (parts[2] ?? "").padEnd(exponent, "0");
  if (!/^0*$/.test(decimals.slice(exponent))) return undefined;
  return BigInt((parts[1] ?? "") + decimals.slice(0, exponent));
}
