// Goal: what acquirers and we said is found again, without secrets, by who may, and by nobody else; what fits nothing is found too. Method: a
// service with an acquirer that speaks, from a creation through a refund and reports to each of the three answers.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Client } from "../../../e2e/kit/client.ts";
import { type TestService, paymentBody, startService } from "../../test/kit.ts";
import { VIEWER_TOKEN, operatorCaller, outcomeOf } from "../../test/operator.ts";
import { joins } from "../../test/portal.ts";
import { type ScriptedAcquirer, report, scriptedAcquirer } from "../../test/scripted-acquirer.ts";
import { exchangeText } from "../providers/mask.ts";
import { atAcquirerSchema } from "../story/at-acquirer.schema.ts";
import { acquirerStraysEndpoint } from "./acquirer-strays.routes.ts";
import { paymentAtAcquirerEndpoint } from "./payment-acquirer.routes.ts";

const parts = [{} as never, {} as never] as const;
const ask = operatorCaller(() => service, [paymentAtAcquirerEndpoint(parts[0]), acquirerStraysEndpoint(...parts)]);
const SECRET = "sk_live_never_to_be_seen";
const PAYER = "sari@example.com";

let service: TestService;
let rimba: ScriptedAcquirer;
let client: Client;
let merchantId: string;
let reference: string;
let refund: string;
let operationKey: string;

beforeAll(async () => {
  rimba = scriptedAcquirer("rimba");
  rimba.voice = {
    message: (call, key) => ({
      about: `POST /${call}`,
      status: call === "report" ? undefined : 201,
      text: exchangeText(
        JSON.stringify({ order_id: key, server_key: SECRET, customer: { email: PAYER } }),
        JSON.stringify({ id: `rb-${key.slice(-4)}`, note: `for ${PAYER}, with ${SECRET}`, amount: 12_345_678_901 }),
      ),
    }),
    providerIds: (key) => ({ transaction: `rb-${key.slice(0, 3)}` }),
  };
  rimba.dashboardUrl = ({ transaction }) => transaction && `https://rimba.example/${transaction}`;
  rimba.refundStatus = "pending";
  service = await startService({ acquirers: [rimba], config: { operatorViewerToken: VIEWER_TOKEN } });
  const rules = [{ gateway_code: "rimba", priority: 1, weight: 1 }];
  const { version } = await service.operate("POST", "/routing/rules", { rules });
  await service.operate("POST", `/routing/rules/${version}/activate`);
  ({ client, merchantId } = await service.merchant());
  const created = await client.post("/v1/payments", paymentBody({ amount_minor: 9_000_000 }));
  expect(created.status, created.text).toBe(201);
  reference = created.json.reference as string;
  operationKey = rimba.opened[0]?.operationKey ?? "";
  const receipt = { transactionId: "t-1", amountMinor: 9_000_000n, currency: "IDR" };
  const paid = { kind: "payment", operationKey, state: { status: "paid", receipt } } as const;
  expect(await report(service.origin, "rimba", paid)).toBe(200);
  expect(await report(service.origin, "rimba", paid)).toBe(200);
  refund = (await client.post("/v1/refunds", { payment_reference: reference, amount_minor: 4_000_000 })).json.uuid;
  await vi.waitFor(async () => {
    const { messages } = (await service.askOperator(`/payments/${reference}/acquirer`)).json;
    expect(messages).toHaveLength(3);
  }, 30_000);
});
afterAll(() => service.stop());

test("an operator reads who took it, its ids of payment and refund, and each word once, the newest first, without secrets", async () => {
  const { json, text } = await ask("GET", `/payments/${reference}/acquirer`, { token: VIEWER_TOKEN });
  expect(json).toMatchObject({ reference, gateway_code: "rimba", acquirer_name: "rimba", is_cut: false });
  expect(json.operations).toMatchObject([
    {
      object: reference,
      operation_key: operationKey,
      provider_ids: { transaction: "rb-pay" },
      dashboard_url: "https://rimba.example/rb-pay",
    },
    {
      object: refund,
      operation_key: rimba.refunds[0]?.operationKey,
      provider_ids: { transaction: "rb-rfd" },
      dashboard_url: "https://rimba.example/rb-rfd",
    },
  ]);
  expect(json.messages).toMatchObject([
    { object: refund, call: "refund", about: "POST /refund", status: 201 },
    { object: reference, call: "report", about: "POST /report", status: null },
    { object: reference, call: "open", about: "POST /open", status: 201 },
  ]);
  expect(json.messages[0].text).toContain('"server_key":"[redacted]"');
  expect(json.messages[0].text).toContain('"amount":12345678901');
  for (const hidden of [SECRET, PAYER]) expect(text).not.toContain(hidden);
});

test("the merchant's people read the same of their own payment, whatever their role, and nobody else finds it", async () => {
  const path = `/portal/v1/payments/${reference}/acquirer`;
  const viewer = await joins(service, merchantId, "viewer");
  const own = await viewer.get(path);
  expect(atAcquirerSchema.parse(own.json)).toEqual(
    (await ask("GET", `/payments/${reference}/acquirer`, { token: VIEWER_TOKEN })).json,
  );
  viewer.environment = "production";
  expect(outcomeOf(await viewer.get(path))).toBe("403 ENVIRONMENT_MISMATCH");
  const other = await joins(service, (await service.merchant()).merchantId);
  expect(outcomeOf(await other.get(path))).toBe("404 PAYMENT_NOT_FOUND");
  expect(outcomeOf(await other.get("/portal/v1/payments/%00/acquirer"))).toBe("404 PAYMENT_NOT_FOUND");
});

test("what fits nothing shows once with its count and its reason, the newest first, without secrets", async () => {
  const unknown = { kind: "refund", operationKey: "another.shop", status: "succeeded" } as const;
  for (const _ of [1, 2, 3]) expect(await report(service.origin, "rimba", unknown)).toBe(404);
  const receipt = { transactionId: "t-9", amountMinor: 9_000_000n * 1_001n, currency: "IDR" };
  const refused = { kind: "payment", operationKey, state: { status: "paid", receipt } } as const;
  expect(await report(service.origin, "rimba", refused)).toBe(422);
  const { json, text } = await ask("GET", "/acquirers/rimba/stray-messages", { token: VIEWER_TOKEN });
  expect(json).toMatchObject({
    is_more: false,
    data: [
      { reason: "refused", operation_key: operationKey, kind: "payment", times: 1 },
      { reason: "unknown operation", operation_key: "another.shop", kind: "refund", about: "POST /report", times: 3 },
    ],
  });
  expect(text).not.toContain(SECRET);
  expect((await ask("GET", "/acquirers/cendana/stray-messages")).json).toEqual({ data: [], is_more: false });
});

test.each([
  ["/payments/pay_nothing/acquirer", "404 PAYMENT_NOT_FOUND"],
  [`/payments/pay_${"0".repeat(26)}/acquirer`, "404 PAYMENT_NOT_FOUND"],
  ["/acquirers/nobody/stray-messages", "404 OBJECT_NOT_FOUND"],
  ["/acquirers/%00/stray-messages", "404 OBJECT_NOT_FOUND"],
  ["/acquirers/rimba/stray-messages?limit=3", "422 VALIDATION_ERROR limit"],
])("%s is %s", async (path, outcome) => {
  expect(outcomeOf(await ask("GET", path))).toBe(outcome);
});
