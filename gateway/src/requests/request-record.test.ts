// Goal: what is kept of a request's address holds nothing that the log must not have. Method: a table.
import { expect, test } from "vitest";
import { newId } from "../ground/ids.ts";
import { type Answered, recordOf } from "./request-record.ts";

const empty = { size: 0, bytes: undefined };
const answered = (target: string): Answered => ({
  requestId: newId("request", 1_796_140_800_000_000),
  book: { merchantId: newId("merchant", 1_796_140_800_000_000), environment: "sandbox" },
  clientId: "ak_test_1",
  isProven: true,
  method: "GET",
  target,
  status: 404,
  tookMs: 1,
  replayed: false,
  idempotencyKey: undefined,
  request: empty,
  response: empty,
});

test.each([
  ["/v1/payments/pay_01?limit=5", "/v1/payments/pay_01", "limit=5"],
  ["/v1/payments/ayu%40toko.example/x%2Fy", "/v1/payments/[redacted]/x%2Fy", undefined],
  ["/v1/payments/4111%201111%201111%201111?q=+6281234567890", "/v1/payments/[redacted]", "q=[redacted]"],
])("of %s", (target, path, query) => {
  expect(recordOf(answered(target))).toMatchObject({ path, query });
});
