// Goal: whoever opens the portal sees what came in, how it ended and what waits for them, and sees it change by itself. Method: payments of the
// merchant's system while the page is open, people of several roles, and the page's own words.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { defaultSettings } from "../../gateway/src/merchants/settings.ts";
import { alsoIn } from "../../gateway/test/currencies.ts";
import { at } from "../../portal/src/console/paths.ts";
import { paths } from "../../portal/src/paths.ts";
import { type Member, PHONE, isClean, usePortal } from "./kit/portal.ts";

const portal = usePortal();
let orders = 0;

async function pay(
  { client }: Member,
  { outcome = "succeeded", ...changes }: { outcome?: string } & Record<string, unknown> = {},
): Promise<string> {
  const { json } = await client.post("/v1/payments", {
    amount_minor: 15_000_000,
    currency: "IDR",
    payment_method: "qris",
    reference_id: `order-${++orders}`,
    ...changes,
  });
  await client.post(`/v1/sandbox/payments/${json.reference}/simulate`, { outcome });
  return json.reference as string;
}

const figure = (page: Page, name: string) =>
  page
    .getByRole("region", { name: "IDR at a glance" })
    .locator("div", { has: page.getByText(name, { exact: true }) })
    .last();

test("an empty home leads through the first steps, and fills itself when a payment is made", async () => {
  const member = await portal.member("owner");
  const { page, place, open, look } = member;
  await open(paths.home(place));
  const steps = page.getByRole("region", { name: "First steps" });
  const step = (title: string) => steps.getByRole("listitem").filter({ hasText: title });
  await step("Make a key").and(page.locator("[aria-current=step]")).waitFor();
  await page.getByRole("link", { name: "No webhook address is registered" }).waitFor();
  await page.getByText("Live", { exact: true }).waitFor();
  await look("home-empty");
  const paid = await pay(member);
  await step("Create a payment").getByRole("img", { name: "Done" }).waitFor();
  expect(await step("Refund").getByRole("link").first().getAttribute("href")).toContain(paid);
  await figure(page, "Today").getByText("1 paid of 1 · 100 %").waitFor();
  await page.getByText("What came in, IDR, by method").waitFor();
  await pay(member, { payment_method: "va", outcome: "failed" });
  await figure(page, "Today").getByText("1 paid of 2 · 50 %").waitFor();
  await steps.getByRole("button", { name: "Hide" }).click();
  await page.reload();
  await figure(page, "Today").getByText("1 paid of 2 · 50 %").waitFor();
  expect(await steps.count()).toBe(0);
});

test("with several currencies what one looks for daily stands above the plots: figures, what waits, what is paid out", async () => {
  const member = await portal.member("owner");
  const { page, place, merchantId, open, look } = member;
  await portal.service.app.merchants.patch(merchantId, alsoIn(defaultSettings, "USD", "JPY"));
  for (const currency of ["IDR", "USD", "JPY"])
    await pay(member, { currency, payment_method: "card", amount_minor: 150_000 });
  await open(paths.home(place));
  await page.getByText("What came in, USD, by method").waitFor();
  await look("home-currencies");
  const regions = await page.locator("main section[aria-label]").evaluateAll((all) => all.map((one) => one.ariaLabel));
  const order = ["USD at a glance", "Waits for you", "Paid out next", "Payments over time"];
  expect(regions.filter((name) => order.includes(name ?? ""))).toEqual(order);
});

test("a busy week is told by method, outcome and acquirer; what waits leads to where one does something", async () => {
  const member = await portal.member("owner");
  const { page, place, client, open, look } = member;
  for (let day = 0; day < 6; day++) {
    for (const method of ["qris", "va", "ewallet"].slice(0, 1 + (day % 3)))
      await pay(member, { payment_method: method, amount_minor: 4_000_000 * (1 + ((day * 7) % 5)) });
    if (day % 2 === 0) await pay(member, { outcome: "failed" });
    if (day === 5) await client.post("/v1/sandbox/settlements/run", {});
    else await client.post("/v1/sandbox/clock/advance", { seconds: 86_400 });
  }
  const contested = await pay(member, { amount_minor: 9_000_000 });
  await client.post(`/v1/sandbox/payments/${contested}/dispute`, { reason: "product_not_received" });
  await open(paths.home(place));
  const outcomes = page.getByRole("table", { name: "How they ended" });
  await outcomes.getByRole("row", { name: /^succeeded/ }).waitFor();
  await outcomes.getByRole("row", { name: /^failed .* 3 / }).waitFor();
  await page
    .getByRole("table", { name: "By acquirer" })
    .getByRole("row", { name: /nusantara/ })
    .waitFor();
  await page.getByText("As a table").click();
  const table = page.getByRole("region", { name: /by method, as a table/ });
  expect(await table.getByRole("columnheader").allTextContents()).toEqual(
    expect.arrayContaining(["Time", "qris", "va", "ewallet"]),
  );
  await page.getByText("As a table").click();
  await isClean({ page }, "home");
  await look("home");

  // The span is in the address: a link shows what the sender saw.
  await page.getByRole("button", { name: "24 hours" }).press("Enter");
  await page.waitForURL(/[?&]range=day/);
  await page.reload();
  expect(await page.getByRole("button", { name: "24 hours" }).getAttribute("aria-pressed")).toBe("true");

  await page.getByRole("link", { name: "Answer a dispute: product not received" }).click();
  await page.waitForURL(/\/disputes\/dsp_/);
});

test("of many batches that are on their way Home shows the next ones, and leads to all of them", async () => {
  const member = await portal.member("finance");
  const { page, place, client, open } = member;
  for (let batch = 0; batch < 6; batch++) {
    await pay(member);
    await client.post("/v1/sandbox/settlements/run", {});
  }
  await open(paths.home(place));
  const next = page.getByRole("region", { name: "Paid out next" });
  await next.getByText("on its way").first().waitFor();
  expect(await next.getByText("on its way", { exact: true }).count()).toBe(5);
  await next.getByRole("link", { name: "All that are on their way" }).click();
  await page.waitForURL(/\/settlements\?status=processing$/);
  await expect.poll(() => page.getByRole("link", { name: /^set_/ }).count(), { timeout: 30_000 }).toBe(6);
});

test("a batch that is not paid on its day is said to be late", async () => {
  const member = await portal.member("finance");
  const { page, place, client, open } = member;
  const reference = await pay(member);
  await client.post("/v1/sandbox/settlements/run", {});
  await portal.service.operate("PATCH", `/merchants/${place.merchant}`, { wallet_frozen: { IDR: true } });
  const refund = async () => (await client.post("/v1/refunds", { payment_reference: reference })).json.error.code;
  await expect.poll(refund).toBe("WALLET_FROZEN");
  // Two days, because a batch of the day's last hour is to be paid on the next one.
  await client.post("/v1/sandbox/clock/advance", { seconds: 2 * 86_400 });
  await open(paths.home(place));
  await page.getByRole("region", { name: "Paid out next" }).getByText("late, not paid out yet").waitFor();
});

test("on a phone nothing runs over, and a role sees no more than its own", async () => {
  const owner = await portal.member("owner", { browser: { viewport: PHONE } });
  await pay(owner);
  await pay(owner, { outcome: "failed", amount_minor: 9_999_999_999, reference_id: "x".repeat(64) });
  const { merchantId } = owner;
  // Of a table that scrolls sideways, the amounts would be what is cut.
  await owner.open(paths.home(owner.place));
  const cut = (name: RegExp) =>
    owner.page
      .getByRole("region", { name })
      .or(owner.page.getByRole("group", { name }))
      .evaluate((table) => table.scrollWidth - table.clientWidth);
  expect(await cut(/^By acquirer/)).toBe(0);
  await owner.open(paths.payments(owner.place));
  await owner.page.getByText("99,999,999.99").waitFor();
  expect(await cut(/^Payments$/)).toBe(0);
  const support = await portal.member("support", { merchantId, browser: { viewport: PHONE } });
  const { page, place, open } = support;
  await open(paths.home(place));
  await figure(page, "Today").getByText("1 paid of 2 · 50 %").waitFor();
  expect(await page.getByText("Available", { exact: true }).count()).toBe(0);
  expect(await page.getByRole("heading", { name: "Paid out next" }).count()).toBe(0);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE.width);
});

test("while production takes no payments, its home and the console's say so, and the console how to open it", async () => {
  const { page, place, open, look } = await portal.member("owner", { browser: { viewport: PHONE } });
  const closed = page.getByRole("status").filter({ hasText: "takes no payments in production yet" });
  await open(paths.home({ ...place, environment: "production" }));
  await closed.waitFor();
  await look("home-production-closed");
  await open(paths.home(place));
  await page.getByRole("region", { name: "First steps" }).waitFor();
  expect(await closed.count()).toBe(0);
  const operator = await portal.operator("viewer");
  await operator.open(at.home());
  const guide = operator.page.getByText("Production is closed").getByRole("link", { name: "How to open it" });
  expect(await guide.getAttribute("href")).toBe(`${portal.service.origin}/docs/production#before-real-payments`);
});

test("a list that its reader may not see any more goes from the page, with what could be done there", async () => {
  const owner = await portal.member("owner");
  const developer = await portal.member("developer", { merchantId: owner.merchantId });
  const { page, place, client } = developer;
  // Without the stream, with which the page asks for everything.
  await page.route("**/portal/v1/stream", (route) => route.abort());
  await page.clock.install();
  await developer.open(paths.keys(place));
  await page.getByRole("link", { name: client.credentials.client_id }).waitFor();
  const { person_id: id } = (await developer.requests.get("/portal/v1/session")).json.person;
  await owner.requests.send("PATCH", `/portal/v1/team/${id}`, { role: "viewer" });
  // Back from another window after a while: the page asks.
  await page.clock.fastForward(6_000);
  await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  await page.getByText("Your role, viewer, does not allow this").waitFor();
  await page.getByRole("button", { name: "Create a key" }).waitFor({ state: "detached" });
  expect(await page.getByRole("link", { name: client.credentials.client_id }).count()).toBe(0);
});

test("a membership that is taken away ends the stream, and an open page says so and shows nothing any more", async () => {
  const owner = await portal.member("owner");
  const { merchantId } = owner;
  const viewer = await portal.member("viewer", { merchantId });
  await viewer.open(paths.home(viewer.place));
  await viewer.page.getByText("Live", { exact: true }).waitFor();
  const { person_id: id } = (await viewer.requests.get("/portal/v1/session")).json.person;
  await owner.requests.send("DELETE", `/portal/v1/team/${id}`);
  await viewer.page.getByText("its owner has taken you out of the team", { exact: false }).waitFor();
  expect(await viewer.page.getByText("Live", { exact: true }).count()).toBe(0);
  expect(await viewer.page.getByRole("heading").allInnerTexts()).toEqual(["Not found"]);
});
