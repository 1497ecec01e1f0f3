// Goal: figures say what happened in the person's own days, and no more than their role sees; bad questions are answered in words. Method:
// payments through the API on a service with its worker, and people of every role who ask.
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { type TestService, asOwner, paymentBody, startService } from "../../test/kit.ts";
import { type Browser, joins } from "../../test/portal.ts";
import type { Answer, Client } from "../../../e2e/kit/client.ts";
import { parseWireTime } from "../ground/clock.ts";
import { uuidOf } from "../ground/ids.ts";
import { defaultSchedule, localDate } from "../merchants/settlement-schedule.ts";
import { overviewSchema, paymentsSeriesSchema } from "./insights.schema.ts";

let service: TestService;
let client: Client;
let merchantId: string;
let owner: Browser;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
beforeEach(async () => {
  ({ merchantId, client } = await service.merchant());
  owner = await joins(service, merchantId);
});

async function create(changes: Record<string, unknown> = {}): Promise<string> {
  return (await client.post("/v1/payments", paymentBody(changes))).json.reference as string;
}

async function pay(changes: Record<string, unknown> = {}): Promise<string> {
  const reference = await create(changes);
  await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  return reference;
}

/** Asks until so many payments have come to their end, by all that is counted. */
async function overview(ended: number, browser = owner): Promise<Answer["json"]> {
  for (let number = 0; number < 200; number++) {
    const { json } = await browser.get("/portal/v1/overview?time_zone=Asia/Jakarta");
    if (json.currencies?.[0]?.week.payments === ended) return overviewSchema.parse(json);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`never ${ended} payments`);
}

test("a merchant without a payment has figures of zero, and an address that is missing", async () => {
  const { json } = await owner.get("/portal/v1/overview");
  expect(overviewSchema.parse(json)).toMatchObject({
    currencies: [
      { currency: "IDR", today: { payments: 0, amount_minor: 0, outcomes: {} }, balance: { available_minor: 0 } },
    ],
    payouts: { batches: [] },
    waiting: { disputes: { count: 0, next: [] }, undelivered: { count: 0 }, endpoint: "missing" },
  });
  const series = await owner.get("/portal/v1/insights/payments?range=week");
  expect(paymentsSeriesSchema.parse(series.json)).toMatchObject({ data: [], step: "day" });
  expect(series.json.at).toHaveLength(7);
});

test("what came in today, how it ended, and by what method", async () => {
  await pay({ amount_minor: 1_000_000 });
  await pay({ amount_minor: 2_000_000, payment_method: "va" });
  const declined = await create();
  await client.post(`/v1/sandbox/payments/${declined}/simulate`, { outcome: "failed" });
  await create();
  const { currencies } = await overview(3);
  expect(currencies[0].today).toMatchObject({
    payments: 3,
    succeeded: 2,
    amount_minor: 3_000_000,
    outcomes: { succeeded: 2, failed: 1 },
  });
  expect(currencies[0].balance.available_minor).toBe(3_000_000 - currencies[0].today.fee_minor);
  const { json } = await owner.get("/portal/v1/insights/payments?range=day&by=method");
  expect(json.at).toHaveLength(24);
  expect(json.data.map(({ key, total }: { key: string; total: unknown }) => [key, total])).toEqual([
    ["qris", { payments: 2, succeeded: 1, amount_minor: 1_000_000 }],
    ["va", { payments: 1, succeeded: 1, amount_minor: 2_000_000 }],
  ]);
  const points = json.data[0].points as { payments: number }[];
  expect(points.reduce((total, { payments }) => total + payments, 0)).toBe(2);
});

test("a plot has its own currency alone, from the moment at which its first span begins", async () => {
  await pay();
  await overview(1);
  const plot = async (query = "") => (await owner.get(`/portal/v1/insights/payments?range=week${query}`)).json;
  const [begin] = (await plot()).at as string[];
  await asOwner(service.database, (sql) =>
    sql.query(
      `insert into payment_quarters (merchant_id, environment, quarter, currency, method, acquirer, outcome, payments, amount_minor, fee_minor)
select $1, 'sandbox', $2::timestamptz + day * interval '1 day', currency, 'va', '', 'succeeded', payments, payments, 0
from unnest(array[0, 0, -1], array['IDR', 'USD', 'IDR'], array[1, 2, 4]) t (day, currency, payments)`,
      [uuidOf(merchantId), begin],
    ),
  );
  const { data } = await plot("&by=method");
  expect(data.map(({ key, total }: { key: string; total: { payments: number } }) => [key, total.payments])).toEqual([
    ["qris", 1],
    ["va", 1],
  ]);
  expect(data[1].points[0]).toMatchObject({ payments: 1 });
});

test("days go by the clock of the sandbox", async () => {
  await pay();
  await overview(1);
  await client.post("/v1/sandbox/clock/advance", { seconds: 86_400 });
  await pay();
  const { currencies, as_of: now } = await overview(2);
  expect(currencies[0]).toMatchObject({ today: { succeeded: 1 }, yesterday: { succeeded: 1 }, week: { succeeded: 2 } });
  expect(Date.parse(now)).toBeGreaterThan(Date.now() + 86_000_000);
  await client.post("/v1/sandbox/clock/advance", { seconds: 8 * 86_400 });
  await overview(0);
});

test("a day begins at midnight of its zone, also where that is a half or a quarter of an hour of UTC", async () => {
  /** Moves the sandbox's clock forward to the next such time of day, in UTC. */
  const advanceTo = async (time: string): Promise<void> => {
    const now = new Date((await client.get("/v1/sandbox/clock")).json.now as string);
    const at = new Date(`${now.toISOString().slice(0, 10)}T${time}:00Z`).getTime();
    const seconds = (at - now.getTime()) / 1_000;
    await client.post("/v1/sandbox/clock/advance", { seconds: seconds > 0 ? seconds : seconds + 86_400 });
  };
  // Midnight is at 18:15 in Nepal, at 18:30 in India and at 17:00 in western Indonesia.
  for (const time of ["18:10", "18:20", "18:40"]) {
    await advanceTo(time);
    await pay();
  }
  await overview(3);
  const daysOf = async (zone: string): Promise<number[]> => {
    const { json } = await owner.get(`/portal/v1/overview?time_zone=${zone}`);
    const { yesterday, today } = overviewSchema.parse(json).currencies[0]!;
    return [yesterday.payments, today.payments];
  };
  expect(await daysOf("Asia/Kathmandu")).toEqual([1, 2]);
  expect(await daysOf("Asia/Kolkata")).toEqual([2, 1]);
  expect(await daysOf("Asia/Jakarta")).toEqual([0, 3]);
});

test("a dispute waits with its deadline, a batch with its day", async () => {
  const contested = await pay({ amount_minor: 5_000_000 });
  const later = await pay({ amount_minor: 10_000_000 });
  await client.post(`/v1/sandbox/payments/${contested}/dispute`, { reason: "fraudulent", amount_minor: 700_000 });
  await client.post(`/v1/sandbox/payments/${later}/dispute`, { reason: "general", amount_minor: 1 });
  await pay({ amount_minor: 10_000_000 });
  await client.post("/v1/sandbox/settlements/run", {});
  const { waiting, payouts } = await overview(3);
  // The first due at the top.
  expect(waiting.disputes).toMatchObject({
    count: 2,
    has_more: false,
    next: [
      { payment_reference: contested, reason: "fraudulent", amount_minor: 700_000 },
      { payment_reference: later, reason: "general", amount_minor: 1 },
    ],
  });
  expect(payouts.batches).toMatchObject([{ currency: "IDR", payout_date: expect.any(String) }]);
});

test("what failed and will be tried again waits, and what was given up; what was not tried yet does not", async () => {
  await pay();
  await pay();
  await asOwner(service.database, (sql) =>
    sql.query(
      `insert into deliveries (merchant_id, environment, event_id, url, state, attempts, next_attempt_at)
select merchant_id, environment, event_id, 'https://localhost:1/', v.state::delivery_state, v.attempts, now() + interval '1 day'
from (select *, row_number() over (order by event_id) as number from events where merchant_id = $1::uuid) e
join (values (1, 'pending', 0), (2, 'pending', 3), (3, 'undelivered', 8)) v(number, state, attempts) using (number)`,
      [uuidOf(merchantId)],
    ),
  );
  const { waiting } = await overview(2);
  expect(waiting).toMatchObject({ retrying: { count: 1 }, undelivered: { count: 1 } });
});

test("the next batch is told with what it takes so far, and takes that", async () => {
  const next = async () => (await owner.get("/portal/v1/overview")).json.payouts.next;
  await service.operate("PATCH", `/merchants/${merchantId}`, { settlement: { delay_days: 1 } });
  expect(await next()).toEqual([]);
  const refunded = await pay({ amount_minor: 10_000_000 });
  await pay({ amount_minor: 5_000_000 });
  await client.post("/v1/refunds", { payment_reference: refunded, amount_minor: 2_000_000 });
  const told = await vi.waitFor(async () => {
    const found = await next();
    expect(found).toMatchObject([{ currency: "IDR", exponent: 2, payments: 2, is_least: false }]);
    return found;
  }, 30_000);
  await client.post("/v1/sandbox/settlements/run", {});
  // At once, not a second later: the page would show the money of the batch twice.
  expect(await next()).toEqual([]);
  const [batch] = (await client.get("/v1/settlements")).json.data;
  expect([batch.net_minor, batch.payment_count]).toEqual([told[0].amount_minor, told[0].payments]);
  // What is frozen waits.
  await pay();
  await vi.waitFor(async () => expect(await next()).toHaveLength(1), 30_000);
  await service.operate("PATCH", `/merchants/${merchantId}`, { wallet_frozen: { IDR: true } });
  await vi.waitFor(async () => expect(await next()).toEqual([]), 30_000);
});

test("of more batches than are shown, the first ones are, and that there are more is said", async () => {
  const payouts = async () => (await owner.get("/portal/v1/overview")).json.payouts;
  for (const more of [false, false, false, false, false, true]) {
    await pay();
    await client.post("/v1/sandbox/settlements/run", {});
    expect((await payouts()).has_more).toBe(more);
  }
  const formed = (await client.get("/v1/settlements")).json.data.map(({ uuid }: { uuid: string }) => uuid);
  const shown = (await payouts()).batches.map(({ uuid }: { uuid: string }) => uuid);
  expect(shown).toEqual(formed.toReversed().slice(0, 5));
});

test("a batch on its way is late once its day is over without a payout, as while the wallet is frozen", async () => {
  const batches = async () => (await owner.get("/portal/v1/overview")).json.payouts.batches;
  const reference = await pay();
  await client.post("/v1/sandbox/settlements/run", {});
  await service.operate("PATCH", `/merchants/${merchantId}`, { wallet_frozen: { IDR: true } });
  await vi.waitFor(async () => {
    const { json } = await client.post("/v1/refunds", { payment_reference: reference });
    expect(json.error.code).toBe("WALLET_FROZEN"); // before that there are no funds
  }, 30_000);
  expect(await batches()).toMatchObject([{ is_late: false }]);
  // Its day may be days away: after a weekend, or after a batch of the merchant's last hour.
  await client.post("/v1/sandbox/clock/advance", { seconds: 7 * 86_400 });
  expect(await batches()).toMatchObject([{ is_late: true }]);
});

test("a batch that is late is paid out today, by the merchant's own calendar", async () => {
  const idle = await startService({ roles: ["api"] }); // no worker forms the batch
  try {
    const { merchantId: late } = await idle.merchant();
    const browser = await joins(idle, late);
    await asOwner(idle.database, (sql) =>
      sql.query("update settlement_clocks set next_run_at = now() - interval '3 days' where merchant_id = $1", [
        uuidOf(late),
      ]),
    );
    const { json } = await browser.get("/portal/v1/overview");
    const { as_of: asOf, payouts } = overviewSchema.parse(json);
    const today = localDate(defaultSchedule, parseWireTime(asOf)?.at ?? Number.NaN);
    expect(payouts?.next_payout_date).toBe(today);
  } finally {
    await idle.stop();
  }
});

test("a role sees what is its own, and nobody sees another merchant's or the other environment's", async () => {
  await pay();
  await overview(1);
  const support = await joins(service, merchantId, "support");
  const seen = (await support.get("/portal/v1/overview")).json;
  expect(seen).toMatchObject({ payouts: null, currencies: [{ balance: null }], waiting: { endpoint: "missing" } });
  const finance = (await (await joins(service, merchantId, "finance")).get("/portal/v1/overview")).json;
  expect(finance.waiting).toMatchObject({ undelivered: null, retrying: null, endpoint: null, disputes: { count: 0 } });
  owner.environment = "production";
  expect((await owner.get("/portal/v1/overview")).json.currencies[0].week.payments).toBe(0);
  const other = await service.merchant();
  const stranger = await joins(service, other.merchantId);
  expect((await stranger.get("/portal/v1/overview")).json.currencies[0].week.payments).toBe(0);
  stranger.merchantId = merchantId;
  expect((await stranger.get("/portal/v1/overview")).status).toBe(404);
});

test.each([
  ["range=year", "range"],
  ["by=customer", "by"],
  ["currency=rupiah", "currency"],
  ["currency=XYZ", "currency"],
  ["time_zone=Mars/Olympus", "time_zone"],
  ["time_zone=T10Z", "time_zone"],
  ["time_zone=SystemV/PST8", "time_zone"],
  ["time_zone=%2B07:00", "time_zone"],
  ["nonsense=1", "nonsense"],
  ["range=day&range=week", "range"],
])("the question ?%s is refused by its field", async (query, field) => {
  const { status, json } = await owner.get(`/portal/v1/insights/payments?${query}`);
  expect([status, json.error?.code, json.error?.details?.field]).toEqual([422, "VALIDATION_ERROR", field]);
});
