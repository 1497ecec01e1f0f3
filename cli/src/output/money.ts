// Writes amounts for people, from minor units and the exponent. The exponent is the API's, never guessed. Pure.
import { UnexpectedAnswer } from "../answers.ts";

/** ISO 4217 has none above 4. */
const EXPONENT_MAX = 8;

/** `150000` with exponent 2 is `1,500.00`. Throws `UnexpectedAnswer` for what is no amount: a wrong one must not be shown. */
export function digitsOf(minor: number, exponent: number): string {
  if (!Number.isInteger(exponent) || exponent < 0 || exponent > EXPONENT_MAX)
    throw new UnexpectedAnswer(`the exponent of a currency is a whole number from 0 to ${EXPONENT_MAX}`);
  if (!Number.isSafeInteger(minor)) throw new UnexpectedAnswer("an amount is a whole number of minor units");
  const digits = String(Math.abs(minor)).padStart(exponent + 1, "0");
  const whole = digits.slice(0, digits.length - exponent).replaceAll(/\B(?=(\d{3})+$)/g, ",");
  const sign = minor < 0 ? "-" : "";
  return exponent === 0 ? sign + whole : `${sign}${whole}.${digits.slice(-exponent)}`;
}

/** As `digitsOf`, with a dash for a missing amount. */
export function amountOf(minor: number | null | undefined, exponent: number): string {
  return minor === null || minor === undefined ? "–" : digitsOf(minor, exponent);
}
