// Goal: finance sees what the bank has to pay today, what it is late with and what is to come, over all merchants, and comes from a day to its batches.
// Method: batches of several merchants over six weeks; a real browser, by keyboard and on a phone; axe in light and dark.
import { beforeAll, expect, test } from "vitest";
import { SECOND, sqlTime, systemClock, wireTime } from "../../gateway/src/ground/clock.ts";
import { newId, uuidOf } from "../../gateway/src/ground/ids.ts";
import { asOwner } from "../../gateway/test/kit.ts";
import { at } from "../../portal/src/console/paths.ts";
import { PHONE, isClean, usePortal } from "./kit/portal.ts";

const portal = usePortal();
const DAY = 86_400 * SECOND;
/** The day in the zone of the browsers of these tests. */
const inDays = (days: number): string => wireTime(systemClock.now() + 7 * 3_600 * SECOND + days * DAY).slice(0, 10);

interface Batch {
  shop: number;
  days: number;
  net: number;
  status?: string;
  currency?: string;
}

const shops = ["Toko Senja", "Kopi <img src=x onerror=alert(1)>", "Batik Lasem"];
let late: string;

beforeAll(async () => {
  const ids: string[] = [];
  for (const name of shops) ids.push((await portal.service.merchant({ name })).merchantId);
  const month: Batch[] = Array.from({ length: 30 }, (_, at) => at + 1)
    .filter((days) => days % 7 < 5)
    .flatMap((days) =>
      shops.map((_, shop) => ({ shop, days: -days, net: 120_000_000 + days * 7_700_000 * (shop + 1), status: "paid" })),
    );
  const made: Batch[] = [
    ...month,
    { shop: 0, days: -2, net: 45_000_000 },
    { shop: 1, days: -4, net: 8_000_000, status: "failed" },
    { shop: 0, days: 0, net: 210_000_000 },
    { shop: 1, days: 0, net: 98_500_000, status: "paid" },
    { shop: 2, days: 0, net: 1_250_000, currency: "USD" },
    { shop: 2, days: 1, net: 77_000_000 },
  ];
  await asOwner(portal.service.database, async (owner) => {
    await owner.query("set session_replication_role = replica"); // such rows come from no run
    for (const { shop, days, net, status = "processing", currency = "IDR" } of made) {
      const id = newId("settlement", systemClock.now());
      if (days === -2 && status === "processing") late = id;
      await owner.query(
        `insert into settlements (merchant_id, environment, settlement_id, status, currency, period_start, period_end, gross_minor, fee_minor,
  refund_minor, net_minor, payment_count, created_at, pay_due_at, payout_date, paid_at, bank_reference, returned_at)
values ($1, 'production', $2, $3::settlement_status, $4, now() - interval '2 days', now() - interval '1 day', $5, 0, 0, $5, 12, now(), now(), $6::date,
  case when $3 = 'paid' then now() end, case when $3 = 'paid' then 'TRF20261122001' end,
  case when $3 = 'failed' then now() end)`,
        [uuidOf(ids[shop] ?? ""), uuidOf(id), status, currency, net, inDays(days)],
      );
    }
    for (const [shop, days] of [1, 4, 9].entries()) {
      const key = uuidOf(ids[shop] ?? "");
      await owner.query(
        `insert into settlement_clocks values ($1, 'production', $2)
on conflict (merchant_id, environment) do update set next_run_at = $2`,
        [key, sqlTime(systemClock.now() + days * DAY)],
      );
      await owner.query(
        "insert into balances values ($1, 'production', 'merchant:available', 'IDR', 0, $2) on conflict do nothing",
        [key, 64_000_000 * (shop + 1)],
      );
    }
  });
});

test("a day of the calendar leads to its batches, and a batch to its page, by keyboard", async () => {
  const finance = await portal.operator("viewer", { viewport: { width: 1440, height: 900 } });
  const { page, open, look } = finance;
  await open(at.calendar());
  const totals = page.getByRole("region", { name: "What is to be paid, and what was" });
  const idr = totals.getByRole("row", { name: /^IDR/ });
  // Overdue, due today, the next two weeks.
  expect(await idr.getByRole("cell").allTextContents()).toEqual(
    expect.arrayContaining(["450,000.00", "2,100,000.00", "770,000.00"]),
  );
  await totals.getByRole("row", { name: /^USD.*12,500\.00/ }).waitFor();
  const today = page.getByRole("cell", { name: /today/ });
  expect(await today.getAttribute("aria-current")).toBe("date");
  expect(await today.textContent()).toMatch(/1 to pay.*2\.1M.*1 paid.*1 to pay.*USD 12\.5K/);
  await page.getByRole("link", { name: /1 overdue/ }).waitFor();
  await page.getByRole("link", { name: /1 returned/ }).waitFor();
  await page
    .getByRole("link", { name: /book to come/ })
    .first()
    .waitFor();
  await isClean(finance, "calendar");
  await look("console-calendar");
  await page.setViewportSize({ width: 820, height: 1180 });
  await look("console-calendar-tablet");

  await page.setViewportSize({ width: 1440, height: 900 });
  await page.getByRole("link", { name: /1 overdue/ }).focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(new RegExp(`/settlements/${inDays(-2)}`));
  await page.getByRole("link", { name: "Toko Senja" }).first().waitFor();
  await isClean(finance, "payouts");
  await look("console-payouts");
  await page.getByLabel("Status").selectOption("processing");
  await page.waitForURL(/status=processing/);
  await expect.poll(() => page.getByRole("row").count()).toBe(2);
  await page.getByRole("link", { name: "Toko Senja" }).focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(new RegExp(`/settlements/${late}$`));
  await page.getByRole("table", { name: "The batch as an equation" }).waitFor();
});

test("on a phone the days stand below each other, the newest first, and the other environment is one tap away", async () => {
  const finance = await portal.operator("viewer", { viewport: PHONE });
  const { page, open } = finance;
  await open(at.calendar());
  const days = page.getByRole("list", { name: "Payouts by day" }).getByRole("listitem");
  expect(await days.filter({ hasText: "today" }).count()).toBe(1);
  expect(await page.getByRole("table", { name: "Payouts by day" }).count()).toBe(0);
  await isClean(finance, "calendar on a phone");
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(width).toBeLessThanOrEqual(PHONE.width);
  await page.getByRole("link", { name: "sandbox" }).click();
  await page.getByText("No payouts in these weeks").waitFor();
  await open(at.payouts("yesterday", "production"));
  await page.getByRole("alert").waitFor();
});
