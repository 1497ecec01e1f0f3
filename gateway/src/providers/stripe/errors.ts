// The errors that Stripe's documentation calls a definite refusal. Any other error leaves the outcome unknown. Pure. Documentation:
// docs.stripe.com/error-low-level (status codes, what is kept under an idempotency key), /error-codes, /api/errors.
import { z } from "zod";
import { printable } from "../../acquirers/remote-http.ts";

/**
 * A definite refusal. `gate`: Stripe refused before it looked at the idempotency key, so the refusal tells nothing about an earlier request with
 * the same key. `content`: Stripe refuses this request, whenever it comes.
 */
interface Refusal {
  about: "gate" | "content";
  /** True when Stripe takes nothing at all now. */
  unavailable: boolean;
  /** Type, code and parameter, for a log: Stripe's message may quote data that must not be in one. */
  reason: string;
}

interface Row extends Omit<Refusal, "reason"> {
  status: number;
  type: string | undefined;
  codes: readonly (string | undefined)[];
}

/** Wrong or missing parameters: the page of codes says of each that the request has to be changed. */
const parameters = [
  undefined,
  "amount_too_large",
  "amount_too_small",
  "invalid_charge_amount",
  "livemode_mismatch",
  "parameter_invalid_empty",
  "parameter_invalid_integer",
  "parameter_invalid_string_blank",
  "parameter_invalid_string_empty",
  "parameter_missing",
  "parameter_unknown",
  "parameters_exclusive",
  "url_invalid",
] as const;
/** The account may not do this. */
const account = [
  "account_invalid",
  "capability_not_active",
  "country_unsupported",
  "payment_method_unactivated",
  "testmode_charges_only",
] as const;
/** The payment no longer allows a refund, or the balance is too low. */
const refunds = [
  "balance_insufficient",
  "charge_already_refunded",
  "charge_disputed",
  "charge_not_refundable",
  "payment_intent_unexpected_state",
  "refund_disputed_payment",
] as const;

export const refusals: readonly Row[] = [
  { status: 401, type: undefined, codes: ["any"], about: "gate", unavailable: true },
  { status: 403, type: undefined, codes: ["any"], about: "gate", unavailable: true },
  { status: 429, type: undefined, codes: ["any"], about: "gate", unavailable: true },
  {
    status: 400,
    type: "invalid_request_error",
    codes: ["api_key_expired", "platform_api_key_expired", "secret_key_required"],
    about: "gate",
    unavailable: true,
  },
  { status: 400, type: "invalid_request_error", codes: parameters, about: "content", unavailable: false },
  { status: 400, type: "invalid_request_error", codes: account, about: "content", unavailable: false },
  { status: 400, type: "invalid_request_error", codes: refunds, about: "content", unavailable: false },
  {
    status: 400,
    type: "invalid_request_error",
    codes: ["resource_missing", "dispute_evidence_page_limit_exceeded"],
    about: "content",
    unavailable: false,
  },
  { status: 402, type: "card_error", codes: ["any"], about: "content", unavailable: false },
  { status: 404, type: "invalid_request_error", codes: ["resource_missing"], about: "content", unavailable: false },
];

const errorSchema = z.object({
  error: z.object({
    type: z.string(),
    code: z.string().nullish(),
    param: z.string().nullish(),
  }),
});
type StripeError = z.infer<typeof errorSchema>["error"];

/** The definite refusal in a response; undefined when it is none. */
export function refusalOf(status: number, body: Record<string, unknown> | undefined): Refusal | undefined {
  const error = errorOf(body);
  if (error === undefined) return undefined;
  const code = error.code ?? undefined;
  const row = refusals.find(
    (row) =>
      row.status === status &&
      (row.type === undefined || row.type === error.type) &&
      (row.codes.includes("any") || row.codes.includes(code)),
  );
  return row && { about: row.about, unavailable: row.unavailable, reason: nameOf(error) };
}

/** True when the idempotency key was used before with other parameters: an object exists under those. */
export function isOtherParameters(status: number, body: Record<string, unknown> | undefined): boolean {
  return status === 400 && errorOf(body)?.type === "idempotency_error";
}

/** True when the end of the page's time is the only fault. */
export function isAboutExpiry(status: number, body: Record<string, unknown> | undefined): boolean {
  const error = errorOf(body);
  return status === 400 && error?.type === "invalid_request_error" && error.param === "expires_at";
}

/**
 * Whether an error in response to closing a page calls for an inquiry: the page may have expired before, or was paid meanwhile. Documentation:
 * docs.stripe.com/api/checkout/sessions/expire, which names no code of such an error.
 */
export function isWorthALook(status: number, body: Record<string, unknown> | undefined): boolean {
  return (status === 400 || status === 404) && refusalOf(status, body)?.about !== "gate";
}

/** Describes an error response for a log. */
export function reasonOf(status: number, body: Record<string, unknown> | undefined): string {
  const error = errorOf(body);
  return error === undefined ? `status ${status}` : `status ${status}, ${nameOf(error)}`;
}

function errorOf(body: Record<string, unknown> | undefined): StripeError | undefined {
  return errorSchema.safeParse(body).data?.error;
}

function nameOf({ type, code, param }: StripeError): string {
  const parts = [type, code, param === null || param === undefined ? undefined : `(${param})`];
  return printable(parts.filter((part) => typeof part === "string").join(" "));
}
