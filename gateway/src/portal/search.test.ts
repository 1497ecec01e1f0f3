// Goal: a person finds what is theirs by whatever they know of it, and nothing of anybody else's. Method: a real service; the same words
// asked by members of two merchants, in both environments, by each role.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Client } from "../../../e2e/kit/client.ts";
import { type TestService, paymentBody, startService } from "../../test/kit.ts";
import { alsoIn } from "../../test/currencies.ts";
import { type Browser, joins } from "../../test/portal.ts";
import { type SettingsChange, defaultSettings } from "../merchants/settings.ts";

let service: TestService;
let client: Client;
let merchantId: string;
let owner: Browser;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

beforeEach(async () => {
  ({ client, merchantId } = await service.merchant());
  owner = await joins(service, merchantId);
});

interface Hit {
  kind: string;
  id: string;
  title: string;
}

const pay = async (changes: Record<string, unknown> = {}): Promise<string> =>
  (await client.post("/v1/payments", paymentBody(changes))).json.reference as string;
const find = async (q: string, reader = owner): Promise<Hit[]> =>
  (await reader.get(`/portal/v1/search?${String(new URLSearchParams({ q }))}`)).json.data as Hit[];
const search = async (query: Record<string, string>, reader = owner): Promise<string[]> =>
  (await reader.get(`/portal/v1/payments/search?${String(new URLSearchParams(query))}`)).json.data.map(
    ({ reference }: { reference: string }) => reference,
  );

/** One of everything. */
async function oneOfEach(): Promise<Record<string, string>> {
  const payment = await pay({ reference_id: "order-of-each" });
  await client.post(`/v1/sandbox/payments/${payment}/simulate`, { outcome: "succeeded" });
  const refund = (await client.post("/v1/refunds", { payment_reference: payment, amount_minor: 1_000 })).json.uuid;
  await client.post("/v1/sandbox/settlements/run", {});
  const settlement = (await client.get("/v1/settlements")).json.data[0].uuid;
  const dispute = (await client.post(`/v1/sandbox/payments/${payment}/dispute`, { reason: "general" })).json.uuid;
  const event = (await client.get("/v1/events?limit=1")).json.data[0].id;
  const journal = (await owner.get("/portal/v1/journals?limit=1")).json.data[0].id;
  return { payment, refund, dispute, settlement, event, journal };
}

test("a payout is found by the reference that the bank's account shows, by those who may read payouts", async () => {
  const { settlement = "" } = await oneOfEach();
  const paid = (await client.post(`/v1/sandbox/settlements/${settlement}/pay`, {})).json;
  const { merchantId: other } = await service.merchant();
  expect(await find(paid.bank_reference)).toMatchObject([
    { kind: "settlement", id: settlement, status: "paid", amount_minor: paid.net_minor },
  ]);
  for (const reader of [
    await joins(service, merchantId, "support"),
    await joins(service, merchantId, "owner", "production"),
    await joins(service, other),
  ])
    expect(await find(paid.bank_reference, reader)).toEqual([]);
  expect(await find(paid.bank_reference.slice(1))).toEqual([]);
});

test("anything is found by its identity, and by nobody else", async () => {
  const ids = await oneOfEach();
  const { merchantId: other } = await service.merchant();
  const stranger = await joins(service, other);
  const elsewhere = await joins(service, merchantId, "owner", "production");
  for (const [kind, id] of Object.entries(ids)) {
    expect((await find(id)).map((hit) => [hit.kind, hit.id])).toEqual([[kind, id]]);
    expect(await find(id, stranger)).toEqual([]);
    expect(await find(id, elsewhere)).toEqual([]);
  }
});

test("a role finds only what it may read", async () => {
  const ids = await oneOfEach();
  const support = await joins(service, merchantId, "support");
  const finance = await joins(service, merchantId, "finance");
  expect(await find(ids.settlement ?? "", support)).toEqual([]);
  expect(await find(ids.journal ?? "", support)).toEqual([]);
  expect(await find(ids.event ?? "", finance)).toEqual([]);
  expect(await find(ids.refund ?? "", support)).toHaveLength(1);
});

test("payments are found by the beginning of their reference_id and by their payer", async () => {
  const one = await pay({ reference_id: "rumah-1", customer: { email: "Sari@Example.com", phone: "+6281234567890" } });
  const two = await pay({ reference_id: "rumah-2", customer: { phone: "+6281234567890" } });
  await pay({ reference_id: "lain-1" });
  expect((await find("rumah-")).map(({ id }) => id)).toEqual([one, two]);
  expect((await find("rumah-1")).map(({ id }) => id)).toEqual([one]);
  expect((await find("sari@example.com")).map(({ id }) => id)).toEqual([one]);
  expect((await find("+6281234567890")).map(({ id }) => id)).toEqual([two, one]);
  for (const nothing of ["%", "rumah%", "_umah-1", "' or 1=1", "\u{10ffff}x", "pay_1", "@@"])
    expect(await find(`${nothing}x`), nothing).toEqual([]);
});

test("each filter finds what it says, alone and together", async () => {
  const one = await pay({ amount_minor: 123_456, metadata: { shop: "bali:1" }, customer: { email: "a@example.com" } });
  const two = await pay({ amount_minor: 200_000, payment_method: "va" });
  await client.post(`/v1/payments/${two}/cancel`, {});
  const { reference_id: referenceId } = (await client.get(`/v1/payments/${one}`)).json;
  expect(await search({})).toEqual([two, one]);
  expect(await search({ reference: one })).toEqual([one]);
  expect(await search({ reference_id: referenceId })).toEqual([one]);
  expect(await search({ payer: "A@example.com" })).toEqual([one]);
  expect(await search({ amount: "1234.56" })).toEqual([one]);
  expect(await search({ amount: "2000" })).toEqual([two]);
  expect(await search({ amount: "1234.567" })).toEqual([]);
  expect(await search({ metadata: "shop:bali:1" })).toEqual([one]);
  expect(await search({ metadata: "shop:bali" })).toEqual([]);
  expect(await search({ status: "canceled" })).toEqual([two]);
  expect(await search({ payment_method: "va", amount: "2000" })).toEqual([two]);
  expect(await search({ payment_method: "va", amount: "1234.56" })).toEqual([]);
  expect(await search({ created_from: "2199-01-01" })).toEqual([]);
  expect(await search({ created_to: "2199-01-01" })).toEqual([two, one]);
  expect(await search({ starting_after: two })).toEqual([one]);
  const first = (await owner.get("/portal/v1/payments/search?limit=1")).json;
  expect(first).toMatchObject({ has_more: true, next_cursor: two, searched_to: null });
});

test("an amount finds what was paid in a currency that the merchant has left out since", async () => {
  const has = (change: SettingsChange) => service.operate("PATCH", `/merchants/${merchantId}`, change);
  await has(alsoIn(defaultSettings, "USD"));
  const dollars = await pay({ currency: "USD", amount_minor: 1_234, payment_method: "card" });
  await has({ currencies: ["IDR"] });
  expect(await search({ amount: "12.34" })).toEqual([dollars]);
});

test.each([
  "reference=pay_1",
  "amount=1e3",
  "amount=-1",
  "metadata=shop",
  "payer=a",
  "limit=101",
  "colour=red",
  "status=king",
])("%s is refused in words", async (query) => {
  const answer = await owner.get(`/portal/v1/payments/search?${query}`);
  expect(answer.status).toBe(422);
  expect(answer.json.error.details.field).toBe(query.split("=")[0]);
});

test("another merchant's payments are found by none of it", async () => {
  const reference = await pay({ reference_id: "secret-1", customer: { email: "s@example.com" } });
  const { merchantId: other } = await service.merchant();
  const stranger = await joins(service, other);
  for (const query of [{ reference }, { reference_id: "secret-1" }, { payer: "s@example.com" }, { amount: "1500" }, {}])
    expect(await search(query as Record<string, string>, stranger)).toEqual([]);
  const cursor = await stranger.get(`/portal/v1/payments/search?starting_after=${reference}`);
  expect(cursor.json.error.code).toBe("VALIDATION_ERROR");
  owner.environment = "production";
  expect(await search({ reference })).toEqual([]);
});
