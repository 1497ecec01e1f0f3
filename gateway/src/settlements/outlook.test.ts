// Goal: the day that a merchant is told is the day of the payout, if nothing else happens. Method: a property over what waits, with the
// forming of batches itself as witness; then a service whose clock is moved to see what was told come true.
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Answer, Client } from "../../../e2e/kit/client.ts";
import { NOW, given, ownerWith, row } from "../../test/given.ts";
import { type TestService, paymentBody, startService } from "../../test/kit.ts";
import { owning } from "../../test/refunds.ts";
import { type Micros, SECOND } from "../ground/clock.ts";
import { newId } from "../ground/ids.ts";
import { defaultSchedule, nextRun } from "../merchants/settlement-schedule.ts";
import { defaultSettings } from "../merchants/settings.ts";
import { runsToCome } from "./outlook.ts";
import type { SettlementItem } from "./settlement.ts";
import { batchItems, settlementClocks, settlements, waitingItems } from "./settlements.sql.ts";
import { runSchedule } from "./settlements.ts";

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
        row(waitingItems, { book, items: new Map([["IDR", left]]) }),
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
        expect(told).toEqual(whatHappens(items, available, minimum));
      },
    ),
    { numRuns: 300 },
  );
});

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

async function paid(client: Client): Promise<string> {
  const { json } = await client.post("/v1/payments", paymentBody({ amount_minor: 1_000_000 }));
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
  expect(await settlementOf(client, reference)).toEqual({ status: "paid", estimated_date: day });
  const [listed] = (await client.get(`/v1/payments?limit=100`)).json.data.filter(
    (one: { reference: string }) => one.reference === reference,
  );
  expect(listed.settlement).toEqual({ status: "paid", estimated_date: day });
}

test("an ordinary payment is paid out on its day, and a later schedule does not change what was", async () => {
  const { client, merchantId } = await service.merchant();
  const reference = await paid(client);
  await comesTrue(client, reference);
  const before = await settlementOf(client, reference);
  const settlement = { delay_days: 9, utc_offset_minutes: -600, cutoff: "17:00" };
  await service.operate("PATCH", `/merchants/${merchantId}`, { settlement });
  expect(await settlementOf(client, reference)).toEqual(before);
});

test("below the minimum payout there is no day; a second payment brings one for both", async () => {
  const { client } = await service.merchant({ settings: { settlement: { minimum_payout_minor: 1_500_000 } } });
  const first = await paid(client);
  expect(await settlementOf(client, first)).toEqual({ status: "pending", estimated_date: null });
  const second = await paid(client);
  expect((await settlementOf(client, first)).estimated_date).toBe((await settlementOf(client, second)).estimated_date);
  await comesTrue(client, first);
});

test("a payment in a dispute has no day; won after its day, it is paid out by the next run", async () => {
  const { client } = await service.merchant();
  const reference = await paid(client);
  const { json } = await client.post(`/v1/sandbox/payments/${reference}/dispute`, { reason: "general" });
  expect(await settlementOf(client, reference)).toEqual({ status: "pending", estimated_date: null });
  await client.post("/v1/sandbox/clock/advance", { seconds: 6 * 86_400 });
  await client.post(`/v1/sandbox/disputes/${json.uuid}/resolve`, { outcome: "won" });
  await comesTrue(client, reference);
});

test("what the bank returned is paid out by the next run", async () => {
  const { client, merchantId } = await service.merchant();
  const reference = await paid(client);
  const [formed] = (await client.post("/v1/sandbox/settlements/run", "")).json.data;
  const inBatch = await settlementOf(client, reference);
  expect(inBatch.status).toBe("processing");
  await service.operate("POST", `/merchants/${merchantId}/books/sandbox/settlements/${formed.uuid}/return`, {});
  expect((await settlementOf(client, reference)).status).toBe("pending");
  await comesTrue(client, reference);
});

test("a frozen wallet pays nothing out", async () => {
  const { client, merchantId } = await service.merchant();
  const reference = await paid(client);
  await service.operate("PATCH", `/merchants/${merchantId}`, { wallet_frozen: { IDR: true } });
  expect(await settlementOf(client, reference)).toEqual({ status: "pending", estimated_date: null });
});
