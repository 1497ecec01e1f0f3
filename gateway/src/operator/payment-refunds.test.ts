// Goal: a refund by the operator is the merchant's own refund in all but who asks for it: once, within the payment, in the books, told. Method:
// the same key again and at once, races between the operator and the merchant, every refusal, and the ledger replayed at the end.
import { createHash } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Client } from "../../../e2e/kit/client.ts";
import { type TestService, asOwner, paymentBody, startService } from "../../test/kit.ts";
import { type OperatorAsk, VIEWER_TOKEN, operatorCaller, outcomeOf } from "../../test/operator.ts";
import { uuidOf } from "../ground/ids.ts";
import { operatorPaymentEndpoints } from "./payments.routes.ts";

let service: TestService;
const ask = operatorCaller(() => service, operatorPaymentEndpoints({} as never));
beforeAll(async () => {
  service = await startService({ config: { operatorViewerToken: VIEWER_TOKEN } });
});
afterAll(() => service.stop());

const AMOUNT = 1_000_000;
let keys = 0;
const newKey = (): string => `operator-key-${++keys}`;

/** A merchant with a paid payment, and money of others so that funds are not what limits a refund. */
async function sold(): Promise<{ client: Client; merchantId: string; reference: string }> {
  const { client, merchantId } = await service.merchant();
  const reference = await paid(client);
  await paid(client);
  return { client, merchantId, reference };
}

async function paid(client: Client): Promise<string> {
  const { reference } = (await client.post("/v1/payments", paymentBody({ amount_minor: AMOUNT }))).json;
  await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  return reference as string;
}

const refund = (reference: string, body: unknown, how: OperatorAsk = {}) =>
  ask("POST", `/payments/${reference}/refunds`, { key: newKey(), body, ...how });

async function expectClean(merchantId: string): Promise<void> {
  const report = await service.askOperator(`/merchants/${merchantId}/books/sandbox/verify`);
  expect(report.json).toMatchObject({ clean: true });
}

test("it is the merchant's refund: in the payment, in the books, in an event, with its reason; and the audit says who", async () => {
  const { client, merchantId, reference } = await sold();
  const { status, json } = await refund(reference, { amount_minor: 400_000, reason: "Paid twice" });
  expect([status, json.status, json.remaining_refundable_minor, json.reason, json.merchant_id]).toEqual([
    201,
    "succeeded",
    600_000,
    "Paid twice",
    merchantId,
  ]);
  expect((await client.get(`/v1/refunds/${json.uuid}`)).json).toMatchObject({ amount_minor: 400_000 });
  expect((await client.get(`/v1/payments/${reference}`)).json).toMatchObject({
    status: "partially_refunded",
    refunded_minor: 400_000,
  });
  const { data: events } = (await client.get("/v1/events?type=refund.succeeded")).json;
  expect(events).toMatchObject([{ data: { uuid: json.uuid } }]);
  const { data: audit } = (await service.askOperator(`/audit?merchant_id=${merchantId}`)).json;
  expect(audit[0]).toMatchObject({
    role: "admin",
    path: `/ops/v1/payments/${reference}/refunds`,
    status: 201,
    body: { amount_minor: 400_000, reason: "Paid twice" },
  });
  await expectClean(merchantId);
});

test("a merchant cannot take the key of a refund by the operator, whatever is guessed of it", async () => {
  const { client, reference } = await sold();
  const key = "refund-order-1042";
  const digest = createHash("sha256").update(key).digest("hex");
  for (const guess of [key, `operator.${digest}`])
    expect((await client.post("/v1/payments", paymentBody(), { key: guess })).status).toBe(201);
  // As bytes of Latin-1, which is what a header may carry.
  const refused = await client.post("/v1/payments", paymentBody(), { key: `operator·${digest}` });
  expect(refused.json.error.code).toBe("IDEMPOTENCY_KEY_INVALID");
  expect((await refund(reference, { amount_minor: 1, reason: "a" }, { key })).status).toBe(201);
});

test("without an amount all that is left goes back", async () => {
  const { merchantId, reference } = await sold();
  await refund(reference, { amount_minor: 1, reason: "a" });
  expect((await refund(reference, { reason: "b" })).json).toMatchObject({
    amount_minor: AMOUNT - 1,
    remaining_refundable_minor: 0,
  });
  expect(outcomeOf(await refund(reference, { reason: "c" }))).toBe("422 REFUND_EXCEEDS_PAYMENT");
  await expectClean(merchantId);
});

test("the same key does it once, one after the other and at the same time, and with another body or payment it is a conflict", async () => {
  const { client, merchantId, reference } = await sold();
  const [key, body] = [newKey(), { amount_minor: 100_000, reason: "once" }];
  const first = await refund(reference, body, { key });
  const again = await refund(reference, body, { key });
  expect([again.status, again.headers.get("x-idempotent-replay"), again.text]).toEqual([200, "true", first.text]);
  const together = newKey();
  const answers = await Promise.all(Array.from({ length: 8 }, () => refund(reference, body, { key: together })));
  expect(new Set(answers.filter(({ status }) => status < 300).map(({ json }) => json.uuid)).size).toBe(1);
  for (const answer of answers) expect(["200", "201", "409 IDEMPOTENCY_IN_PROGRESS"]).toContain(outcomeOf(answer));
  expect((await client.get(`/v1/refunds?payment_reference=${reference}`)).json.data).toHaveLength(2);
  expect(outcomeOf(await refund(reference, { ...body, amount_minor: 7 }, { key }))).toBe("409 IDEMPOTENCY_CONFLICT");
  const elsewhere = await paid(client);
  expect(outcomeOf(await refund(elsewhere, body, { key }))).toBe("409 IDEMPOTENCY_CONFLICT");
  await expectClean(merchantId);
});

test("a refusal is kept under its key, and answered again", async () => {
  const { reference } = await sold();
  const [key, body] = [newKey(), { amount_minor: AMOUNT + 1, reason: "too much" }];
  expect(outcomeOf(await refund(reference, body, { key }))).toBe("422 REFUND_EXCEEDS_PAYMENT");
  const again = await refund(reference, body, { key });
  expect([outcomeOf(again), again.headers.get("x-idempotent-replay")]).toEqual(["422 REFUND_EXCEEDS_PAYMENT", "true"]);
});

test("a key of the operator's is none of the merchant's, though they are the same text", async () => {
  const { client, reference } = await sold();
  const key = newKey();
  const body = { amount_minor: 5, reason: "mine" };
  expect(outcomeOf(await refund(reference, body, { key }))).toBe("201");
  const own = await client.post("/v1/refunds", { payment_reference: reference, amount_minor: 6 }, { key });
  expect([own.status, own.json.amount_minor]).toEqual([201, 6]);
});

test("operator and merchant at once never give back more than was paid", async () => {
  const { client, merchantId, reference } = await sold();
  const part = 300_000;
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, n) =>
      n % 2 === 0
        ? refund(reference, { amount_minor: part, reason: "race" })
        : client.post("/v1/refunds", { payment_reference: reference, amount_minor: part }),
    ),
  );
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
  for (const answer of answers.filter(({ status }) => status !== 201))
    expect(outcomeOf(answer)).toBe("422 REFUND_EXCEEDS_PAYMENT");
  expect((await client.get(`/v1/payments/${reference}`)).json.refunded_minor).toBe(3 * part);
  await expectClean(merchantId);
});

test.each<[string, unknown, OperatorAsk, string]>([
  ["without a key", { reason: "x" }, { key: undefined as never }, "422 IDEMPOTENCY_KEY_REQUIRED"],
  ["with a short key", { reason: "x" }, { key: "short" }, "422 IDEMPOTENCY_KEY_INVALID"],
  ["without a body", undefined, {}, "400 MALFORMED_JSON"],
  ["without a reason", { amount_minor: 1 }, {}, "422 VALIDATION_ERROR reason"],
  ["with an empty reason", { reason: "" }, {}, "422 VALIDATION_ERROR reason"],
  ["with a long reason", { reason: "x".repeat(256) }, {}, "422 VALIDATION_ERROR reason"],
  ["of nothing", { amount_minor: 0, reason: "x" }, {}, "422 INVALID_AMOUNT amount_minor"],
  ["of text", { amount_minor: "1", reason: "x" }, {}, "422 INVALID_AMOUNT amount_minor"],
  ["in another currency", { currency: "USD", reason: "x" }, {}, "422 CURRENCY_MISMATCH"],
  ["with a field nobody knows", { reason: "x", notify: false }, {}, "422 VALIDATION_ERROR notify"],
  ["that is not JSON", "{", {}, "400 MALFORMED_JSON"],
  ["by a viewer", { reason: "x" }, { token: VIEWER_TOKEN }, "403 FORBIDDEN"],
  ["by nobody", { reason: "x" }, { token: "op_nobody" }, "401 UNAUTHORIZED"],
])("a refund %s is refused, and moves nothing", async (_what, body, how, expected) => {
  const { client, reference } = await sold();
  expect(outcomeOf(await refund(reference, body, how))).toBe(expected);
  expect((await client.get(`/v1/payments/${reference}`)).json.refunded_minor).toBe(0);
});

test("what limits the merchant limits the operator: state, funds, a frozen wallet, a running dispute", async () => {
  const { client, merchantId, reference } = await sold();
  const pending = (await client.post("/v1/payments", paymentBody())).json.reference as string;
  expect(outcomeOf(await refund(pending, { reason: "x" }))).toBe("409 PAYMENT_NOT_REFUNDABLE");
  expect(outcomeOf(await refund(`pay_${"0".repeat(26)}`, { reason: "x" }))).toBe("404 PAYMENT_NOT_FOUND");
  await service.operate("PATCH", `/merchants/${merchantId}`, { wallet_frozen: { IDR: true } });
  expect(outcomeOf(await refund(reference, { reason: "x" }))).toBe("403 WALLET_FROZEN");
  await service.operate("PATCH", `/merchants/${merchantId}`, { wallet_frozen: { IDR: false } });
  await client.post(`/v1/sandbox/payments/${reference}/dispute`, { reason: "general" });
  expect(outcomeOf(await refund(reference, { reason: "x" }))).toBe("409 PAYMENT_NOT_REFUNDABLE");
  const poor = await service.merchant();
  const only = await paid(poor.client);
  // Its fee is not given back: the merchant owns less than the payment.
  expect(outcomeOf(await refund(only, { reason: "x" }))).toBe("422 INSUFFICIENT_FUNDS");
});

test("nobody can rewrite why money went back", async () => {
  const { reference } = await sold();
  const { uuid } = (await refund(reference, { amount_minor: 1, reason: "as it was" })).json;
  await asOwner(service.database, async (owner) => {
    const change = "update refunds set reason = 'other' where refund_id = $1";
    await expect(owner.query(change, [uuidOf(uuid as string)])).rejects.toThrow(/cannot change/);
  });
});
