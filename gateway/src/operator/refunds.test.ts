// Goal: operators see why money went back and where it stands. Method: refunds of two merchants in both environments, one of
// them at an acquirer that answers when the test says so; filters, pages and the database's own word on the reason.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Answer, Client } from "../../../e2e/kit/client.ts";
import { type TestService, asOwner, paymentBody, startService } from "../../test/kit.ts";
import { type ScriptedAcquirer, report, scriptedAcquirer } from "../../test/scripted-acquirer.ts";
import { readConfig } from "../ground/config.ts";
import { uuidOf } from "../ground/ids.ts";
import { operatorRefundEndpoints } from "./refunds.routes.ts";

const [list, one] = operatorRefundEndpoints({} as never);
const nobody = "0".repeat(26);

let service: TestService;
let bank: ScriptedAcquirer;
beforeAll(async () => {
  bank = scriptedAcquirer("merbabu", "production");
  const config = { ...readConfig({ NODE_ENV: "test" }), productionActive: true };
  service = await startService({ config, acquirers: [bank] });
  const rules = ["merbabu", "cendana"].map((gateway_code) => ({ gateway_code, priority: 1, weight: 1 }));
  const { version } = await service.operate("POST", "/routing/rules", { rules });
  await service.operate("POST", `/routing/rules/${version}/activate`);
});
afterAll(() => service.stop());

/** A paid sandbox payment's reference. */
async function paid(client: Client, changes: Record<string, unknown> = {}): Promise<string> {
  const { reference } = (await client.post("/v1/payments", paymentBody({ amount_minor: 1_000_000, ...changes }))).json;
  await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  return reference as string;
}

async function refund(client: Client, reference: string, body: Record<string, unknown>): Promise<string> {
  const { status, json } = await client.post("/v1/refunds", { payment_reference: reference, ...body });
  expect(status, JSON.stringify(json)).toBe(201);
  return json.uuid as string;
}

const listed = async (query: string): Promise<string[]> => {
  const { json } = await service.askOperator(`/refunds${query}`);
  list?.success.schema.parse(json);
  return (json.data as { uuid: string }[]).map(({ uuid }) => uuid);
};
const outcome = ({ status, json }: Answer): string =>
  `${status} ${json.error?.code} ${json.error?.details?.field ?? ""}`.trim();

test("the reason is there as the merchant gave it, with whose refund it is and who carries it out", async () => {
  const { client, merchantId } = await service.merchant();
  const reference = await paid(client);
  const uuid = await refund(client, reference, { amount_minor: 5, reason: "Warna salah 🙏 <b>" });
  const silent = await refund(client, reference, { amount_minor: 5 });
  const { json } = await service.askOperator(`/refunds/${uuid}`);
  one?.success.schema.parse(json);
  expect(json).toMatchObject({
    uuid,
    merchant_id: merchantId,
    environment: "sandbox",
    payment_reference: reference,
    status: "succeeded",
    amount_minor: 5,
    reason: "Warna salah 🙏 <b>",
    gateway_code: "cendana",
    operation: null,
  });
  expect((await service.askOperator(`/refunds/${silent}`)).json.reason).toBeNull();
});

test("of an acquirer that is asked, the step that the refund has come to is told", async () => {
  const { client, merchantId } = await service.merchant({ environment: "production" });
  const { reference } = (await client.post("/v1/payments", paymentBody({ amount_minor: 9_000_000 }))).json;
  const receipt = { transactionId: "op-1", amountMinor: 9_000_000n, currency: "IDR" };
  const operationKey = bank.opened.at(-1)?.operationKey ?? "";
  const state = { status: "paid", receipt } as const;
  expect(await report(service.origin, "merbabu", { kind: "payment", operationKey, state })).toBe(200);
  bank.refundStatus = "pending";
  const uuid = await refund(client, reference, { amount_minor: 7, reason: "late" });
  const seen = async (): Promise<Record<string, unknown>> => (await service.askOperator(`/refunds/${uuid}`)).json;
  await vi.waitFor(async () => expect(await seen()).toMatchObject({ operation: { step: "polling" } }), 30_000);
  const { operation, ...rest } = await seen();
  expect(rest).toMatchObject({ status: "pending", merchant_id: merchantId, gateway_code: "merbabu", reason: "late" });
  expect(operation).toMatchObject({ operation_key: bank.refunds.at(-1)?.operationKey, attempt: 1, refusals: 0 });
  expect(await listed(`?environment=production&status=pending`)).toEqual([uuid]);
  const { operationKey: refundKey = "" } = bank.refunds.at(-1) ?? {};
  await report(service.origin, "merbabu", { kind: "refund", operationKey: refundKey, status: "succeeded" });
  expect(await seen()).toMatchObject({ status: "succeeded", operation: { step: "done", next_at: null } });
});

test("the list filters and pages, newest first, over all merchants or one", async () => {
  const [first, second] = [await service.merchant(), await service.merchant()];
  const [a, b] = [await paid(first.client), await paid(first.client, { metadata: { "sandbox.scenario": "slow" } })];
  const made: string[] = [];
  for (const reference of [a, b, a]) made.unshift(await refund(first.client, reference, { amount_minor: 1 }));
  const elsewhere = await refund(second.client, await paid(second.client), { amount_minor: 1 });
  const mine = `?merchant_id=${first.merchantId}`;
  expect(await listed(mine)).toEqual(made);
  expect((await listed("")).slice(0, 4)).toEqual([elsewhere, ...made]);
  expect(await listed(`${mine}&status=pending`)).toEqual([made[1]]);
  expect(await listed(`?payment_reference=${a}`)).toEqual([made[0], made[2]]);
  expect(await listed(`${mine}&environment=production`)).toEqual([]);
  expect(await listed(`?merchant_id=mer_${nobody}`)).toEqual([]);
  const { json } = await service.askOperator(`/refunds${mine}&limit=2`);
  expect([json.data.length, json.has_more, json.next_cursor]).toEqual([2, true, made[1]]);
  expect(await listed(`${mine}&limit=2&starting_after=${json.next_cursor}`)).toEqual([made[2]]);
});

test.each([
  ["/rfd_1", "404 REFUND_NOT_FOUND"],
  [`/rfd_${nobody}`, "404 REFUND_NOT_FOUND"],
  ["?merchant_id=x", "422 VALIDATION_ERROR merchant_id"],
  ["?payment_reference=rfd_1", "422 VALIDATION_ERROR payment_reference"],
  ["?status=lost", "422 VALIDATION_ERROR status"],
  ["?environment=live", "422 VALIDATION_ERROR environment"],
  ["?limit=101", "422 VALIDATION_ERROR limit"],
  [`?starting_after=rfd_${nobody}`, "422 VALIDATION_ERROR starting_after"],
  ["?reason=x", "422 VALIDATION_ERROR reason"],
])("GET /ops/v1/refunds%s is answered with %s", async (path, expected) => {
  expect(outcome(await service.askOperator(`/refunds${path}`))).toBe(expected);
});

test("nobody can rewrite why money went back, not even the database's owner", async () => {
  const { client } = await service.merchant();
  const uuid = await refund(client, await paid(client), { amount_minor: 1, reason: "torn" });
  await asOwner(service.database, async (owner) => {
    for (const reason of ["'sold out'", "null"]) {
      const change = `update refunds set reason = ${reason} where refund_id = $1`;
      await expect(owner.query(change, [uuidOf(uuid)]), reason).rejects.toThrow(/cannot change/);
    }
  });
  expect((await service.askOperator(`/refunds/${uuid}`)).json.reason).toBe("torn");
});
