// SNAP's formats of amounts, times and references: how they are written and read. Pure.
import { printable } from "../../acquirers/remote-http.ts";
import { type Micros, SECOND, parseWireTime, wireTime } from "../../ground/clock.ts";
import { digestOf } from "../../ground/crypto.ts";
import { momentOf } from "../../ground/ids.ts";
import type { Minor } from "../../ground/money.ts";

/** Offset of western Indonesia, where the standard's days begin and end. It has no summer time. */
export const JAKARTA_OFFSET: Micros = 7 * 3600 * SECOND;

/** One rupiah. The standard writes two decimals, but nobody in Indonesia pays sen. */
export const WHOLE_RUPIAH: Minor = 100n;

export const CURRENCY = "IDR";

/** `{ value: "150000.00", currency: "IDR" }` for 15,000,000 minor units. */
interface SnapAmount {
  value: string;
  currency: string;
}

export function amountOf(minor: Minor): SnapAmount {
  return { value: `${minor / 100n}.${(minor % 100n).toString().padStart(2, "0")}`, currency: CURRENCY };
}

/**
 * Reads an amount in rupiah. Its value is text with at most two decimals; some providers' QRIS responses have whole rupiah as a number instead.
 * Throws an Error that names `what` for another currency, for other decimals, and for anything else.
 */
export function readAmount(given: unknown, what: string): Minor {
  const { value, currency } = (typeof given === "object" && given !== null ? given : {}) as Record<string, unknown>;
  if (currency !== CURRENCY) throw new Error(`${what} is in ${quoted(currency)}, not in ${CURRENCY}`);
  // The JSON parser keeps a number that is written unusually, such as 1000.00, as a symbol with its text.
  const text = typeof value === "number" ? String(value) : typeof value === "symbol" ? value.description : value;
  const parts = typeof text === "string" ? /^(\d{1,16})(?:\.(\d{1,2}))?$/.exec(text) : null;
  if (!parts) throw new Error(`${what} is no amount: ${quoted(value)}`);
  return BigInt(parts[1] ?? "") * 100n + BigInt((parts[2] ?? "").padEnd(2, "0"));
}

/** A time in Jakarta, with its offset: `2026-11-23T21:00:00+07:00`. */
export function snapTime(at: Micros): string {
  return `${wireTime(at + JAKARTA_OFFSET).slice(0, -1)}+07:00`;
}

/** Reads a time with any offset; undefined when the text is none. */
export function readSnapTime(text: string): Micros | undefined {
  const read = parseWireTime(text);
  return read === undefined || read.wholeDay ? undefined : read.at;
}

/** Days since 1970 in Jakarta. An `X-EXTERNAL-ID` is unique within one day. */
export function jakartaDay(at: Micros): number {
  return Math.floor((at + JAKARTA_OFFSET) / (86_400 * SECOND));
}

/** This close to midnight a repetition could arrive on the next day, where it would be another request. */
const MIDNIGHT_MARGIN: Micros = 60 * SECOND;

/** Whether today in Jakarta is the day of an operation key, by the time that the key contains, and still will be when a request arrives. */
export function isOnItsDay(operationKey: string, now: Micros): boolean {
  const id = /^(?:pay|rfd)([0-7][0-9a-hjkmnp-tv-z]{25})\./.exec(operationKey)?.[1];
  if (id === undefined) return false;
  const day = jakartaDay(momentOf(id));
  return day === jakartaDay(now) && day === jakartaDay(now + MIDNIGHT_MARGIN);
}

/** Writes an operation key in the form of the providers' examples: letters, digits, hyphens. Reversible: keys have dots and no hyphens. */
export function referenceOf(operationKey: string): string {
  return operationKey.replaceAll(".", "-");
}

/** The operation key of a reference; undefined when the reference is not Gerbang's. */
export function operationKeyOf(reference: unknown): string | undefined {
  if (typeof reference !== "string" || !/^[a-z0-9-]{1,64}$/.test(reference)) return undefined;
  return reference.replaceAll("-", ".");
}

/** Derives `count` decimal digits from the texts alone, so that a repetition has the same ones. */
export function digitsOf(count: number, ...texts: string[]): string {
  const number = BigInt(`0x${digestOf("snap", ...texts).toString("hex")}`);
  return (number % 10n ** BigInt(count)).toString().padStart(count, "0");
}

/** Makes a provider's value safe for an error message: printable ASCII, at most 60 characters of a text. */
export function quoted(value: unknown): string {
  if (typeof value === "string") return `"${printable(value, 60)}"`;
  return typeof value === "number" || typeof value === "boolean"
    ? String(value)
    : `(${value === null ? "null" : typeof value})`;
}
