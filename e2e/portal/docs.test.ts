// Goal: a developer reads, searches and runs the documentation: with a mouse or without, with scripts or without, and never against production.
// Method: the built pages in a real browser, beside a service with a merchant of its own.
import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { faults, faultsIn, look, showIn } from "./kit/look.ts";
import { PHONE, type Visit, WIDE, usePortal } from "./kit/portal.ts";

const portal = usePortal();

beforeAll(async () => {
  const build = fileURLToPath(new URL("../../docs/site/build.ts", import.meta.url));
  await promisify(execFile)(process.execPath, ["--disable-warning=ExperimentalWarning", build]);
});

const PAGES = [
  "/docs/",
  "/docs/concepts/payment",
  "/docs/webhooks",
  "/docs/id/five-minutes",
  "/docs/api/create-payment",
  "/docs/errors/REFERENCE_ID_DUPLICATE",
  "/docs/nothing",
];

const go = async ({ page }: Pick<Visit, "page">, path: string): Promise<void> => {
  await page.goto(path);
  await page.evaluate(() => document.fonts.ready);
};

/** Example number `at` of a page. */
const exampleOf = (page: Page, at = 0) => page.locator(".example").nth(at);

test("axe finds nothing on a page of each kind, light and dark, and nothing is wider than a phone", async () => {
  portal.tolerate(/404.*\/docs\/nothing/);
  const visit = await portal.guest();
  const found: string[] = [];
  for (const path of PAGES) {
    await go(visit, path);
    for (const theme of ["light", "dark"] as const) {
      await showIn(visit.page, theme);
      found.push(...(await faultsIn(visit.page, theme)).map((fault) => `${path}, ${theme}: ${fault}`));
    }
    await visit.page.setViewportSize(PHONE);
    const [inner, outer] = await visit.page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    if (inner !== outer) found.push(`${path}: ${inner} px wide on a phone`);
    await visit.page.setViewportSize(WIDE);
    await look(visit.page, `docs${path.replaceAll("/", "-")}`);
  }
  expect(found).toEqual([]);
});

test("on a phone the menu leads to the other language, the portal and the status, and a finger hits what it aims at", async () => {
  const { page } = await portal.guest();
  await page.setViewportSize(PHONE);
  const aims = () =>
    page.locator("a, button, input, summary").evaluateAll((all) =>
      all
        // Links in a sentence are as high as its lines.
        .filter((one) => one.checkVisibility() && (one.closest("p, li, td") === null || one.closest("nav") !== null))
        .map((one) => ({ name: one.textContent.trim().slice(0, 30), box: one.getBoundingClientRect() }))
        .filter(({ box }) => box.width > 0 && box.right > 0 && (box.width < 24 || box.height < 24))
        .map(({ name, box }) => `${name}: ${box.width} x ${box.height}`),
    );
  for (const path of ["/docs/five-minutes", "/docs/api/create-payment", "/docs/webhooks"]) {
    await go({ page }, path);
    expect(await aims(), path).toEqual([]);
  }
  await go({ page }, "/docs/five-minutes");
  await page.getByRole("button", { name: "Menu" }).click();
  const menu = page.getByRole("navigation", { name: "Documentation" });
  for (const name of ["Portal", "Status"]) expect(await menu.getByRole("link", { name, exact: true }).count()).toBe(1);
  expect(await aims()).toEqual([]);
  await look(page, "docs-menu-phone");
  await menu.getByRole("link", { name: "Bahasa Indonesia" }).click();
  await page.waitForURL("**/docs/id/five-minutes");
  await page.setViewportSize(WIDE);
  expect(await aims()).toEqual([]);
  expect(await page.getByRole("link", { name: "English" }).count()).toBe(1);
});

test("a text in a table has room, whatever stands beside it", async () => {
  const { page } = await portal.guest();
  for (const path of ["/docs/errors", "/docs/interface", "/docs/operator-api"]) {
    await go({ page }, path);
    const narrow = await page.locator("td").evaluateAll((cells) =>
      cells
        .map((cell) => ({ text: cell.textContent, width: cell.clientWidth }))
        .filter(({ text, width }) => text.length > 150 && width < 110)
        .map(({ text, width }) => `${width} px: ${text}`),
    );
    expect(narrow, path).toEqual([]);
  }
});

test("who is on call finds what to do first, in the words that were said to them", async () => {
  const { page } = await portal.guest();
  await page.goto("/docs");
  const found: string[] = [];
  for (const words of [
    "runbook",
    "acquirer does not answer",
    "expired but paid",
    "leaked key",
    "payout returned",
    "webhooks refused",
    "refund stuck",
    "evidence due",
    "wrong fee",
    "operator leaves",
    "auditor",
    "disk full",
  ]) {
    await page.locator("#search").fill("");
    await page.locator("#search").fill(words);
    const first = page.getByRole("option").first();
    await first.waitFor();
    if (!(await first.getAttribute("href"))?.startsWith("/docs/on-call")) found.push(words);
  }
  expect(found).toEqual([]);
});

test("everything is found by keyboard, with a letter wrong too", async () => {
  const { page } = await portal.guest();
  const loaded: string[] = [];
  page.on("request", (request) => loaded.push(new URL(request.url()).pathname));
  await page.goto("/docs/webhooks");
  expect(loaded.filter((path) => /search|minisearch/.test(path))).toEqual([]);
  await page.keyboard.press("/");
  expect(await page.evaluate(() => document.activeElement?.id)).toBe("search");
  await page.keyboard.type("idempotncy conflict");
  const options = page.getByRole("option");
  await options.first().waitFor();
  expect(await options.allTextContents()).toContainEqual(expect.stringMatching(/IDEMPOTENCY_CONFLICT.*Reference/));
  await page.keyboard.press("Control+A");
  await page.keyboard.type("misbehave");
  await page
    .getByRole("option", { name: /misbehave/i })
    .first()
    .waitFor();
  await page.keyboard.press("ArrowDown");
  expect(await page.getByRole("option", { selected: true }).count()).toBe(1);
  expect(await page.locator("#search").getAttribute("aria-activedescendant")).toBe("result-1");
  expect(await faults(page)).toEqual([]);
  await look(page, "docs-search");
  await page.keyboard.press("ArrowUp");
  const to = await page.getByRole("option", { selected: true }).getAttribute("href");
  await page.keyboard.press("Enter");
  await page.waitForURL(`**${to}`);
  await page.keyboard.press("/");
  await page.keyboard.type("zzzzqqqq");
  await page.getByText("Nothing is called “zzzzqqqq”.").waitFor();
  await page.keyboard.press("Escape");
  expect(await page.getByRole("listbox").count()).toBe(0);
});

test("the language of examples and the theme are kept from page to page, without a flash", async () => {
  const { page } = await portal.guest({ colorScheme: "light" });
  await page.goto("/docs/api/create-payment");
  // Until somebody chooses, it follows the system, also while the page is open.
  await page.emulateMedia({ colorScheme: "dark" });
  await page.locator('html[data-theme="dark"]').waitFor();
  await page.emulateMedia({ colorScheme: "light" });
  await page.locator('html[data-theme="light"]').waitFor();
  await exampleOf(page).getByRole("tab", { name: "curl" }).focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  expect(await exampleOf(page).getByRole("tabpanel").textContent()).toContain("from gerbang import Gerbang");
  await page.getByRole("button", { name: "Light or dark" }).click();
  // Drawn as it was chosen before any module runs.
  await page.route("**/assets/page.*.js", (route) => route.abort());
  portal.tolerate(/ERR_FAILED.*page\./);
  await page.goto("/docs/api/create-refund");
  expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe("dark");
  const shown = exampleOf(page).locator('[role="tabpanel"]:visible');
  expect(await shown.count()).toBe(1);
  expect(await shown.textContent()).toContain("gerbang.refunds.create(");
});

test("without scripts everything can be read", async () => {
  const { page } = await portal.guest({ javaScriptEnabled: false });
  await page.goto("/docs/api/create-payment");
  for (const text of ["from gerbang import Gerbang", 'import Gerbang from "@gerbang/sdk"', "package main", "<?php"])
    expect(await page.getByText(text).first().isVisible()).toBe(true);
  expect(await page.getByRole("button", { name: /Run|Copy|Light/ }).count()).toBe(0);
  expect(await page.getByRole("searchbox").count()).toBe(0);
  await page.getByRole("link", { name: "Refund all or part of a payment" }).first().click();
  expect(await page.getByRole("heading", { level: 1 }).textContent()).toContain("Refund");
  await page.setViewportSize(PHONE);
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("link", { name: "The sandbox", exact: true }).click();
  expect(new URL(page.url()).pathname).toBe("/docs/sandbox");
});

test("who is signed in finds their own key in the examples, and runs them in their sandbox", async () => {
  const visit = await portal.member("owner");
  const { page, requests } = visit;
  const keys = (await requests.get("/portal/v1/credentials")).json.data as { client_id: string }[];
  // One of a system that is gone is not shown.
  await requests.send("DELETE", `/portal/v1/credentials/${keys[0]?.client_id}`);
  await visit.open(`/${visit.place.merchant}/sandbox`);
  await go(visit, "/docs/api/create-payment");
  await exampleOf(page)
    .getByText(keys[1]?.client_id ?? "no key")
    .first()
    .waitFor();
  expect(await exampleOf(page).getByRole("tabpanel").textContent()).toContain("$GERBANG_SECRET");

  await exampleOf(page).getByRole("button", { name: "Run" }).click();
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText(/^201 Created · \d+ ms$/).waitFor();
  const answer = JSON.parse((await page.getByRole("region", { name: "Body of the answer" }).textContent()) ?? "{}");
  expect(answer).toMatchObject({ status: "pending", environment: "sandbox" });
  expect(await page.getByRole("region", { name: "Headers of the answer" }).textContent()).toContain(
    "x-request-id: req_",
  );
  expect(await faults(page)).toEqual([]);
  await look(page, "docs-run");
  // The same key: the same payment.
  await page.getByRole("button", { name: "Send again" }).click();
  await page.getByText("x-idempotent-replay: true").waitFor();

  // A page about one object is about the newest of one's own.
  await go(visit, "/docs/api/simulate-payment");
  await exampleOf(page).getByRole("button", { name: "Run" }).click();
  await page.getByLabel("reference").waitFor();
  expect(await page.getByLabel("reference").inputValue()).toBe(answer.reference);
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("region", { name: "Body of the answer" }).getByText('"status": "succeeded"').waitFor();

  await go(visit, "/docs/api/list-payments");
  await exampleOf(page).getByRole("button", { name: "Run" }).click();
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText(/^200 OK · \d+ ms$/).waitFor();
  expect(await page.getByRole("region", { name: "Body of the answer" }).textContent()).toContain(answer.reference);
});

test("the calls of a guide are run from it, one after the other", async () => {
  const visit = await portal.member("owner");
  const { page } = visit;
  await go(visit, "/docs/getting-started");
  const runs = page.getByRole("button", { name: "Run", exact: true });
  await runs.first().click();
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText(/^201 Created/).waitFor();
  await runs.first().click();
  await page.locator(".runner").waitFor({ state: "detached" });
  await runs.nth(1).click();
  await page.getByLabel("reference").waitFor();
  expect(await page.getByLabel("reference").inputValue()).toMatch(/^pay_/);
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText('"status": "succeeded"').waitFor();
  await go(visit, "/docs/webhooks");
  await page.getByRole("button", { name: "Run GET /v1/events/{id}/deliveries" }).click();
  await page.getByLabel("id", { exact: true }).waitFor();
  expect(await page.getByLabel("id", { exact: true }).inputValue()).toMatch(/^evt_/);
  expect(await faults(page)).toEqual([]);
});

test("nobody who is not signed in runs anything, and everybody is told how to sign in", async () => {
  const visit = await portal.guest();
  const { page } = visit;
  const sent: string[] = [];
  const asked: string[] = [];
  page.on("request", (request) => {
    if (request.method() !== "GET") sent.push(request.url());
    if (request.url().includes("/portal/v1/")) asked.push(request.url());
  });
  await go(visit, "/docs/api/create-payment");
  // Whoever was never at the portal has no session to ask for.
  await page.waitForFunction(() =>
    performance.getEntriesByType("resource").some(({ name }) => /\/run\.\w+\.js$/.test(name)),
  );
  expect(asked).toEqual([]);
  await exampleOf(page).getByRole("button", { name: "Run" }).click();
  const link = page.getByRole("link", { name: "Sign in at the portal" });
  expect(await link.getAttribute("href")).toBe("/portal/sign-in");
  await page.getByRole("button", { name: "I am signed in" }).click();
  await link.waitFor();
  expect(sent).toEqual([]);
});

test("production is never run, whatever the reader or the page before chose", async () => {
  const visit = await portal.member("owner", { environment: "production" });
  const { page, place } = visit;
  await visit.open(`/${place.merchant}/production`);
  // The portal's own page asks about production, as long as it is there.
  await page.goto("about:blank");
  const environments: (string | undefined)[] = [];
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith("/portal/v1/") && pathname !== "/portal/v1/session")
      environments.push(request.headers()["x-environment"]);
  });
  for (const path of ["/docs/api/create-payment", "/docs/api/get-balances", "/docs/api/trigger-event"]) {
    // The page itself asks for the reader's keys.
    const keys = page.waitForResponse(/\/portal\/v1\/credentials\?/);
    await go(visit, path);
    await keys;
    await exampleOf(page).getByRole("button", { name: "Run" }).click();
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText(/^\d{3} .* ms$/).waitFor();
  }
  expect(environments.length).toBeGreaterThan(5);
  expect(new Set(environments)).toEqual(new Set(["sandbox"]));
});

test("a page of another origin runs nothing with a reader's session, and can hold no page in a frame", async () => {
  const { page, merchantId, requests } = await portal.member("owner");
  const headers = { "x-merchant-id": merchantId, "x-environment": "sandbox", "idempotency-key": "attack-1042" };
  const body = JSON.stringify({
    amount_minor: 7_500_000,
    currency: "IDR",
    payment_method: "qris",
    reference_id: "attack-1042",
  });
  // Another port is another origin of the same site: the session's cookie is sent along, which is the worst case.
  const evil = createServer((_request, answer) => {
    answer.setHeader("content-type", "text/html");
    answer.end(`<h1>Evil</h1><iframe src="${portal.origin}/docs/api/create-payment"></iframe>`);
  });
  await new Promise<void>((listening) => evil.listen(0, "127.0.0.1", listening));
  try {
    const other = `http://localhost:${(evil.address() as AddressInfo).port}`;
    portal.tolerate(/CORS|Failed to load resource|ERR_|frame-ancestors/);
    await page.goto(other);
    expect(await page.frames()[1]?.locator("h1").count()).toBe(0);
    const url = `${portal.origin}/portal/v1/payments`;
    await page.evaluate(
      async ([to, sent, text]) => {
        const all = { method: "POST", credentials: "include", body: text } as const;
        await fetch(to, { ...all, headers: sent }).catch(() => undefined);
        await fetch(to, { ...all, mode: "no-cors" }).catch(() => undefined);
      },
      [url, headers, body] as const,
    );
    const own = { ...headers, cookie: requests.cookie ?? "", "content-type": "application/json" };
    const forged = await fetch(url, {
      method: "POST",
      headers: { ...own, origin: other, "sec-fetch-site": "same-site" },
      body,
    });
    expect(forged.status).toBe(403);
    expect((await requests.get("/portal/v1/payments")).json.data).toEqual([]);
    // The same from one of our pages is taken: it was refused for where it came from.
    expect((await requests.send("POST", "/portal/v1/payments", JSON.parse(body), headers)).status).toBe(201);
  } finally {
    evil.closeAllConnections();
    evil.close();
  }
});

test("an answer that holds HTML is shown as text", async () => {
  const visit = await portal.member("owner");
  const { page } = visit;
  await page.route("**/portal/v1/balances", (route) =>
    route.fulfill({
      status: 200,
      contentType: "text/html",
      body: '<img src=x onerror="document.title=1"><script>document.title=2</script>',
    }),
  );
  await go(visit, "/docs/api/get-balances");
  await exampleOf(page).getByRole("button", { name: "Run" }).click();
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText("<script>document.title=2</script>").waitFor();
  expect(await page.locator(".answer img, .answer script").count()).toBe(0);
  expect(await page.title()).toMatch(/^Read the balances/);
});

test("the portal leads to the documentation", async () => {
  const { page, open, place } = await portal.member("viewer");
  await open(`/${place.merchant}/sandbox`);
  await page.getByRole("button", { name: /^Your account/ }).click();
  await page.getByRole("menuitem", { name: "Documentation" }).click();
  await page.waitForURL("**/docs/");
  expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Be paid by Gerbang");
});
