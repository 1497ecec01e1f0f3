// Goal: the calendar tells of every batch once, on its day and in its currency, and what books hold on the day on which their next run pays out.
// Method: batches of several merchants written as the schema's owner; drawn schedules, each held against what the schedule itself says; every
// wrong parameter.
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type TestService, asOwner, startService } from "../../test/kit.ts";
import { VIEWER_TOKEN, operatorCaller, outcomeOf } from "../../test/operator.ts";
import { type Micros, SECOND, sqlTime, systemClock, wireTime } from "../ground/clock.ts";
import { newId, uuidOf } from "../ground/ids.ts";
import {
  type SettlementSchedule,
  defaultSchedule,
  localDate,
  nextRun,
  payoutDate,
} from "../merchants/settlement-schedule.ts";
import { settlementCalendarEndpoints } from "./settlement-calendar.routes.ts";

const DAY: Micros = 86_400 * SECOND;

let service: TestService;
const shops: string[] = [];
const ask = operatorCaller(() => service, settlementCalendarEndpoints({} as never, systemClock));
beforeAll(async () => {
  service = await startService({ roles: ["api"], config: { operatorViewerToken: VIEWER_TOKEN } });
  for (const name of ["Toko Senja", "Kopi Melati", "Batik Lasem"])
    shops.push((await service.merchant({ name })).merchantId);
});
afterAll(() => service.stop());
beforeEach(() =>
  asOwner(service.database, async (owner) => {
    await owner.query("set session_replication_role = replica"); // no triggers: such rows come from no run
    await owner.query("delete from settlements");
    await owner.query("delete from settlement_clocks");
    await owner.query("delete from balances");
  }),
);

const inDays = (days: number): string => wireTime(systemClock.now() + days * DAY).slice(0, 10);

interface Batch {
  shop: number;
  day: string;
  net?: bigint;
  status?: string;
  currency?: string;
  environment?: string;
}

async function batches(...made: Batch[]): Promise<string[]> {
  const ids = made.map(() => newId("settlement", systemClock.now()));
  await asOwner(service.database, async (owner) => {
    await owner.query("set session_replication_role = replica");
    for (const [at, one] of made.entries()) {
      const { shop, day, net = 100n, status = "processing", currency = "IDR", environment = "production" } = one;
      await owner.query(
        `insert into settlements (merchant_id, environment, settlement_id, status, currency, period_start, period_end, gross_minor, fee_minor,
  refund_minor, net_minor, payment_count, created_at, pay_due_at, payout_date, paid_at, bank_reference, returned_at)
values ($1, $2, $3, $4::settlement_status, $5, now(), now(), $6, 0, 0, $6, 1, now(), now(), $7::date,
  case when $4 = 'paid' then now() end, case when $4 = 'paid' then 'TRF1' end, case when $4 = 'failed' then now() end)`,
        [uuidOf(shops[shop] ?? ""), environment, uuidOf(ids[at] ?? ""), status, currency, net, day],
      );
    }
  });
  return ids;
}

/** What a book holds, and when its next run is. */
async function waiting(shop: number, nextRunAt: Micros, available: bigint, currency = "IDR"): Promise<void> {
  await asOwner(service.database, async (owner) => {
    await owner.query("set session_replication_role = replica");
    await owner.query(
      `insert into settlement_clocks values ($1, 'production', $2) on conflict (merchant_id, environment) do update set next_run_at = $2`,
      [uuidOf(shops[shop] ?? ""), sqlTime(nextRunAt)],
    );
    await owner.query(
      `insert into balances (merchant_id, environment, account, currency, debit_minor, credit_minor)
values ($1, 'production', 'merchant:available', $2, 5, $3)`,
      [uuidOf(shops[shop] ?? ""), currency, available + 5n],
    );
  });
}

/** Gives the first merchant a schedule. */
async function schedules(schedule: SettlementSchedule): Promise<void> {
  await asOwner(service.database, async (owner) => {
    await owner.query("set session_replication_role = replica");
    await owner.query(
      `update merchants set settings = (settings::jsonb || jsonb_build_object('settlement', $2::jsonb))::text::json where merchant_id = $1`,
      [uuidOf(shops[0] ?? ""), JSON.stringify(schedule)],
    );
  });
}

type Calendar = { day: string; currencies: Record<string, unknown>[] }[];
const calendar = async (query = ""): Promise<Calendar> =>
  (await ask("GET", `/settlements/calendar${query}`, { token: VIEWER_TOKEN })).json.days as Calendar;

test("batches of all merchants are counted and added up by day, currency and what the bank did", async () => {
  const [past, today, next] = [inDays(-3), inDays(0), inDays(2)];
  await batches(
    { shop: 0, day: past, status: "paid", net: 1_000n },
    { shop: 1, day: past, status: "paid", net: 2_000n },
    { shop: 1, day: past, status: "failed", net: 7n },
    { shop: 2, day: past, status: "processing", net: 9n },
    { shop: 0, day: today, net: 50n },
    { shop: 0, day: today, net: 60n, currency: "USD" },
    { shop: 2, day: next, net: 70n },
    { shop: 2, day: next, net: 80n, environment: "sandbox" },
    { shop: 2, day: inDays(-31) },
    { shop: 2, day: inDays(15) },
  );
  const none = { batches: 0, net_minor: 0 };
  const rest = { exponent: 2, paid: none, processing: none, failed: none, to_come: { books: 0, available_minor: 0 } };
  expect(await calendar()).toEqual([
    {
      day: past,
      currencies: [
        {
          ...rest,
          currency: "IDR",
          paid: { batches: 2, net_minor: 3_000 },
          failed: { batches: 1, net_minor: 7 },
          processing: { batches: 1, net_minor: 9 },
        },
      ],
    },
    {
      day: today,
      currencies: [
        { ...rest, currency: "IDR", processing: { batches: 1, net_minor: 50 } },
        { ...rest, currency: "USD", processing: { batches: 1, net_minor: 60 } },
      ],
    },
    { day: next, currencies: [{ ...rest, currency: "IDR", processing: { batches: 1, net_minor: 70 } }] },
  ]);
  expect((await calendar("?environment=sandbox")).map(({ day }) => day)).toEqual([next]);
  expect((await calendar(`?from=${past}&to=${past}`)).map(({ day }) => day)).toEqual([past]);
});

test("a sum beyond what JSON carries is null, and not rounded", async () => {
  const most = 2n ** 53n - 1n;
  await batches({ shop: 0, day: inDays(0), net: most }, { shop: 1, day: inDays(0), net: 1n });
  const [{ currencies }] = (await calendar()) as [Calendar[number]];
  expect(currencies).toMatchObject([{ processing: { batches: 2, net_minor: null } }]);
});

describe("what is to come", () => {
  test("stands on the day on which the next run pays out; a late run on today; an empty book nowhere", async () => {
    const now = systemClock.now();
    await waiting(0, nextRun(defaultSchedule, now), 4_000n);
    await waiting(1, nextRun(defaultSchedule, now), 500n);
    await waiting(2, now - 40 * DAY, 9n, "USD");
    await asOwner(service.database, (owner) =>
      owner.query("update balances set debit_minor = credit_minor where merchant_id = $1", [uuidOf(shops[1] ?? "")]),
    );
    const told = (await calendar()).map(({ day, currencies }) => [
      day,
      currencies[0]?.currency,
      currencies[0]?.to_come,
    ]);
    expect(told).toHaveLength(2);
    expect(told).toContainEqual([localDate(defaultSchedule, now), "USD", { books: 1, available_minor: 9 }]);
    expect(told).toContainEqual([
      payoutDate(defaultSchedule, nextRun(defaultSchedule, now)),
      "IDR",
      { books: 1, available_minor: 4_000 },
    ]);
    // What is late is of today, whichever days are asked for.
    expect(await calendar(`?from=${inDays(20)}&to=${inDays(25)}`)).toEqual([]);
    expect(await calendar(`?from=${inDays(-9)}&to=${inDays(-1)}`)).toEqual([]);
  });

  test("is nothing of a frozen wallet, which no run takes; other currencies of its merchant stay, and it is back when it is thawed", async () => {
    const run = nextRun(defaultSchedule, systemClock.now());
    await waiting(0, run, 4_000n);
    await waiting(0, run, 70n, "USD");
    await waiting(1, run, 500n);
    const told = async () =>
      (await calendar())[0]?.currencies.map(({ currency, to_come: coming }) => [currency, coming]);
    const freezing = (frozen: boolean) =>
      service.operate("PATCH", `/merchants/${shops[0]}`, { wallet_frozen: { IDR: frozen } });
    await freezing(true);
    expect(await told()).toEqual([
      ["IDR", { books: 1, available_minor: 500 }],
      ["USD", { books: 1, available_minor: 70 }],
    ]);
    await freezing(false);
    expect(await told()).toEqual([
      ["IDR", { books: 2, available_minor: 4_500 }],
      ["USD", { books: 1, available_minor: 70 }],
    ]);
  });

  test("of a late run stands on the merchant's own today, where that is another day than in UTC", async () => {
    const now = systemClock.now();
    const isMorning = new Date(now / 1_000).getUTCHours() < 12;
    const schedule = { ...defaultSchedule, utc_offset_minutes: isMorning ? -720 : 840 };
    await schedules(schedule);
    await waiting(0, now - DAY, 10n);
    const day = localDate(schedule, now);
    expect(day).not.toBe(inDays(0));
    expect((await calendar()).map((one) => one.day)).toEqual([day]);
  });

  test("is on the day that the schedule itself tells, whatever it is", async () => {
    const drawn = fc.record({
      utc_offset_minutes: fc.integer({ min: -720, max: 840 }),
      pay_after_seconds: fc.integer({ min: 0, max: 604_800 }),
      cutoff: fc.constantFrom("00:00", "12:30", "23:59"),
      runInHours: fc.integer({ min: 1, max: 24 * 6 }),
    });
    await fc.assert(
      fc.asyncProperty(drawn, async ({ runInHours, ...changes }) => {
        const schedule: SettlementSchedule = { ...defaultSchedule, ...changes };
        const runAt = systemClock.now() + runInHours * 3_600 * SECOND;
        await asOwner(service.database, async (owner) => {
          await owner.query("set session_replication_role = replica");
          await owner.query("delete from balances");
        });
        await schedules(schedule);
        await waiting(0, runAt, 10n);
        expect((await calendar()).map(({ day }) => day)).toEqual([payoutDate(schedule, runAt)]);
      }),
      { numRuns: 25 },
    );
  });
});

describe("the batches of a day", () => {
  const list = (query: string) => ask("GET", `/settlements?${query}`, { token: VIEWER_TOKEN });

  test("are those of all merchants, newest first, in pages, by status and currency", async () => {
    const day = inDays(1);
    const made = await batches(
      { shop: 0, day },
      { shop: 1, day, status: "paid" },
      { shop: 2, day, currency: "USD" },
      { shop: 2, day: inDays(2) },
      { shop: 2, day, environment: "sandbox" },
    );
    const first = (await list(`payout_date=${day}&limit=2`)).json;
    expect(first.data.map(({ uuid, merchant_name: name }: Record<string, string>) => [uuid, name])).toEqual([
      [made[2], "Batik Lasem"],
      [made[1], "Kopi Melati"],
    ]);
    expect(first).toMatchObject({ has_more: true, next_cursor: made[1] });
    expect(first.data[0]).toMatchObject({ payout_date: day, merchant_id: shops[2], currency: "USD" });
    const second = (await list(`payout_date=${day}&limit=2&starting_after=${first.next_cursor}`)).json;
    expect(second.data.map(({ uuid }: { uuid: string }) => uuid)).toEqual([made[0]]);
    expect(second).toMatchObject({ has_more: false, next_cursor: null });
    for (const [filter, at] of [
      ["status=paid", 1],
      ["currency=USD", 2],
      ["environment=sandbox", 4],
    ] as const) {
      const { data } = (await list(`payout_date=${day}&${filter}`)).json;
      expect(
        data.map(({ uuid }: { uuid: string }) => uuid),
        filter,
      ).toEqual([made[at]]);
    }
    // A cursor of another day is none of this list.
    expect(outcomeOf(await list(`payout_date=${day}&starting_after=${made[3]}`))).toBe(
      "422 VALIDATION_ERROR starting_after",
    );
  });

  test.each([
    ["settlements", "payout_date"],
    ["settlements?payout_date=2026-02-30", "payout_date"],
    ["settlements?payout_date=2026-11-23T00:00:00Z", "payout_date"],
    ["settlements?payout_date=2026-11-23&status=lost", "status"],
    ["settlements?payout_date=2026-11-23&currency=idr", "currency"],
    ["settlements?payout_date=2026-11-23&starting_after=pay_1", "starting_after"],
    ["settlements?payout_date=2026-11-23&limit=0", "limit"],
    ["settlements?payout_date=2026-11-23&merchant_id=x", "merchant_id"],
    ["settlements/calendar?environment=live", "environment"],
    ["settlements/calendar?from=yesterday", "from"],
    ["settlements/calendar?from=2026-11-23&to=2026-11-22", "to"],
    ["settlements/calendar?from=2026-01-01&to=2026-12-31", "to"],
    ["settlements/calendar?from=1969-12-31", "from"],
    ["settlements/calendar?from=2026-11-23&from=2026-11-24", "from"],
  ])("%s is refused, with %s named", async (path, field) => {
    expect(outcomeOf(await ask("GET", `/${path}`))).toBe(`422 VALIDATION_ERROR ${field}`);
  });
});
