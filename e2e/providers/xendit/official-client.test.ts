// Goal: Xendit's published client takes our fake for Xendit, and we write refunds as it writes them. Method: the client against the fake,
// with a payment that was opened by a request of ours. The client knows payment requests only as they were before versions: docs of the
// connector say where they differ.
import { afterAll, beforeAll, expect, test } from "vitest";
import { Refund } from "xendit-node";
import { type XenditRequest, openingOf, refundOf } from "../../../gateway/src/providers/xendit/requests.ts";
import { authorization } from "../../../gateway/src/providers/xendit/signature.ts";
import { opening, refunding } from "../../../gateway/test/xendit-fixtures.ts";
import type { Fake } from "../fake.ts";
import { xenditFake } from "./fake.ts";

const secretKey = "xnd_development_P4qDfOss0OCpl8RtKrROHjaQYNCk9dN5lSfk";
let fake: Fake;
let client: Refund;
let number = 0;
const reason = "REQUESTED_BY_CUSTOMER" as const;

beforeAll(async () => {
  fake = await xenditFake({ secretKey, callbackToken: "a token" });
  client = new Refund({ secretKey, xenditURL: fake.url });
});
afterAll(() => fake.close());

/** Sends a request of ours. */
async function send({ method, path, headers, body }: XenditRequest): Promise<Record<string, unknown>> {
  const answer = await fetch(fake.url + path, {
    method,
    headers: { ...headers, authorization: authorization(secretKey), "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return (await answer.json()) as Record<string, unknown>;
}

async function paid(): Promise<{ key: string; id: string }> {
  const key = `pay${++number}.s1`;
  const expiresAt = (Date.now() + 3_600_000) * 1_000;
  const answer = await send(openingOf(opening({ operationKey: key, expiresAt }), undefined, { qrisExpiry: true }));
  await fake.control.pay(key);
  return { key, id: String(answer.payment_request_id) };
}

test("the client refunds what we opened, finds its refund again, and repeats it under its key", async () => {
  const { id } = await paid();
  const data = {
    paymentRequestId: id,
    referenceId: "rfd1.s1",
    amount: 4_000,
    currency: "IDR",
    reason,
  };
  const made = await client.createRefund({ idempotencyKey: "rfd1.s1", data });
  expect(made).toMatchObject({
    paymentRequestId: id,
    referenceId: "rfd1.s1",
    amount: 4_000,
    currency: "IDR",
    channelCode: "QRIS",
  });
  expect(await client.createRefund({ idempotencyKey: "rfd1.s1", data })).toEqual(made);
  expect(await client.getRefund({ refundID: String(made.id) })).toEqual(made);
  expect(await client.getAllRefunds({ paymentRequestId: id })).toEqual({ data: [made], hasMore: false });
  expect(fake.control.refunded("rfd1.s1")).toBe(1);
});

test("a refund of ours is the client's own, to the byte: under one key it happens once, whoever sends it", async () => {
  const { id } = await paid();
  const ours = await send(refundOf(refunding({ operationKey: "rfd2.s1" }), id));
  const theirs = await client.createRefund({
    idempotencyKey: "rfd2.s1",
    data: {
      referenceId: "rfd2.s1",
      paymentRequestId: id,
      currency: "IDR",
      amount: 4_000,
      reason,
    },
  });
  expect(theirs.id).toBe(ours.id);
  expect(fake.control.refunded("rfd2.s1")).toBe(1);
});

test("the client reads the fake's refusals", async () => {
  const { id } = await paid();
  const data = {
    paymentRequestId: id,
    referenceId: "rfd3.s1",
    amount: 10_001,
    currency: "IDR",
    reason,
  };
  await expect(client.createRefund({ idempotencyKey: "rfd3.s1", data })).rejects.toMatchObject({
    status: 400,
    errorCode: "REFUND_AMOUNT_EXCEEDED",
  });
  await expect(client.getRefund({ refundID: "rfd-0" })).rejects.toMatchObject({
    status: 404,
    errorCode: "DATA_NOT_FOUND",
  });
  const stranger = new Refund({ secretKey: "xnd_development_revoked", xenditURL: fake.url });
  await expect(stranger.getAllRefunds({ paymentRequestId: id })).rejects.toMatchObject({
    status: 401,
    errorCode: "INVALID_API_KEY",
  });
});
