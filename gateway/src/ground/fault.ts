// The errors of the interface's table (section 7.3), and impossible states, which are not in it. The shape of an error answer is in reply.ts.

/** `stored`: the error is a business decision that is stored under the request's idempotency key and replayed. */
const table = {
  UNAUTHORIZED: [401, false, "Send `Authorization: Bearer <client_id>`."],
  CLIENT_NOT_FOUND: [401, false, "This client_id is unknown or revoked. See Developers, Keys in the portal."],
  SIGNATURE_MISSING: [401, false, "Send X-Timestamp and X-Signature, or Signature-Input and Signature (RFC 9421)."],
  SIGNATURE_INVALID: [
    401,
    false,
    "The signature does not match. Sign timestamp + '.' + the exact bytes of the body with your secret, in lower-case hex, or sign by RFC 9421.",
  ],
  TIMESTAMP_OUT_OF_WINDOW: [
    401,
    false,
    "X-Timestamp, which is in Unix seconds, is more than 300 seconds from our clock. Synchronise your clock and sign again.",
  ],
  SIGNATURE_REPLAYED: [
    401,
    false,
    "This signature was already used, whatever its answer was. Another timestamp within the window (RFC 9421: another nonce) makes a request new: sign anew for every attempt.",
  ],
  FORBIDDEN: [403, false, "This credential lacks the scope for the call. Use one that has it."],
  PROOF_REQUIRED: [
    403,
    false,
    "This asks for a proof of who you are that is at most ten minutes old. Prove it again, then repeat the call.",
  ],
  SECOND_FACTOR_REQUIRED: [
    403,
    false,
    "You need a second factor here. Add a passkey or an authenticator to your account first.",
  ],
  ENVIRONMENT_MISMATCH: [403, true, "This object belongs to the other environment. Use the matching key."],
  MERCHANT_SUSPENDED: [403, false, "This merchant account is suspended. Contact support."],
  MALFORMED_JSON: [
    400,
    false,
    "The body must be one JSON object in UTF-8 without duplicate keys, as application/json.",
  ],
  MALFORMED_REQUEST: [400, false, "The request is not valid HTTP."],
  VALIDATION_ERROR: [422, false, "A field breaks the rules; see details.field."],
  INVALID_AMOUNT: [422, false, "amount_minor must be a positive integer within the limit for one transaction."],
  CURRENCY_NOT_SUPPORTED: [422, false, "This currency is not enabled for the merchant."],
  CURRENCY_MISMATCH: [422, true, "The currency differs from that of the object referred to."],
  PAYMENT_METHOD_UNAVAILABLE: [422, false, "This payment method is not active for the merchant or currency."],
  REFERENCE_ID_DUPLICATE: [409, true, "Another payment already uses this reference_id."],
  IDEMPOTENCY_KEY_REQUIRED: [
    422,
    false,
    "Send an Idempotency-Key header: one key for one intent, the same on each retry.",
  ],
  IDEMPOTENCY_KEY_INVALID: [422, false, "Idempotency-Key must be 8 to 255 ASCII characters."],
  IDEMPOTENCY_CONFLICT: [409, false, "This Idempotency-Key was used for a different request. Use a new key."],
  IDEMPOTENCY_IN_PROGRESS: [
    409,
    false,
    "The first request with this key is still running. Retry later with the same key.",
  ],
  PAYMENT_NOT_FOUND: [404, true, "No such payment."],
  REFUND_NOT_FOUND: [404, true, "No such refund."],
  PAYMENT_NOT_CANCELABLE: [409, true, "Only a pending payment can be canceled; a succeeded one is refunded instead."],
  PAYMENT_NOT_REFUNDABLE: [409, true, "The payment has not succeeded, has expired or is in dispute."],
  PAYMENT_NOT_PAYABLE: [409, true, "It does not await this step, now or any more; see details.status."],
  DISPUTE_RESOLVED: [409, true, "The dispute no longer awaits this step; read its status first."],
  SETTLEMENT_CLOSED: [409, true, "The batch is paid or returned already; read its status first."],
  APPROVAL_CLOSED: [409, false, "It was decided, taken back, has expired, or would now do something else."],
  REFUND_EXCEEDS_PAYMENT: [422, true, "The refunds would exceed the payment; see details.remaining_refundable_minor."],
  PAYMENT_EXPIRED: [409, true, "The payment has expired. Create a new one."],
  DISPUTE_LOCKED: [409, true, "The funds are held by a running dispute."],
  INSUFFICIENT_FUNDS: [422, true, "The available balance is not enough. Refund less, or wait for more payments."],
  WALLET_NOT_FOUND: [404, true, "You have no wallet of this currency. Ask support to enable the currency."],
  WALLET_FROZEN: [403, true, "The wallet is frozen. Contact support."],
  UNBALANCED_ENTRY: [500, false, "Internal error: the journal did not balance and was rejected; no funds moved."],
  NO_ROUTE_AVAILABLE: [
    503,
    false,
    "No healthy acquirer serves this method and currency now. Retry later with the same Idempotency-Key.",
  ],
  GATEWAY_ERROR: [502, false, "The acquirer answered with an error. Repeat with the same Idempotency-Key."],
  GATEWAY_TIMEOUT: [
    504,
    false,
    "The acquirer did not answer in time. The outcome is not known yet: repeat with the same Idempotency-Key.",
  ],
  RISK_REJECTED: [422, true, "The payment was rejected by fraud detection."],
  RISK_REVIEW: [202, true, "The payment awaits manual review; the result comes by webhook."],
  RATE_LIMITED: [429, false, "Too many requests. Wait for the seconds in Retry-After."],
  INTERNAL_ERROR: [
    500,
    false,
    "Something unexpected went wrong on our side. Retry later with the same Idempotency-Key.",
  ],
  SERVICE_UNAVAILABLE: [503, false, "The service cannot answer now. Retry shortly with the same Idempotency-Key."],
  OBJECT_NOT_FOUND: [404, true, "No such object."],
  ROUTE_NOT_FOUND: [404, false, "No such path. The paths of this service are listed under /openapi.json."],
  METHOD_NOT_ALLOWED: [405, false, "This path has no such method. The header Allow names those that it has."],
  PAYLOAD_TOO_LARGE: [413, false, "The body may have at most 262144 bytes."],
} as const satisfies Record<string, readonly [status: number, stored: boolean, message: string]>;

export type FaultCode = keyof typeof table;
export const faultCodes = Object.keys(table) as FaultCode[];

interface FaultExtras {
  /** Public: sent as `error.details`. */
  details?: Record<string, unknown>;
  /** Public: replaces the usual message of the code. */
  message?: string;
  /** Private: written to the log only. */
  internal?: unknown;
  retryAfterSeconds?: number;
  /** The methods of the path, sent as `Allow`. */
  allow?: readonly string[];
  /** Replaces the status of the code, when HTTP has another status for this case. */
  status?: number;
  /** The rejected command keeps its changes, such as a payment that is stored as failed. */
  keepsChanges?: boolean;
}

/** An error of the interface's table. It is an answer, not a defect: only those with a 5xx status are logged above `info`. */
export class Fault extends Error {
  readonly code: FaultCode;
  readonly extras: FaultExtras;

  constructor(code: FaultCode, extras: FaultExtras = {}) {
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0; // a fault is an expected answer: collecting its stack would only cost time
    super(extras.message ?? table[code][2], { cause: extras.internal });
    Error.stackTraceLimit = limit;
    this.name = "Fault";
    this.code = code;
    this.extras = extras;
  }

  get status(): number {
    return this.extras.status ?? table[this.code][0];
  }

  /** True when the rejected command keeps its changes; otherwise they are dropped. */
  get keepsChanges(): boolean {
    return this.extras.keepsChanges === true;
  }

  /** True when the answer is a business decision, to be stored under the idempotency key. */
  get stored(): boolean {
    return table[this.code][1];
  }
}

/** The fault of what cannot be done now, and may be a second later. `cause` is for the log. */
export function unavailable(cause: unknown): Fault {
  return new Fault("SERVICE_UNAVAILABLE", { retryAfterSeconds: 1, internal: cause });
}

/** Makes the fault of a broken field rule (interface 7.1), with the field's dotted path and a value that is safe to show. */
export function validationFault(field: string, value: unknown, message?: string): Fault {
  return new Fault("VALIDATION_ERROR", {
    details: { field, value: showable(value) },
    ...(message === undefined ? {} : { message }),
  });
}

/** Gives scalars as they were sent (long text cut, half characters replaced: many readers of JSON stop at one), and the kind of anything else. */
export function showable(value: unknown): unknown {
  if (typeof value === "string") return value.replace(/^(.{100}).+$/su, "$1…").toWellFormed();
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (typeof value === "boolean" || value === null) return value;
  if (value === undefined) return null;
  // `parseObject` gives a symbol for a number that JavaScript would write in another way.
  if (typeof value === "symbol") return numberAsWritten(value.description ?? "");
  return Array.isArray(value) ? "(array)" : "(object)";
}

declare global {
  interface JSON {
    rawJSON(text: string): unknown;
  }
}

/** Gives a number when every JSON reader can take it, else its text. */
function numberAsWritten(text: string): unknown {
  if (text.length > 100) return `${text.slice(0, 100)}…`;
  return Number.isFinite(Number(text)) ? JSON.rawJSON(text) : text;
}

/** A state that the code excludes. The lane that finds one stops the book, because going on could move wrong money. */
export class ImpossibleState extends Error {
  override name = "ImpossibleState";
}

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new ImpossibleState(message);
}
