// Money: integers in the smallest unit of a currency, always bigint, and the ISO 4217 table of exponents.

import { assert } from "./fault.ts";

/** An amount in minor units. */
export type Minor = bigint;

/** The largest amount in the API (2^53 - 1), so that every client can read it exactly. */
export const MINOR_MAX: Minor = 9_007_199_254_740_991n;

/** The default currency: amounts in settings that name no currency are in its minor units. */
export const DEFAULT_CURRENCY = "IDR";

/** The amount of one object as a JSON number. The database bounds amounts, so a larger one is an impossible state. */
export function wireAmount(amount: Minor): number {
  assert(amount <= MINOR_MAX && amount >= -MINOR_MAX, "an amount that JSON cannot carry exactly");
  return Number(amount);
}

/** A sum of many amounts as a JSON number; null when a JSON number cannot hold it exactly. */
export function wireMinor(amount: Minor): number | null {
  return amount > MINOR_MAX || amount < -MINOR_MAX ? null : Number(amount);
}

/** Decimal exponents of ISO 4217. IDR has 2, although locale libraries differ. Funds, metals and test codes are left out. */
const exponents: Record<string, number> = Object.fromEntries([
  ..."BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF".split(" ").map((code) => [code, 0]),
  ..."BHD IQD JOD KWD LYD OMR TND".split(" ").map((code) => [code, 3]),
  ..."CLF UYW".split(" ").map((code) => [code, 4]),
  ...(
    "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP CRC CUP " +
    "CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES " +
    "KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK " +
    "NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB " +
    "TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG"
  )
    .split(" ")
    .map((code) => [code, 2]),
]) as Record<string, number>;

export const currencyCodes: readonly string[] = Object.keys(exponents);

export function isCurrency(code: string): boolean {
  return Object.hasOwn(exponents, code);
}

/** The decimal exponent of a currency. Throws for a currency that is not in the table. */
export function exponentOf(currency: string): number {
  const exponent = Object.hasOwn(exponents, currency) ? exponents[currency] : undefined;
  if (exponent === undefined) throw new Error(`unknown currency ${currency}`);
  return exponent;
}

/** An amount for people: `1234567` IDR is `12,345.67`. */
export function readable(amount: Minor, currency: string): string {
  const [whole = "", ...fraction] = decimal(amount, currency).split(".");
  return [whole.replaceAll(/\B(?=(\d{3})+$)/g, ","), ...fraction].join(".");
}

/** The amount with its decimals and without groups, for programs: "-1500.00". */
export function decimal(amount: Minor, currency: string): string {
  const exponent = exponentOf(currency);
  const digits = (amount < 0n ? -amount : amount).toString().padStart(exponent + 1, "0");
  const fraction = exponent > 0 ? "." + digits.slice(digits.length - exponent) : "";
  return (amount < 0n ? "-" : "") + digits.slice(0, digits.length - exponent) + fraction;
}

/** The price of a payment: `basis_points` of the amount plus `flat`, kept between `minimum` and `maximum`. */
export interface FeeRule {
  basisPoints: number;
  flatMinor: Minor;
  minimumMinor?: Minor | undefined;
  maximumMinor?: Minor | undefined;
}

/** The fee of an amount in minor units: half a unit rounds up; the fee is never more than the amount. */
export function feeOf(amount: Minor, rule: FeeRule): Minor {
  let fee = (amount * BigInt(rule.basisPoints) + 5_000n) / 10_000n + rule.flatMinor;
  if (rule.minimumMinor !== undefined && fee < rule.minimumMinor) fee = rule.minimumMinor;
  if (rule.maximumMinor !== undefined && fee > rule.maximumMinor) fee = rule.maximumMinor;
  return fee > amount ? amount : fee;
}
