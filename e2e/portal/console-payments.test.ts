// Goal: an operator finds any merchant's payment, reads its whole story, and gives it back for its merchant. Method: a real
// browser at the operators' listener, two merchants with money that moved; axe on each page.
import { beforeAll, expect, test } from "vitest";
import { defaultSettings } from "../../gateway/src/merchants/settings.ts";
import { exchangeText } from "../../gateway/src/providers/mask.ts";
import { alsoIn } from "../../gateway/test/currencies.ts";
import { paymentBody } from "../../gateway/test/kit.ts";
import { report, scriptedAcquirer } from "../../gateway/test/scripted-acquirer.ts";
import { at } from "../../portal/src/console/paths.ts";
import { paths } from "../../portal/src/paths.ts";
import { type Things, oneOfEverything, paidPayment } from "./kit/given.ts";
import { PHONE, isCleanInConsole, usePortal } from "./kit/portal.ts";

const rimba = scriptedAcquirer("rimba");
const portal = usePortal({ acquirers: [rimba] });
const HOSTILE = '<img src=x onerror="document.title=1">';

let merchantId: string;
let things: Things;
let ofOther: string;

beforeAll(async () => {
  ({ merchantId } = await portal.service.merchant({ name: "Kopi Melati" }));
  const other = await portal.service.merchant({ name: "Toko Senja" });
  things = await oneOfEverything(await portal.service.client(merchantId));
  const payment = paymentBody({ reference_id: HOSTILE, customer: { email: "sari@example.com" } });
  const made = await (await portal.service.client(other.merchantId)).post("/v1/payments", payment);
  ofOther = made.json.reference as string;
});

test("payments of all merchants are found by what one knows of them, and the address keeps it", async () => {
  const visit = await portal.operator("viewer");
  const { page, open } = visit;
  await open(at.payments());
  const table = page.getByRole("group", { name: "Payments" });
  expect(await table.getByRole("row").count()).toBe(6);
  await isCleanInConsole(visit, "payments");
  await page.getByLabel("Merchant", { exact: true }).fill(merchantId);
  await page.getByLabel("Merchant", { exact: true }).press("Enter");
  await page.getByLabel("Status").selectOption("pending");
  await page.waitForURL(/merchant_id=mer_\w+&status=pending|status=pending&merchant_id=mer_\w+/);
  await page.reload();
  await table.getByRole("row").nth(1).waitFor();
  expect(await table.getByRole("row").count()).toBe(2);
  await table.getByRole("link").first().click();
  await page.getByRole("heading", { level: 1, name: "Payment", exact: true }).waitFor();
  expect(page.url()).toContain(things.pending);
});

test("every page of what is in the sandbox has the striped edge, and no other has", async () => {
  const { page, open } = await portal.operator("viewer");
  const isStriped = (): Promise<boolean> =>
    page.evaluate(() => {
      const edge = document.querySelector('a[href="#page"] + div');
      return edge !== null && getComputedStyle(edge).backgroundImage.includes("repeating-linear-gradient");
    });
  for (const path of [
    at.payment(things.payment),
    at.refund(things.refund),
    at.calendar("sandbox"),
    at.payouts("2026-11-23", "sandbox"),
    at.settlements(merchantId, "sandbox"),
    at.disputes(merchantId, "sandbox"),
    at.dispute(merchantId, "sandbox", things.dispute),
  ]) {
    await open(path);
    await expect.poll(isStriped, { message: path }).toBe(true);
  }
  for (const path of [at.payments(), at.calendar(), at.settlements(merchantId, "production")]) {
    await open(path);
    expect(await isStriped(), path).toBe(false);
  }
});

test("the story of a payment tells all of it, what others wrote as text, and a viewer is offered no refund", async () => {
  const visit = await portal.operator("viewer");
  const { page, open } = visit;
  await open(at.payment(things.payment));
  const story = page.getByRole("region", { name: "Story of the payment" });
  for (const title of [
    "Asked for",
    "Judged as safe",
    "Routed to",
    "Instructed the payer",
    "Paid",
    "Journalled as",
    "Told",
    "Refunded",
  ])
    expect(await story.getByRole("heading", { name: title }).count(), title).toBeGreaterThan(0);
  await story.getByText("How it was judged").click();
  expect(await story.getByRole("list", { name: "How it was judged" }).innerText()).toContain(
    "points a person reviews it",
  );
  await isCleanInConsole(visit, "payment");
  expect(await page.getByRole("button", { name: "Refund…" }).count()).toBe(0);
  await open(at.payment(ofOther));
  expect(await page.getByText(HOSTILE).first().isVisible()).toBe(true);
  expect(await page.title()).toBe("Payment · gerbang");
});

test("an admin refunds for a merchant once, who did it stands below the story, and the refund has its page", async () => {
  const visit = await portal.operator("admin");
  const { page, open, email } = visit;
  await open(at.payment(things.payment));
  await page.getByRole("button", { name: "Refund…" }).click();
  await page.getByLabel("Amount in IDR").fill("999,999,999.00");
  await page.getByLabel("Amount in IDR").press("Enter");
  await page.getByText(/^At most IDR/).waitFor();
  expect(await page.getByText("A reason is needed.").isVisible()).toBe(true);
  await page.getByLabel("Amount in IDR").fill("1,000.00");
  await page.getByLabel("Reason").fill("Paid twice");
  await isCleanInConsole(visit, "payment-refund");
  await page.getByRole("button", { name: "Refund", exact: true }).dblclick();
  await page.getByText("“Paid twice”").waitFor();
  expect(await page.getByText("“Paid twice”").count()).toBe(1);
  await page.getByRole("region", { name: "What operators did" }).getByRole("link", { name: email }).waitFor();
  await isCleanInConsole(visit, "payment-hands");
  await open(at.refunds());
  expect(await page.getByRole("group", { name: "Refunds" }).getByRole("row").count()).toBe(3);
  await isCleanInConsole(visit, "refunds");
  await page.getByRole("group", { name: "Refunds" }).getByRole("link").first().click();
  await page.getByRole("heading", { level: 1, name: "Refund", exact: true }).waitFor();
  await page.getByText("Paid twice", { exact: true }).waitFor();
  await isCleanInConsole(visit, "refund");
});

test("an amount is typed as the page shows it: in Indonesian 1,500 dinars are one and a half, and 1.500 are not", async () => {
  const { client } = await portal.service.merchant({ settings: alsoIn(defaultSettings, "KWD") });
  const dinars = { currency: "KWD", payment_method: "card", amount_minor: 12_345 };
  const { reference } = (await client.post("/v1/payments", paymentBody(dinars))).json;
  await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  const { page, open } = await portal.operator("admin", { locale: "id-ID" });
  await open(at.payment(reference as string));
  await page.getByText("12,345", { exact: false }).first().waitFor();
  await page.getByRole("button", { name: "Refund…" }).click();
  const amount = page.getByLabel("Amount in KWD");
  expect(await amount.inputValue()).toBe("12,345");
  await page.getByLabel("Reason").fill("Rusak");
  await amount.fill("1.500");
  await page.getByRole("button", { name: "Refund", exact: true }).click();
  await page.getByText("An amount in KWD is needed, like 12,345.").waitFor();
  await amount.fill("1,500");
  await page.getByRole("button", { name: "Refund", exact: true }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect((await client.get(`/v1/payments/${reference}`)).json.refunded_minor).toBe(1_500);
});

test("an admin whose refund got no answer asks for it again in the same form, and it is made once", async () => {
  portal.tolerate(/Failed to load resource|net::ERR/);
  const { client } = await portal.service.merchant();
  const reference = await paidPayment(client);
  const { page, open } = await portal.operator("admin");
  await open(at.payment(reference));
  await page.route("**/ops/v1/payments/*/refunds", async (route) => {
    // A request that is handed on loses where it came from, by which the service knows its own pages.
    const answer = await route.fetch({ headers: { ...route.request().headers(), "sec-fetch-site": "same-origin" } });
    expect(answer.status()).toBe(201);
    await route.abort();
  });
  await page.getByRole("button", { name: "Refund…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Reason").fill("Returned");
  await dialog.getByRole("button", { name: "Refund", exact: true }).click();
  await dialog.getByRole("alert").filter({ hasText: "No connection" }).waitFor();
  await dialog.getByText("0.00 of this payment").waitFor();
  await page.unroute("**/ops/v1/payments/*/refunds");
  await dialog.getByRole("button", { name: "Refund", exact: true }).click();
  await dialog.waitFor({ state: "detached" });
  expect((await client.get(`/v1/payments/${reference}`)).json.refunded_minor).toBe(100_000);
});

test("money that came after its payment had ended stands above what the payment says of itself", async () => {
  const { service } = portal;
  const { version } = await service.operate("POST", "/routing/rules", {
    rules: [{ gateway_code: "rimba", priority: 1, weight: 1 }],
  });
  await service.operate("POST", `/routing/rules/${version}/activate`);
  const { client } = await service.merchant();
  const { reference } = (await client.post("/v1/payments", paymentBody({ amount_minor: 12_500_000 }))).json;
  const operationKey = rimba.opened.at(-1)?.operationKey ?? "";
  await client.post(`/v1/payments/${reference}/cancel`, {});
  const visit = await portal.operator("support");
  const { page, open } = visit;
  const late = page.getByRole("status").filter({ hasText: "IDR125,000.00 arrived that this payment did not expect." });
  await open(at.payment(reference));
  await page.getByText("nothing", { exact: true }).waitFor();
  expect(await late.count()).toBe(0);
  const receipt = { transactionId: "RMB-1", amountMinor: 12_500_000n, currency: "IDR" };
  await report(service.origin, "rimba", { kind: "payment", operationKey, state: { status: "paid", receipt } });
  await page.reload();
  await late.waitFor();
  await isCleanInConsole(visit, "payment-late-money");
  await late.getByRole("link", { name: "decide whose it is" }).click();
  await page.getByRole("heading", { level: 1, name: "Late money" }).waitFor();
});

test("what the merchant's people did at the portal stands below the story with their name", async () => {
  const { requests } = await portal.member("owner", { merchantId });
  const canceled = await requests.post(`/portal/v1/payments/${things.pending}/cancel`, { reason: "Sold out" });
  expect(canceled.status, canceled.text).toBe(200);
  const { page, open } = await portal.operator("support");
  await open(at.payment(things.pending));
  const below = page.getByRole("region", { name: "What the merchant's people did" });
  expect(await below.innerText()).toMatch(/Sari Dewi\s+cancel payment/);
});

test("the palette finds a payment by the order of its merchant, and says whose it is", async () => {
  const { page, open } = await portal.operator("viewer");
  await open(at.home());
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").fill(HOSTILE);
  const hit = page.getByRole("option", { name: /payment · Toko Senja · pending/ });
  await hit.waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Payment", exact: true }).waitFor();
  expect(page.url()).toContain(ofOther);
});

test("who took a payment, its ids, its messages and what fitted nothing are read in the console, and its own part in the portal", async () => {
  rimba.voice = {
    message: (call, key) => ({
      about: `POST /${call}`,
      status: call === "report" ? undefined : 201,
      text: exchangeText(JSON.stringify({ order_id: key, api_key: "k", amount: { value: 90_000 } }), '{"id":"rb-1"}'),
    }),
    providerIds: (key) => ({ transaction: "rb-1", payment_request: `pr-${key}` }),
  };
  rimba.dashboardUrl = ({ transaction }) => `https://rimba.example/${transaction}`;
  const { service } = portal;
  const rules = [{ gateway_code: "rimba", priority: 1, weight: 1 }];
  const { version } = await service.operate("POST", "/routing/rules", { rules });
  await service.operate("POST", `/routing/rules/${version}/activate`);
  const member = await portal.member("viewer");
  const { reference } = (await member.client.post("/v1/payments", paymentBody())).json;
  const stray = { kind: "look", operationKey: "another.shop" } as const;
  expect([await report(service.origin, "rimba", stray), await report(service.origin, "rimba", stray)]).toEqual([
    404, 404,
  ]);

  const operator = await portal.operator("viewer");
  await Promise.all([operator.open(at.payment(reference)), member.open(paths.payment(member.place, reference))]);
  for (const { page } of [operator, member]) {
    const section = page.getByRole("region", { name: "At the acquirer" });
    const link = section.getByRole("link", { name: "Open in its dashboard" });
    expect(await link.getAttribute("href")).toBe("https://rimba.example/rb-1");
    await section.getByRole("button", { name: "Copy the transaction of the payment" }).waitFor();
    await section.locator("summary").first().focus();
    await page.keyboard.press("Enter");
    const asked = section.getByRole("region", { name: "asked in POST /open" });
    expect(await asked.innerText()).toContain('"api_key": "[redacted]"');
  }
  const calls = operator.page.getByRole("region", { name: "Calls to acquirers" });
  expect(await calls.innerText()).toMatch(/rimba\s+polling\s+1 call, next /);
  // The portal shows the same.
  await isCleanInConsole(operator, "payment-at-acquirer");
  await member.page.setViewportSize(PHONE);
  expect(await member.page.evaluate(() => document.documentElement.scrollWidth)).toBe(PHONE.width);
  // Once it is paid its acquirer is asked no more, although the turn that was planned is not due yet.
  const { operationKey, amountMinor } = rimba.opened.at(-1) ?? expect.unreachable("it was opened");
  const receipt = { transactionId: "RMB-2", amountMinor, currency: "IDR" };
  await report(service.origin, "rimba", { kind: "payment", operationKey, state: { status: "paid", receipt } });
  await operator.page.reload();
  await calls.getByText("done", { exact: true }).waitFor();
  expect(await calls.innerText()).not.toContain("next");
  await operator.open(at.acquirer("rimba"));
  const strays = operator.page.getByRole("region", { name: "Messages that fit nothing" });
  await strays.getByText(/^Some change, about something that it was never asked for · 2 times since /).click();
  expect(await strays.getByRole("region", { name: "answered in another.shop" }).innerText()).toContain('"rb-1"');
  await operator.look("console-acquirer-strays");
});

test("a dispute that two must record is asked for, and its page says what it would do", async () => {
  const client = await portal.service.client(merchantId);
  const { reference } = (await client.post("/v1/payments", paymentBody())).json;
  await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  const { version } = (await portal.service.askOperator("/approvals/policy")).json;
  await portal.service.operate("PUT", "/approvals/policy", { version, actions: { resolve_dispute: {} } });
  const visit = await portal.operator("admin");
  const { page, open } = visit;
  await open(at.payment(reference));
  await page.getByRole("button", { name: "Record a dispute…" }).click();
  await page.getByRole("button", { name: "Record it" }).click();
  await page.getByText("It now waits for a second operator, under Approvals.").waitFor();
  await page.waitForURL(/\/approvals\/apr_/);
  await page.getByText(`of ${reference} are contested (general): they are held`).first().waitFor();
  await isCleanInConsole(visit, "dispute-asked");
});
