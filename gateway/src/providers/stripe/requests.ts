// Our words to Stripe: the forms of its API for a payment's page and a refund. The same request gives the same bytes each time,
// since the same idempotency key must never come with others. Pure.
import type { OpenRequest, RefundRequest } from "../../acquirers/acquirer.ts";
import { type Micros, SECOND } from "../../ground/clock.ts";
import { isId, momentOf } from "../../ground/ids.ts";
import { theirAmount } from "./amounts.ts";

/** The version whose shapes `answers.ts` reads; theirs to follow is a change here, with its tests. */
export const API_VERSION = "2026-10-28.endive";

const MINUTE: Micros = 60 * SECOND;
/** A page of theirs may be open for no less and no more than this. */
const PAGE_MIN: Micros = 30 * MINUTE;
const PAGE_MAX: Micros = 24 * 60 * MINUTE;
/** A shorter payment's page ends this long after the payment was made: their least, and time to get there. */
const SHORT_PAGE: Micros = 35 * MINUTE;
/** What a request needs to reach them, and how far their clock may be from ours. */
const ON_THE_WAY: Micros = MINUTE / 2;

export type ThreeDSecure = "automatic" | "any" | "challenge";

export type Field = readonly [name: string, value: string];

export function headers(secretKey: string, idempotencyKey?: string): Record<string, string> {
  return {
    authorization: `Bearer ${secretKey}`,
    "stripe-version": API_VERSION,
    accept: "application/json",
    ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
  };
}

export const FORM = "application/x-www-form-urlencoded";

/**
 * When a payment's page is to close: with the payment, or for a payment shorter than they allow 35 minutes after it was made. Depends on
 * nothing but the request, so that a repetition says the same.
 */
export function pageEnd({ expiresAt, reference }: Pick<OpenRequest, "expiresAt" | "reference">): Micros {
  return isId("payment", reference) ? Math.max(expiresAt, momentOf(reference) + SHORT_PAGE) : expiresAt;
}

/** Whether they take this end for a page that is opened now. Where they do not, the page has none of its own: theirs is 24 hours. */
export function isPageEnd(end: Micros, now: Micros): boolean {
  return end - now >= PAGE_MIN + ON_THE_WAY && end - now <= PAGE_MAX - ON_THE_WAY;
}

/** `POST /v1/checkout/sessions`: a page of theirs for one payment by card, closing at `end` if one is given. */
export function pageOrder(request: OpenRequest, threeDSecure: ThreeDSecure, end: Micros | undefined): string {
  const { reference, operationKey, amountMinor, currency, merchantName, payUrl, returnUrl } = request;
  return form([
    ["mode", "payment"],
    ["ui_mode", "hosted_page"],
    ["payment_method_types[0]", "card"],
    ["payment_method_options[card][request_three_d_secure]", threeDSecure],
    // The payer pays the amount of the payment in its currency, whatever the account's dashboard says.
    ["adaptive_pricing[enabled]", "false"],
    ["automatic_tax[enabled]", "false"],
    ["allow_promotion_codes", "false"],
    ["line_items[0][quantity]", "1"],
    ["line_items[0][price_data][currency]", currency.toLowerCase()],
    ["line_items[0][price_data][unit_amount]", theirAmount(amountMinor, currency)],
    ["line_items[0][price_data][product_data][name]", merchantName],
    ["client_reference_id", reference],
    ["metadata[operation_key]", operationKey],
    ["metadata[reference]", reference],
    ["payment_intent_data[capture_method]", "automatic"],
    ["payment_intent_data[description]", reference],
    ["payment_intent_data[metadata][operation_key]", operationKey],
    ["payment_intent_data[metadata][reference]", reference],
    ["success_url", returnUrl ?? payUrl],
    ["cancel_url", payUrl],
    ...(end === undefined ? [] : [["expires_at", String(Math.floor(end / SECOND))] as const]),
  ]);
}

/** What comes with a page that is read: what was paid, and the fee once they have booked it. */
export const PAGE_QUERY = `?expand%5B0%5D=payment_intent.latest_charge.balance_transaction`;

/** `POST /v1/refunds` */
export function refundOrder({ operationKey, amountMinor, currency }: RefundRequest, paymentIntent: string): string {
  return form([
    ["payment_intent", paymentIntent],
    ["amount", theirAmount(amountMinor, currency)],
    ["metadata[operation_key]", operationKey],
  ]);
}

/** A page of the list of all pages, newest first. */
export function sessionsPath(after: string | undefined): string {
  return listPath("/v1/checkout/sessions", {}, after);
}

/** A page of the refunds of a payment, newest first. */
export function refundsPath(paymentIntent: string, after: string | undefined): string {
  return listPath("/v1/refunds", { payment_intent: paymentIntent }, after);
}

function listPath(path: string, filter: Record<string, string>, after: string | undefined): string {
  const place = after === undefined ? {} : { starting_after: after };
  return `${path}?${new URLSearchParams({ ...filter, limit: "100", ...place }).toString()}`;
}

/** A form of theirs: `a[b]=c`. */
export function form(fields: readonly Field[]): string {
  return new URLSearchParams(fields.map(([name, value]) => [name, value])).toString();
}
