// Goal: only what Xendit's documentation calls a no is one. Method: each line of the table once more, by hand, and what must not be in it.
import { expect, test } from "vitest";
import { type CallKind, isWorthALook, refusalOf, refusals } from "./errors.ts";

const lines = `
payment 400 INVALID_VALUE_ERROR no
payment 400 API_VALIDATION_ERROR no
payment 400 CARD_EXPIRED no
payment 400 INVALID_PAYMENT_DETAILS no
payment 400 INVALID_TOKEN no
payment 400 PAYMENT_REQUEST_RATE_LIMITED later
payment 403 SKIP_3DS_FORBIDDEN no
payment 403 INVALID_MERCHANT_SETTINGS no
payment 403 ACCOUNT_ACCESS_BLOCKED no
payment 503 CHANNEL_UNAVAILABLE later
payment 503 ISSUER_UNAVAILABLE later
payment 401 INVALID_API_KEY later
payment 429 RATE_LIMIT_EXCEEDED later
card-page 400 API_VALIDATION_ERROR no
card-page 400 INVALID_AMOUNT no
card-page 400 INVALID_PAYMENT_CHANNEL no
card-page 400 INVALID_PRIMARY_PAYMENT_CHANNEL no
card-page 400 INVALID_METADATA no
card-page 400 INVALID_ITEM_METADATA no
card-page 400 INVALID_CURRENCY no
card-page 400 INVALID_COUNTRY no
card-page 400 INVALID_CUSTOMER_ID no
card-page 400 INVALID_URL no
card-page 400 MISSING_CUSTOMER no
card-page 400 DISALLOWED_CAPTURE_METHOD no
card-page 400 INVALID_EXPIRY_DATE no
card-page 400 ITEMS_NOT_SUPPORTED no
card-page 400 SESSION_TYPE_NOT_SUPPORTED no
card-page 400 MODE_NOT_SUPPORTED no
card-page 401 INVALID_API_KEY later
card-page 429 RATE_LIMIT_EXCEEDED later
refund 400 INVALID_VALUE_ERROR no
refund 400 API_VALIDATION_ERROR no
refund 400 INSUFFICIENT_BALANCE no
refund 400 TEMPORARILY_UNAVAILABLE later
refund 400 REFUND_AMOUNT_EXCEEDED look
refund 400 INELIGIBLE_TRANSACTION_STATUS look
refund 400 PARTIAL_REFUND_COUNTS_EXCEEDED look
refund 403 SKIP_3DS_FORBIDDEN no
refund 403 INVALID_MERCHANT_SETTINGS no
refund 403 REFUND_NOT_SUPPORTED no
refund 403 PARTIAL_REFUND_NOT_SUPPORTED no
refund 404 DATA_NOT_FOUND no
refund 401 INVALID_API_KEY later
refund 429 RATE_LIMIT_EXCEEDED later
end-of-a-payment 400 API_VALIDATION_ERROR look
end-of-a-payment 400 INELIGIBLE_TRANSACTION_STATUS look
`
  .trim()
  .split("\n")
  .map((line) => line.split(" "));

test.for(lines)("%s, %s %s: %s", ([call = "", status = "", code = "", meaning]) => {
  const line = refusalOf(call.replaceAll("-", " ") as CallKind, Number(status), code);
  expect(line).toMatchObject({ unavailable: meaning === "later", lookFirst: meaning === "look" });
});

test("the table has these lines and no others, each once", () => {
  const named = refusals.map(({ call, status, code }) => `${call.replaceAll(" ", "-")} ${status} ${code}`);
  expect(named.toSorted()).toEqual(lines.map((line) => line.slice(0, 3).join(" ")).toSorted());
});

test.for<[CallKind, number, unknown]>([
  ["payment", 500, "SERVER_ERROR"],
  ["payment", 409, "DUPLICATE_ERROR"],
  // The page names the code of a duplicate so.
  ["payment", 409, "DATA_NOT_FOUND"],
  ["payment", 400, "SOMETHING_NEW"],
  ["payment", 400, undefined],
  ["payment", 502, "CHANNEL_UNAVAILABLE"],
  ["card page", 500, "SERVER_ERROR"],
  ["refund", 400, "REFUND_IN_PROGRESS"],
  ["refund", 409, "IDEMPOTENCY_ERROR"],
  ["refund", 503, "CHANNEL_UNAVAILABLE"],
  ["refund", 500, "SERVER_ERROR"],
  ["refund", 200, "DATA_NOT_FOUND"],
  ["end of a payment", 400, "INACTIVE_PAYMENT_REQUEST"],
  ["end of a payment", 400, "TEMPORARILY_UNAVAILABLE"],
  ["end of a payment", 404, "DATA_NOT_FOUND"],
  ["end of a payment", 401, "INVALID_API_KEY"],
  ["end of a payment", 429, "RATE_LIMIT_EXCEEDED"],
  ["end of a payment", 503, "CHANNEL_UNAVAILABLE"],
])("%s, %s %s is unknown", ([call, status, code]) => {
  expect(refusalOf(call, status, code)).toBe(undefined);
});

test.for([
  [400, true],
  [403, true],
  [404, true],
  [409, true],
  [200, false],
  [307, false],
  // The key, and too many requests: nothing was read of the payment.
  [401, false],
  [429, false],
  [500, false],
  [503, false],
] as const)("after %i to an end the payment is looked at once more: %s", ([status, expected]) => {
  expect(isWorthALook(status)).toBe(expected);
});
