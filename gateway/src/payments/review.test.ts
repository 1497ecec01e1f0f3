// Goal: a payment under review waits, and then goes on as if just created, or fails. Method: a merchant and an operator
// over real HTTP, with the sandbox's clock.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Answer, Client } from "../../../e2e/kit/client.ts";
import { type TestService, asOwner, paymentBody, startService } from "../../test/kit.ts";
import { uuidOf } from "../ground/ids.ts";

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const body = (changes: Record<string, unknown> = {}): Record<string, unknown> =>
  paymentBody({ customer: { email: "someone@review.test" }, ...changes });

async function reviewed(client: Client, changes: Record<string, unknown> = {}): Promise<string> {
  const answer = await client.post("/v1/payments", body(changes));
  expect([answer.status, answer.json.error.code, answer.json.error.details.status]).toEqual([
    202,
    "RISK_REVIEW",
    "pending",
  ]);
  return answer.json.error.details.reference as string;
}

async function eventTypes(merchantId: string): Promise<string[]> {
  const { rows } = await asOwner(service.database, (client) =>
    client.query<{ type: string }>("select type from events where merchant_id = $1 order by event_id", [
      uuidOf(merchantId),
    ]),
  );
  return rows.map(({ type }) => type);
}

const read = async (client: Client, reference: string): Promise<Answer["json"]> =>
  (await client.get(`/v1/payments/${reference}`)).json;

test("it waits without instructions or event, cannot be paid, and its 202 is replayed under the key", async () => {
  const { client, merchantId } = await service.merchant();
  const asked = body();
  const first = await client.post("/v1/payments", asked, { key: "review-once" });
  const again = await client.post("/v1/payments", asked, { key: "review-once" });
  expect([again.status, again.headers.get("x-idempotent-replay"), again.text]).toEqual([202, "true", first.text]);
  const reference = first.json.error.details.reference as string;
  expect(await read(client, reference)).toMatchObject({ status: "pending", gateway_code: null });
  const paid = await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  expect(paid.json.error.code).toBe("PAYMENT_NOT_PAYABLE");
  expect(await eventTypes(merchantId)).toEqual([]);
});

test("approved, it gets instructions, its event and a fresh expiry, and can be paid", async () => {
  const { client, merchantId } = await service.merchant();
  const reference = await reviewed(client, { expires_in: 600 });
  const queue = await service.operate("GET", "/reviews?limit=100");
  expect(queue.data.find((entry: { reference: string }) => entry.reference === reference)).toMatchObject({
    merchant_id: merchantId,
    reasons: expect.arrayContaining([expect.objectContaining({ sign: "sandbox_asked_for_review" })]),
  });
  await client.post("/v1/sandbox/clock/advance", { seconds: 3_600 });
  expect((await read(client, reference)).status).toBe("pending"); // the review's own time, not the payment's
  expect(await service.operate("POST", `/reviews/${reference}/approve`)).toMatchObject({
    reference,
    status: "pending",
  });
  await expect(service.operate("POST", `/reviews/${reference}/approve`)).rejects.toThrow(/PAYMENT_NOT_FOUND/);
  expect(await eventTypes(merchantId)).toEqual(["payment.created"]);
  expect((await read(client, reference)).gateway_code).toBe("nusantara");
  await client.post("/v1/sandbox/clock/advance", { seconds: 500 });
  const paid = await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  expect(paid.json.status).toBe("succeeded");
});

test("approved and not paid, it expires after the time that was asked for", async () => {
  const { client } = await service.merchant();
  const reference = await reviewed(client, { expires_in: 60 });
  await service.operate("POST", `/reviews/${reference}/approve`);
  await client.post("/v1/sandbox/clock/advance", { seconds: 61 });
  expect((await read(client, reference)).status).toBe("expired");
});

test("refused, canceled or forgotten, it ends", async () => {
  const { client, merchantId } = await service.merchant();
  const [refused, canceled, forgotten] = [await reviewed(client), await reviewed(client), await reviewed(client)];
  expect(await service.operate("POST", `/reviews/${refused}/refuse`)).toMatchObject({ status: "failed" });
  expect((await client.post(`/v1/payments/${canceled}/cancel`, {})).json.status).toBe("canceled");
  await client.post("/v1/sandbox/clock/advance", { seconds: 24 * 3600 + 1 });
  expect((await read(client, forgotten)).status).toBe("failed");
  expect(await eventTypes(merchantId)).toEqual(["payment.failed", "payment.canceled", "payment.failed"]);
  for (const reference of [refused, canceled, forgotten, "pay_nonsense"]) {
    await expect(service.operate("POST", `/reviews/${reference}/approve`), reference).rejects.toThrow(
      /PAYMENT_NOT_FOUND/,
    );
  }
});

test("two judgements at once have one effect", async () => {
  const { client, merchantId } = await service.merchant();
  const reference = await reviewed(client);
  const results = await Promise.allSettled(
    ["approve", "refuse", "approve", "refuse"].map((word) => service.operate("POST", `/reviews/${reference}/${word}`)),
  );
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  expect(await eventTypes(merchantId)).toHaveLength(1);
});

test("why this number: the entries behind each figure lead from the newest back to nothing", async () => {
  const { client, merchantId } = await service.merchant();
  const { json: payment } = await client.post("/v1/payments", paymentBody({ amount_minor: 1_000_000 }));
  await client.post(`/v1/sandbox/payments/${payment.reference}/simulate`, { outcome: "succeeded" });
  await client.post("/v1/refunds", { payment_reference: payment.reference, amount_minor: 100_000 });
  await client.post("/v1/sandbox/settlements/run", {});
  const list = async (query = ""): Promise<Answer["json"]> =>
    (await client.get(`/v1/balances/IDR/entries${query}`)).json;
  const { data } = await list();
  expect(data.map(({ kind, amount_minor: amount }: { kind: string; amount_minor: number }) => [kind, amount])).toEqual([
    ["settlement_formed", -(payment.net_minor - 100_000)],
    ["refund", -100_000],
    ["capture", payment.net_minor],
  ]);
  expect(data.map(({ figure_after_minor: after }: { figure_after_minor: number }) => after)).toEqual([
    0,
    payment.net_minor - 100_000,
    payment.net_minor,
  ]);
  expect((await list("?figure=pending_settlement")).data).toHaveLength(1);
  const first = await list("?limit=2");
  expect((await list(`?limit=2&starting_after=${first.next_cursor}`)).data).toEqual(data.slice(2));
  expect(await service.operate("GET", `/merchants/${merchantId}/books/sandbox/balances/IDR/entries`)).toEqual(
    await list(),
  );
  expect((await client.get("/v1/balances/rupiah/entries")).json.error.code).toBe("VALIDATION_ERROR");
  expect((await client.get("/v1/balances/IDR/entries?figure=all")).json.error.code).toBe("VALIDATION_ERROR");
});
