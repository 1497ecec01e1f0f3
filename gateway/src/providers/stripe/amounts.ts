// Converts amounts between Stripe's units and Gerbang's. Nothing is rounded: an amount without an exact counterpart is refused. Pure.
import { assert } from "../../ground/fault.ts";
import type { Minor } from "../../ground/money.ts";

interface Unit {
  /** `ours` of Gerbang's minor units are `theirs` of Stripe's units. */
  ours: bigint;
  theirs: bigint;
  /** Stripe takes multiples of this amount, in Gerbang's minor units. */
  stepMinor: bigint;
}

const same: Unit = { ours: 1n, theirs: 1n, stepMinor: 1n };
/** ISO 4217 gives the currency two decimals, Stripe takes none. */
const wholeOnly: Unit = { ours: 100n, theirs: 1n, stepMinor: 100n };
/** ISO 4217 gives the currency no decimals, Stripe takes two that are always zero. */
const paddedByTwo: Unit = { ours: 1n, theirs: 100n, stepMinor: 1n };
/** The currency has three decimals in both, and Stripe wants the last to be zero. */
const tens: Unit = { ours: 1n, theirs: 1n, stepMinor: 10n };

const unlike: Readonly<Record<string, Unit>> = {
  MGA: wholeOnly,
  ISK: paddedByTwo,
  UGX: paddedByTwo,
  BHD: tens,
  JOD: tens,
  KWD: tens,
  OMR: tens,
  TND: tens,
};

/** Presentment currencies for cards, as Stripe's page lists them, that are in Gerbang's table of ISO 4217 as well. */
const listed = new Set(
  (
    "USD AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BRL BSD BWP BYN BZD CAD CDF CHF CLP CNY COP CRC CVE CZK " +
    "DJF DKK DOP DZD EGP ETB EUR FJD FKP GBP GEL GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR ISK JMD JOD JPY KES KGS KHR KMF KRW " +
    "KWD KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP " +
    "PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SEK SGD SHP SLE SOS SRD SZL THB TJS TND TOP TRY TTD TWD TZS UAH UGX UYU UZS VND VUV " +
    "WST XAF XCD XOF XPF YER ZAR ZMW"
  ).split(" "),
);

/** Maximum amounts in Stripe's units: twelve digits of rupiah, eight of every other currency. */
const IDR_MAX = 999_999_999_999n;
const OTHERS_MAX = 99_999_999n;

/** True for a currency in which Stripe charges cards. */
export function isCharged(currency: string): boolean {
  return listed.has(currency);
}

/** The step and the maximum amount of a currency that is charged, in Gerbang's minor units. */
export function boundsOf(currency: string): { stepMinor: Minor; maximumMinor: Minor } {
  const { ours, theirs, stepMinor } = unitOf(currency);
  const maximum = ((currency === "IDR" ? IDR_MAX : OTHERS_MAX) * ours) / theirs;
  return { stepMinor, maximumMinor: maximum - (maximum % stepMinor) };
}

/** True for an amount of which Stripe takes every digit: of KWD it wants the last to be zero. */
export function isInStep(amountMinor: Minor, currency: string): boolean {
  return amountMinor % unitOf(currency).stepMinor === 0n;
}

/** An amount in Stripe's units, as a form carries it. Routing leaves out what Stripe does not take, refunds are checked. */
export function theirAmount(amountMinor: Minor, currency: string): string {
  const { ours, theirs } = unitOf(currency);
  assert(amountMinor > 0n && isInStep(amountMinor, currency), `${currency} in a step that Stripe does not take`);
  return String((amountMinor * theirs) / ours);
}

/** Converts Stripe's amount and lower-case currency. Throws when the amount has no exact counterpart, or for an unknown currency. */
export function ourAmount(amount: number, theirCurrency: string): { amountMinor: Minor; currency: string } {
  const currency = theirCurrency.toUpperCase();
  const amountMinor = ourMinor(amount, theirCurrency);
  if (amountMinor === undefined) throw new Error(`Stripe named an amount of ${currency} that has no counterpart here`);
  return { amountMinor, currency };
}

/** As `ourAmount`, but undefined when the amount has no exact counterpart: a fee may be a part of a krona, and ISO 4217 knows whole ones. */
export function ourMinor(amount: number, theirCurrency: string): Minor | undefined {
  const currency = theirCurrency.toUpperCase();
  if (theirCurrency !== theirCurrency.toLowerCase() || !isCharged(currency)) {
    throw new Error("Stripe named a currency that is not known here");
  }
  const { ours, theirs } = unitOf(currency);
  const product = BigInt(amount) * ours;
  return product % theirs === 0n ? product / theirs : undefined;
}

function unitOf(currency: string): Unit {
  assert(isCharged(currency), `${currency} is not charged by Stripe`);
  return unlike[currency] ?? same;
}
