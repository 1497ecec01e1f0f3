// The one error class of this client, for errors that the API answers and for failures on the way to it.
import type { components } from "./contract.ts";

type Schemas = components["schemas"];

/** The API's codes (interface, section 7.3). The list may grow. */
export type ApiErrorCode = Schemas["ErrorCode"];

/** Codes of this client, for missing or unreadable answers and for misuse. */
export type ClientErrorCode =
  | "CONNECTION_FAILED"
  | "TIMED_OUT"
  | "ABORTED"
  | "ANSWER_UNREADABLE"
  | "ANSWER_TOO_LARGE"
  | "REDIRECTED"
  | "CONFIGURATION_INVALID"
  | "STATE_NOT_REACHED";

export type ErrorCode = ApiErrorCode | ClientErrorCode | (string & {});

/** The shape of `details`, by code. */
export interface ErrorDetails {
  VALIDATION_ERROR: { field: string; value?: unknown };
  INVALID_AMOUNT: {
    field: string;
    value?: unknown;
    minimum_minor?: number;
    maximum_minor?: number;
    multiple_of_minor?: number;
  };
  REFERENCE_ID_DUPLICATE: { reference: string };
  IDEMPOTENCY_CONFLICT: { idempotency_key: string; first_seen_at: string };
  REFUND_EXCEEDS_PAYMENT: { remaining_refundable_minor: number };
  RISK_REJECTED: { reference: string };
  RISK_REVIEW: { reference: string; status: "pending" };
  /** The scope that the key lacks, or the address that it may not be used from. */
  FORBIDDEN: { scope?: string; address?: string } | undefined;
  /** Where a creation that was sent again came after it. */
  PAYMENT_EXPIRED: { status: "expired" } | undefined;
  /** Where the payment, the refund or the payment link stands. */
  PAYMENT_NOT_PAYABLE: { status: Schemas["PaymentStatus" | "PaymentLinkStatus"] };
  DISPUTE_RESOLVED: { status: Schemas["DisputeStatus"] };
  SETTLEMENT_CLOSED: { status: Schemas["SettlementStatus"] };
  STATE_NOT_REACHED: { reference: string; status: Schemas["PaymentStatus"] };
}

type DetailsOf<Code> = Code extends keyof ErrorDetails ? ErrorDetails[Code] : Record<string, unknown> | undefined;

const retryableCodes = new Set<ErrorCode>(["IDEMPOTENCY_IN_PROGRESS", "CONNECTION_FAILED", "TIMED_OUT"]);

/** Whether the same call, with the same idempotency key, may succeed later. */
export function isRetryable(code: ErrorCode, status = 0): boolean {
  if (retryableCodes.has(code)) return true;
  if (code === "ANSWER_TOO_LARGE") return false;
  // An HTML page with a 2xx status does not tell whether the call was done; a 4xx status tells that it was rejected.
  if (code === "ANSWER_UNREADABLE" && status < 300) return true;
  return status === 429 || status >= 500;
}

/** Advice for codes whose message from the API does not say what to do. */
const advices: Partial<Record<ErrorCode, string>> = {
  ANSWER_UNREADABLE: "A proxy may have answered. Check the base URL.",
  ANSWER_TOO_LARGE: "Use a smaller limit.",
  REDIRECTED: "Set the base URL to where the API is.",
  CONFIGURATION_INVALID: "Set it where the client is made.",
  STATE_NOT_REACHED: "Read details.status.",
  UNAUTHORIZED: "Check the client_id.",
  CLIENT_NOT_FOUND: "Check the client_id.",
  SIGNATURE_INVALID: "Check the secret. In the sandbox, sandbox.requests.doctor(requestId) says what differs.",
  TIMESTAMP_OUT_OF_WINDOW: "Set the clock by NTP.",
  FORBIDDEN: "Use a key with the scope, or add it in the portal.",
  ENVIRONMENT_MISMATCH: "Use the key of the object's environment.",
  REFERENCE_ID_DUPLICATE: "Read the payment of details.reference, or use another reference_id.",
  IDEMPOTENCY_CONFLICT: "Use a new key for a new intent.",
  PAYMENT_EXPIRED: "Create a new payment.",
  RISK_REVIEW: "It has not failed: a person decides. Wait for the webhook.",
  RISK_REJECTED: "Offer another method.",
  GATEWAY_TIMEOUT: "Wait for the webhook, or call again with the same idempotency key.",
};

function adviceOf({ code, idempotencyKey, outcomeUnknown }: ErrorFacts, retryable: boolean): string {
  const again = retryable ? "Try again later" : "Once its cause is gone, call again";
  // A read has no key.
  const how = idempotencyKey ? ` with ${retryable || outcomeUnknown ? "the same" : "a new"} idempotency key.` : ".";
  if (code === "ABORTED")
    return outcomeUnknown ? "What was sent may have been done: look it up." : "Nothing was changed.";
  return advices[code] ?? (outcomeUnknown ? "It may have been done. " : "") + again + how;
}

export interface ErrorFacts {
  code: ErrorCode;
  message: string;
  status?: number | undefined;
  requestId?: string | undefined;
  details?: Record<string, unknown> | undefined;
  /** Whether the call may have taken effect although no answer confirmed it. */
  outcomeUnknown?: boolean;
  idempotencyKey?: string | undefined;
  attempts?: number;
  cause?: unknown;
}

/** Every error of this client. It never holds a secret, a signature or a body that was sent. */
export class GerbangError extends Error {
  /** The code to branch on. */
  readonly code: ErrorCode;
  /** HTTP status; undefined when no answer came. */
  readonly status: number | undefined;
  /** Quote this id to support. */
  readonly requestId: string | undefined;
  readonly details: Record<string, unknown> | undefined;
  /** Whether the same call with the same idempotency key may succeed later. */
  readonly retryable: boolean;
  /** One sentence that says what to do. */
  readonly advice: string;
  /** True for a write that no answer confirmed or denied: never treat it as failed. */
  readonly outcomeUnknown: boolean;
  /** The idempotency key that the call carried. */
  readonly idempotencyKey: string | undefined;
  /** Number of attempts that were sent. */
  readonly attempts: number;

  constructor(facts: ErrorFacts) {
    super(facts.message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = "GerbangError";
    this.code = facts.code;
    this.status = facts.status;
    this.requestId = facts.requestId;
    this.details = facts.details;
    this.retryable = isRetryable(facts.code, facts.status);
    this.advice = adviceOf(facts, this.retryable);
    this.outcomeUnknown = facts.outcomeUnknown ?? false;
    this.idempotencyKey = facts.idempotencyKey;
    this.attempts = facts.attempts ?? 0;
  }

  /** Whether the error has this code; narrows the type of `details`. */
  is<Code extends ErrorCode>(code: Code): this is GerbangError & { code: Code; details: DetailsOf<Code> } {
    return this.code === code;
  }
}
