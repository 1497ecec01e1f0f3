// Amounts in Stripe's units and in ours, where the two differ. Nothing is rounded: what has no exact counterpart is refused. Pure.
import { assert } from "../../ground/fault.ts";
import type { Minor } from "../../ground/money.ts";

interface Unit {
  /** So many of our minor units… */
  ours: bigint;
  /** …are so many of theirs. */
  theirs: bigint;
  /** Amounts that they take are multiples of it, in our minor units. */
  stepMinor: bigint;
}

const same: Unit = { ours: 1n, theirs: 1n, stepMinor: 1n };
/** ISO 4217 has two decimals for it, Stripe takes none. */
const wholeOnly: Unit = { ours: 100n, theirs: 1n, stepMinor: 100n };
/** ISO 4217 has no decimals for it, Stripe takes two that are always zero. */
const paddedByTwo: Unit = { ours: 1n, theirs: 100n, stepMinor: 1n };
/** Three decimals in both, of which Stripe wants the last to be zero. */
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

/** Presentment currencies for cards, as their page lists them, that are in our table of ISO 4217 as well. */
const listed = new Set(
  (
    "USD AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BRL BSD BWP BYN BZD CAD CDF CHF CLP CNY COP CRC CVE CZK " +
    "DJF DKK DOP DZD EGP ETB EUR FJD FKP GBP GEL GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR ISK JMD JOD JPY KES KGS KHR KMF KRW " +
    "KWD KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP " +
    "PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SEK SGD SHP SLE SOS SRD SZL THB TJS TND TOP TRY TTD TWD TZS UAH UGX UYU UZS VND VUV " +
    "WST XAF XCD XOF XPF YER ZAR ZMW"
  ).split(" "),
);

/** Twelve digits of rupiah, eight of everything else, in their units. */
const IDR_MAX = 999_999_999_999n;
const OTHERS_MAX = 99_999_999n;

/** True for a currency that Stripe charges cards in. */
export function isCharged(currency: string): boolean {
  return listed.has(currency);
}

/** The step and the largest amount of a currency that is charged, in our minor units. */
export function boundsOf(currency: string): { stepMinor: Minor; maximumMinor: Minor } {
  const { ours, theirs, stepMinor } = unitOf(currency);
  const maximum = ((currency === "IDR" ? IDR_MAX : OTHERS_MAX) * ours) / theirs;
  return { stepMinor, maximumMinor: maximum - (maximum % stepMinor) };
}

/** Our amount in their units, as a form carries it. The routing has left out what they do not take, so anything else is a defect. */
export function theirAmount(amountMinor: Minor, currency: string): string {
  const { ours, theirs, stepMinor } = unitOf(currency);
  assert(amountMinor > 0n && amountMinor % stepMinor === 0n, `${currency} in a step that Stripe does not take`);
  return String((amountMinor * theirs) / ours);
}

/** Their amount and lower-case currency in our units. Throws where there is no exact counterpart, or for a currency that is not known. */
export function ourAmount(amount: number, theirCurrency: string): { amountMinor: Minor; currency: string } {
  const currency = theirCurrency.toUpperCase();
  if (theirCurrency !== theirCurrency.toLowerCase() || !isCharged(currency)) {
    throw new Error("Stripe named a currency that is not known here");
  }
  const { ours, theirs } = unitOf(currency);
  const product = BigInt(amount) * ours;
  if (product % theirs !== 0n) throw new Error(`Stripe named an amount of ${currency} that has no counterpart here`);
  return { amountMinor: product / theirs, currency };
}

function unitOf(currency: string): Unit {
  assert(isCharged(currency), `${currency} is not charged by Stripe`);
  return unlike[currency] ?? same;
}
