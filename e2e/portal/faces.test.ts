// Goal: whatever a request comes back with, the page says what it is, what to do, and the request id; and nothing that was typed is lost.
// Method: answers of each kind, put in the place of the service's own on their way to a real browser; and the status page, which has words for what fails.
import type { Route } from "playwright-core";
import { expect, test } from "vitest";
import { paymentBody } from "../../gateway/test/kit.ts";
import { paths } from "../../portal/src/paths.ts";
import { oneOfEverything, paidPayment } from "./kit/given.ts";
import { hold } from "./kit/hold.ts";
import { drawn, faults, look } from "./kit/look.ts";
import { PHONE, isClean, usePortal } from "./kit/portal.ts";

const portal = usePortal();

const REQUEST = "req_01kan2a9q6h4zt8cw2n5xb7ymd";
const kinds: [status: number, code: string, title: string, advice: RegExp][] = [
  [403, "FORBIDDEN", "Not allowed", /What the service says/],
  [409, "DISPUTE_RESOLVED", "It has changed in the meantime", /Check how it stands now/],
  [409, "IDEMPOTENCY_IN_PROGRESS", "That did not work", /send it again: it is not done twice/],
  [429, "RATE_LIMITED", "Too many requests", /Wait 7 seconds/],
  [500, "INTERNAL_ERROR", "Service error", /give support the request id/],
  [503, "NO_ROUTE_AVAILABLE", "No acquirer can take it", /choose another method/],
  [503, "SERVICE_UNAVAILABLE", "Overloaded or restarting", /Try again in a moment/],
];

test("each refusal of a list has a face, with what to do and the request id; trying again shows the list", async () => {
  portal.tolerate(/Failed to load resource|net::ERR/);
  const { page, place, open, look } = await portal.member("owner");
  const list = "**/portal/v1/refunds?*";
  // A stream that begins has everything refetched, and the list would come by itself.
  await page.route("**/portal/v1/stream", (route) => route.abort());
  for (const [status, code, title, advice] of kinds) {
    await page.route(list, (route) =>
      route.fulfill({
        status,
        headers: { "retry-after": "7", "x-request-id": REQUEST, "content-type": "application/json" },
        body: JSON.stringify({ error: { code, message: "What the service says.", request_id: REQUEST } }),
      }),
    );
    await open(paths.refunds(place));
    const face = page.getByRole("alert").filter({ hasText: title });
    await face.getByText(advice).waitFor();
    const words = await face.innerText();
    expect([status, words]).toEqual([status, expect.stringContaining(code)]);
    expect([status, words]).toEqual([status, expect.stringContaining(REQUEST)]);
    expect(words).toContain("What the service says.");
    expect(await faults(page)).toEqual([]);
    if (status === 503) await look("face-503");
    const again = face.getByRole("button", { name: "Try again" });
    if (status === 403) expect(await again.count()).toBe(0);
    else {
      await hold(page, list, () => again.click());
      await page.getByRole("heading", { name: "No refunds yet" }).waitFor();
    }
    await page.unroute(list);
  }
});

test("an error stays, and its button keeps the focus, while the page asks again by itself", async () => {
  portal.tolerate(/Failed to load resource/);
  const { page, place, open } = await portal.member("owner");
  await page.route("**/portal/v1/stream", (route) => route.abort());
  await page.clock.install();
  const list = "**/portal/v1/refunds?*";
  const error = { code: "INTERNAL_ERROR", message: "What the service says.", request_id: REQUEST };
  await page.route(list, (route) => route.fulfill({ status: 500, json: { error } }));
  await open(paths.refunds(place));
  const again = page.getByRole("button", { name: "Try again" });
  await again.focus();
  await page.unroute(list);
  const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await page.route(list, async (route) => {
    asked.resolve();
    await answer.promise;
    await route.continue();
  });
  await page.clock.fastForward(20_000);
  await asked.promise;
  await drawn(page);
  expect(await again.evaluate((button) => button === document.activeElement)).toBe(true);
  answer.resolve();
  await page.getByRole("heading", { name: "No refunds yet" }).waitFor();
});

test("a network that is gone has a face, and the list comes with it again", async () => {
  portal.tolerate(/Failed to load resource|net::ERR/);
  const { page, place, open } = await portal.member("owner");
  for (const path of ["refunds?*", "stream"]) await page.route(`**/portal/v1/${path}`, (route) => route.abort());
  await open(paths.refunds(place));
  const face = page.getByRole("alert").filter({ hasText: "No connection" });
  await face.getByText(/Nothing you typed is lost/).waitFor();
  await hold(page, "**/portal/v1/refunds?*", () => face.getByRole("button", { name: "Try again" }).click());
  await page.getByRole("heading", { name: "No refunds yet" }).waitFor();
});

test("a dialog stays while what it sent is under way, and says how that ended", async () => {
  const { page, place, client, open } = await portal.member("owner");
  const { payment } = await oneOfEverything(client);
  await open(paths.payment(place, payment));
  await page.getByRole("button", { name: "Refund", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel(/Amount/).fill("1000");
  const { promise: slow, resolve: answer } = Promise.withResolvers<void>();
  let sent = 0;
  await page.route("**/portal/v1/refunds", async (route) => {
    sent++;
    await slow;
    const error = { code: "SERVICE_UNAVAILABLE", message: "What the service says.", request_id: REQUEST };
    await route.fulfill({ status: 503, json: { error } });
  });
  const send = dialog.getByRole("button", { name: "Refund", exact: true });
  await send.press("Enter");
  await send.press("Enter");
  await dialog.locator('button[aria-busy="true"]').waitFor();
  await page.keyboard.press("Escape");
  await dialog.getByRole("button", { name: "Close" }).click();
  await dialog.getByText("Back", { exact: true }).click({ force: true });
  await page.mouse.click(5, 400);
  expect(await dialog.getByLabel(/Amount/).inputValue()).toBe("1000");
  answer();
  await dialog.getByRole("alert").getByText("Sent again, it is not done twice.").waitFor();
  expect(sent).toBe(1);
  await dialog.getByRole("button", { name: "Back" }).click();
  await dialog.waitFor({ state: "detached" });
});

test("a form keeps what was typed through every refusal, and the second try is the same intent", async () => {
  portal.tolerate(/Failed to load resource|net::ERR/);
  const { page, place, open, client } = await portal.member("owner");
  await open(paths.create(place));
  await page.getByLabel("Amount").fill("42000");
  await page.getByLabel("Your reference").fill("kept-1");
  const create = page.getByRole("button", { name: "Create the payment" });
  const keys: string[] = [];
  const answers = [
    () => ({ status: 401, code: "UNAUTHORIZED" }),
    () => ({ status: 429, code: "RATE_LIMITED" }),
    () => ({ status: 500, code: "INTERNAL_ERROR" }),
  ];
  for (const answer of answers) {
    await page.route("**/portal/v1/payments", (route) => {
      keys.push(route.request().headers()["idempotency-key"] ?? "");
      const { status, code } = answer();
      const error = { code, message: `Refused by ${code}.`, request_id: REQUEST };
      return route.fulfill({ status, contentType: "application/json", body: JSON.stringify({ error }) });
    });
    await create.click();
    await page.getByRole("alert").filter({ hasText: answer().code }).waitFor();
    expect(await page.getByLabel("Amount").inputValue()).toBe("42000");
    expect(await page.getByLabel("Your reference").inputValue()).toBe("kept-1");
    await page.unroute("**/portal/v1/payments");
  }
  // The answer is lost on its way: the payment is made, and nobody knows.
  await page.route("**/portal/v1/payments", async (route) => {
    keys.push(route.request().headers()["idempotency-key"] ?? "");
    await losesAnswer(route);
  });
  await create.click();
  await page.getByRole("alert").filter({ hasText: "No connection" }).waitFor();
  await page.unroute("**/portal/v1/payments");
  // The network's own page, in the place of an answer, tells as little.
  await page.route("**/portal/v1/payments", async (route) => {
    keys.push(route.request().headers()["idempotency-key"] ?? "");
    await route.fulfill({ status: 200, contentType: "text/html", body: "<html>Sign in to this network</html>" });
  });
  await create.click();
  await expect.poll(() => keys.length).toBe(5);
  await page.getByRole("alert").filter({ hasText: "No connection" }).waitFor();
  await page.unroute("**/portal/v1/payments");
  await create.click();
  await page.getByRole("region", { name: "The payment" }).getByText("pending").waitFor();
  expect((await client.get("/v1/payments")).json.data).toMatchObject([
    { reference_id: "kept-1", amount_minor: 4_200_000 },
  ]);
  // An unknown outcome keeps its key: what was sent after the 500 is the same intent as what made the payment.
  expect(keys[3]).toBe(keys[2]);
});

/** Has a change done whose answer never arrives. A request that is handed on loses where it came from, by which the service knows its own pages. */
async function losesAnswer(route: Route): Promise<void> {
  const answer = await route.fetch({ headers: { ...route.request().headers(), "sec-fetch-site": "same-origin" } });
  expect(answer.status()).toBe(201);
  await route.abort();
}

const HOSTILE = "<img src=x onerror=document.title='owned'>";

test("the status page tells a phone in Indonesian what works, and shows an incident as text by itself", async () => {
  const { page } = await portal.guest({ viewport: PHONE, locale: "id-ID" });
  await page.goto(`${portal.origin}/status`);
  await page.getByRole("heading", { name: "Sekarang dan 90 hari terakhir" }).waitFor();
  await page
    .getByRole("img", { name: /^90 hari terakhir: / })
    .first()
    .waitFor();
  const incident = { title: HOSTILE, impact: "critical", components: ["card"], message: HOSTILE };
  const { incident_id: id } = await portal.service.operate("POST", "/incidents", incident);
  // What the page does every half minute.
  await expect
    .poll(
      async () => {
        await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
        return page.getByRole("heading", { name: HOSTILE }).count();
      },
      { timeout: 30_000, interval: 500 },
    )
    .toBe(1);
  await page.getByRole("heading", { name: "Sebagian layanan tidak berfungsi" }).waitFor();
  await isClean({ page }, "status");
  await look(page, "status");
  expect(await page.title()).not.toBe("owned");
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE.width);
  const feed = await page.evaluate(async () => {
    const text = await (await fetch("/status.rss", { cache: "no-store" })).text();
    const parsed = new DOMParser().parseFromString(text, "application/xml");
    return [parsed.querySelector("parsererror")?.textContent, parsed.querySelector("item > title")?.textContent];
  });
  expect(feed).toEqual([undefined, `${HOSTILE}: investigating`]);
  await portal.service.operate("POST", `/incidents/${id}/updates`, { status: "resolved", message: "Done." });
});

test("without scripts the status page says the same", async () => {
  const { page } = await portal.guest({ javaScriptEnabled: false });
  await page.goto(`${portal.origin}/status`);
  await page.getByText("Measured by the service itself").waitFor();
  await page.getByRole("link", { name: "Bahasa Indonesia" }).click();
  await page.getByText("Diukur oleh layanan sendiri").waitFor();
});

test("a refund whose answer was lost is made once, also when its form was closed and the same is asked for again", async () => {
  portal.tolerate(/Failed to load resource|net::ERR/);
  const { page, place, client, open } = await portal.member("owner");
  const { reference } = (await client.post("/v1/payments", paymentBody({ amount_minor: 100_000 }))).json;
  await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  await page.route("**/portal/v1/stream", (route) => route.abort());
  await open(paths.payment(place, reference as string));
  await page.route("**/portal/v1/refunds", async (route) => {
    await (route.request().method() === "POST" ? losesAnswer(route) : route.continue());
  });
  const refund = async (): Promise<void> => {
    await page.getByRole("button", { name: "Refund", exact: true }).click();
    await page.getByLabel("Amount in IDR").fill("500.00");
    await page.getByRole("dialog").getByRole("button", { name: "Refund", exact: true }).click();
  };
  await refund();
  await page.getByRole("alert").filter({ hasText: "No connection" }).waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Back" }).click();
  // What was done without an answer shows.
  await page.locator("dl div").filter({ hasText: "Refunded" }).getByText("500.00").waitFor();
  await page.unroute("**/portal/v1/refunds");
  // A refusal that never came to the first try tells nothing of it.
  const error = { code: "RATE_LIMITED", message: "Too many requests.", request_id: REQUEST };
  await page.route("**/portal/v1/refunds", (route) => route.fulfill({ status: 429, json: { error } }));
  await refund();
  await page.getByRole("dialog").getByText("RATE_LIMITED").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Back" }).click();
  await page.unroute("**/portal/v1/refunds");
  await refund();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect((await client.get(`/v1/payments/${reference}`)).json.refunded_minor).toBe(50_000);
});

test("the rest of a payment whose refund got no answer is asked for again in the same form, and is told as done", async () => {
  portal.tolerate(/Failed to load resource|net::ERR/);
  const { page, place, client, open } = await portal.member("owner");
  const reference = await paidPayment(client);
  await open(paths.payment(place, reference));
  await page.route("**/portal/v1/refunds", losesAnswer);
  await page.getByRole("button", { name: "Refund", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Refund", exact: true }).click();
  await dialog.getByRole("alert").filter({ hasText: "No connection" }).waitFor();
  await dialog.getByText("0.00 of this payment").waitFor();
  await page.unroute("**/portal/v1/refunds");
  await dialog.getByRole("button", { name: "Refund", exact: true }).click();
  await page.getByText("The acquirer has sent the money back.").waitFor();
  await dialog.waitFor({ state: "detached" });
  expect((await client.get(`/v1/payments/${reference}`)).json.refunded_minor).toBe(100_000);
});
