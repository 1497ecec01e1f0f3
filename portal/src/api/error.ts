// The one error class for pages, for errors that the service answers and for missing answers.

interface ErrorDetails {
  field?: string;
  value?: unknown;
  [name: string]: unknown;
}

/**
 * What a request was. Sent again after a lost answer, a `keyed` change takes effect once, and another `change` may do so twice. A `proof` is checked by
 * the service, and refused with 401 when it is wrong.
 */
export type Asked = "question" | "keyed" | "change" | "proof";

export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: string;
  readonly requestId: string | undefined;
  /** HTTP status; 0 when no answer came. */
  readonly status: number;
  readonly details: ErrorDetails;
  /** The seconds of Retry-After, for 429 and 503. */
  readonly retryAfterSeconds: number | undefined;
  asked: Asked = "question";

  constructor(found: {
    code: string;
    message: string;
    requestId?: string | undefined;
    status: number;
    details?: ErrorDetails | undefined;
    retryAfterSeconds?: number | undefined;
  }) {
    super(found.message);
    this.code = found.code;
    this.requestId = found.requestId;
    this.status = found.status;
    this.details = found.details ?? {};
    this.retryAfterSeconds = found.retryAfterSeconds;
  }

  /** Whether a write may have taken effect: repeat it with the same key, or look it up. */
  get isOutcomeUnknown(): boolean {
    return this.status === 0 || this.status >= 500 || this.code === "IDEMPOTENCY_IN_PROGRESS";
  }

  /** Whether the page may show what is no more: the change may have been made, or something else changed the object or the person's rights first. */
  get isOutdating(): boolean {
    if (this.isOutcomeUnknown) return true;
    return this.status >= 400 && this.status !== 401 && this.status !== 429 && this.details.field === undefined;
  }

  /** Whether the refusal came before anybody looked for the idempotency key: it tells nothing about an earlier try with that key. */
  get isBeforeKey(): boolean {
    return this.status === 401 || this.status === 429 || beforeKey.has(this.code) || this.code.startsWith("HTTP_");
  }
}

/** The other refusals in section 7 of the interface, and those of pages, that come before the idempotency record. */
const beforeKey: ReadonlySet<string> = new Set([
  "FORBIDDEN",
  "MERCHANT_SUSPENDED",
  "PROOF_REQUIRED",
  "SECOND_FACTOR_REQUIRED",
]);

/** The error for a missing answer: no network, or no service. */
export function noAnswer(): ApiError {
  return new ApiError({ code: "NO_ANSWER", message: "The service did not answer.", status: 0 });
}

interface Envelope {
  error: { code: string; message: string; request_id?: string; details?: ErrorDetails };
}

/** Reads the API's error envelope, parsed or not. Without an envelope the error came from a proxy before the service. */
export function errorOf({ status, headers }: Pick<Response, "status" | "headers">, body: unknown): ApiError {
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  const requestId = headers.get("x-request-id") ?? undefined;
  const retryAfterSeconds = Number.isFinite(seconds) ? seconds : undefined;
  const found = envelopeOf(body)?.error;
  if (found === undefined) {
    const message = `The answer (HTTP ${status}) did not come from the service.`;
    return new ApiError({ status, requestId, retryAfterSeconds, code: `HTTP_${status}`, message });
  }
  const { code, message, request_id: named = requestId, details } = found;
  return new ApiError({ status, requestId: named, retryAfterSeconds, code, message, details });
}

function envelopeOf(body: unknown): Envelope | undefined {
  try {
    const parsed: unknown = typeof body === "string" ? JSON.parse(body) : body;
    return typeof parsed === "object" && parsed !== null && "error" in parsed ? (parsed as Envelope) : undefined;
  } catch {
    return undefined;
  }
}

/** Turns anything thrown into an ApiError. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new ApiError({ code: "PAGE_ERROR", message, status: -1 });
}
