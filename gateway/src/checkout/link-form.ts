// The form of a payment link's page: reads it, checks it against the link, and turns it into the creation of a payment. Pure but for `newOnce`.
import { randomBytes } from "node:crypto";
import { sha256 } from "../ground/crypto.ts";
import { decoded, encode } from "../ground/ids.ts";
import type { Language } from "../ground/languages.ts";
import { type Minor, exponentOf, wireAmount } from "../ground/money.ts";
import type { Link } from "../links/link.ts";
import { type MerchantSettings, type PaymentMethod, maximumOf, paymentMethods } from "../merchants/settings.ts";
import { type CreatePayment, customerSchema } from "../payments/payments.schema.ts";
import type { LinkWords } from "./link-words.ts";

/** The fields as sent, so that the page can show them again. */
export interface SentForm {
  once: string;
  amount: string;
  method: string;
  name: string;
  email: string;
}

type Problem = keyof LinkWords["problems"];
/** Problems by field; `form`: a problem of the form as a whole. */
export type Problems = Partial<Record<"form" | "amount" | "method" | "name" | "email", Problem>>;

const FIELD_MAX = 500;

/** Reads a form. Fields are cut to FIELD_MAX characters, which is longer than any valid value. */
export function sentForm(body: Buffer): SentForm {
  const form = new URLSearchParams(body.toString("utf8"));
  const field = (name: string): string => (form.get(name) ?? "").trim().slice(0, FIELD_MAX);
  return {
    once: field("once"),
    amount: field("amount"),
    method: field("method"),
    name: field("name"),
    email: field("email"),
  };
}

/** A new value of the hidden field `once`, which identifies a form: a form that is sent twice begins only one payment. */
export const newOnce = (): string => encode(randomBytes(16));

/** The `reference_id` of the payment that a form begins: the same for the same link and `once`. */
export const referenceIdOf = ({ uuid }: Link, once: string): string =>
  `link-${encode(sha256(`${uuid}/${once}`).subarray(0, 16))}`;

/**
 * The pattern of an amount as written in a language: 25,000.00 in English, 25.000,00 in Indonesian. It matches none with a separator in an unexpected
 * place, or one that may stand before three decimals ("1,500" dinars): a guess could be wrong by orders of magnitude. Groups: the whole units, the
 * fraction. Letters of either case match. The page's script reads by it, too.
 */
export function amountPattern(currency: string, language: Language): string {
  const [group, point] = language === "id" ? ["\\.", ","] : [",", "\\."];
  const exponent = exponentOf(currency);
  const name = currency === "IDR" ? "(?:IDR|Rp\\.?)" : currency;
  const grouped = `[1-9]\\d{0,2}(?:${group}\\d{3})`;
  const groups = exponent === 3 ? `${grouped}{2,5}|${grouped}(?=${point})` : `${grouped}{1,5}`;
  const fraction = exponent > 0 ? `(?:${point}(\\d{1,${exponent}}))?` : "()";
  return `^(?:${name})?\\s*(\\d{1,16}|${groups})${fraction}$`;
}

export function amountOfText(text: string, currency: string, language: Language): Minor | undefined {
  const found = new RegExp(amountPattern(currency, language), "i").exec(text);
  if (!found) return undefined;
  const [, whole = "", part = ""] = found;
  return BigInt(whole.replaceAll(/\D/g, "") + part.padEnd(exponentOf(currency), "0"));
}

/** Result of checking a form: the payment to begin, or the problems to correct. */
type Judged = { body: CreatePayment } | { problems: Problems };

interface FormRules {
  link: Link;
  settings: MerchantSettings;
  /** Methods that the payer may choose from. */
  methods: readonly PaymentMethod[];
  language: Language;
}

/** Checks a form against its link and the merchant's settings. */
export function judgeForm(sent: SentForm, { link, settings, methods, language }: FormRules): Judged {
  const problems: Problems = {};
  const method = paymentMethods.find((one) => one === sent.method && methods.includes(one));
  if (!method) problems.method = "method";
  const amount = link.amountMinor ?? amountOfText(sent.amount, link.currency, language);
  if (amount === undefined) problems.amount = "amount";
  else if (!isWithin(link, amount) || amount > maximumOf(settings, undefined, link.currency))
    problems.amount = "bounds";
  else if (method && amount > maximumOf(settings, method, link.currency)) problems.method = "methodAmount";
  const { name, email } = sent;
  if (link.customerRequired) {
    if (!customerSchema.safeParse({ name }).success) problems.name = "name";
    if (!/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email) || !customerSchema.safeParse({ email }).success)
      problems.email = "email";
  }
  // `once` is not one of ours, or incomplete: the page is shown again with a new one.
  if (decoded(sent.once) === undefined) problems.form = "stale";
  if (!method || amount === undefined || Object.keys(problems).length > 0) return { problems };
  return {
    body: {
      amount_minor: wireAmount(amount),
      currency: link.currency,
      payment_method: method,
      reference_id: referenceIdOf(link, sent.once),
      description: link.description,
      customer: link.customerRequired ? { name, email } : undefined,
      return_url: link.returnUrl,
      metadata: link.metadata,
    },
  };
}

function isWithin({ minimumMinor, maximumMinor }: Link, amount: Minor): boolean {
  return amount >= (minimumMinor ?? 1n) && (maximumMinor === undefined || amount <= maximumMinor);
}
