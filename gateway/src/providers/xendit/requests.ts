// Builds the requests to Xendit: payments, card pages, the end of either, refunds and inquiries. Pure; the same order always gives the same
// bytes, so that it can be repeated under the same idempotency key.
import type { OpenRequest, RefundRequest } from "../../acquirers/acquirer.ts";
import { AcquirerRefused } from "../../acquirers/acquirer.ts";
import { wireTime } from "../../ground/clock.ts";
import { majorOf } from "./amounts.ts";
import { CARDS, QRIS, banks, isBank, isWallet, wallets } from "./channels.ts";

/** Version of Xendit's payment requests. */
const API_VERSION = "2024-11-11";

export interface XenditRequest {
  method: "GET" | "POST";
  /** Query included. */
  path: string;
  headers: Record<string, string>;
  body?: Record<string, unknown>;
}

/** Settings of a profile that change requests. */
interface RequestOptions {
  /** Whether QR codes get the payment's expiry time. Xendit's page on QRIS says that it cannot be set; other pages set it. */
  qrisExpiry: boolean;
}

const versioned = { "api-version": API_VERSION };
const country = "ID";

/** Orders a payment. `channel`: the bank or wallet, if the method has one. Throws `AcquirerRefused` for what Xendit cannot take, unsent. */
export function openingOf(request: OpenRequest, channel: string | undefined, options: RequestOptions): XenditRequest {
  const amount = amountOf(request);
  const { operationKey, currency } = request;
  if (request.method === "card") return cardPage(request, amount);
  const { code, properties } = channelOf(request, channel, options);
  return {
    method: "POST",
    path: "/v3/payment_requests",
    headers: { ...versioned, "idempotency-key": operationKey },
    body: {
      reference_id: operationKey,
      type: "PAY",
      country,
      currency,
      request_amount: amount,
      capture_method: "AUTOMATIC",
      channel_code: code,
      channel_properties: properties,
      description: descriptionOf(request),
      metadata: { reference: request.reference },
    },
  };
}

/** Orders a card page at Xendit: no card number reaches Gerbang. */
function cardPage(request: OpenRequest, amount: number): XenditRequest {
  const { operationKey, currency } = request;
  return {
    method: "POST",
    path: "/sessions",
    headers: { "idempotency-key": operationKey },
    body: {
      reference_id: operationKey,
      session_type: "PAY",
      mode: "PAYMENT_LINK",
      allow_save_payment_method: "DISABLED",
      country,
      currency,
      amount,
      capture_method: "AUTOMATIC",
      allowed_payment_channels: [CARDS],
      expires_at: wireTime(request.expiresAt),
      success_return_url: returnUrlOf(request),
      cancel_return_url: returnUrlOf(request),
      description: descriptionOf(request),
      metadata: { reference: request.reference },
    },
  };
}

function channelOf(
  request: OpenRequest,
  channel: string | undefined,
  { qrisExpiry }: RequestOptions,
): { code: string; properties: Record<string, unknown> } {
  const expires_at = wireTime(request.expiresAt);
  if (request.method === "qris")
    return { code: QRIS, properties: { qr_string_type: "DYNAMIC", ...(qrisExpiry ? { expires_at } : {}) } };
  if (request.method === "va" && channel !== undefined && isBank(channel))
    return { code: banks[channel].code, properties: { display_name: displayName(request.merchantName), expires_at } };
  if (request.method === "ewallet" && channel !== undefined && isWallet(channel))
    return { code: wallets[channel], properties: { success_return_url: returnUrlOf(request) } };
  throw new AcquirerRefused(`Xendit has no ${request.method} of that name`);
}

export function refundOf(request: RefundRequest, paymentRequestId: string): XenditRequest {
  return {
    method: "POST",
    path: "/refunds",
    headers: { "idempotency-key": request.operationKey },
    // The fields stand in the order in which Xendit's own client writes them.
    body: {
      payment_request_id: paymentRequestId,
      reference_id: request.operationKey,
      amount: amountOf(request),
      currency: request.currency,
      reason: "REQUESTED_BY_CUSTOMER",
    },
  };
}

/** Ends a payment by Xendit's id, without a key: twice does no harm, and a response kept under a key could be older than the state. */
export function endingOf({ method }: Pick<OpenRequest, "method">, name: string): XenditRequest {
  const id = encodeURIComponent(name);
  return method === "card"
    ? { method: "POST", path: `/sessions/${id}/cancel`, headers: {} }
    : { method: "POST", path: `/v3/payment_requests/${id}/cancel`, headers: { ...versioned } };
}

/** Inquiries. Ids come from Xendit, so they are escaped in paths. */
export const inquiries = {
  paymentRequest: (id: string): XenditRequest => get(`/v3/payment_requests/${encodeURIComponent(id)}`, versioned),
  /** All payment requests with this operation key. */
  paymentRequests: (key: string): XenditRequest => get(`/v3/payment_requests?reference_id=${key}&limit=10`, versioned),
  payment: (id: string): XenditRequest => get(`/v3/payments/${encodeURIComponent(id)}`, versioned),
  session: (id: string): XenditRequest => get(`/sessions/${encodeURIComponent(id)}`),
  refund: (id: string): XenditRequest => get(`/refunds/${encodeURIComponent(id)}`),
  /** One page of a payment's refunds. */
  refunds: (paymentRequestId: string, afterId: string | undefined): XenditRequest => {
    const after = afterId === undefined ? "" : `&after_id=${encodeURIComponent(afterId)}`;
    return get(`/refunds?payment_request_id=${encodeURIComponent(paymentRequestId)}&limit=50${after}`);
  },
};

function get(path: string, headers: Record<string, string> = {}): XenditRequest {
  return { method: "GET", path, headers };
}

function amountOf({ amountMinor, currency }: { amountMinor: bigint; currency: string }): number {
  const amount = majorOf(amountMinor, currency);
  if (amount === undefined) throw new AcquirerRefused("Xendit takes whole rupiah only");
  return amount;
}

/** Xendit takes https addresses of at most 255 characters: the merchant's return address if it is short enough, else the payer page. */
function returnUrlOf({ returnUrl, payUrl }: OpenRequest): string {
  return returnUrl !== undefined && returnUrl.length <= 255 ? returnUrl : payUrl;
}

function descriptionOf({ merchantName, reference }: OpenRequest): string {
  return `${merchantName}: ${reference}`.slice(0, 1000);
}

/** The merchant's name in letters, digits and spaces: banks have refused other characters. */
export function displayName(merchantName: string): string {
  const plain = merchantName
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[^A-Za-z0-9]+/g, " ")
    .trim()
    .slice(0, 40)
    .trim();
  return plain === "" ? "Pembayaran" : plain;
}
