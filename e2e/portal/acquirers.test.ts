// Goal: how an acquirer does is seen by method over time, at a glance and as plots, on every size, and by everybody who may read.
// Method: a day in which one method got worse, written as processes and the roll-up write it; a real browser; axe in light and dark.
import { beforeAll, expect, test } from "vitest";
import { asOwner } from "../../gateway/test/kit.ts";
import { scriptedAcquirer } from "../../gateway/test/scripted-acquirer.ts";
import { at } from "../../portal/src/console/paths.ts";
import { PHONE, isClean, usePortal } from "./kit/portal.ts";

// Without a worker: it would count the payments that are there, and these are none.
const portal = usePortal({ roles: ["api"], acquirers: [scriptedAcquirer("rimba")] });

beforeAll(() =>
  asOwner(portal.service.database, async (owner) => {
    // Quarters of an hour of the last day: QRIS fails for two hours, and calls take ever longer before it.
    await owner.query(`insert into payment_totals (step_seconds, at, environment, currency, method, acquirer, outcome, payments, amount_minor)
select 900, date_bin('900 seconds', now(), 'epoch') - make_interval(mins => 15 * n), 'sandbox', 'IDR', m.method::payment_method, 'rimba', o.outcome,
  case when o.outcome = 'failed' and (m.method <> 'qris' or n not between 20 and 27) then 1 else o.payments end, 100000
from generate_series(0, 95) n
cross join (values ('qris'), ('va'), ('card')) m (method)
cross join (values ('asked', 30), ('succeeded', 24), ('failed', 21)) o (outcome, payments)
where (n % 3 > 0 or m.method <> 'card')`);
    await owner.query(`insert into telemetry_acquirers (step_seconds, at, process_id, gateway_code, method, calls, refused, unknown, call_ms, is_open)
select 60, date_bin('60 seconds', now(), 'epoch') - make_interval(mins => n), '00000000-0000-7000-8000-000000000001', 'rimba', m.method, 4,
  case when m.method = 'qris' and n between 300 and 420 then 2 else 0 end, 0,
  4 * (m.ms + (20 * sin(n / 40.0))::integer + case when m.method = 'qris' and n between 300 and 600 then 900 - 3 * (n - 300) else 0 end),
  m.method = 'qris' and n between 300 and 420
from generate_series(0, 1439) n
cross join (values ('qris', 120), ('va', 240), ('card', 410)) m (method, ms)`);
  }),
);

test("success, time of calls and the circuit are seen by method, over the period that the address names", async () => {
  const { page, open, look } = await portal.operator("viewer", { viewport: { width: 1440, height: 900 } });
  await open(at.acquirers());
  await page.getByRole("group", { name: "Period" }).getByRole("button", { name: "24 hours" }).focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(/period=day/);
  const card = page.getByRole("region", { name: "rimba" });
  await card.getByRole("row", { name: /^qris.*90 %.*2\d\d ms/ }).waitFor();
  await card.getByRole("row", { name: /^va.*96 %.*2\d\d ms/ }).waitFor();
  await isClean({ page }, "console-acquirers");
  await look("console-acquirers");

  await card.getByRole("link", { name: "Over time of rimba" }).focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/acquirers\/rimba\?.*period=day/);
  const figures = page.getByRole("region", { name: "Its methods over the period" });
  await figures.getByRole("row", { name: /^qris/ }).waitFor();
  await page.getByRole("img", { name: /^qris: open in \d+ of 96 spans$/ }).waitFor();
  await page.getByRole("img", { name: "va: never open" }).waitFor();
  await expect.poll(() => page.locator("figure canvas").count()).toBe(6);
  await isClean({ page }, "console-acquirer");
  await look("console-acquirer");
  await page.setViewportSize({ width: 820, height: 1180 });
  await look("console-acquirer-tablet");
  await page.setViewportSize(PHONE);
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE.width);
  await page.getByText(/^Nothing in this period: /).waitFor();
  // What is drawn is there to be read, too.
  const plot = page.getByRole("figure").filter({ hasText: "qris: payments that succeeded" });
  await plot.getByText("As a table").click();
  await plot.getByRole("cell", { name: "53.3 %" }).first().waitFor();
});

test("an acquirer with which nothing happened says so, one that there is not is not found, and a phone has room for both", async () => {
  const { page, open } = await portal.operator("viewer", { viewport: PHONE });
  await open(at.acquirer("nusantara", "month"));
  await page.getByText("Nothing happened with it in this period").waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE.width);
  await open(at.acquirer("nobody"));
  await page.getByRole("alert").waitFor();
});
