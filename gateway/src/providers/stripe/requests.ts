// Builds the forms of Stripe's API for a payment's page and a refund. The same order gives the same bytes each time, since an idempotency key
// must never come with other bytes. Pure.
import type { OpenRequest, RefundRequest } from "../../acquirers/acquirer.ts";
import { type Micros, MINUTE, SECOND } from "../../ground/clock.ts";
import { isId, momentOf } from "../../ground/ids.ts";
import { theirAmount } from "./amounts.ts";

/** The API version whose formats `answers.ts` reads. A newer version is a change here, with its tests. */
export const API_VERSION = "2026-10-28.endive";

/** Stripe's limits for the time that a page is open. */
const PAGE_MIN: Micros = 30 * MINUTE;
const PAGE_MAX: Micros = 24 * 60 * MINUTE;
/** The page of a shorter payment ends this long after the payment was made: Stripe's minimum, and time for the request to arrive. */
const SHORT_PAGE: Micros = 35 * MINUTE;
/** Allowance for the way of a request to Stripe, and for clocks that differ. */
const ON_THE_WAY: Micros = MINUTE / 2;

type ThreeDSecure = "automatic" | "any" | "challenge";

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
 * Time at which a payment's page closes: with the payment, or 35 minutes after a payment was made that is shorter than Stripe allows. Depends on
 * nothing but the request, so that a repetition has the same end.
 */
export function pageEnd({ expiresAt, reference }: Pick<OpenRequest, "expiresAt" | "reference">): Micros {
  return isId("payment", reference) ? Math.max(expiresAt, momentOf(reference) + SHORT_PAGE) : expiresAt;
}

/** Whether Stripe takes this end for a page that is opened now. Otherwise the page gets no end, and Stripe closes it after 24 hours. */
export function isPageEnd(end: Micros, now: Micros): boolean {
  return end - now >= PAGE_MIN + ON_THE_WAY && end - now <= PAGE_MAX - ON_THE_WAY;
}

/** `POST /v1/checkout/sessions`: a page at Stripe for one payment by card, closing at `end` if one is given. */
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

/** Adds to a page what was paid, and the fee once Stripe has booked it. */
export const PAGE_QUERY = `?expand%5B0%5D=payment_intent.latest_charge.balance_transaction`;

/** `POST /v1/refunds` */
export function refundOrder({ operationKey, amountMinor, currency }: RefundRequest, paymentIntent: string): string {
  return form([
    ["payment_intent", paymentIntent],
    ["amount", theirAmount(amountMinor, currency)],
    ["metadata[operation_key]", operationKey],
  ]);
}

/** One page of the list of all Checkout Sessions, newest first. */
export function sessionsPath(after: string | undefined): string {
  return listPath("/v1/checkout/sessions", {}, after);
}

/** One page of the list of a payment's refunds, newest first. */
export function refundsPath(paymentIntent: string, after: string | undefined): string {
  return listPath("/v1/refunds", { payment_intent: paymentIntent }, after);
}

function listPath(path: string, filter: Record<string, string>, after: string | undefined): string {
  const place = after === undefined ? {} : { starting_after: after };
  return `${path}?${new URLSearchParams({ ...filter, limit: "100", ...place }).toString()}`;
}

/** Encodes a form of Stripe's: `a[b]=c`. */
export function form(fields: readonly Field[]): string {
  return new URLSearchParams(fields.map(([name, value]) => [name, value])).toString();
}
