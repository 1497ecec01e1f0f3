// Goal: the inspector tells a key's first request from its replays, conflicts and refusals, and never shows another merchant's. Method: a real service, one key
// used in every way there is.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Client } from "../../../e2e/kit/client.ts";
import { type TestService, paymentBody, startService } from "../../test/kit.ts";
import { Browser, joins } from "../../test/portal.ts";

let service: TestService;
let merchantId: string;
let client: Client;
let owner: Browser;

beforeAll(async () => {
  service = await startService({ roles: ["api"] });
  ({ merchantId, client } = await service.merchant());
  owner = await joins(service, merchantId);
});
afterAll(() => service.stop());

const address = (key: string): string => `/portal/v1/idempotency-keys/${encodeURIComponent(key)}`;
/** The key once so many requests of it are logged. */
const inspect = (key: string, requests: number): Promise<Record<string, never>> =>
  vi.waitFor(
    async () => {
      const { status, json, text } = await owner.get(address(key));
      expect(status, text).toBe(200);
      expect(json.requests).toBe(requests);
      return json;
    },
    { timeout: 30_000 },
  );

test("one key, used in every way", async () => {
  const key = `order/${randomUUID()} with a space`;
  const body = JSON.stringify(paymentBody());
  await client.post("/v1/payments", '{"amount_minor":0}', { key });
  const first = await client.post("/v1/payments", body, { key });
  expect(first.status).toBe(201);
  expect((await client.post("/v1/payments", body, { key })).headers.get("x-idempotent-replay")).toBe("true");
  expect((await client.post("/v1/payments", `${body} `, { key })).json.error.code).toBe("IDEMPOTENCY_CONFLICT");
  const found = await inspect(key, 4);
  expect(found).toMatchObject({
    idempotency_key: key,
    record: { endpoint: "POST /v1/payments", state: "done", status: 201 },
    replays: 1,
    conflicts: 1,
    uses: [
      { outcome: "refused", same_bytes: false, error_code: expect.any(String) },
      { outcome: "answered", same_bytes: true, request_id: first.headers.get("x-request-id") },
      { outcome: "replayed", same_bytes: true, status: 200 },
      { outcome: "conflict", same_bytes: false, status: 409 },
    ],
  });
  const { stored_response: stored } = found as unknown as { stored_response: { text: string } };
  expect(JSON.parse(stored.text).reference).toBe(first.json.reference);
  const { data } = (await owner.get("/portal/v1/idempotency-keys")).json;
  expect(data).toMatchObject([
    { idempotency_key: key, requests: 4, replays: 1, conflicts: 1, last_request: { status: 409 } },
  ]);
});

test("a refusal that is kept is the answer of its key", async () => {
  const key = randomUUID();
  await client.post(`/v1/payments/pay_01kan3t5q8e4vs0x7ybd2m9fjh/cancel`, {}, { key });
  const found = await inspect(key, 1);
  expect(found).toMatchObject({
    record: { endpoint: "POST /v1/payments/{reference}/cancel", status: 404 },
    uses: [{ outcome: "answered", same_bytes: true, error_code: "PAYMENT_NOT_FOUND" }],
  });
});

test("what a settlement's answer says is shown to those alone who may read settlements", async () => {
  const key = randomUUID();
  for (let n = 0; n < 2; n++) expect((await client.post("/v1/sandbox/settlements/run", {}, { key })).status).toBe(200);
  const shown = await inspect(key, 2);
  const support = await joins(service, merchantId, "support");
  const { json } = await support.get(address(key));
  const answersOf = ({ stored_response: stored, uses }: { stored_response: object; uses: { response: object }[] }) => [
    stored,
    ...uses.map(({ response }) => response),
  ];
  expect(answersOf(shown as never)).toMatchObject(Array.from({ length: 3 }, () => ({ text: '{"data":[]}' })));
  expect(answersOf(json)).toEqual(Array.from({ length: 3 }, () => ({ bytes: 11, text: null, omitted: "needs_scope" })));
  expect(json.record).toMatchObject({ endpoint: "POST /v1/sandbox/settlements/run", status: 200 });
});

test("each key is listed once, by its newest request; pages go on", async () => {
  const { merchantId: other, client: its } = await service.merchant();
  const member = await joins(service, other);
  const keys = ["key-of-test-1", "key-of-test-2", "key-of-test-3"];
  for (const key of [...keys, "key-of-test-1"]) await its.post("/v1/payments", paymentBody(), { key });
  const list = async (query: string) => (await member.get(`/portal/v1/idempotency-keys?${query}`)).json;
  const names = ({ data }: { data: { idempotency_key: string }[] }): string[] => data.map((one) => one.idempotency_key);
  await vi.waitFor(
    async () => expect(names(await list(""))).toEqual(["key-of-test-1", "key-of-test-3", "key-of-test-2"]),
    { timeout: 30_000 },
  );
  const page = await list("limit=2");
  expect([names(page), page.has_more]).toEqual([["key-of-test-1", "key-of-test-3"], true]);
  expect(names(await list(`limit=2&starting_after=${page.next_cursor}`))).toEqual(["key-of-test-2"]);
});

test("whoever proves nothing puts no key there, and another's key is not found", async () => {
  const key = randomUUID();
  await client.post("/v1/payments", paymentBody(), { key, headers: { "x-signature": "0".repeat(64) } });
  await client.post("/v1/payments", paymentBody(), { key: "honest-one" });
  await inspect("honest-one", 1);
  expect((await owner.get(address(key))).status).toBe(404);
  const { merchantId: other } = await service.merchant();
  const stranger = await joins(service, other);
  expect((await stranger.get(address("honest-one"))).status).toBe(404);
  const production = Object.assign(new Browser(service.origin, merchantId, "production"), { cookie: owner.cookie });
  expect((await production.get(address("honest-one"))).status).toBe(404);
  for (const nonsense of ["%00", "\0abcdefgh", "x".repeat(300), "é".repeat(9), "%"])
    expect((await owner.get(address(nonsense))).status).toBe(404);
});
