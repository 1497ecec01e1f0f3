// What a payer sends from the page of a payment link: read, held against the link, and made into a creation. Pure.
import { sha256 } from "../ground/crypto.ts";
import { decoded, encode } from "../ground/ids.ts";
import type { Language } from "../ground/languages.ts";
import { type Minor, exponentOf, wireAmount } from "../ground/money.ts";
import type { Link } from "../links/link.ts";
import { type MerchantSettings, type PaymentMethod, maximumOf, paymentMethods } from "../merchants/settings.ts";
import { type CreatePayment, customerSchema } from "../payments/payments.schema.ts";
import type { LinkWords } from "./link-words.ts";

/** The fields as they were sent, to be shown again. */
export interface SentForm {
  once: string;
  amount: string;
  method: string;
  name: string;
  email: string;
}

export type Problem = keyof LinkWords["problems"];
/** By field; `form`: of the whole. */
export type Problems = Partial<Record<"form" | "amount" | "method" | "name" | "email", Problem>>;

const FIELD_MAX = 500;

/** Reads a form; what is too long is no answer to anything. */
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

/** What makes a form one: it comes with the page, and sent twice it is still one payment. */
export const newOnce = (random: Buffer): string => encode(random);

/** The `reference_id` of the payment that a form makes. */
export const referenceIdOf = ({ uuid }: Link, once: string): string =>
  `link-${encode(sha256(`${uuid}/${once}`).subarray(0, 16))}`;

/**
 * An amount as people write it in their language: 25,000.00 in English, 25.000,00 in Indonesian. Undefined where it could be meant otherwise: a mark
 * in a wrong place is never guessed at.
 */
export function amountOfText(text: string, currency: string, language: Language): Minor | undefined {
  const [group, point] = language === "id" ? ["\\.", ","] : [",", "\\."];
  const exponent = exponentOf(currency);
  const bare = text.replace(new RegExp(`^(?:${currency}|Rp\\.?)?\\s*`, "i"), "");
  const fraction = exponent > 0 ? `(?:${point}(\\d{1,${exponent}}))?` : "()";
  const found = new RegExp(`^(\\d{1,16}|\\d{1,3}(?:${group}\\d{3}){1,5})${fraction}$`).exec(bare);
  if (!found) return undefined;
  const [, whole = "", part = ""] = found;
  return BigInt(whole.replaceAll(/\D/g, "") + part.padEnd(exponent, "0"));
}

/** Where a form stands: a payment to begin, or what is to be put right. */
export type Judged = { body: CreatePayment } | { problems: Problems };

export interface FormRules {
  link: Link;
  settings: MerchantSettings;
  /** Those that the payer may choose from. */
  methods: readonly PaymentMethod[];
  language: Language;
}

/** Holds a form against its link. */
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
    if (name === "" || !customerSchema.safeParse({ name }).success) problems.name = "name";
    if (!/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email) || !customerSchema.safeParse({ email }).success)
      problems.email = "email";
  }
  // Of a page that is not ours, or whose number was cut off: shown again with a new one.
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

function isWithin({ amountMinor, minimumMinor, maximumMinor }: Link, amount: Minor): boolean {
  if (amountMinor !== undefined) return true;
  return amount >= (minimumMinor ?? 1n) && (maximumMinor === undefined || amount <= maximumMinor);
}
