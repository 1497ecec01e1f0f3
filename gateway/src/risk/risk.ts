// The risk engine: each sign of fraud is worth points, and the sum decides. Pure: the lane loads the counts.
import { DEFAULT_CURRENCY, type Minor } from "../ground/money.ts";
import type { RiskSettings } from "../merchants/settings.ts";
import { domainOf } from "./contact.ts";

export interface Customer {
  name?: string | undefined;
  email?: string | undefined;
  phone?: string | undefined;
}

export interface RiskFacts {
  amountMinor: Minor;
  currency: string;
  customer: Customer | undefined;
  /** Payments of the same customer in the last hour, without this payment. */
  customerPayments: number;
  /** Payments of the merchant in the last minute, without this payment. */
  merchantPayments: number;
  /** In the sandbox the domain of the e-mail address can ask for a decision. */
  sandbox: boolean;
}

export interface RiskVerdict {
  decision: "approve" | "review" | "reject";
  /** From 0 to 100, capped. */
  score: number;
  /** For the operator only: the signs that were found, and their points. */
  reasons: { sign: string; points: number }[];
}
type Reason = RiskVerdict["reasons"][number];

/** Domains of disposable mailboxes. The list is a sample: the weight of the sign decides more than the list. */
const disposableDomains = (
  "mailinator.com guerrillamail.com 10minutemail.com tempmail.com temp-mail.org yopmail.com trashmail.com " +
  "sharklasers.com getnada.com dispostable.com maildrop.cc fakeinbox.com throwawaymail.com mintemail.com moakt.com"
).split(" ");

const isDisposable = (domain: string): boolean =>
  disposableDomains.some((disposable) => domain === disposable || domain.endsWith(`.${disposable}`));

function isLarge({ amountMinor, currency }: RiskFacts, settings: RiskSettings): boolean {
  const { large_amount_minor: own, large_amount_minor_per_currency: others } = settings;
  const large = currency === DEFAULT_CURRENCY ? own : others[currency];
  return large !== undefined && amountMinor >= BigInt(large);
}

/** Assesses one payment. The same facts and settings always give the same verdict. */
export function assess(facts: RiskFacts, settings: RiskSettings): RiskVerdict {
  const { email } = facts.customer ?? {};
  const domain = email === undefined ? undefined : domainOf(email);
  const asked = facts.sandbox ? askedBy(domain, settings) : undefined;
  const reasons = asked ? [asked] : signsOf(facts, domain, settings);
  const score = Math.min(
    100,
    reasons.reduce((sum, reason) => sum + reason.points, 0),
  );
  return {
    decision: score >= settings.reject_at ? "reject" : score >= settings.review_at ? "review" : "approve",
    score,
    reasons,
  };
}

/** In the sandbox an address at one of these domains asks for a decision, and nothing else counts. */
function askedBy(domain: string | undefined, settings: RiskSettings): Reason | undefined {
  if (domain === "reject.test") return { sign: "sandbox_asked_for_reject", points: 100 };
  if (domain !== "review.test") return undefined;
  return { sign: "sandbox_asked_for_review", points: Math.min(settings.review_at, settings.reject_at - 1) };
}

function signsOf(facts: RiskFacts, domain: string | undefined, settings: RiskSettings): Reason[] {
  const { weights } = settings;
  const seen: [sign: keyof typeof weights, holds: boolean][] = [
    ["customer_velocity", facts.customerPayments >= settings.customer_per_hour],
    ["merchant_velocity", facts.merchantPayments >= settings.merchant_per_minute],
    ["large_amount", isLarge(facts, settings)],
    ["disposable_email", domain !== undefined && isDisposable(domain)],
    ["malformed_contact", malformed(facts.customer)],
    ["no_customer", facts.customer === undefined],
  ];
  return seen.filter(([sign, holds]) => holds && weights[sign] > 0).map(([sign]) => ({ sign, points: weights[sign] }));
}

/** True for contacts that pass validation and still look typed at random. */
function malformed(customer: Customer | undefined): boolean {
  if (!customer) return false;
  const { name, email, phone } = customer;
  const local = email?.slice(0, email.lastIndexOf("@")) ?? "a";
  const domain = email?.slice(email.lastIndexOf("@") + 1) ?? "a.test";
  return (
    local.length === 0 ||
    !/^[^\s.@]+(\.[^\s.@]+)+$/.test(domain) ||
    (phone !== undefined && /^\+(\d)\1+$/.test(phone)) ||
    (name !== undefined && !/\p{L}/u.test(name))
  );
}
