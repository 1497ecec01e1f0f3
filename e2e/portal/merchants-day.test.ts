// Goal: the people of a shop find what they need by the words that they know: a payer's amount, an order, a plain word for a page, a month of payouts.
// Method: an owner, a support clerk with Indonesian menus on a phone and a bookkeeper, each at a new merchant.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { paymentBody } from "../../gateway/test/kit.ts";
import { paths, withSearch } from "../../portal/src/paths.ts";
import { faults } from "./kit/look.ts";
import { type Member, PHONE, settled, usePortal } from "./kit/portal.ts";

const portal = usePortal();

const INDONESIAN_PHONE = { locale: "id-ID", viewport: PHONE };

async function made({ client }: Member, changes: Record<string, unknown> = {}, outcome = "succeeded"): Promise<string> {
  const created = await client.post("/v1/payments", paymentBody({ amount_minor: 15_000_000, ...changes }));
  const reference = created.json.reference as string;
  const ended = await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome });
  expect(ended.status, ended.text).toBe(200);
  return reference;
}

const factOf = ({ page }: Member, name: string) => page.locator("dl div").filter({ hasText: new RegExp(`^${name}`) });

test("a clerk finds a payment by the amount that its payer says, and refunds a part as it is written there", async () => {
  const member = await portal.member("support", { browser: INDONESIAN_PHONE });
  const { page, place } = member;
  const reference = await made(member, { reference_id: "1042" });
  await made(member, { reference_id: "1043", amount_minor: 9_000_000 });
  await member.open(paths.home(place));
  await page.getByRole("button", { name: "Cari" }).click();
  await page.getByRole("combobox").fill("1042");
  await page.getByRole("option", { name: "1042 payment · succeeded · IDR 150.000,00" }).waitFor();
  await page.getByRole("combobox").fill("Rp150.000");
  await page.getByRole("option", { name: "Payments of Rp150.000" }).click();
  const rows = page.getByRole("group", { name: "Payments" }).getByRole("row");
  await rows.getByText("1042").waitFor();
  expect(await rows.count()).toBe(2);
  // A phone has no column for the time, and callers say "yesterday".
  expect(await rows.last().innerText()).toMatch(/succeeded\s+\d+ \S+ 20\d\d, \d\d\.\d\d/);
  await page.getByRole("link", { name: "1042" }).click();
  await page.getByRole("button", { name: "Refund" }).click();
  const dialog = page.getByRole("dialog", { name: "Refund the payment" });
  await dialog.getByLabel("Amount in IDR").fill("50.000");
  await dialog.getByRole("button", { name: "Refund" }).click();
  await page.getByText("The acquirer has sent the money back.").waitFor();
  await factOf(member, "Refunded").getByText("50.000,00").waitFor();
  await page.goto(`/portal${paths.refunds(place)}`);
  await page.getByRole("row", { name: /1042 succeeded IDR ?50\.000,00/ }).waitFor();
  await settled(page);
  expect(await faults(page)).toEqual([]);
  await page.getByRole("group", { name: "Refunds" }).getByRole("link").first().click();
  await factOf(member, "Your reference").getByText("1042").waitFor();
  expect((await member.requests.get(`/portal/v1/payments/${reference}`)).json.refunded_minor).toBe(5_000_000);
});

test("an amount that is read otherwise than it was meant says how it was read", async () => {
  const member = await portal.member("support");
  const { page, place } = member;
  await made(member);
  await member.open(paths.payments(place));
  await page.getByLabel("Amount", { exact: true }).fill("150.000");
  await page.keyboard.press("Enter");
  await page.getByText("The amount was read as 150.").waitFor();
});

test("the bounds of an amount are told as money, as the page writes it", async () => {
  const member = await portal.member("owner", { browser: { locale: "id-ID" } });
  await member.open(paths.paymentNew(member.place));
  await member.page.getByLabel("Amount", { exact: true }).fill("100.000.000,01");
  await member.page.getByRole("button", { name: "Create the payment" }).click();
  await member.page.getByText("Enter an amount from 0,01 to 100.000.000,00.").waitFor();
});

test("a payment says why it cannot be refunded or paid out, and that a failed one was not paid", async () => {
  const member = await portal.member("support", { browser: { locale: "id-ID" } });
  const { page, place, client } = member;
  const contested = await made(member, { payment_method: "card", reference_id: "1041" });
  await client.post(`/v1/sandbox/payments/${contested}/dispute`, { reason: "general" });
  await member.open(paths.payment(place, contested));
  await factOf(member, "Refunded").getByText("(no refund while it is contested)").waitFor();
  await factOf(member, "Paid out to you").getByText("no date yet: held back by the dispute").waitFor();
  await member.open(paths.payment(place, await made(member, {}, "failed")));
  await page.getByText("It was not paid.").waitFor();
  await member.open(paths.disputes(place));
  // The sentences around it are in English.
  await page.getByRole("row", { name: /1041 needs response .* in \d days?$/ }).waitFor();
});

test.each([
  ["en-GB", "two-factor", "Authenticator app"],
  ["en-GB", "logo", "Branding"],
  ["en-GB", "payout", "Settlements"],
  ["id-ID", "undang", "Tim"],
  ["id-ID", "pencairan", "Settlement"],
])("%s: who looks for “%s” finds the page %s", async (locale, word, title) => {
  const member = await portal.member("owner", { browser: { locale } });
  const { page, place } = member;
  await member.open(paths.home(place));
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").fill(word);
  await page.getByRole("option", { name: new RegExp(`^${title}( |$)`) }).waitFor();
});

test("a bookkeeper takes the payouts of a period along, one a line", async () => {
  const member = await portal.member("finance");
  const { page, place, client, merchantId } = member;
  await portal.service.app.merchants.patch(merchantId, { settlement: { delay_days: 1 } });
  await made(member);
  await member.open(paths.home(place));
  const next = page.getByRole("region", { name: "Paid out next" });
  await next.getByText(/the next batch, 1 payment so far/).waitFor();
  await next.getByText(/148,950\.00/).waitFor();
  await member.look("home-payouts");
  const run = await client.post("/v1/sandbox/settlements/run", {});
  const batch = run.json.data[0] as { uuid: string; fee_minor: number; net_minor: number };
  await member.open(paths.settlements(place));
  await page.getByRole("row", { name: /set_.*IDR ?150,000\.00/ }).waitFor();
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download CSV" }).click(),
  ]);
  const [names, line, ...more] = readFileSync(await file.path(), "utf8").split("\r\n");
  expect(names).toMatch(/^uuid,status,.*,net_minor,net,period_end_day,paid_day,time_zone$/);
  expect(line).toContain(`${batch.uuid},processing,`);
  expect(line).toContain(`IDR,15000000,150000.00,${batch.fee_minor},1050.00,0,0.00,${batch.net_minor},148950.00,20`);
  expect(line).toMatch(/,20\d\d-\d\d-\d\d,,Asia\/Jakarta$/);
  await client.post(`/v1/sandbox/settlements/${batch.uuid}/pay`, {});
  await page.getByRole("row", { name: /set_.*paid.* GB\w+$/ }).waitFor();
  expect(more).toEqual([""]);
});

test("a bookkeeper takes the payments of a filter along, and never a part of them", async () => {
  const member = await portal.member("finance");
  const { page, place } = member;
  const reference = await made(member, { reference_id: "=1+1" });
  await made(member, {}, "failed");
  await member.open(withSearch(paths.payments(place), { status: "succeeded" }));
  const button = page.getByRole("button", { name: "Download CSV" });
  const [file] = await Promise.all([page.waitForEvent("download"), button.click()]);
  expect(file.suggestedFilename()).toBe("payments-sandbox.csv");
  const [names, line, ...more] = readFileSync(await file.path(), "utf8").split("\r\n");
  expect(names).toMatch(/^reference,reference_id,status,.*,amount_minor,amount,fee_minor,fee,/);
  expect(line).toMatch(new RegExp(`^${reference},'=1\\+1,succeeded,qris,\\w+,IDR,15000000,150000.00,`));
  expect(more).toEqual([""]);

  // The second page is refused, and then takes its time: nothing is saved.
  let saved = 0;
  page.on("download", () => saved++);
  const firstPage = { data: [], has_more: true, next_cursor: reference, searched_to: null };
  await page.route("**/payments/search?*limit=100*", (route) =>
    route.request().url().includes("starting_after")
      ? route.fulfill({
          status: 403,
          json: { error: { code: "FORBIDDEN", message: "Not any more.", request_id: "r" } },
        })
      : route.fulfill({ json: firstPage }),
  );
  await button.click();
  await page.getByText("No file was saved.").waitFor();
  await page.route("**/payments/search?*starting_after*", () => undefined);
  await button.click();
  await page.getByRole("button", { name: "0 read Stop" }).click();
  await page.getByText("Stopped. Nothing was saved.").waitFor();
  await button.waitFor();
  expect(saved).toBe(0);
});

test("a bookkeeper closes a month: its statement adds up, on the page, as CSV and on paper", async () => {
  const member = await portal.member("finance");
  const { page, place, client } = member;
  const reference = await made(member);
  await client.post("/v1/refunds", { payment_reference: reference, amount_minor: 1_000_000 });
  await member.open(paths.balances(place));
  await page.getByRole("link", { name: "Statement of a month" }).click();
  await page.getByRole("row", { name: /^Payments 1 150,000\.00/ }).waitFor();
  await page.getByRole("row", { name: /^Refunds 1 −10,000\.00/ }).waitFor();
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download CSV" }).click(),
  ]);
  const lines = readFileSync(await file.path(), "utf8")
    .trim()
    .split("\r\n")
    .map((line) => line.split(","));
  const column = lines[0]?.indexOf("total_minor") ?? -1;
  const totals = lines.slice(1).map((line) => Number(line[column]));
  expect(lines.map(([name]) => name)).toEqual(["line", "opening", "payments", "fees", "refunds", "closing"]);
  expect(totals.at(-1)).toBeGreaterThan(0);
  expect(totals.slice(0, -1).reduce((sum, minor) => sum + minor, 0)).toBe(totals.at(-1));
  // The files of the lists have the same sums, by the days that they name: the statement goes by these.
  const sumOf = async (list: string, amount: string, day: string): Promise<number> => {
    await member.open(list);
    const [of] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download CSV" }).click(),
    ]);
    const [names = [], ...rows] = readFileSync(await of.path(), "utf8")
      .trim()
      .split("\r\n")
      .map((row) => row.split(","));
    const month = file.suggestedFilename().slice("statement-sandbox-IDR-".length).slice(0, 7);
    const counted = rows.filter((row) => row[names.indexOf(day)]?.startsWith(month));
    return counted.reduce((sum, row) => sum + Number(row[names.indexOf(amount)]), 0);
  };
  expect(await sumOf(paths.payments(place), "amount_minor", "paid_day")).toBe(totals[1]);
  expect(await sumOf(paths.payments(place), "fee_minor", "paid_day")).toBe(-Number(totals[2]));
  expect(await sumOf(paths.refunds(place), "amount_minor", "created_day")).toBe(-Number(totals[3]));
  await member.open(paths.statement(place, "IDR"));
  await page.emulateMedia({ media: "print" });
  await page.getByText("Toko Senja · sandbox").waitFor();
  expect(await page.getByRole("button").count()).toBe(0);
  await page.emulateMedia({ media: "screen" });
  await page
    .getByText(/The month is not over: these are the figures so far, as of \d+ \w+ 20\d\d, \d\d:\d\d\.$/)
    .waitFor();
  await page.getByLabel("Month").selectOption({ index: 1 });
  await expect.poll(() => page.getByRole("row").allInnerTexts()).toHaveLength(3);
  expect(await page.getByText("so far").count()).toBe(0);
  const [whole] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download CSV" }).click(),
  ]);
  expect(whole.suggestedFilename()).toMatch(/^statement-sandbox-IDR-20\d\d-\d\d-Asia-Jakarta\.csv$/);
});

test("a bookkeeper on a phone goes from a payout to a refund, a lost dispute and a payment in it, and back", async () => {
  const member = await portal.member("finance", { browser: { viewport: PHONE } });
  const { page, place, client } = member;
  const [refunded, contested] = [await made(member, { reference_id: "INV-2026-00001" }), await made(member)];
  const refund = await client.post("/v1/refunds", { payment_reference: refunded, amount_minor: 1_000_000 });
  const dispute = await client.post(`/v1/sandbox/payments/${contested}/dispute`, { reason: "general" });
  const deducted = factOf(member, "Deducted from");
  await member.open(paths.dispute(place, dispute.json.uuid as string));
  await page.getByText("What the payer says").waitFor();
  expect(await deducted.count()).toBe(0);
  await client.post(`/v1/sandbox/disputes/${dispute.json.uuid}/resolve`, { outcome: "lost" });
  await deducted.getByText("no payout yet").waitFor();
  await made(member, { amount_minor: 20_000_000 });
  const run = await client.post("/v1/sandbox/settlements/run", {});
  const batch = run.json.data[0].uuid as string;
  await deducted.getByRole("link", { name: batch }).click();
  await page.getByText("INV-2026-00001").first().waitFor();
  const cut = `[...document.querySelectorAll("tbody .line-clamp-1")].filter((one) => one.scrollHeight > one.clientHeight).length`;
  expect(await page.evaluate<number>(cut)).toBe(0);
  await page
    .getByRole("row", { name: /^INV-2026-00001 payment, \d+ \w+ 20\d\d IDR ?\+150,000\.00 fee −1,050\.00/ })
    .waitFor();
  await page.getByRole("row", { name: /^INV-2026-00001 refund, \d+ \w+ 20\d\d IDR ?−10,000\.00$/ }).click();
  await page.waitForURL((url) => url.pathname.endsWith(refund.json.uuid as string));
  await deducted.getByRole("link", { name: batch }).waitFor();
  await settled(page);
  await member.look("deducted");
  expect(await faults(page)).toEqual([]);
  await member.open(paths.payment(place, refunded));
  await factOf(member, "Paid out to you").getByRole("link").click();
  await page.getByRole("table", { name: "The batch as an equation" }).waitFor();
});

test("a month has the same sums whoever reads it, and its file says whose days they are", async () => {
  const owner = await portal.member("owner");
  await made(owner);
  const told = async ({ page, open, place, look }: Member, name: string) => {
    await open(paths.statement(place, "IDR"));
    await page.getByRole("row", { name: /^Payments 1 150,000\.00/ }).waitFor();
    await page.getByText(/^From 1 \S+ 20\d\d, 00:00 until 1 \S+ 20\d\d, 00:00\./).waitFor();
    if (name !== "") await look(name);
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download CSV" }).click(),
    ]);
    return { name: file.suggestedFilename(), lines: readFileSync(await file.path(), "utf8") };
  };
  const { merchantId } = owner;
  const [here, west, east] = await Promise.all([
    told(owner, ""),
    ...["Pacific/Pago_Pago", "Pacific/Kiritimati"].map(async (timezoneId) =>
      told(await portal.member("finance", { merchantId, browser: { timezoneId } }), timezoneId.slice(8)),
    ),
  ]);
  expect([west, east]).toEqual([here, here]);
  expect(here.name).toMatch(/^statement-sandbox-IDR-20\d\d-\d\d-so-far-Asia-Jakarta\.csv$/);
  expect(here.lines).toContain(",Asia/Jakarta,IDR,");
  // The owner's choice is everybody's.
  await owner.requests.send("PATCH", "/portal/v1/settings", { time_zone: "Asia/Makassar" });
  const moved = await told(await portal.member("finance", { merchantId, browser: { timezoneId: "UTC" } }), "");
  expect(moved.name).toContain("-Asia-Makassar.csv");
  expect(moved.lines).toContain(",Asia/Makassar,IDR,");
  // An address that names no month shows the current one.
  await owner.open(`${paths.statement(owner.place, "IDR")}?month=soon`);
  await owner.page.getByRole("row", { name: /^Payments 1 150,000\.00/ }).waitFor();
});

test("an entry and its journal lead to the refund or dispute that moved the money, and an account says its currency", async () => {
  const member = await portal.member("finance");
  const { page, place, client } = member;
  const reference = await made(member);
  const refund = await client.post("/v1/refunds", { payment_reference: reference, amount_minor: 1_000_000 });
  const dispute = await client.post(`/v1/sandbox/payments/${reference}/dispute`, { reason: "general" });
  for (const [kind, id, title] of [
    ["refund", refund.json.uuid, "Refund"],
    ["dispute opened", dispute.json.uuid, "Dispute"],
  ] as [string, string, string][]) {
    await member.open(paths.balance(place, "IDR"));
    await page.getByRole("row").getByRole("link", { name: id }).waitFor();
    await page.getByRole("link", { name: kind, exact: true }).click();
    await factOf(member, "Belongs to").getByRole("link", { name: reference }).waitFor();
    await factOf(member, "For").getByRole("link", { name: id }).click();
    await page.getByRole("heading", { name: title, exact: true }).waitFor();
  }
  await member.open(paths.balances(place));
  await page.getByRole("link", { name: "platform:fees" }).click();
  await page.getByRole("heading", { name: "platform:fees in IDR" }).waitFor();
});

test("money that is available below zero says why, and what becomes of it", async () => {
  const member = await portal.member("finance");
  const { page, place, client } = member;
  const reference = await made(member);
  await client.post("/v1/sandbox/settlements/run", {});
  await member.open(paths.balances(place));
  const balance = page.getByRole("region", { name: "Balance in IDR" });
  await balance.getByText("To be refunded or paid out").waitFor();
  await client.post(`/v1/sandbox/payments/${reference}/dispute`, { reason: "general" });
  await balance.getByText(/−150,000\.00/).waitFor();
  await balance.getByText("disputes took more than was there: what is paid next makes up for it").waitFor();
});

test("a refund that would be refused is not offered, and the page says why", async () => {
  const member = await portal.member("owner");
  const { page, place, merchantId } = member;
  const reference = await made(member);
  await portal.service.operate("PATCH", `/merchants/${merchantId}`, { wallet_frozen: { IDR: true } });
  const answer = () => member.client.post("/v1/refunds", { payment_reference: reference, amount_minor: 10 });
  await expect.poll(async () => (await answer()).json.error?.code).toBe("WALLET_FROZEN");
  await member.open(paths.payment(place, reference));
  await factOf(member, "Refunded").getByText("no refund now: your IDR wallet is frozen or switched off").waitFor();
  expect(await page.getByRole("button", { name: "Refund" }).count()).toBe(0);
  await settled(page);
  await member.look("frozen");
  expect(await faults(page)).toEqual([]);
});

test("on a phone a payout and an entry of the balance say of which day they are", async () => {
  const member = await portal.member("finance", { browser: { viewport: PHONE } });
  const { page, place, client } = member;
  await made(member);
  await client.post("/v1/sandbox/settlements/run", {});
  await member.open(paths.settlements(place));
  await page.getByRole("row", { name: /processing to \d+ \w{3,4} 20\d\d/ }).waitFor();
  await member.open(paths.balance(place, "IDR"));
  await page.getByRole("row", { name: /capture \d+ \w{3,4} 20\d\d, \d\d:\d\d/ }).waitFor();
  await settled(page);
  expect(await faults(page)).toEqual([]);
});

test("how long a payment link is open is counted by the sandbox's clock", async () => {
  const member = await portal.member("owner");
  const { place, client } = member;
  await client.post("/v1/sandbox/clock/advance", { seconds: 20 * 86_400 });
  const link = await client.post("/v1/payment-links", {
    currency: "IDR",
    amount_minor: 500_000,
    reusable: true,
    expires_in: 7_200,
  });
  expect(link.status, link.text).toBe(201);
  await member.open(paths.link(place, link.json.uuid as string));
  await factOf(member, "Open until")
    .getByText(/^in (2 hours|1 hour)$/)
    .waitFor();
});

test("who may not send an event again is told who may", async () => {
  const member = await portal.member("support");
  await made(member);
  const events = await member.client.get("/v1/events");
  await member.open(paths.event(member.place, events.json.data[0].id as string));
  await member.page.getByText("An owner or a developer can send it again.").waitFor();
});
