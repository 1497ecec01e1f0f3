// Goal: production stands beside the sandbox in one database and never mixes with it. Method: one merchant with both keys on
// a service that is open for production, and the same again on one that is not.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Client } from "../../../e2e/kit/client.ts";
import { type TestService, openDatabase, paymentBody, startService } from "../../test/kit.ts";
import { type ScriptedAcquirer, report, scriptedAcquirer } from "../../test/scripted-acquirer.ts";
import { readConfig } from "../ground/config.ts";
import { verifyBook } from "../ledger/verify.ts";

let service: TestService;
let bank: ScriptedAcquirer;
let live: Client;
let sandbox: Client;
let merchantId: string;

beforeAll(async () => {
  bank = scriptedAcquirer("merbabu", "production");
  const config = { ...readConfig({ NODE_ENV: "test" }), productionActive: true };
  service = await startService({ config, acquirers: [bank] });
  const { version } = await service.operate("POST", "/routing/rules", {
    rules: [
      { gateway_code: "merbabu", priority: 1, weight: 1 },
      { gateway_code: "cendana", priority: 1, weight: 1 },
    ],
  });
  await service.operate("POST", `/routing/rules/${version}/activate`);
  ({ client: live, merchantId } = await service.merchant({ environment: "production" }));
  sandbox = await service.client(merchantId, "sandbox");
});
afterAll(() => service.stop());

test("health says production only where production payments are taken", async () => {
  const environmentOf = async (of: TestService): Promise<string> =>
    ((await (await fetch(`${of.origin}/v1/health`)).json()) as { environment: string }).environment;
  expect(await environmentOf(service)).toBe("production");
  const config = { ...readConfig({ NODE_ENV: "test" }), productionActive: true };
  const bare = await startService({ config, roles: ["api"] });
  expect(await environmentOf(bare)).toBe("sandbox");
  await bare.stop();
});

test("a production payment: opened, paid, refunded and told of, without a trace in the sandbox", async () => {
  const body = paymentBody({ amount_minor: 9_000_000, metadata: { "sandbox.scenario": "gateway_error" } });
  const created = await live.post("/v1/payments", body);
  expect(created.json).toMatchObject({ status: "pending", environment: "production", gateway_code: "merbabu" });
  expect(created.status).toBe(201);
  const { reference } = created.json;
  const operationKey = bank.opened[0]?.operationKey ?? "";
  expect(operationKey).toMatch(/\.p1$/);
  const receipt = { transactionId: "live-1", amountMinor: 9_000_000n, currency: "IDR" };
  const word = { kind: "payment", operationKey, state: { status: "paid", receipt } } as const;
  // The same word for the sandbox's payment of that name, which there is none of.
  const elsewhere = { ...word, operationKey: operationKey.replace(/p1$/, "s1") };
  expect(await report(service.origin, "merbabu", elsewhere)).toBe(404);
  expect(await report(service.origin, "merbabu", word)).toBe(200);
  expect((await live.get(`/v1/payments/${reference}`)).json).toMatchObject({ status: "succeeded" });
  const refund = await live.post("/v1/refunds", { payment_reference: reference, amount_minor: 1 });
  expect([refund.status, refund.json.environment]).toEqual([201, "production"]);
  const contested = `/merchants/${merchantId}/books/production/disputes`;
  const { uuid: dispute } = await service.operate("POST", contested, {
    payment_reference: reference,
    reason: "general",
    amount_minor: 1,
  });
  for (const [path, body_] of [
    [`/v1/payments/${reference}/cancel`, {}],
    ["/v1/refunds", { payment_reference: reference }],
    [`/v1/sandbox/refunds/${refund.json.uuid}/simulate`, { outcome: "failed" }],
    [`/v1/sandbox/disputes/${dispute}/resolve`, { outcome: "won" }],
  ] as const) {
    const { status, json } = await sandbox.post(path, body_);
    expect([status, json.error.code], path).toEqual([403, "ENVIRONMENT_MISMATCH"]);
  }
  await service.operate("POST", `${contested}/${dispute}/resolve`, { outcome: "withdrawn" });
  expect((await sandbox.get(`/v1/payments/${reference}`)).json.error.code).toBe("ENVIRONMENT_MISMATCH");
  expect((await sandbox.get(`/v1/refunds/${refund.json.uuid}`)).json.error.code).toBe("ENVIRONMENT_MISMATCH");
  expect((await sandbox.get("/v1/payments")).json.data).toEqual([]);
  expect((await sandbox.get("/v1/balances")).json.data[0].available_minor).toBe(0);
  expect((await live.get("/v1/balances")).json.data[0].available_minor).toBeGreaterThan(0);
});

test("other rules are tried on the payments of the environment that is asked for", async () => {
  for (let count = 0; count < 3; count++) await live.post("/v1/payments", paymentBody());
  await sandbox.post("/v1/payments", paymentBody());
  const rules = [{ gateway_code: "nusantara", priority: 1, weight: 1 }];
  const whatIf = (body: object) => service.operate("POST", "/routing/what-if", { days: 1, rules, ...body });
  const moved = (from: string, to: string | null, payments: number) => ({
    payments,
    moves: [{ payment_method: "qris", from, to, before: { payments } }],
  });
  expect(await whatIf({ environment: "production" })).toMatchObject({
    environment: "production",
    ...moved("merbabu", null, 4),
  });
  const sandboxed = { environment: "sandbox", ...moved("cendana", "nusantara", 1) };
  expect(await whatIf({ environment: "sandbox" })).toMatchObject(sandboxed);
  expect(await whatIf({})).toMatchObject(sandboxed);
  await expect(whatIf({ environment: "live" })).rejects.toThrow(/422.*VALIDATION_ERROR.*environment/);
});

test("what is unique is so in each environment: order identities and idempotency keys", async () => {
  const body = paymentBody();
  const key = `both-${crypto.randomUUID()}`;
  const answers = [await live.post("/v1/payments", body, { key }), await sandbox.post("/v1/payments", body, { key })];
  expect(answers.map(({ status, json }) => [status, json.environment])).toEqual([
    [201, "production"],
    [201, "sandbox"],
  ]);
});

test("the sandbox's ways are closed to live keys", async () => {
  const { reference } = (await live.post("/v1/payments", paymentBody())).json;
  for (const path of [`/v1/sandbox/payments/${reference}/simulate`, "/v1/sandbox/clock/advance"]) {
    const answer = await live.post(path, { outcome: "succeeded", seconds: 60 });
    expect([answer.status, answer.json.error.code]).toEqual([403, "ENVIRONMENT_MISMATCH"]);
  }
});

test("each book verifies on its own", async () => {
  const reader = openDatabase(service.database);
  for (const environment of ["sandbox", "production"] as const)
    expect(await verifyBook(reader, { merchantId, environment })).toMatchObject({ wrong: undefined });
  await reader.end();
});

test("production takes nothing until it is switched on and has an acquirer", async () => {
  const closed = await startService({ acquirers: [scriptedAcquirer("merbabu", "production")] });
  const without = await startService({ config: { ...readConfig({ NODE_ENV: "test" }), productionActive: true } });
  for (const either of [closed, without]) {
    const { client } = await either.merchant({ environment: "production" });
    const answer = await client.post("/v1/payments", paymentBody());
    expect([answer.status, answer.json.error.code]).toEqual([503, "NO_ROUTE_AVAILABLE"]);
    expect((await client.get("/v1/payments")).status).toBe(200);
    await either.stop();
  }
});
