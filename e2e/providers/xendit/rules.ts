// What Xendit's pages say that it checks in our requests, for its fake: which fields, which channels, which amounts. Read on 2026-11-23.
import type { FakeAnswer, FaultName } from "../fake.ts";

export const refusal = (status: number, error_code: string, message = error_code): FakeAnswer => ({
  status,
  body: { error_code, message },
});

interface Channel {
  kind: "qr" | "va" | "wallet";
  minimum: number;
  maximum: number;
  /** Of one-off payments. */
  refunds: "none" | "whole" | "parts";
}

const va = (minimum: number, maximum: number): Channel => ({ kind: "va", minimum, maximum, refunds: "none" });
const wallet = (minimum: number, maximum: number, refunds: Channel["refunds"]): Channel => ({
  kind: "wallet",
  minimum,
  maximum,
  refunds,
});

/** Pages qris, bca-virtual-account and so on, ovo, dana, linkaja, shopeepay-e-wallets-id. Amounts in rupiah. */
const channels: Readonly<Record<string, Channel>> = {
  QRIS: { kind: "qr", minimum: 1, maximum: 10_000_000, refunds: "parts" },
  BCA_VIRTUAL_ACCOUNT: va(10_000, 50_000_000),
  BNI_VIRTUAL_ACCOUNT: va(1, 50_000_000_000),
  BRI_VIRTUAL_ACCOUNT: va(1, 50_000_000_000),
  MANDIRI_VIRTUAL_ACCOUNT: va(1, 50_000_000_000),
  PERMATA_VIRTUAL_ACCOUNT: va(1, 9_999_999_999),
  BSI_VIRTUAL_ACCOUNT: va(1, 50_000_000_000),
  BJB_VIRTUAL_ACCOUNT: va(1, 2_000_000_000),
  BNC_VIRTUAL_ACCOUNT: va(10_000, 50_000_000_000),
  MUAMALAT_VIRTUAL_ACCOUNT: va(10_000, 50_000_000_000),
  OVO: wallet(100, 20_000_000, "none"),
  DANA: wallet(100, 20_000_000, "parts"),
  LINKAJA: wallet(100, 10_000_000, "whole"),
  SHOPEEPAY: wallet(1, 20_000_000, "parts"),
};

export function channelOf(code: unknown): Channel | undefined {
  return typeof code === "string" && Object.hasOwn(channels, code) ? channels[code] : undefined;
}

export type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isText = (value: unknown, max: number): value is string =>
  typeof value === "string" && value.length >= 1 && value.length <= max;

/** Https, as they sent, or this machine: where a fake is used nothing else is at hand. */
const isReturnUrl = (value: unknown): boolean =>
  isText(value, 255) && /^https:\/\/|^http:\/\/(127\.0\.0\.1|localhost)[:/]/.test(value);

/** Whole rupiah. */
const isAmount = (value: unknown): value is number => typeof value === "number" && Number.isInteger(value) && value > 0;

const isFuture = (value: unknown, leastMs: number): boolean =>
  typeof value === "string" && Date.parse(value) >= Date.now() + leastMs;

const wrong = (message: string): FakeAnswer => refusal(400, "API_VALIDATION_ERROR", message);

/** The first objection to a payment request; undefined when it is fine. */
export function objectionToPaymentRequest(body: Fields): FakeAnswer | undefined {
  const { reference_id, type, country, currency, request_amount, channel_code, channel_properties: properties } = body;
  if (!isText(reference_id, 255)) return wrong("reference_id must have 1 to 255 characters");
  if (type !== "PAY") return wrong("type must be PAY");
  if (country !== "ID" || currency !== "IDR") return wrong("country must be ID and currency IDR");
  const channel = channelOf(channel_code);
  if (channel === undefined) return wrong("channel_code is not known");
  if (!isFields(properties)) return wrong("channel_properties are missing");
  if (!isAmount(request_amount)) return wrong("request_amount must be a number above 0");
  if (request_amount < channel.minimum || request_amount > channel.maximum)
    return refusal(400, "INVALID_VALUE_ERROR", "request_amount is outside of what the channel takes");
  if (properties.expires_at !== undefined && !isFuture(properties.expires_at, 0))
    return wrong("expires_at must be in the future");
  if (
    channel.kind === "va" &&
    !(isText(properties.display_name, 50) && /^[A-Za-z0-9 ]+$/.test(properties.display_name))
  )
    return wrong("display_name must be letters, digits and spaces");
  if (channel.kind === "wallet" && !isReturnUrl(properties.success_return_url))
    return wrong("success_return_url must be HTTPS, of at most 255 characters");
  return undefined;
}

/** The same for a card page. */
export function objectionToSession(body: Fields): FakeAnswer | undefined {
  if (!isText(body.reference_id, 64)) return wrong("reference_id must have 1 to 64 characters");
  if (body.session_type !== "PAY") return refusal(400, "SESSION_TYPE_NOT_SUPPORTED");
  if (body.mode !== "PAYMENT_LINK") return refusal(400, "MODE_NOT_SUPPORTED");
  if (body.country !== "ID") return refusal(400, "INVALID_COUNTRY");
  if (body.currency !== "IDR") return refusal(400, "INVALID_CURRENCY");
  if (!isAmount(body.amount)) return refusal(400, "INVALID_AMOUNT", "Amount must be greater than zero");
  const channelsAllowed = body.allowed_payment_channels;
  if (
    !Array.isArray(channelsAllowed) ||
    channelsAllowed.some((code) => code !== "CARDS" && channelOf(code) === undefined)
  )
    return refusal(400, "INVALID_PAYMENT_CHANNEL");
  if (!isReturnUrl(body.success_return_url) || !isReturnUrl(body.cancel_return_url)) return refusal(400, "INVALID_URL");
  if (!isFuture(body.expires_at, 10 * 60_000))
    return refusal(400, "INVALID_EXPIRY_DATE", "expires_at must be at least 10 minutes in the future");
  const metadata = body.metadata;
  if (isFields(metadata) && Object.values(metadata).some((value) => !isText(value, 80)))
    return refusal(400, "INVALID_METADATA", "Metadata value must have at most 80 characters");
  return undefined;
}

/** Of payment requests the codes are those of their page. Of card pages no stored copy shows them: they are answered alike. */
export function objectionToEnd(status: string): FakeAnswer | undefined {
  if (status === "ACTIVE" || status === "REQUIRES_ACTION" || status === "ACCEPTING_PAYMENTS") return undefined;
  return status === "CANCELED" || status === "EXPIRED" || status === "FAILED"
    ? refusal(400, "INACTIVE_PAYMENT_REQUEST", "Payment request is already inactive.")
    : refusal(400, "INELIGIBLE_TRANSACTION_STATUS", "Feature is not allowed because of the current status.");
}

const reasons = ["FRAUDULENT", "DUPLICATE", "REQUESTED_BY_CUSTOMER", "CANCELLATION", "OTHERS"];

/** What of a payment matters for its refund. */
interface Refundable {
  channel: string;
  status: string;
  paid: number;
  /** Amounts of its refunds that did not fail. */
  refunded: readonly { amount: number; status: string }[];
}

export function objectionToRefund(body: Fields, payment: Refundable | undefined): FakeAnswer | undefined {
  if (typeof body.reason !== "string" || !reasons.includes(body.reason)) return wrong("reason must be one of the list");
  if (body.reference_id !== undefined && !isText(body.reference_id, 255))
    return wrong("reference_id must have 1 to 255 characters");
  if (payment === undefined) return refusal(404, "DATA_NOT_FOUND", "ID specified in request cannot be found.");
  if (payment.status !== "SUCCEEDED") return refusal(400, "INELIGIBLE_TRANSACTION_STATUS");
  const amount = body.amount ?? payment.paid;
  if (!isAmount(amount)) return wrong("amount must be a number above 0");
  const allowed = payment.channel === "CARDS" ? "parts" : (channelOf(payment.channel)?.refunds ?? "none");
  if (allowed === "none") return refusal(403, "REFUND_NOT_SUPPORTED");
  if (allowed === "whole" && amount !== payment.paid) return refusal(403, "PARTIAL_REFUND_NOT_SUPPORTED");
  if (payment.refunded.some(({ status }) => status === "PENDING")) return refusal(400, "REFUND_IN_PROGRESS");
  const refunded = payment.refunded.reduce((sum, one) => sum + one.amount, 0);
  return refunded + amount > payment.paid ? refusal(400, "REFUND_AMOUNT_EXCEEDED") : undefined;
}

export const amountOf = (fields: Fields): number => Number(fields.request_amount ?? fields.amount);

/** A request's body; undefined when it is no object of JSON. */
export function fieldsOf(body: Buffer): Fields | undefined {
  try {
    const value: unknown = JSON.parse(body.toString());
    return isFields(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** An answer that says something else than is true. */
export function spoiled(body: unknown, fault: FaultName | undefined): unknown {
  if (!isFields(body)) return body;
  if (Array.isArray(body.data)) return { ...body, data: body.data.map((one) => spoiled(one, fault)) };
  const field = body.request_amount === undefined ? "amount" : "request_amount";
  if (fault === "wrong amount") return { ...body, [field]: amountOf(body) + 1, captures: [{ capture_amount: 1 }] };
  if (fault === "wrong currency") return { ...body, currency: "USD" };
  if (fault === "unknown status") return { ...body, status: "SOMETHING_NEW" };
  return body;
}
