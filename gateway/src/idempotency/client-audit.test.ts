// Goal: whatever a key changes is on record with the key, once, and nobody can take it back. Method: a real service and its table.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Client } from "../../../e2e/kit/client.ts";
import { OPERATOR_TOKEN, type TestService, asOwner, paymentBody, startService } from "../../test/kit.ts";
import { joins } from "../../test/portal.ts";

let service: TestService;
let client: Client;
let merchantId: string;

beforeAll(async () => {
  service = await startService();
  ({ client, merchantId } = await service.merchant());
});
afterAll(() => service.stop());

/** Runs `work`, and gives what the audit has more after it, oldest first. */
async function recordedBy(work: () => Promise<unknown>): Promise<Record<string, unknown>[]> {
  const rows = (): Promise<Record<string, unknown>[]> =>
    asOwner(service.database, async (owner) => {
      const { rows: all } = await owner.query("select * from client_audit order by request_id");
      return all as Record<string, unknown>[];
    });
  const before = (await rows()).length;
  await work();
  return (await rows()).slice(before);
}

async function paid(): Promise<string> {
  const { reference } = (await client.post("/v1/payments", paymentBody())).json;
  await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  return reference as string;
}

const about = (rows: Record<string, unknown>[]): unknown[] =>
  rows.map(({ action, subject, status }) => [action, subject, status]);

test("a change is recorded with its key, its address, its object and its time", async () => {
  const from = Date.now();
  let reference = "";
  const [row, ...others] = await recordedBy(async () => {
    ({ reference } = (await client.post("/v1/payments", paymentBody())).json);
  });
  expect(others).toEqual([]);
  const { client_id: clientId } = client.credentials;
  expect(row).toMatchObject({ client_id: clientId, address: "127.0.0.1", action: "create_payment", status: "pending" });
  expect(row?.subject).toBe(reference);
  const at = Number(row?.at);
  expect(at).toBeGreaterThanOrEqual(from - 1);
  expect(at).toBeLessThanOrEqual(Date.now());
});

test("each kind of change names what it changed", async () => {
  const reference = await paid();
  const uuids: string[] = [];
  const rows = await recordedBy(async () => {
    const refund = await client.post("/v1/refunds", { payment_reference: reference, amount_minor: 10_000 });
    const link = await client.post("/v1/payment-links", { currency: "IDR", reusable: true });
    const dispute = await client.post(`/v1/sandbox/payments/${reference}/dispute`, { reason: "general" });
    await client.post("/v1/sandbox/clock/advance", { seconds: 1 });
    uuids.push(...[refund, link, dispute].map(({ json }) => json.uuid as string));
  });
  expect(about(rows)).toEqual([
    ["create_refund", uuids[0], "succeeded"],
    ["create_payment_link", uuids[1], "active"],
    ["open_dispute", uuids[2], "needs_response"],
    ["advance_sandbox_clock", "", null],
  ]);
});

test("a repeated request is recorded once, and one that changed nothing not at all", async () => {
  const body = paymentBody();
  const rows = await recordedBy(async () => {
    const key = randomUUID();
    const first = await client.post("/v1/payments", body, { key });
    const again = await client.post("/v1/payments", body, { key });
    expect([first.status, again.status]).toEqual([201, 200]);
    const statuses = [
      client.post("/v1/payments", body), // its reference_id is taken
      client.post("/v1/payments", paymentBody({ amount_minor: 0 })),
      client.post("/v1/refunds", { payment_reference: first.json.reference }), // it is not paid
      client.get("/v1/payments"),
    ].map(async (one) => (await one).status);
    expect(await Promise.all(statuses)).toEqual([409, 422, 409, 200]);
  });
  expect(rows).toHaveLength(1);
});

test("a refusal that keeps its payment is recorded with that payment", async () => {
  const rejected = paymentBody({ customer: { email: "a@reject.test" } });
  const reviewed = paymentBody({ customer: { email: "a@review.test" } });
  const references: string[] = [];
  const rows = await recordedBy(async () => {
    for (const body of [rejected, reviewed])
      references.push((await client.post("/v1/payments", body)).json.error.details.reference as string);
  });
  expect(about(rows)).toEqual([
    ["create_payment", references[0], null],
    ["create_payment", references[1], "pending"],
  ]);
});

test("a payment that an acquirer must be asked about is recorded before the acquirer answers", async () => {
  const late = paymentBody({ metadata: { "sandbox.scenario": "gateway_error" } });
  const rows = await recordedBy(async () => expect((await client.post("/v1/payments", late)).status).toBe(502));
  expect(about(rows)).toEqual([["create_payment", expect.stringMatching(/^pay_/), "pending"]]);
});

test("what only computes something is no change", async () => {
  const pasted = { headers: { "x-svc-signature": "00" }, body: "{}" };
  const rows = await recordedBy(async () =>
    expect((await client.post("/v1/sandbox/webhook/doctor", pasted)).status).toBe(200),
  );
  expect(rows).toEqual([]);
});

test("what persons and operators change is in their own audits, not here", async () => {
  const reference = await paid();
  const owner = await joins(service, merchantId);
  const rows = await recordedBy(async () => {
    expect((await owner.post("/portal/v1/payments", paymentBody())).status).toBe(201);
    const refunded = await fetch(`${service.operatorOrigin}/ops/v1/payments/${reference}/refunds`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${OPERATOR_TOKEN}`,
        "content-type": "application/json",
        "idempotency-key": randomUUID(),
      },
      body: JSON.stringify({ amount_minor: 10_000, reason: "Paid twice" }),
    });
    expect(refunded.status).toBe(201);
  });
  expect(rows).toEqual([]);
});

test("nobody changes the record, the service least of all", async () => {
  await paid();
  const attacks = ["update client_audit set client_id = 'x'", "delete from client_audit", "truncate client_audit"];
  await asOwner(service.database, async (owner) => {
    for (const attack of attacks) await expect(owner.query(attack), attack).rejects.toThrow(/append-only/);
  });
  for (const text of attacks)
    await expect(service.app.database.query({ text, values: [] }), text).rejects.toThrow(/permission denied/);
});
