// Goal: pages take no refusal for what became of an earlier try. Method: the service's refusals by status and code.
import { expect, test } from "vitest";
import { errorOf } from "./error.ts";

const answered = (status: number, code?: string) =>
  errorOf({ status, headers: new Headers() }, code === undefined ? "<html>" : { error: { code, message: "No." } });

test.each([
  [401, "UNAUTHORIZED"],
  [403, "FORBIDDEN"],
  [403, "MERCHANT_SUSPENDED"],
  [403, "PROOF_REQUIRED"],
  [403, "SECOND_FACTOR_REQUIRED"],
  [429, "RATE_LIMITED"],
  [404, undefined],
])("%i %s came before anybody looked for the key", (status, code) => {
  expect(answered(status, code)).toMatchObject({ isBeforeKey: true, isOutcomeUnknown: false });
});

test.each([
  [403, "WALLET_FROZEN"],
  [409, "REFERENCE_ID_DUPLICATE"],
  [422, "REFUND_EXCEEDS_PAYMENT"],
])("%i %s is the answer to what was asked", (status, code) => {
  expect(answered(status, code)).toMatchObject({ isBeforeKey: false, isOutcomeUnknown: false });
});

test.each([
  [409, "IDEMPOTENCY_IN_PROGRESS"],
  [504, "GATEWAY_TIMEOUT"],
  [502, undefined],
])("after %i %s it may have been done", (status, code) => {
  expect(answered(status, code).isOutcomeUnknown).toBe(true);
});
