// Goal: the day that a merchant is told is the day of the payout, if nothing else happens. Method: a property over what waits, with the
// forming of batches itself as witness; then a service whose clock is moved to see what was told come true.
import fc from "fast-check";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Answer, Client } from "../../../e2e/kit/client.ts";
import { NOW, given, ownerWith, row } from "../../test/given.ts";
import { type TestService, asOwner, paymentBody, startService } from "../../test/kit.ts";
import { owning } from "../../test/refunds.ts";
import { type Micros, SECOND } from "../ground/clock.ts";
import { newId, uuidOf } from "../ground/ids.ts";
import { defaultSchedule, nextRun } from "../merchants/settlement-schedule.ts";
import { type SettingsChange, defaultSettings } from "../merchants/settings.ts";
import type { PaymentSummary } from "../payments/payment.ts";
import type { Database, Statement } from "../store/database.ts";
import { Outlooks, nextPayout, payoutDay, runsToCome } from "./outlook.ts";
import type { SettlementItem } from "./settlement.ts";
import {
  FREE_ITEMS_MAX,
  ITEMS_MAX,
  batchItems,
  settlementClocks,
  settlements,
  unsettledItems,
} from "./settlements.sql.ts";
import { runSchedule } from "./settlements.ts";
import { slowness, waiting } from "../../test/slowness.ts";

const DAY = 86_400 * SECOND;
const schedule = { ...defaultSchedule, closed_weekdays: [] };

const anItem = fc
  .record({
    kind: fc.constantFrom<SettlementItem["kind"]>("payment", "payment", "payment", "refund", "dispute"),
    amountMinor: fc.bigInt({ min: 1n, max: 1_000n }),
    daysAgo: fc.integer({ min: 0, max: 4 }),
  })
  .map(({ kind, amountMinor, daysAgo }): SettlementItem => ({
    kind,
    id: newId(kind, NOW),
    paymentReference: newId("payment", NOW),
    amountMinor,
    feeMinor: 0n,
    occurredAt: NOW - daysAgo * DAY,
  }));

/** What the schedule forms, one run after the other, until nothing more is taken: when each item is. */
function whatHappens(items: readonly SettlementItem[], available: bigint, minimum: number): Map<string, Micros> {
  const settings = { ...defaultSettings, settlement: { ...schedule, minimum_payout_minor: minimum } };
  const owner = ownerWith(settings);
  const taken = new Map<string, Micros>();
  let left = items;
  let money = available;
  for (let run = nextRun(schedule, NOW), idle = 0; idle < 7 && left.length > 0; run = nextRun(schedule, run)) {
    const { book } = owner;
    const { changes } = given({
      realNow: run,
      rows: [
        row(settlementClocks, { book, nextRunAt: run }),
        row(unsettledItems, { book, items: new Map([["IDR", left]]) }),
      ],
      balances: owning({ available: money }),
    }).when(runSchedule(owner));
    for (const { id } of changes.inserted(batchItems)) taken.set(id, run);
    for (const { netMinor } of changes.inserted(settlements)) money -= netMinor;
    left = left.filter(({ id }) => !taken.has(id));
    idle = changes.inserted(settlements).length === 0 ? idle + 1 : 0;
  }
  return taken;
}

test("each item is taken by the run that was told, and by none where none was", () => {
  fc.assert(
    fc.property(
      fc.array(anItem, { maxLength: 12 }),
      fc.bigInt({ min: -500n, max: 6_000n }),
      fc.constantFrom(0, 500, 2_000),
      (items, available, minimum) => {
        const outlook = { nextRunAt: nextRun(schedule, NOW), available, items };
        const told = runsToCome({ ...schedule, minimum_payout_minor: minimum }, BigInt(minimum), outlook);
        const happens = whatHappens(items, available, minimum);
        expect(told).toEqual(happens);
        const taken = items.filter(({ id }) => happens.get(id) === outlook.nextRunAt);
        const net = taken.reduce((sum, one) => sum + (one.kind === "payment" ? one.amountMinor : -one.amountMinor), 0n);
        const payments = taken.filter(({ kind }) => kind === "payment").length;
        const next = nextPayout(schedule, BigInt(minimum), outlook);
        expect(next).toEqual(taken.length === 0 ? undefined : { payments, netMinor: net, isLeast: false });
      },
    ),
    { numRuns: 300 },
  );
});

test("before the first run nothing is told, and of more than a run looks at the amount is the least", () => {
  const items = Array.from({ length: ITEMS_MAX }, (_, at): SettlementItem => {
    const id = newId("payment", NOW);
    return { kind: "payment", id, paymentReference: id, amountMinor: 3n, feeMinor: 1n, occurredAt: NOW - at };
  });
  const outlook = { nextRunAt: nextRun(schedule, NOW), available: 1_000_000n, items };
  const told = { payments: ITEMS_MAX, netMinor: 2n * BigInt(ITEMS_MAX), isLeast: true };
  expect(nextPayout(schedule, 0n, outlook)).toEqual(told);
  expect(nextPayout(schedule, 0n, { ...outlook, nextRunAt: undefined })).toBeUndefined();
  // A run that is late takes what was paid before its cutoff.
  const late = { ...outlook, nextRunAt: nextRun(schedule, NOW - 3 * DAY), items: items.slice(0, 2) };
  expect(nextPayout(schedule, 0n, late)).toBeUndefined();
  const [old, young] = late.items as [SettlementItem, SettlementItem];
  const mixed = [{ ...old, occurredAt: NOW - 5 * DAY }, young];
  expect(nextPayout(schedule, 0n, { ...late, items: mixed })).toEqual({ payments: 1, netMinor: 2n, isLeast: false });
});

test.each([
  ["foretold where what is available is above it", 70_000n, ITEMS_MAX, true],
  ["foretold where what is available just reaches it", 60_000n, ITEMS_MAX, true],
  ["not foretold where what is available is less", 59_999n, ITEMS_MAX, false],
  ["not foretold where all that is due was read", 70_000n, ITEMS_MAX - 1, false],
])("a payout below the minimum is %s, and the run does the same", (_when, available, due, isTold) => {
  const items = Array.from({ length: ITEMS_MAX }, (_, at): SettlementItem => {
    const id = newId("payment", NOW);
    const occurredAt = at < due ? NOW - at : NOW + 3 * DAY;
    return { kind: "payment", id, paymentReference: id, amountMinor: 3n, feeMinor: 1n, occurredAt };
  });
  const run = nextRun(schedule, NOW);
  const next = nextPayout(schedule, 60_000n, { nextRunAt: run, available, items });
  expect(next).toEqual(isTold ? { payments: due, netMinor: 2n * BigInt(due), isLeast: true } : undefined);
  const owner = ownerWith({ settlement: { ...schedule, minimum_payout_minor: 60_000 } });
  const { book } = owner;
  const rows = [
    row(settlementClocks, { book, nextRunAt: run }),
    row(unsettledItems, { book, items: new Map([["IDR", items]]) }),
  ];
  const { changes } = given({ realNow: run, rows, balances: owning({ available }) }).when(runSchedule(owner));
  expect(changes.inserted(settlements).map(({ netMinor }) => netMinor)).toEqual(next ? [next.netMinor] : []);
});

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** A merchant whose batches are formed by the usual schedule, or by one that is changed so. */
const onSchedule = ({ settlement, ...settings }: SettingsChange = {}): ReturnType<TestService["merchant"]> =>
  service.merchant({ settings: { ...settings, settlement: { ...defaultSchedule, ...settlement } } });

async function paid(client: Client, changes: Record<string, unknown> = {}): Promise<string> {
  const { json } = await client.post("/v1/payments", paymentBody({ amount_minor: 1_000_000, ...changes }));
  const path = `/v1/sandbox/payments/${json.reference}/simulate`;
  const { json: told } = await client.post(path, { outcome: "succeeded" });
  expect(told.settlement.status).toBe("pending");
  return json.reference as string;
}

const settlementOf = async (client: Client, reference: string): Promise<Answer["json"]> =>
  (await client.get(`/v1/payments/${reference}`)).json.settlement;

/** Moves the clock past the day that was told, and sees the payment paid out on it. */
async function comesTrue(client: Client, reference: string): Promise<void> {
  const { estimated_date: day } = await settlementOf(client, reference);
  expect(day).toMatch(/^\d{4}-\d\d-\d\d$/);
  const { json: clock } = await client.get("/v1/sandbox/clock");
  // The default schedule pays out an hour after midnight in Jakarta, which is UTC+7.
  const payout = Date.parse(`${day}T01:00:00+07:00`) / 1000;
  await client.post("/v1/sandbox/clock/advance", { seconds: payout - Date.parse(clock.now as string) / 1000 - 60 });
  expect((await settlementOf(client, reference)).status).not.toBe("paid");
  await client.post("/v1/sandbox/clock/advance", { seconds: 120 });
  expect(await settlementOf(client, reference)).toMatchObject({ status: "paid", estimated_date: day });
  const [listed] = (await client.get(`/v1/payments?limit=100`)).json.data.filter(
    (one: { reference: string }) => one.reference === reference,
  );
  expect(listed.settlement).toMatchObject({ status: "paid", estimated_date: day });
}

test("an ordinary payment is paid out on its day, and a later schedule does not change what was", async () => {
  const { client, merchantId } = await onSchedule();
  const reference = await paid(client);
  await comesTrue(client, reference);
  const before = await settlementOf(client, reference);
  const settlement = { delay_days: 9, utc_offset_minutes: -600, cutoff: "17:00" };
  await service.operate("PATCH", `/merchants/${merchantId}`, { settlement });
  expect(await settlementOf(client, reference)).toEqual(before);
});

test("below the minimum payout there is no day; a second payment brings one for both", async () => {
  const { client } = await onSchedule({ settlement: { minimum_payout_minor: 1_500_000 } });
  const first = await paid(client);
  expect(await settlementOf(client, first)).toMatchObject({ status: "pending", estimated_date: null });
  const second = await paid(client);
  expect((await settlementOf(client, first)).estimated_date).toBe((await settlementOf(client, second)).estimated_date);
  await comesTrue(client, first);
});

test.each<[string, SettingsChange, Record<string, unknown>]>([
  ["an ordinary payment", {}, {}],
  ["less than the minimum payout", { settlement: { minimum_payout_minor: 1_500_000 } }, {}],
  ["a fee that takes all", {}, { amount_minor: 100_000, payment_method: "va" }],
  ["a frozen wallet", { wallet_frozen: { IDR: true } }, {}],
])("the answer of a simulation says of a payment by itself what a read says: %s", async (_name, settings, changes) => {
  const { client } = await onSchedule(settings);
  const { json } = await client.post("/v1/payments", paymentBody({ amount_minor: 1_000_000, ...changes }));
  const path = `/v1/sandbox/payments/${json.reference}/simulate`;
  const { json: told } = await client.post(path, { outcome: "succeeded" });
  expect(told.settlement).toEqual(await settlementOf(client, json.reference));
});

test("a payment in a dispute has no day; won after its day, it is paid out by the next run", async () => {
  const { client } = await onSchedule();
  const reference = await paid(client);
  const { json } = await client.post(`/v1/sandbox/payments/${reference}/dispute`, { reason: "general" });
  expect(await settlementOf(client, reference)).toMatchObject({ status: "pending", estimated_date: null });
  await client.post("/v1/sandbox/clock/advance", { seconds: 6 * 86_400 });
  await client.post(`/v1/sandbox/disputes/${json.uuid}/resolve`, { outcome: "won" });
  await comesTrue(client, reference);
});

test("a payment has no day while a dispute over another one holds the money that would be paid out", async () => {
  const { client } = await onSchedule();
  const settled = await paid(client);
  await client.post("/v1/sandbox/settlements/run", "");
  const { json } = await client.post(`/v1/sandbox/payments/${settled}/dispute`, { reason: "general" });
  const reference = await paid(client);
  expect(await settlementOf(client, reference)).toMatchObject({ status: "pending", estimated_date: null });
  await client.post(`/v1/sandbox/disputes/${json.uuid}/resolve`, { outcome: "won" });
  await comesTrue(client, reference);
});

test("what the bank returned is paid out by the next run", async () => {
  const { client, merchantId } = await onSchedule();
  const reference = await paid(client);
  const [formed] = (await client.post("/v1/sandbox/settlements/run", "")).json.data;
  const inBatch = await settlementOf(client, reference);
  expect(inBatch.status).toBe("processing");
  await service.operate("POST", `/merchants/${merchantId}/books/sandbox/settlements/${formed.uuid}/return`, {});
  expect((await settlementOf(client, reference)).status).toBe("pending");
  await comesTrue(client, reference);
});

test("a refund under way keeps its payment waiting, and no other one", async () => {
  const { client } = await onSchedule();
  const slow = { metadata: { "sandbox.scenario": "slow" } };
  const [first, second] = [await paid(client, slow), await paid(client)];
  const { json: refund } = await client.post("/v1/refunds", { payment_reference: first, amount_minor: 600_000 });
  expect(refund.status).toBe("pending");
  expect((await settlementOf(client, first)).estimated_date).toBeNull();
  await comesTrue(client, second);
  await client.post(`/v1/sandbox/refunds/${refund.uuid}/simulate`, { outcome: "succeeded" });
  await comesTrue(client, first);
});

test("a refund of what is settled takes no other payment's day away, not even within the second in which items are held", async () => {
  const { client } = await onSchedule();
  const settled = await paid(client);
  await client.post("/v1/sandbox/settlements/run", "");
  const reference = await paid(client);
  // So that its own change is long enough ago for held items to count.
  await client.post("/v1/sandbox/clock/advance", { seconds: 60 });
  const refund = () => client.post("/v1/refunds", { payment_reference: settled, amount_minor: 1_000 });
  expect((await refund()).status).toBe(201);
  const { estimated_date: day } = await settlementOf(client, reference);
  expect((await refund()).status).toBe(201);
  expect((await settlementOf(client, reference)).estimated_date).toBe(day);
  await comesTrue(client, reference);
});

test("a deduction that waits in an earlier period moves the day of what would have to make up for it", async () => {
  const settlement = { delay_days: 2, closed_weekdays: [] };
  const { client } = await onSchedule({ settlement });
  const day = () => client.post("/v1/sandbox/clock/advance", { seconds: 86_400 });
  const settled = await paid(client);
  for (let days = 0; days < 4; days++) await day();
  expect((await settlementOf(client, settled)).status).toBe("paid");
  const { json } = await client.post(`/v1/sandbox/payments/${settled}/dispute`, { reason: "fraudulent" });
  await client.post(`/v1/sandbox/disputes/${json.uuid}/resolve`, { outcome: "lost" });
  const small = await paid(client, { amount_minor: 100_000 });
  await day();
  await paid(client, { amount_minor: 3_000_000 });
  const [listed] = (await client.get("/v1/payments?limit=100")).json.data.filter(
    (one: { reference: string }) => one.reference === small,
  );
  expect(listed.settlement).toEqual(await settlementOf(client, small));
  await comesTrue(client, small);
});

test("a day that is over is never told: a run that is late pays out today at the earliest", () => {
  const run = nextRun(schedule, NOW);
  const day = payoutDay(schedule, run, NOW);
  expect(payoutDay(schedule, run, run + 2 * 3_600 * SECOND)).toBe(day);
  expect(payoutDay(schedule, run, run + 9 * DAY)).toBe(payoutDay(schedule, run + 9 * DAY, NOW));
  expect(payoutDay(schedule, run, run + 9 * DAY) > day).toBe(true);
});

test("the items of a book are read once in a second, and held for no longer: a book may have thousands", async () => {
  const read: string[] = [];
  const query = async ({ name = "" }: Statement): Promise<object[]> => {
    read.push(name);
    return name === "select settlement outlook" ? [{ has_deductions: true }] : [];
  };
  const outlooks = new Outlooks({ query } as unknown as Database, { now: () => NOW });
  const paid = { reference: "pay_", currency: "IDR", amountMinor: 2n, feeMinor: 1n, updatedAt: 0 } as PaymentSummary;
  const ask = (merchantId: string) =>
    outlooks.estimate({ ...ownerWith(defaultSettings), book: { merchantId, environment: "sandbox" } }, [paid]);
  const reads = () => read.filter((name) => name === "load unsettled items").length;
  const stopwatch = vi.spyOn(performance, "now").mockReturnValue(1_000_000);
  try {
    for (const merchant of ["mer_00000000000000000000000001", "mer_00000000000000000000000002"]) {
      await ask(merchant);
      await ask(merchant);
    }
    expect([reads(), Reflect.get(outlooks, "lately").size]).toEqual([2, 2]);
    stopwatch.mockReturnValue(1_001_001);
    await ask("mer_00000000000000000000000001");
    expect([reads(), Reflect.get(outlooks, "lately").size]).toEqual([3, 1]);
  } finally {
    stopwatch.mockRestore();
  }
});

test("with more than a run looks at, the day is the schedule's", async () => {
  const { client, merchantId } = await onSchedule({ settlement: { minimum_payout_minor: 1 } });
  const reference = await paid(client);
  await asOwner(service.database, async (owner) => {
    await owner.query("set session_replication_role = replica");
    await owner.query(
      `insert into payments select (jsonb_populate_record(p, jsonb_build_object('payment_id', gen_random_uuid(), 'reference_id', 'many-' || n,
  'paid_at', p.paid_at - interval '1 hour'))).*
from payments p, generate_series(1, ${ITEMS_MAX}) n where p.merchant_id = $1`,
      [uuidOf(merchantId)],
    );
    // The server of these tests collects no statistics by itself, and without any a row is not found by its whole key.
    await owner.query("analyze payments");
  });
  expect((await settlementOf(client, reference)).estimated_date).toMatch(/^\d{4}/);
  const took = await waiting(() =>
    Promise.all(Array.from({ length: 20 }, () => client.get(`/v1/payments/${reference}`))),
  );
  // Read once and not twenty times, which is some thirty milliseconds each.
  expect(took).toBeLessThan(5_000 * slowness());
});

test("payments whose fee takes all of them stand before no other: what came after them is settled", async () => {
  const { client, merchantId } = await onSchedule();
  const reference = await paid(client);
  await asOwner(service.database, async (owner) => {
    await owner.query("set session_replication_role = replica");
    await owner.query(
      `insert into payments select (jsonb_populate_record(p, jsonb_build_object('payment_id', gen_random_uuid(), 'reference_id', 'free-' || n,
  'fee_minor', p.amount_minor, 'paid_at', p.paid_at - interval '1 hour'))).*
from payments p, generate_series(1, ${ITEMS_MAX}) n where p.merchant_id = $1`,
      [uuidOf(merchantId)],
    );
    // The server of these tests collects no statistics by itself, and without any a row is not found by its whole key.
    await owner.query("analyze payments");
  });
  expect((await settlementOf(client, reference)).estimated_date).toMatch(/^\d{4}/);
  const { data } = (await client.post("/v1/sandbox/settlements/run", {})).json;
  expect(data).toHaveLength(1);
  // They come along, as many as a batch looks at besides.
  expect(data[0].payment_count).toBe(FREE_ITEMS_MAX + 1);
  expect((await settlementOf(client, reference)).status).toBe("processing");
});

test("a payment whose fee takes all of it has no day by itself; another payment brings one for both", async () => {
  const { client } = await onSchedule();
  const free = await paid(client, { amount_minor: 300_000, payment_method: "bank_transfer" });
  expect(await settlementOf(client, free)).toMatchObject({ status: "pending", estimated_date: null });
  await paid(client);
  await comesTrue(client, free);
});

test("a frozen wallet pays nothing out", async () => {
  const { client, merchantId } = await onSchedule();
  const reference = await paid(client);
  await service.operate("PATCH", `/merchants/${merchantId}`, { wallet_frozen: { IDR: true } });
  expect(await settlementOf(client, reference)).toMatchObject({ status: "pending", estimated_date: null });
});
