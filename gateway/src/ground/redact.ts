// Redaction: removes card numbers, secrets, signatures, names and contacts of people from JSON, text and queries before they are stored. Pure.

export const REDACTED = "[redacted]";

/** Smaller numbers are too short for a card number. */
const SHORT_NUMBER = 1e12;
/** Deeper than any schema of the interface. Values below this depth are not checked, and therefore redacted. */
const DEPTH_MAX = 32;

/** Private field names. Names are compared in lower case, with letters and digits only. */
const exact = new Set(
  "body,card,pan,cvv,cvv2,cvc,cvn,pin,otp,holder,cardholder,accountholder,recipient,beneficiary,nik,npwp,ktp,ssn,passport".split(
    ",",
  ),
);
const partly =
  /secret|passw|passphrase|passcode|token|signature|authorization|credential|cookie|apikey|privatekey|serverkey|clientkey|sharedkey|accesskey|cardnumber|securitycode|payeraccount|email|phone|mobile|msisdn|whatsapp/;
const ends = /(?:name|address)$/;
/** Names of things. Every other field that ends in `name` counts as the name of a person. */
const harmless = new Set(["bankname", "productname", "itemname", "filename", "hostname"]);

// A cache, because every body has the same few field names. Long ones are left out: a part of a text keeps the whole text in memory.
const judged = new Map<string, boolean>();
const JUDGED_MAX = 1_000;

/** True when the value of a field with this name must not be stored. */
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

/** Secrets of this service and keys of providers, by how they begin, and what HTTP basic authentication makes of them. */
const secrets =
  /\b(?:[rs]k_(?:test|live)|op|xnd_\w+?)_\w+|\bwhsec_[\w+/]+=*|\b(?:SB-)?Mid-server-[\w-]+|\bbearer\s+\S+|\bbasic\s+[\w+/]{20,}=*/gi;
const addresses = /[^\s@"'<>(),;:]{1,64}@[^\s@"'<>(),;:]{1,253}/g;
const phones = /\+\d{8,15}(?!\d)/g;
/** Groups of digits side by side. A point after them ends a sentence, or begins the decimals of a number. */
const longNumbers = /(?<!\d\.?)\d(?:[ -]?\d){12,}(?!\.?\d)/g;

/** Matches every text that one of the four patterns above can match. Most texts have no match, and one search costs less than four. */
const suspicious = /@|\+\d|\d[\d -]{11}|[sr]k_|op_|whsec|xnd_|mid-server|bearer|basic/i;

/** Redacts secrets, e-mail addresses, telephone and card numbers in a text of any field. */
export function redactText(text: string): string {
  if (!suspicious.test(text)) return text;
  const open = text.replaceAll(secrets, REDACTED);
  // The search for addresses costs most, and a text with only a long number needs none.
  return (open.includes("@") ? open.replaceAll(addresses, REDACTED) : open)
    .replaceAll(phones, REDACTED)
    .replaceAll(longNumbers, (found) => (holdsCardNumber(found) ? REDACTED : found));
}

/** True when groups of digits that follow each other make a card number: its expiry and its security code often stand beside it. */
function holdsCardNumber(text: string): boolean {
  const groups = text.split(/\D/);
  const digits = groups.join("");
  let end = 0;
  const bounds = new Set([0, ...groups.map(({ length }) => (end += length))]);
  const isCard = (from: number, to: number): boolean => bounds.has(to) && isCardNumber(digits, from, to);
  return [...bounds].some((from) => [13, 14, 15, 16, 17, 18, 19].some((length) => isCard(from, from + length)));
}

/** Checks the Luhn digit that every card number ends in. One in ten other numbers passes too. */
function isCardNumber(digits: string, from = 0, end = digits.length): boolean {
  let sum = 0;
  for (let at = from; at < end; at++) {
    const value = (digits.charCodeAt(at) - 48) * (1 + ((end - 1 - at) % 2));
    sum += value > 9 ? value - 9 : value;
  }
  return sum % 10 === 0;
}

interface RedactOptions {
  /** Name of an object whose texts the service made itself, such as the content of a QR code: their long numbers are not card numbers. */
  trusted?: string;
}

/** Redacts an object that `ground/json.ts` gave, and gives its text with the same fields in the same order and numbers as they were written. */
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
  // An error says which field it is about, and what was sent there.
  const isOfPrivate = "field" in value && typeof value.field === "string" && value.field.split(".").some(isPrivate);
  const fields = Object.entries(value).map(([field, inner]) => {
    const kept = redactText(field);
    if ((isPrivate(field) || (isOfPrivate && field === "value")) && inner !== null) return [kept, REDACTED];
    return [kept, isTrusted && typeof inner === "string" ? inner : redactValue(inner, field, depth + 1, options)];
  });
  // Object.fromEntries keeps a field called __proto__ as an ordinary field.
  return Object.fromEntries(fields);
}

/** Redacts a number that may be a card number. Fields that end in `_minor` are amounts, and kept. */
function redactNumber(text: string, name: string): unknown {
  if (/^\d{13,19}$/.test(text) && !name.endsWith("_minor") && isCardNumber(text)) return REDACTED;
  return JSON.rawJSON(text);
}

/** Redacts private values and names in a query, or in a part of one. The order stays. */
export function redactQuery(query: string): string {
  return query.replaceAll(/([^&=]*)(?:=([^&]*))?/g, (_pair, name: string, value: string | undefined) => {
    if (value === undefined) return redactPart(name);
    return `${redactPart(name)}=${isPrivate(unescaped(name)) ? REDACTED : redactPart(value)}`;
  });
}

/** Redacts a part of an address when there is something to redact in it, as it stands or unescaped. A plus may be one, or a space. */
export function redactPart(part: string): string {
  return [part, unescaped(part)].every((text) => redactText(text) === text) ? part : REDACTED;
}

/** Decodes percent-encoded text; gives malformed text unchanged. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}
