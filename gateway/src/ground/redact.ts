// What may be kept of what others send: JSON and text without cards, secrets, signatures, or what names and reaches a person. Pure.
import { parseObject } from "./json.ts";

export const REDACTED = "[redacted]";

/** Numbers below it are no cards. */
const SHORT_NUMBER = 1e12;
/** Deeper than any shape of the interface: what lies below is not looked into, and so not kept. */
const DEPTH_MAX = 32;

/** Names of fields are compared in one spelling: lower case, letters and digits alone. */
const exact = new Set(
  "body,card,pan,cvv,cvv2,cvc,cvn,pin,otp,holder,cardholder,accountholder,recipient,beneficiary,nik,npwp,ktp,ssn,passport".split(
    ",",
  ),
);
const partly =
  /secret|passw|passphrase|passcode|token|signature|authorization|credential|cookie|apikey|privatekey|serverkey|clientkey|sharedkey|accesskey|cardnumber|securitycode|payeraccount|email|phone|mobile|msisdn|whatsapp/;
const ends = /(?:name|address)$/;
/** Names of things, where all others are taken for those of people. */
const harmless = new Set(["bankname", "productname", "itemname", "filename", "hostname"]);

// The same few names come with every body.
const judged = new Map<string, boolean>();
const JUDGED_MAX = 1_000;

/** True when nothing of a field with this name may be kept. */
export function isPrivate(name: string): boolean {
  const known = judged.get(name);
  if (known !== undefined) return known;
  if (judged.size >= JUDGED_MAX) judged.clear();
  const found = judge(name.slice(0, 200));
  if (name.length <= 200) judged.set(name, found);
  return found;
}

function judge(name: string): boolean {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  if (harmless.has(plain)) return false;
  return exact.has(plain) || partly.test(plain) || ends.test(plain);
}

const secrets = /\b(?:sk_(?:test|live)|whsec|op)_\w+|\bbearer\s+\S+/gi;
const addresses = /[^\s@"'<>(),;:]{1,64}@[^\s@"'<>(),;:]{1,253}/g;
const phones = /\+\d{8,15}(?!\d)/g;
const longNumbers = /(?<![\d.])\d(?:[ -]?\d){12,18}(?![\d.])/g;

/** What every text has that has one of them: most texts have none, and four searches cost more than one. */
const suspicious = /@|\+\d|\d[\d -]{11}|sk_|op_|whsec|bearer/i;

/** A text without what must not be kept, whatever field it stands in. */
export function redactText(text: string): string {
  if (!suspicious.test(text)) return text;
  const open = text.replaceAll(secrets, REDACTED);
  // A long number makes a text suspicious, too, and looking for addresses is what costs most.
  return (open.includes("@") ? open.replaceAll(addresses, REDACTED) : open)
    .replaceAll(phones, REDACTED)
    .replaceAll(longNumbers, (found) => (isCardNumber(found) ? REDACTED : found));
}

/** By the check digit that every card number ends in (Luhn). One in ten other numbers passes, too. */
function isCardNumber(text: string): boolean {
  let sum = 0;
  let doubled = false;
  for (let at = text.length - 1; at >= 0; at--) {
    const digit = text.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) continue;
    const value = doubled ? digit * 2 : digit;
    sum += value > 9 ? value - 9 : value;
    doubled = !doubled;
  }
  return sum % 10 === 0;
}

export interface RedactOptions {
  /** Texts that the service made itself, such as what a QR code says: their long numbers are no cards. By the object that holds them. */
  trusted?: string;
}

/**
 * A JSON object as text again, without what must not be kept: the same fields in the same order, numbers as they were written. Throws
 * `MalformedJson` for what is no JSON object.
 */
export function redactJson(bytes: Uint8Array, options: RedactOptions = {}): string {
  return redactObject(parseObject(bytes), options);
}

/** The same of an object as `parseObject` gives it. */
export function redactObject(object: object, options: RedactOptions = {}): string {
  return JSON.stringify(redactValue(object, "", 0, options));
}

function redactValue(value: unknown, name: string, depth: number, options: RedactOptions): unknown {
  if (typeof value === "string") return redactText(value);
  if (typeof value === "symbol") return redactNumber(value.description ?? "", name);
  if (typeof value === "number") return Math.abs(value) < SHORT_NUMBER ? value : redactNumber(String(value), name);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= DEPTH_MAX) return REDACTED;
  if (Array.isArray(value)) return value.map((item) => redactValue(item, name, depth + 1, options));
  const isTrusted = options.trusted !== undefined && name === options.trusted;
  // From entries, so that a field called __proto__ is a field like any other.
  return Object.fromEntries(
    Object.entries(value).map(([field, inner]) => {
      if (isPrivate(field) && inner !== null) return [field, REDACTED];
      return [field, isTrusted && typeof inner === "string" ? inner : redactValue(inner, field, depth + 1, options)];
    }),
  );
}

/** An amount is none that could be a card, however long it is. */
function redactNumber(text: string, name: string): unknown {
  if (/^\d{13,19}$/.test(text) && !name.endsWith("_minor") && isCardNumber(text)) return REDACTED;
  return JSON.rawJSON(text);
}

/** A query, or part of one, without the values that must not be kept. Names and order stay. */
export function redactQuery(query: string): string {
  return query
    .split("&")
    .map((pair) => {
      const mark = pair.indexOf("=");
      if (mark < 0) return redactText(unescaped(pair)) === unescaped(pair) ? pair : REDACTED;
      const [name, value] = [pair.slice(0, mark), pair.slice(mark + 1)];
      const isKept = !isPrivate(unescaped(name)) && redactText(unescaped(value)) === unescaped(value);
      return `${name}=${isKept ? value : REDACTED}`;
    })
    .join("&");
}

/** Percent-encoded text, as far as it can be read. */
export function unescaped(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}
