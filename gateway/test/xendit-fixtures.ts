// Requests of the adapter, and Xendit's answers as its documentation shows them. Ids and texts are the documentation's examples.
import type { OpenRequest, RefundRequest } from "../src/acquirers/acquirer.ts";

export const KEY = "pay01arz3ndektsv4rrffq69g5fav.01arz3ndektsv4rrffq69g5fb0.s1";
export const REFUND_KEY = "rfd01arz3ndektsv4rrffq69g5fav.01arz3ndektsv4rrffq69g5fb0.s1";
export const PAYMENT_REQUEST = "pr-1102feb0-bb79-47ae-9d1e-e69394d3949c";
export const PAYMENT = "py-1402feb0-bb79-47ae-9d1e-e69394d3949c";
export const REFUND = "rfd-69e77490-d2cc-4bf3-8319-e064e121db93";
export const SESSION = "ps-661f87c614802d6c402cd82d";

/** 2026-11-23T10:00:00Z */
const EXPIRES_AT = Date.UTC(2026, 10, 23, 10) * 1_000;

export function opening(change: Partial<OpenRequest> = {}): OpenRequest {
  return {
    operationKey: KEY,
    reference: "pay_01arz3ndektsv4rrffq69g5fav",
    amountMinor: 1_000_000n,
    currency: "IDR",
    method: "qris",
    merchantName: "Toko Rimba",
    expiresAt: EXPIRES_AT,
    payUrl: "https://pay.rimba.example/pay/abc",
    returnUrl: undefined,
    metadata: undefined,
    callbackUrl: "https://pay.rimba.example/acquirers/xendit/callbacks",
    round: 0,
    isOver: false,
    providerIds: undefined,
    ...change,
  };
}

export function refunding(change: Partial<RefundRequest> = {}): RefundRequest {
  return {
    operationKey: REFUND_KEY,
    paymentOperationKey: KEY,
    paymentProviderIds: { payment_request: PAYMENT_REQUEST },
    isOver: false,
    paymentAmountMinor: 1_000_000n,
    method: "qris",
    amountMinor: 400_000n,
    currency: "IDR",
    callbackUrl: "https://pay.rimba.example/acquirers/xendit/callbacks",
    providerIds: undefined,
    ...change,
  };
}

export function paymentRequest(change: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    business_id: "5f27a14a9bf05c73dd040bc8",
    reference_id: KEY,
    payment_request_id: PAYMENT_REQUEST,
    type: "PAY",
    country: "ID",
    currency: "IDR",
    request_amount: 10_000,
    capture_method: "AUTOMATIC",
    channel_code: "QRIS",
    channel_properties: { qr_string_type: "DYNAMIC" },
    actions: [
      { type: "PRESENT_TO_CUSTOMER", descriptor: "QR_STRING", value: "00020101021226650013ID.CO.QRIS.WWW6304A1B2" },
    ],
    status: "REQUIRES_ACTION",
    created: "2026-11-23T09:00:00Z",
    updated: "2026-11-23T09:00:00Z",
    ...change,
  };
}

export function payment(change: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    payment_id: PAYMENT,
    business_id: "5f27a14a9bf05c73dd040bc8",
    reference_id: KEY,
    payment_request_id: PAYMENT_REQUEST,
    type: "PAY",
    country: "ID",
    currency: "IDR",
    request_amount: 10_000,
    capture_method: "AUTOMATIC",
    channel_code: "QRIS",
    captures: [
      {
        capture_timestamp: "2026-11-23T09:05:00Z",
        capture_id: "cap-1502feb0-bb79-47ae-9d1e-e69394d3949c",
        capture_amount: 10_000,
      },
    ],
    status: "SUCCEEDED",
    payment_details: { payer_name: "John Doe", payer_account_number: "2876783233" },
    created: "2026-11-23T09:05:00Z",
    updated: "2026-11-23T09:05:00Z",
    ...change,
  };
}

export function session(change: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    payment_session_id: SESSION,
    created: "2026-11-23T09:00:00Z",
    updated: "2026-11-23T09:00:00Z",
    reference_id: KEY,
    session_type: "PAY",
    currency: "IDR",
    amount: 10_000,
    country: "ID",
    mode: "PAYMENT_LINK",
    expires_at: "2026-11-23T10:00:00Z",
    status: "ACTIVE",
    payment_link_url: "https://xen.to/kGxPCi60",
    payment_token_id: null,
    payment_request_id: null,
    business_id: "661f87c614802d6c402cd82d",
    ...change,
  };
}

export function refund(change: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: REFUND,
    payment_request_id: PAYMENT_REQUEST,
    payment_id: PAYMENT,
    invoice_id: null,
    amount: 4_000,
    payment_method_type: "EWALLET",
    channel_code: "DANA",
    currency: "IDR",
    status: "PENDING",
    reason: "REQUESTED_BY_CUSTOMER",
    reference_id: REFUND_KEY,
    failure_code: null,
    refund_fee_amount: null,
    created: "2026-11-23T09:10:00Z",
    updated: "2026-11-23T09:10:00Z",
    metadata: null,
    ...change,
  };
}

/** Makes a notification with its envelope. */
export function event(name: string, data: Record<string, unknown>): Buffer {
  return Buffer.from(
    JSON.stringify({ event: name, business_id: "6094fa76c2fd53701b8e079c", created: "2026-11-23T09:05:01.566Z", data }),
  );
}

export function dispute(change: Record<string, unknown> = {}): Buffer {
  return Buffer.from(
    JSON.stringify({
      event: "dispute.action_required",
      id: "mi-dspt-f44d259f-fd9d-4de9-80de-1eef3f1506b7",
      channel_code: "CARDS",
      card_brands: "VISA",
      status: "ACTION_REQUIRED",
      currency: "IDR",
      amount: { initial: "10000.00", terminal: null },
      created_at: "2026-03-01T19:50:51.724Z",
      updated_at: "2026-03-01T19:50:51.724Z",
      due_date: "2026-03-15T19:50:51.724Z",
      note: "Please provide evidence of delivery.",
      category: { name: "fraud", allowed_evidence: [] },
      related_disputes: [],
      payment_id: "py-59a3cf39-2a7d-4733-a3e3-8177c78090f7",
      reference_id: KEY,
      ...change,
    }),
  );
}
