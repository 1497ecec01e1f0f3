// The errors that Xendit's documentation calls a definite refusal. Every other error leaves the outcome unknown, and an inquiry follows.

/** The calls that can be refused. */
export type CallKind = "payment" | "card page" | "refund" | "end of a payment";

interface Refusal {
  call: CallKind;
  status: number;
  code: string;
  /** True when Xendit can take nothing now: the order may succeed later, or at another acquirer. */
  unavailable: boolean;
  /** True when an earlier try under the same key may be the reason: an inquiry comes before the refusal is believed. */
  lookFirst: boolean;
}

const no = (call: CallKind, status: number, codes: string, as: Partial<Refusal> = {}): Refusal[] =>
  codes.split(" ").map((code) => ({ call, status, code, unavailable: false, lookFirst: false, ...as }));
const later = { unavailable: true };
const perhapsOurs = { lookFirst: true };

/**
 * Xendit's documentation: create-payment-request, create-session, refund-payment-request, cancel-payment-request, rate-limits. Left out on
 * purpose: 500 SERVER_ERROR; 409, which says that the reference exists already; a refund's 503 and REFUND_IN_PROGRESS, after which the refund
 * may exist. For the end of a payment, a rejected key or a rate limit is no refusal: both say nothing about the payment.
 */
export const refusals: readonly Refusal[] = [
  ...no("payment", 400, "INVALID_VALUE_ERROR API_VALIDATION_ERROR CARD_EXPIRED INVALID_PAYMENT_DETAILS INVALID_TOKEN"),
  ...no("payment", 400, "PAYMENT_REQUEST_RATE_LIMITED", later),
  ...no("payment", 403, "SKIP_3DS_FORBIDDEN INVALID_MERCHANT_SETTINGS ACCOUNT_ACCESS_BLOCKED"),
  ...no("payment", 503, "CHANNEL_UNAVAILABLE ISSUER_UNAVAILABLE", later),
  ...no(
    "card page",
    400,
    "API_VALIDATION_ERROR INVALID_AMOUNT INVALID_PAYMENT_CHANNEL INVALID_PRIMARY_PAYMENT_CHANNEL INVALID_METADATA " +
      "INVALID_ITEM_METADATA INVALID_CURRENCY INVALID_COUNTRY INVALID_CUSTOMER_ID INVALID_URL MISSING_CUSTOMER " +
      "DISALLOWED_CAPTURE_METHOD INVALID_EXPIRY_DATE ITEMS_NOT_SUPPORTED SESSION_TYPE_NOT_SUPPORTED MODE_NOT_SUPPORTED",
  ),
  ...no("refund", 400, "INVALID_VALUE_ERROR API_VALIDATION_ERROR INSUFFICIENT_BALANCE"),
  ...no("refund", 400, "TEMPORARILY_UNAVAILABLE", later),
  ...no(
    "refund",
    400,
    "REFUND_AMOUNT_EXCEEDED INELIGIBLE_TRANSACTION_STATUS PARTIAL_REFUND_COUNTS_EXCEEDED",
    perhapsOurs,
  ),
  ...no(
    "refund",
    403,
    "SKIP_3DS_FORBIDDEN INVALID_MERCHANT_SETTINGS REFUND_NOT_SUPPORTED PARTIAL_REFUND_NOT_SUPPORTED",
  ),
  ...no("refund", 404, "DATA_NOT_FOUND"),
  ...no("end of a payment", 400, "API_VALIDATION_ERROR INELIGIBLE_TRANSACTION_STATUS", perhapsOurs),
  ...(["payment", "card page", "refund"] as const).flatMap((call) => [
    ...no(call, 401, "INVALID_API_KEY", later),
    ...no(call, 429, "RATE_LIMIT_EXCEEDED", later),
  ]),
];

/** The table's line for an error; undefined when the documentation does not call the error a definite refusal. */
export function refusalOf(call: CallKind, status: number, code: unknown): Refusal | undefined {
  return refusals.find((line) => line.call === call && line.status === status && line.code === code);
}

/**
 * Whether an error in response to the end of a payment calls for an inquiry: the payment may have ended before, or was paid meanwhile. True for
 * every request that Xendit has read, whatever its error code.
 */
export function isWorthALook(status: number): boolean {
  return status >= 400 && status < 500 && status !== 401 && status !== 429;
}
