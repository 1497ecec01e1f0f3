// Money: the API's minor units and exponent, shown in digits of equal width.
import type { ApiError } from "../api/error.ts";
import { useLanguage } from "../words.ts";
import { classes } from "./classes.ts";

export interface Amount {
  amount_minor: number;
  currency: string;
  exponent: number;
}

/** The digits of an amount: 150000 with exponent 2 is "1,500.00", and "1.500,00" in Indonesian. Nothing is rounded; the exponent alone sets the number of decimals. */
export function digitsOf(minor: number | bigint, exponent: number, language: "en" | "id"): string {
  const [group, point] = language === "id" ? [".", ","] : [",", "."];
  const negative = minor < 0;
  const text = (negative ? -BigInt(minor) : BigInt(minor)).toString().padStart(exponent + 1, "0");
  const whole = text.slice(0, text.length - exponent).replaceAll(/\B(?=(\d{3})+$)/g, group);
  const decimals = exponent === 0 ? "" : point + text.slice(text.length - exponent);
  return `${negative ? "\u2212" : ""}${whole}${decimals}`;
}

/** The digits without decimals, which are cut off, for plots: 150000 with exponent 2 is "1,500". */
export function wholeDigitsOf(minor: number | bigint, exponent: number, language: "en" | "id"): string {
  const digits = digitsOf(minor, exponent, language);
  return exponent === 0 ? digits : digits.slice(0, -(exponent + 1));
}

/** An amount in both notations, as the hint of a field: "IDR 1,500.00 is 150000 minor units". */
export function inMinorUnits({ amount_minor: minor, currency, exponent }: Amount, language: "en" | "id"): string {
  return `${currency} ${digitsOf(minor, exponent, language)} is ${minor} minor units`;
}

/** Digits alone, or in groups of three behind one and the same mark. */
const WHOLE = String.raw`(\d+|[1-9]\d{0,2}([.,])\d{3}(?:\2\d{3})*)`;
const wholeOnly = new RegExp(`^${WHOLE}$`);
const withDecimals = new RegExp(String.raw`^${WHOLE}(?:([.,])(\d+))?$`);

/**
 * The minor units of a typed amount; undefined when it is not valid. Takes "1500", "1,500.00" and "1.500,00", whatever the language. "50.000" is fifty
 * thousand rupiah where pages group digits so, and is refused where the same mark begins the decimals.
 */
export function minorOf(typed: string, exponent: number, language: "en" | "id"): number | undefined {
  const text = typed.trim().replaceAll(/[\s\u00a0]/g, "");
  // Where there are no decimals a mark stands between groups: "8,888" yen.
  const match = (exponent === 0 ? wholeOnly : withDecimals).exec(text);
  if (!match) return undefined;
  const [, whole = "", group, point, decimals = ""] = match;
  if (group !== undefined && group === point) return undefined;
  // Three digits behind the mark between groups, in a currency with fewer decimals: thousands.
  const isGrouped = group === undefined && decimals.length === 3 && exponent < 3 && /^[1-9]\d{0,2}$/.test(whole);
  if (isGrouped && point === (language === "id" ? "." : ",")) return Number(whole + decimals) * 10 ** exponent;
  if (decimals.length > exponent) return undefined;
  // "1,500" dinars, which have three decimals: one and a half, or fifteen hundred. It is taken where pages write the decimals so.
  const mayBeGroup = group === undefined && decimals.length === 3 && /^[1-9]\d{0,2}$/.test(whole);
  if (mayBeGroup && point !== (language === "id" ? "," : ".")) return undefined;
  const minor = Number(whole.replaceAll(/[.,]/g, "") + decimals.padEnd(exponent, "0"));
  return Number.isSafeInteger(minor) ? minor : undefined;
}

/**
 * A typed amount as the API's searches take it: without groups and currency, with a point. "Rp 1.500,00" is what payers and Indonesian pages write. A
 * search is for an amount in any currency.
 */
export function writtenAmount(typed: string, language: "en" | "id"): string {
  const groups = language === "id" ? /\.(?=\d{3}(?!\d))/g : /,(?=\d{3}(?!\d))/g;
  return typed
    .replaceAll(/[\s\u00a0]/g, "")
    .replace(/^(?:rp\.?|[a-z]{3})(?=\d)/i, "")
    .replaceAll(groups, "")
    .replace(",", ".");
}

/** The fault of an amount to be typed, as minor units; undefined of one above zero. */
export function faultOfAmount(minor: number | undefined, exponent: number): string | undefined {
  return minor === 0 ? "Enter an amount above zero." : faultOfDigits(minor, exponent);
}

/** The fault of an amount that may be zero. */
export function faultOfDigits(minor: number | undefined, exponent: number): string | undefined {
  if (minor !== undefined) return undefined;
  return exponent === 0 ? "Enter an amount without decimals." : `Enter an amount with at most ${exponent} decimals.`;
}

/** The service's bounds of an amount as money; undefined of an error that names none. */
export function boundsAsMoney(
  { code, details }: Pick<ApiError, "code" | "details">,
  exponent: number,
  language: "en" | "id",
): string | undefined {
  const { minimum_minor: least, maximum_minor: most, multiple_of_minor: step } = details;
  if (code !== "INVALID_AMOUNT" || !Number.isSafeInteger(least) || !Number.isSafeInteger(most)) return undefined;
  const money = (minor: unknown): string => digitsOf(Number(minor), exponent, language);
  const steps = step === undefined ? "" : `, a multiple of ${money(step)}`;
  return `Enter an amount from ${money(least)} to ${money(most)}${steps}.`;
}

interface Props {
  /** An object of the API that has `amount_minor`, `currency` and `exponent`. */
  of: Amount;
  /** Shows a plus before positive amounts. */
  signed?: boolean;
  className?: string | undefined;
}

/** The currency is small, because in a column it is always the same. */
export function Money({ of, signed = false, className }: Props) {
  const language = useLanguage();
  return (
    <span className={classes("whitespace-nowrap", className)}>
      <span className="mr-1 text-xs text-muted">{of.currency}</span>
      {signed && of.amount_minor > 0 ? "+" : ""}
      {digitsOf(of.amount_minor, of.exponent, language)}
    </span>
  );
}
