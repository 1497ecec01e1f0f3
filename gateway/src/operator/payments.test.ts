// Goal: an operator finds any payment by what people hold in their hands, and reads everything that happened to it. Method: payments of two
// merchants, found by each filter; a search that has to stop and go on; a payment that much happened to.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "../../../e2e/kit/client.ts";
import { type TestService, asOwner, paymentBody, startService } from "../../test/kit.ts";
import { insertPastPayments } from "../../test/past-payments.ts";
import { joins } from "../../test/portal.ts";
import { VIEWER_TOKEN, operatorCaller, outcomeOf } from "../../test/operator.ts";
import { uuidOf } from "../ground/ids.ts";
import { operatorPaymentEndpoints } from "./payments.routes.ts";
import { LOOKED_AT_MAX } from "../store/searches.sql.ts";
import { LOOKED_AT_LEAST } from "./payments.sql.ts";

const nobody = "0".repeat(26);

let service: TestService;
const ask = operatorCaller(() => service, operatorPaymentEndpoints({} as never));
let shop: { client: Client; merchantId: string };
let other: { client: Client; merchantId: string };
beforeAll(async () => {
  service = await startService({ config: { operatorViewerToken: VIEWER_TOKEN } });
  shop = await service.merchant({ name: "Kopi Melati" });
  other = await service.merchant({ name: "Toko Anggrek" });
});
afterAll(() => service.stop());

async function made(client: Client, changes: Record<string, unknown> = {}): Promise<string> {
  const { status, json } = await client.post("/v1/payments", paymentBody(changes));
  expect(status, JSON.stringify(json)).toBe(201);
  return json.reference as string;
}

async function paid(client: Client, changes: Record<string, unknown> = {}): Promise<string> {
  const reference = await made(client, changes);
  await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  return reference;
}

const found = async (query: string): Promise<string[]> => {
  const { json } = await ask("GET", `/payments${query}`, { token: VIEWER_TOKEN });
  return (json.data as { reference: string }[]).map(({ reference }) => reference);
};

describe("payments are found", () => {
  test("by reference and by the merchant's own identity, whoever's they are", async () => {
    const mine = await made(shop.client, { reference_id: "order-1234" });
    const theirs = await made(other.client, { reference_id: "order-1234" });
    expect(await found(`?reference=${mine}`)).toEqual([mine]);
    expect(await found("?reference_id=order-1234")).toEqual([theirs, mine]);
    expect(await found(`?reference_id=order-1234&merchant_id=${shop.merchantId}`)).toEqual([mine]);
    expect(await found(`?reference=${mine}&merchant_id=${other.merchantId}`)).toEqual([]);
    expect(await found(`?reference=pay_${nobody}`)).toEqual([]);
    const { json } = await ask("GET", `/payments?reference=${mine}`);
    expect(json).toMatchObject({
      data: [{ merchant_id: shop.merchantId, merchant_name: "Kopi Melati", environment: "sandbox", status: "pending" }],
      has_more: false,
      next_cursor: null,
      searched_to: null,
    });
  });

  test("by amount, state, environment and time, all merchants' newest first", async () => {
    const amount_minor = 7_654_321;
    const first = await paid(shop.client, { amount_minor });
    const second = await made(other.client, { amount_minor });
    expect(await found(`?amount_minor=${amount_minor}`)).toEqual([second, first]);
    expect(await found(`?amount_minor=${amount_minor}&status=succeeded`)).toEqual([first]);
    expect(await found(`?amount_minor=${amount_minor}&environment=production`)).toEqual([]);
    const { json } = await ask("GET", `/payments?reference=${first}`);
    const at = json.data[0].created_at as string;
    expect(await found(`?amount_minor=${amount_minor}&created_from=${at}`)).toEqual([second, first]);
    expect(await found(`?amount_minor=${amount_minor}&created_to=${at.slice(0, 10)}`)).toEqual([second, first]);
    expect(await found(`?amount_minor=${amount_minor}&created_to=2026-01-01`)).toEqual([]);
  });

  test("page by page, without one twice and without one left out", async () => {
    for (let n = 0; n < 5; n++) await made(shop.client);
    const mine = `?merchant_id=${shop.merchantId}&limit=2`;
    const all = await found(`?merchant_id=${shop.merchantId}&limit=100`);
    const walked: string[] = [];
    for (let cursor = ""; ;) {
      const { json } = await ask("GET", `/payments${mine}${cursor}`);
      walked.push(...(json.data as { reference: string }[]).map(({ reference }) => reference));
      if (!json.has_more) break;
      cursor = `&starting_after=${json.next_cursor}`;
    }
    expect(walked).toEqual(all);
    expect(all.length).toBeGreaterThan(2);
  });
});

test("a search stops after so many payments, says where, and goes on until it has looked at all of them", async () => {
  const busy = await service.merchant({ name: "Busy" });
  const needle = await paid(busy.client, { amount_minor: 31_337 });
  // In a book that is looked at whole while the busy one is not: it is told in its turn, and once.
  const quiet = await paid(other.client, { amount_minor: 31_337 });
  const rows = LOOKED_AT_MAX + 2_000;
  // Newer than the needle by the time in their identities, and some older.
  const made = { merchantId: busy.merchantId, chosen: "nusantara", status: "pending" } as const;
  await insertPastPayments(service.database, [
    { ...made, count: rows, daysAgo: -1 },
    { ...made, count: 500, daysAgo: 1 },
  ]);
  for (const [filter, expected] of [
    ["?amount_minor=31337", [quiet, needle]],
    [`?amount_minor=31337&merchant_id=${busy.merchantId}`, [needle]],
  ] as const) {
    const walked: string[] = [];
    let pages = 0;
    for (let cursor = ""; ; pages++) {
      const { json } = await ask("GET", `/payments${filter}${cursor}`);
      walked.push(...(json.data as { reference: string }[]).map(({ reference }) => reference));
      if (!json.has_more) break;
      expect(json.searched_to, "where it stopped").not.toBeNull();
      cursor = `&starting_after=${json.next_cursor}`;
    }
    expect(walked).toEqual(expected);
    expect(pages).toBeGreaterThan(0);
    expect(pages).toBeLessThan(rows / LOOKED_AT_LEAST);
  }
});

test("a payment's record has its story, what fraud detection saw, how it was delivered, and who did what to it", async () => {
  const customer = { name: "Sari", email: "sari@review.test", phone: "+6281234567890" };
  const earlier = await shop.client.post(
    "/v1/payments",
    paymentBody({ customer: { email: customer.email }, amount_minor: 10_000 }),
  );
  expect(earlier.status).toBe(202);
  const { json: asked } = await shop.client.post("/v1/payments", paymentBody({ customer, amount_minor: 900_000 }));
  const reference = asked.error.details.reference as string;
  await service.operate("POST", `/reviews/${reference}/approve`);
  await shop.client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  const body = { amount_minor: 100, reason: "Torn bag" };
  expect(outcomeOf(await ask("POST", `/payments/${reference}/refunds`, { body, key: "key-of-record" }))).toBe("201");
  const much = { amount_minor: 999_999_999, reason: "All" };
  await ask("POST", `/payments/${reference}/refunds`, { body: much, key: "key-of-too-much" });
  const finance = await joins(service, shop.merchantId, "finance");
  expect((await finance.post("/portal/v1/refunds", { payment_reference: reference, amount_minor: 50 })).status).toBe(
    201,
  );
  await shop.client.post(`/v1/sandbox/payments/${reference}/dispute`, { reason: "general" });
  const { json } = await ask("GET", `/payments/${reference}`, { token: VIEWER_TOKEN });
  expect(json.payment).toMatchObject({ reference, status: "partially_refunded", customer });
  expect(json.merchant).toEqual({
    merchant_id: shop.merchantId,
    name: "Kopi Melati",
    suspended: false,
    environment: "sandbox",
  });
  const kinds = new Set((json.steps as { kind: string }[]).map(({ kind }) => kind));
  for (const kind of [
    "asked",
    "judged",
    "routed",
    "instructed",
    "became",
    "journalled",
    "told",
    "refunded",
    "disputed",
  ])
    expect(kinds, kind).toContain(kind);
  expect(json.risk).toMatchObject({
    decision: "approve",
    score: 70,
    reasons: [{ sign: "sandbox_asked_for_review", points: 70 }],
    facts: { customer_payments: 1, amount_minor: 900_000, currency: "IDR" },
    bounds: { customer_per_hour: 10, review_at: 70, reject_at: 80 },
    other_payments: [{ amount_minor: 10_000, status: "pending" }],
  });
  expect(
    (json.audit as { path: string; status: number }[]).map(({ path, status }) => [path.split("/").at(-1), status]),
  ).toEqual([
    ["refunds", 422],
    ["refunds", 201],
    ["approve", 200],
  ]);
  expect(json.people).toMatchObject([{ action: "create_refund", name: expect.any(String), status: 201 }]);
});

test("who recorded its dispute is in a payment's record, and in no other payment's", async () => {
  const [one, two] = [await paid(shop.client), await paid(shop.client)];
  const book = `/merchants/${shop.merchantId}/books/sandbox`;
  const record = { payment_reference: one, reason: "general" };
  const dispute = await service.operate("POST", `${book}/disputes`, record);
  await service.operate("POST", `${book}/disputes/${dispute.uuid}/resolve`, { outcome: "won" });
  const ofOne = (await ask("GET", `/payments/${one}`)).json.audit as { path: string; body: unknown }[];
  expect(ofOne.map(({ path }) => path.slice(path.indexOf("/disputes")))).toEqual([
    `/disputes/${dispute.uuid}/resolve`,
    "/disputes",
  ]);
  expect(ofOne[1]).toMatchObject({ actor: "environment", body: record, status: 201 });
  expect((await ask("GET", `/payments/${two}`)).json.audit).toEqual([]);
});

test("what an acquirer said that cannot be, and how it was called, are in the record", async () => {
  const reference = await paid(shop.client);
  const book = uuidOf(shop.merchantId);
  await asOwner(service.database, async (owner) => {
    await owner.query(
      `insert into acquirer_operations (merchant_id, environment, operation_id, kind, payment_id, step, gateway_code, attempt, round, created_at)
values ($1, 'sandbox', $2, 'payment', $2, 'done', 'nusantara', 2, 1, now())`,
      [book, uuidOf(reference)],
    );
    await owner.query(
      `insert into reconciliation_exceptions (merchant_id, environment, exception_id, operation_id, attempt, kind, gateway_code, noticed_at)
values ($1, 'sandbox', gen_random_uuid(), $2, 2, 'receipt', 'nusantara', now())`,
      [book, uuidOf(reference)],
    );
  });
  const { json } = await ask("GET", `/payments/${reference}`);
  expect(json.operations).toMatchObject([{ object: reference, step: "done", attempt: 2, refusals: 1 }]);
  expect(json.operations[0].operation_key).toContain(reference.slice(4));
  expect(json.exceptions).toMatchObject([{ kind: "receipt", operation: reference, closed_at: null }]);
  const { uuid } = json.exceptions[0];
  await service.operate("POST", `/reconciliation-exceptions/${uuid}/close`, { note: "Corrected." });
  const after = (await ask("GET", `/payments/${reference}`)).json;
  expect(after.audit).toMatchObject([{ path: expect.stringContaining(uuid) as string, status: 200 }]);
});

test.each([
  ["/pay_1", "404 PAYMENT_NOT_FOUND"],
  [`/pay_${nobody}`, "404 PAYMENT_NOT_FOUND"],
  [`/rfd_${nobody}`, "404 PAYMENT_NOT_FOUND"],
  ["/%00", "404 PAYMENT_NOT_FOUND"],
  ["?reference=x", "422 VALIDATION_ERROR reference"],
  ["?reference_id=", "422 VALIDATION_ERROR reference_id"],
  ["?reference_id=%00", "422 VALIDATION_ERROR reference_id"],
  ["?merchant_id=x", "422 VALIDATION_ERROR merchant_id"],
  ["?environment=live", "422 VALIDATION_ERROR environment"],
  ["?status=lost", "422 VALIDATION_ERROR status"],
  ["?amount_minor=1.5", "422 VALIDATION_ERROR amount_minor"],
  ["?amount_minor=0", "422 VALIDATION_ERROR amount_minor"],
  ["?amount_minor=9007199254740992", "422 VALIDATION_ERROR amount_minor"],
  ["?amount_minor=1&amount_minor=2", "422 VALIDATION_ERROR amount_minor"],
  ["?created_from=yesterday", "422 VALIDATION_ERROR created_from"],
  ["?created_to=2026-13-01", "422 VALIDATION_ERROR created_to"],
  ["?limit=101", "422 VALIDATION_ERROR limit"],
  [`?starting_after=pay_${nobody}`, "422 VALIDATION_ERROR starting_after"],
  ["?payer=x", "422 VALIDATION_ERROR payer"],
])("GET /ops/v1/payments%s is answered with %s", async (path, expected) => {
  expect(outcomeOf(await ask("GET", `/payments${path}`))).toBe(expected);
});

test("a search by text is a search for that text: patterns and quotes mean nothing", async () => {
  await made(shop.client, { reference_id: "100% sure" });
  for (const text of ["100%25", "%25", "_00%25 sure", "' or 1=1 --"])
    expect(await found(`?reference_id=${text}`)).toEqual([]);
  expect(await found("?reference_id=100%25%20sure")).toHaveLength(1);
});
