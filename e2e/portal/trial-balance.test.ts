// Goal: whoever closes a month sees what is owed, earned and paid out over all merchants, and takes it along book by book. Method: two shops
// with money in two currencies, this month and the month before; a real browser, by keyboard and on a phone; axe in light and dark.
import { readFile } from "node:fs/promises";
import { beforeAll, expect, test } from "vitest";
import { alsoIn } from "../../gateway/test/currencies.ts";
import { paymentBody } from "../../gateway/test/kit.ts";
import { defaultSettings } from "../../gateway/src/merchants/settings.ts";
import { at } from "../../portal/src/console/paths.ts";
import { PHONE, isClean, usePortal } from "./kit/portal.ts";

const portal = usePortal();
let ids: string[];

beforeAll(async () => {
  const settings = alsoIn(defaultSettings, "USD");
  const shops = await Promise.all(
    ["Toko Senja", "Kopi Melati"].map((name) => portal.service.merchant({ name, settings })),
  );
  ids = shops.map(({ merchantId }) => merchantId);
  for (const { client } of shops)
    for (const changes of [
      { amount_minor: 15_000_000 },
      { amount_minor: 70_007, currency: "USD", payment_method: "card" },
    ]) {
      const { reference } = (await client.post("/v1/payments", paymentBody(changes))).json;
      await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
    }
});

test("a month is read in the person's days, leads to the month before, and is saved book by book", async () => {
  const finance = await portal.operator("viewer", { viewport: { width: 1440, height: 900 } });
  const { page, open, look } = finance;
  await open(at.trialBalance());
  await page.getByText("No money has moved in production").waitFor();
  await page.getByRole("link", { name: "sandbox" }).click();
  await page.getByText("A sandbox whose clock was moved on has booked on later days").waitFor();
  const idr = page.getByRole("region", { name: "Accounts in IDR" });
  const row = (name: RegExp) => idr.getByRole("row", { name }).getByRole("cell").allTextContents();
  await idr.waitFor();
  expect(await row(/^acquirer:/)).toEqual(["0.00", "300,000.00", "300,000.00"]);
  expect(await row(/^platform:fees/)).toEqual(["0.00", "−2,100.00", "−2,100.00"]);
  expect(await row(/^merchant:available/)).toEqual(["0.00", "−297,900.00", "−297,900.00"]);
  expect(await row(/^Sum/)).toEqual(["0.00", "0.00", "0.00"]);
  await page
    .getByRole("region", { name: "Accounts in USD" })
    .getByRole("row", { name: /^Sum.*0\.00/ })
    .waitFor();
  await isClean(finance, "trial balance");
  await look("console-trial-balance");

  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download CSV, book by book" }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^trial-balance-sandbox-\d{4}-\d\d-01-\d{4}-\d\d-\d\d\.csv$/);
  const lines = (await readFile((await download.path()) ?? "", "utf8")).trimEnd().split("\r\n");
  expect(lines.at(-1)).toBe("end");
  for (const id of ids) expect(lines.filter((line) => line.startsWith(id)).length).toBeGreaterThan(4);

  await page.getByRole("link", { name: "Last month" }).focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(/environment=sandbox&from=\d{4}-\d\d-01&to=\d{4}-\d\d-(28|29|30|31)$/);
  await expect.poll(() => row(/^platform:fees/)).toEqual(["0.00", "0.00", "0.00"]);
});

test("on a phone nothing is wider than the page, and a reversed period is told", async () => {
  const finance = await portal.operator("viewer", { viewport: PHONE });
  const { page, open } = finance;
  await open(at.trialBalance("sandbox"));
  await page.getByRole("region", { name: "Accounts in IDR" }).waitFor();
  await isClean(finance, "trial balance on a phone");
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE.width);
  await open(at.trialBalance("sandbox", { from: "2026-02-01", to: "2026-01-01" }));
  await page.getByRole("alert").filter({ hasText: "to must not be before from" }).waitFor();
});
