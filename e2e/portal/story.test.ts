// Goal: a person finds a payment, sees everything that happened to it, and moves money once however often they click. Method: whole stories
// in a real browser, by role and name, against a whole service.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { defaultSettings } from "../../gateway/src/merchants/settings.ts";
import { alsoIn } from "../../gateway/test/currencies.ts";
import { paymentBody } from "../../gateway/test/kit.ts";
import { operates } from "../../gateway/test/portal.ts";
import { paths } from "../../portal/src/paths.ts";
import { faults } from "./kit/look.ts";
import { type Member, usePortal, settled } from "./kit/portal.ts";

const portal = usePortal();

/** As long as the kit waits for anything on a page. */
const PATIENCE = { timeout: 30_000 };

const EVIL = `<img src=x onerror="document.title='owned'">`;

async function made(member: Member, changes: Record<string, unknown> = {}): Promise<string> {
  const { json } = await member.client.post("/v1/payments", paymentBody({ amount_minor: 15_000_000, ...changes }));
  return json.reference as string;
}

test("create, pay by simulate, refund, and see the story and the ledger", async () => {
  const member = await portal.member("owner");
  const { page, place, client } = member;
  const reference = await made(member, { description: EVIL, metadata: { note: EVIL }, customer: { name: EVIL } });
  await member.open(paths.payment(place, reference));
  const story = page.getByRole("region", { name: "Story of the payment" });
  await expect.poll(() => story.getByRole("heading", { level: 2 }).allInnerTexts(), PATIENCE).toHaveLength(5);
  await member.look("payment-pending");

  await page.getByRole("button", { name: "Simulate" }).click();
  await page.getByRole("button", { name: "Report it" }).dblclick();
  await story.getByRole("heading", { name: "Paid", exact: true }).waitFor();

  await page.getByRole("button", { name: "Refund" }).click();
  const dialog = page.getByRole("dialog", { name: "Refund the payment" });
  await dialog.getByText("It is taken from your available balance; the fee is not returned.").waitFor();
  await dialog.getByLabel("Amount in IDR").fill("200000");
  await dialog.getByRole("button", { name: "Refund" }).click();
  await dialog.getByText("At most IDR 150,000.00").waitFor();
  await dialog.getByLabel("Amount in IDR").fill("50,000.00");
  await dialog.getByLabel("Reason").fill(EVIL);
  await dialog.getByRole("button", { name: "Refund" }).dblclick();
  await story.getByRole("heading", { name: /^Refunded IDR\s?50,000.00/ }).waitFor();
  expect((await client.get("/v1/refunds")).json.data).toHaveLength(1);
  await settled(page);
  expect(await page.title()).toBe("Payment · gerbang");
  expect(await faults(page)).toEqual([]);
  await member.look("payment-refunded");

  // Both items of the batch are paid out by one transfer: each says what it had of it.
  await client.post("/v1/sandbox/settlements/run", {});
  await client.post("/v1/sandbox/clock/advance", { seconds: 86_400 });
  await page.reload();
  const payouts = story.getByRole("listitem").filter({ hasText: "Paid out to you" });
  await expect.poll(() => payouts.count(), PATIENCE).toBe(2);
  await payouts.filter({ hasText: /The payment put in IDR\s?150,000.00, less the fee of IDR\s?1,050.00/ }).waitFor();
  await payouts.filter({ hasText: /The refund took IDR\s?50,000.00/ }).waitFor();
});

test("a payment that nobody paid shows no fee, and nothing that is to come", async () => {
  const member = await portal.member("owner");
  const { page, place, client, open } = member;
  const reference = await made(member);
  await client.post(`/v1/payments/${reference}/cancel`, {});
  await open(paths.payment(place, reference));
  const fact = (name: string) => page.locator("dl div").filter({ hasText: new RegExp(`^${name}`) });
  await fact("Fee").getByText("none").waitFor();
  await fact("Yours after fee").getByText("nothing", { exact: true }).waitFor();
});

test("a payment that is held for review is not told as one that can be paid, and nobody plays its payer", async () => {
  const { page, place, client, open } = await portal.member("owner");
  const { error } = (await client.post("/v1/payments", paymentBody({ customer: { email: "sari@review.test" } }))).json;
  await open(paths.payment(place, error.details.reference as string));
  await page
    .locator("dl div")
    .filter({ hasText: /^Held for review until/ })
    .getByText("then refused, unless approved")
    .waitFor();
  await page.getByRole("button", { name: "Cancel" }).waitFor();
  expect(await page.getByText("Can be paid until").count()).toBe(0);
  expect(await page.getByRole("button", { name: "Simulate" }).count()).toBe(0);
});

test("a refund that has not arrived is not told as refunded", async () => {
  const member = await portal.member("owner");
  const { page, place, client, open } = member;
  const reference = await made(member, { metadata: { "sandbox.scenario": "slow" } });
  await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  const { json } = await client.post("/v1/refunds", { payment_reference: reference, amount_minor: 5_000_000 });
  await open(paths.payment(place, reference));
  await page.getByRole("heading", { name: /^Refund asked for: IDR/ }).waitFor();
  await client.post(`/v1/sandbox/refunds/${json.uuid as string}/simulate`, { outcome: "failed" });
  await page.getByRole("heading", { name: /^Refund failed: IDR/ }).waitFor();
});

test("a day of a filter is a day of the times on the page", async () => {
  const member = await portal.member("owner");
  const { page, place, client } = member;
  // The browser is in Jakarta: 16:00 in UTC is an hour before its midnight.
  const now = new Date((await client.get("/v1/sandbox/clock")).json.now as string);
  const evening = new Date(now);
  evening.setUTCHours(16 + 24, 0, 0, 0);
  await client.post("/v1/sandbox/clock/advance", { seconds: (evening.getTime() - now.getTime()) / 1_000 });
  await made(member, { reference_id: "evening" });
  await client.post("/v1/sandbox/clock/advance", { seconds: 2 * 3_600 });
  await made(member, { reference_id: "night" });
  const rows = page.getByRole("group", { name: "Payments" }).getByRole("row");
  const day = (hours: number): string => new Date(evening.getTime() + hours * 3_600_000).toISOString().slice(0, 10);
  for (const [on, name] of [
    [day(0), "evening"],
    [day(24), "night"],
  ] as const) {
    await member.open(`${paths.payments(place)}?created_from=${on}&created_to=${on}`);
    await rows.getByText(name).waitFor();
    expect(await rows.count(), name).toBe(2);
    expect(await page.getByLabel("From").inputValue()).toBe(on);
  }
});

test("find a payment in the list and by the palette, whatever one knows of it", async () => {
  const member = await portal.member("owner");
  const { page, place } = member;
  await member.open(paths.payments(place));
  await page.getByRole("heading", { name: "No payments yet" }).waitFor();
  const reference = await made(member, { reference_id: "rumah-1", customer: { email: "sari@example.com" } });
  await made(member, { reference_id: `lain-${EVIL}`, amount_minor: 7_700_000 });
  await page.reload();
  const rows = page.getByRole("group", { name: "Payments" }).getByRole("row");
  await expect.poll(() => rows.count(), PATIENCE).toBe(3);
  await member.look("payments");
  await page.getByLabel("Amount", { exact: true }).fill("77,000.00");
  await page.keyboard.press("Enter");
  await expect.poll(() => rows.count(), PATIENCE).toBe(2);
  await rows.getByText("lain-").waitFor();
  await page.getByLabel("Amount", { exact: true }).fill("");
  await page.getByRole("searchbox", { name: "Payment", exact: true }).fill(reference);
  await page.keyboard.press("Enter");
  await expect.poll(() => rows.count(), PATIENCE).toBe(2);
  await rows.getByText("rumah-1").waitFor();
  expect(await page.getByText("The same with curl").innerText()).toContain(`GET /v1/payments/${reference}`);
  await page.getByRole("searchbox", { name: "Payment", exact: true }).fill("");
  await page.getByLabel("Payer").fill("SARI@example.com");
  await page.keyboard.press("Enter");
  await rows.getByText("rumah-1").waitFor();
  expect(page.url()).toContain("payer=SARI%40example.com");
  await page.getByRole("link", { name: "rumah-1" }).click();
  await page.getByRole("heading", { name: "Payment", exact: true }).waitFor();

  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").fill("ruma");
  await page.getByRole("option", { name: /rumah-1/ }).waitFor();
  await page.getByRole("combobox").fill(reference);
  await page.getByRole("option", { name: /rumah-1.*payment/ }).click();
  await page.waitForURL(`**/payments/${reference}`);
});

test("why this number, down to an entry and up to its payment", async () => {
  const member = await portal.member("viewer");
  const { page, place, client } = member;
  const reference = await made(member);
  await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  await member.open(paths.balances(place));
  await member.look("balances");
  expect(await faults(page)).toEqual([]);
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "hledger" }).click();
  expect((await download).suggestedFilename()).toBe("book-sandbox.journal");
  await page
    .getByRole("region", { name: "Balance in IDR" })
    .getByRole("link", { name: /148,950.00/ })
    .click();
  await page.getByRole("heading", { name: "Available in IDR" }).waitFor();
  await settled(page);
  await member.look("balance");
  expect(await faults(page)).toEqual([]);
  const [saved] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download CSV" }).click(),
  ]);
  expect(saved.suggestedFilename()).toBe("entries-IDR-available-sandbox.csv");
  const lines = readFileSync(await saved.path(), "utf8").split("\r\n");
  expect(lines).toEqual([
    "id,posted_at,kind,object,group,currency,amount_minor,amount,figure_after_minor,figure_after,posted_day,time_zone",
    expect.stringMatching(
      `^1-\\d,\\S+Z,capture,${reference},${reference},IDR,14895000,148950.00,14895000,148950.00,\\d{4}-\\d\\d-\\d\\d,Asia/Jakarta$`,
    ),
    "",
  ]);
  await page.getByLabel("From").fill("2100-01-01");
  await page.getByText("No entries on these days").waitFor();
  await page.getByLabel("From").fill("2020-01-01");
  await page.getByRole("link", { name: "capture" }).click();
  await page.getByRole("heading", { name: "Journal", exact: true }).waitFor();
  const entries = page.getByRole("region", { name: "Entries of the journal" });
  await entries.getByText("merchant:available").waitFor();
  await member.look("journal");
  expect(await faults(page)).toEqual([]);
  await page.getByRole("link", { name: reference }).click();
  await page.getByRole("region", { name: "Story of the payment" }).waitFor();
  // A viewer sees everything and moves nothing.
  for (const name of ["Simulate", "Cancel", "Refund", "Contest as payer"])
    expect(await page.getByRole("button", { name, exact: true }).count()).toBe(0);
});

test("advance the clock, and watch a settlement being formed and paid", async () => {
  const member = await portal.member("finance");
  const { page, place, client } = member;
  const references = [await made(member), await made(member)];
  for (const reference of references)
    await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  await client.post("/v1/refunds", { payment_reference: references[0], amount_minor: 1_000_000 });
  await member.open(paths.settlements(place));
  await page.getByRole("heading", { name: "No settlements yet" }).waitFor();
  await page.getByRole("button", { name: "Form batches now" }).dblclick();
  await page.getByRole("link", { name: /^set_/ }).click();
  const equation = page.getByRole("table", { name: "The batch as an equation" });
  await equation.getByText("2 payments").waitFor();
  await equation.getByRole("row", { name: /^− 1 refund IDR ?10,000.00$/ }).waitFor();
  expect((await client.get("/v1/settlements")).json.data).toHaveLength(1);
  // Time passes in another tab, and this one hears of it by itself.
  const other = await member.context.newPage();
  await member.openIn(other)(paths.clock(place));
  await other.getByRole("button", { name: "+ 7 days" }).click();
  await equation.getByText("paid out", { exact: true }).waitFor();
  await page.getByRole("link", { name: /settlement paid, no\. / }).waitFor();
  await settled(page);
  await member.look("settlement");
  expect(await faults(page)).toEqual([]);
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download CSV" }).click();
  expect((await download).suggestedFilename()).toMatch(/^set_.*\.csv$/);
});

test("a batch that the bank returned is told as returned, not as one that is still to be paid", async () => {
  const { client, merchantId, ...member } = await portal.member("finance");
  const reference = (await client.post("/v1/payments", paymentBody())).json.reference as string;
  await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  const [{ uuid }] = (await client.post("/v1/sandbox/settlements/run", {})).json.data;
  const operator = await operates(portal.service);
  await operator.post(`/ops/v1/merchants/${merchantId}/books/sandbox/settlements/${uuid}/return`);
  await member.open(paths.settlement(member.place, uuid));
  const equation = member.page.getByRole("table", { name: "The batch as an equation" });
  await equation.getByText("given back by the bank").waitFor();
  await member.page.getByText("no, the bank returned it").waitFor();
  await member.page.getByText("leave this one out when you add up").waitFor();
});

test("no amount is shown before the decimals of its currency are known", async () => {
  const settings = alsoIn(defaultSettings, "JPY");
  const { merchantId } = await portal.service.merchant({ settings });
  const { page, place, client } = await portal.member("finance", { merchantId });
  const yen = { amount_minor: 100_000, currency: "JPY", payment_method: "card" };
  const { reference } = (await client.post("/v1/payments", paymentBody(yen))).json;
  await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  const balances = Promise.withResolvers<void>();
  await page.route("**/portal/v1/balances", async (route) => {
    await balances.promise;
    await route.continue();
  });
  const entries = page.waitForResponse(/\/accounts\/JPY\/entries/);
  await page.goto(`/portal${paths.balance(place, "JPY")}`);
  await (await entries).finished();
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  expect(await page.getByText("971.00").count()).toBe(0);
  balances.resolve();
  await page.getByRole("cell", { name: /\+97,100$/ }).waitFor();
});

test("ids of another merchant and of the other environment lead nowhere", async () => {
  const [member, other] = await Promise.all([portal.member("owner"), portal.member("owner")]);
  const { page, place } = member;
  const reference = await made(other, { reference_id: "not-yours" });
  await other.client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  await other.client.post("/v1/sandbox/settlements/run", {});
  const [{ uuid }] = (await other.client.get("/v1/settlements")).json.data;
  const [{ id }] = (await other.requests.get("/portal/v1/journals")).json.data;
  const addresses = [paths.payment(place, reference), paths.settlement(place, uuid), paths.journal(place, id)];
  for (const address of addresses) {
    await member.open(address);
    await page.getByRole("alert").getByRole("heading", { name: "Not found" }).waitFor();
    expect(await page.getByText("not-yours").count()).toBe(0);
  }
  await member.open(paths.payment(other.place, reference));
  await page.getByText("None of your merchants is at this address.").waitFor();
  // One's own of the other environment: said, and not shown.
  await other.open(paths.payment({ ...other.place, environment: "production" }, reference));
  await other.page.getByRole("alert").waitFor();
  expect(await other.page.getByText("not-yours").count()).toBe(0);
  await other.open(paths.payments({ ...other.place, environment: "production" }));
  await other.page.getByRole("heading", { name: "No payments yet" }).waitFor();
});
