// Goal: only what is documented as a definite no frees a payment for another provider. Method: the table line by line, and all its neighbours.
import { expect, test } from "vitest";
import { isAboutExpiry, isOtherParameters, isWorthALook, reasonOf, refusalOf, refusals } from "./errors.ts";

const answer = (type: string, code?: string, param?: string) => ({
  error: {
    type,
    ...(code === undefined ? {} : { code }),
    ...(param === undefined ? {} : { param }),
    message: "Kata mereka",
  },
});
const invalid = (code?: string, param?: string) => answer("invalid_request_error", code, param);

test.each([
  [401, invalid(), "gate unavailable"],
  [403, invalid("more_permissions_required"), "gate unavailable"],
  [429, invalid("rate_limit"), "gate unavailable"],
  [429, invalid("lock_timeout"), "gate unavailable"],
  [400, invalid("api_key_expired"), "gate unavailable"],
  [400, invalid("platform_api_key_expired"), "gate unavailable"],
  [400, invalid("secret_key_required"), "gate unavailable"],
  [400, invalid(), "content"],
  [400, invalid("amount_too_large", "amount"), "content"],
  [400, invalid("amount_too_small"), "content"],
  [400, invalid("invalid_charge_amount"), "content"],
  [400, invalid("livemode_mismatch"), "content"],
  [400, invalid("parameter_invalid_empty"), "content"],
  [400, invalid("parameter_invalid_integer"), "content"],
  [400, invalid("parameter_invalid_string_blank"), "content"],
  [400, invalid("parameter_invalid_string_empty"), "content"],
  [400, invalid("parameter_missing"), "content"],
  [400, invalid("parameter_unknown"), "content"],
  [400, invalid("parameters_exclusive"), "content"],
  [400, invalid("url_invalid", "success_url"), "content"],
  [400, invalid("account_invalid"), "content"],
  [400, invalid("capability_not_active"), "content"],
  [400, invalid("country_unsupported"), "content"],
  [400, invalid("payment_method_unactivated"), "content"],
  [400, invalid("testmode_charges_only"), "content"],
  [400, invalid("balance_insufficient"), "content"],
  [400, invalid("charge_already_refunded"), "content"],
  [400, invalid("charge_disputed"), "content"],
  [400, invalid("charge_not_refundable"), "content"],
  [400, invalid("payment_intent_unexpected_state"), "content"],
  [400, invalid("refund_disputed_payment"), "content"],
  [400, invalid("resource_missing"), "content"],
  [400, invalid("dispute_evidence_page_limit_exceeded"), "content"],
  [402, answer("card_error", "card_declined"), "content"],
  [404, invalid("resource_missing", "payment_intent"), "content"],
])("%i %j is a definite no: %s", (status, body, expected) => {
  const refusal = refusalOf(status, body);
  expect(`${refusal?.about}${refusal?.unavailable === true ? " unavailable" : ""}`).toBe(expected);
});

test("the table above has every line of the code", () => {
  const lines = refusals.flatMap(({ status, codes }) => codes.map((code) => `${status} ${code}`));
  expect(new Set(lines).size).toBe(lines.length);
  expect(lines.length).toBe(34);
});

test.each([
  ["an error of theirs", 500, answer("api_error")],
  ["a no that comes with a server error", 500, invalid("parameter_missing")],
  ["a bad gateway", 502, undefined],
  ["a time-out there", 504, answer("api_error")],
  ["a request under way with the same key", 409, answer("idempotency_error", "idempotency_key_in_use")],
  ["the same key with other parameters", 400, answer("idempotency_error")],
  ["a lock at 400", 400, invalid("lock_timeout")],
  ["too many at 400", 400, invalid("rate_limit")],
  ["a key in use at 400", 400, invalid("idempotency_key_in_use")],
  ["a code that nobody has documented", 400, invalid("something_new")],
  ["a type that nobody has documented", 400, answer("something_new")],
  ["an external dependency", 424, answer("api_error")],
  ["a path that is not there", 404, invalid()],
  ["HTML at 401", 401, undefined],
  ["something else at 403", 403, { detail: "blocked by a proxy" }],
  ["a success with an error in it", 200, invalid("parameter_missing")],
  ["a redirect", 302, undefined],
  ["an empty body", 400, {}],
])("%s is not a definite no", (_name, status, body) => {
  expect(refusalOf(status, body)).toBeUndefined();
});

test("other parameters under a key, and an end of time that is not taken, are told apart", () => {
  expect(isOtherParameters(400, answer("idempotency_error"))).toBe(true);
  expect(isOtherParameters(409, answer("idempotency_error", "idempotency_key_in_use"))).toBe(false);
  expect(isOtherParameters(400, invalid())).toBe(false);
  expect(isAboutExpiry(400, invalid(undefined, "expires_at"))).toBe(true);
  expect(isAboutExpiry(400, invalid(undefined, "success_url"))).toBe(false);
  expect(isAboutExpiry(400, undefined)).toBe(false);
});

test.each([
  ["a page that is not open", 400, invalid(), true],
  ["a page that is not there", 404, invalid("resource_missing", "session"), true],
  ["an answer that cannot be read", 400, undefined, true],
  ["a key that has run out", 400, invalid("api_key_expired"), false],
  ["a key that is not taken", 401, invalid(), false],
  ["a key that may not", 403, invalid("more_permissions_required"), false],
  ["a request under way", 409, answer("idempotency_error"), false],
  ["too many requests", 429, invalid("rate_limit"), false],
  ["an error of theirs", 500, answer("api_error"), false],
  ["a success", 200, {}, false],
])("after %s to its closing a page is looked at once more", (_name, status, body, expected) => {
  expect(isWorthALook(status, body)).toBe(expected);
});

test("reasons name type, code and parameter, and never quote their message", () => {
  expect(refusalOf(400, invalid("amount_too_small", "line_items"))?.reason).toBe(
    "invalid_request_error amount_too_small (line_items)",
  );
  expect(reasonOf(500, answer("api_error"))).toBe("status 500, api_error");
  expect(reasonOf(502, undefined)).toBe("status 502");
  expect(reasonOf(400, answer("x\n\u0000y"))).toBe("status 400, x??y");
});
