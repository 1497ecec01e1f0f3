// Goal: the pages come from the service itself, small and whole; nobody else's page can use them, and no merchant sees another's.
// Method: a real browser on a real service, with a page of somebody else's beside it.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { paths } from "../../portal/src/paths.ts";
import { paidPayment } from "./kit/given.ts";
import { type Member, type Visit, settled, usePortal } from "./kit/portal.ts";

const portal = usePortal({ config: { serviceName: "Bayar Kita" } });
const KILOBYTE = 1000;

/** Bytes of script that a page makes a browser fetch, as they are sent. */
async function scriptBytes({ page }: Visit, show: () => Promise<void>): Promise<number> {
  let bytes = 0;
  page.on("response", (response) => {
    if (!response.url().endsWith(".js")) return;
    expect(response.headers()["content-encoding"]).toMatch(/^(br|gzip)$/);
    bytes += Number(response.headers()["content-length"]);
  });
  await show();
  return bytes;
}

test("the entry of the pages is less than 170 KB of compressed script", () => {
  const dist = fileURLToPath(new URL("../../portal/dist/", import.meta.url));
  const build = `${dist}${readFileSync(`${dist}current`, "utf8")}/portal`;
  const index = readFileSync(`${build}/index.html`, "utf8");
  const scripts = [...index.matchAll(/(?:src|href)="\/portal\/([^"]+\.js)"/g)].map(([, name]) => name ?? "");
  const bytes = scripts.map((name) => readFileSync(`${build}/${name}.br`).length);
  expect(scripts, "the theme, and one file of all that every page needs").toHaveLength(2);
  expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThan(170 * KILOBYTE);
});

test("a first page fetches less than 170 KB of script, and nothing from anybody else", async () => {
  const guest = await portal.guest();
  const member = await portal.member("owner");
  const foreign: string[] = [];
  for (const { page } of [guest, member])
    page.on("request", (request) => {
      if (new URL(request.url()).origin !== portal.origin) foreign.push(request.url());
    });
  expect(await scriptBytes(guest, () => guest.open(paths.signIn()))).toBeLessThan(170 * KILOBYTE);
  expect(await scriptBytes(member, () => member.open(paths.refunds(member.place)))).toBeLessThan(170 * KILOBYTE);
  expect(foreign).toEqual([]);
});

test("the pages bear the name of whoever runs the service", async () => {
  const { page, open } = await portal.guest();
  await open(paths.signIn());
  expect(await page.title()).toBe("Sign in · Bayar Kita");
  expect(await page.getByText("Bayar Kita", { exact: true }).count()).toBe(1);
  const operator = await portal.consoleGuest();
  await operator.open("/sign-in");
  expect(await operator.page.getByText("Bayar Kita", { exact: true }).count()).toBe(1);
  const member = await portal.member("owner");
  await member.open(paths.payments(member.place));
  expect(await member.page.title()).toBe("Payments · Bayar Kita");
  await member.open(paths.account());
  for (const each of [page, operator.page, member.page])
    expect(await each.locator("body").innerText()).not.toContain("Gerbang");
});

test("who is not signed in is led to the sign-in, which leads back, and nowhere else", async () => {
  const { page, open } = await portal.guest();
  await page.goto("/portal/account/sessions");
  await page.waitForURL(/\/portal\/sign-in\?next=/);
  expect(new URL(page.url()).searchParams.get("next")).toBe("/account/sessions");
  const { email, requests } = await portal.member("owner");
  expect((await requests.get("/portal/v1/session")).status).toBe(200);
  await open("/sign-in?next=//evil.example/steal");
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password").fill("kopi tubruk senja 7");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.waitForURL(/\/sandbox$/);
  expect(new URL(page.url()).origin).toBe(portal.origin);
});

test("everything is reached by the keyboard: the skip link, the menu, the palette", async () => {
  const { page, open, place } = await portal.member("owner");
  await open(paths.refunds(place));
  await page.keyboard.press("Tab");
  expect(await page.evaluate("document.activeElement.textContent")).toBe("Skip to the page");
  await page.keyboard.press("Enter");
  expect(await page.evaluate("document.activeElement.id")).toBe("page");
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.type("Settlem");
  await page.keyboard.press("Enter");
  await page.waitForURL(new RegExp(`${paths.settlements(place)}$`));
  // The keyboard goes on from the new page, not from the first entry of the menu.
  await page.locator("h1:focus", { hasText: "Settlements" }).waitFor();
});

test("the current page is one, also for those who do not see it and with the system's own colours", async () => {
  const { page, place, client, open } = await portal.member("owner", { browser: { forcedColors: "active" } });
  const payment = await paidPayment(client);
  const current = page.locator('[aria-current="page"]:visible');
  for (const path of [paths.payments(place), paths.payment(place, payment), paths.paymentNew(place)]) {
    await open(path);
    expect(await current.allInnerTexts(), path).toEqual(["Sandbox", "Payments"]);
  }
  const outlineOf = (name: string) =>
    page.getByRole("tab", { name }).evaluate((tab) => getComputedStyle(tab).outlineStyle);
  expect([await outlineOf("curl"), await outlineOf("Python")]).toEqual(["solid", "none"]);
  // The mark of the sandbox, which a background by itself loses.
  const stripes = page.locator("[data-environment=sandbox]").first();
  expect(await stripes.evaluate((edge) => getComputedStyle(edge).backgroundImage)).toContain("gradient");
});

test("the whole menu is in sight in a window of 900 pixels, in the sandbox of an owner too", async () => {
  const { page, place, open } = await portal.member("owner", { browser: { viewport: { width: 1440, height: 900 } } });
  await open(paths.home(place));
  const menu = page.getByRole("complementary", { name: "Menu" }).getByRole("navigation", { name: "Menu" });
  const hidden = await menu.evaluate(({ parentElement: frame }) =>
    frame ? frame.scrollHeight - frame.clientHeight : -1,
  );
  expect(hidden).toBe(0);
});

test("a double click opens a dialog, and a press beside it closes it while nothing is typed in it", async () => {
  const { page, open, place } = await portal.member("owner");
  await open(paths.team(place));
  const dialog = page.getByRole("dialog");
  const opener = page.getByRole("button", { name: "Invite somebody" });
  await opener.dblclick();
  await dialog.waitFor();
  await page.mouse.click(5, 400);
  await dialog.waitFor({ state: "detached" });
  await opener.click();
  await dialog.getByLabel("E-mail").fill("tamu@toko.example");
  await page.mouse.click(5, 400);
  await page.mouse.click(5, 400);
  expect(await dialog.getByLabel("E-mail").inputValue()).toBe("tamu@toko.example");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  expect(await opener.evaluate((button) => button === document.activeElement)).toBe(true);
});

test("Enter that is held down presses once: no form is sent that nobody has read, and no button again", async () => {
  const { page, client, open, place } = await portal.member("owner");
  const reference = await paidPayment(client);
  const posted: string[] = [];
  page.on("request", (request) => {
    if (request.method() === "POST") posted.push(new URL(request.url()).pathname);
  });
  /** A key that goes down again without having come up is one that is held. */
  const hold = async (): Promise<void> => {
    for (let times = 0; times < 3; times++) await page.keyboard.down("Enter");
    await page.keyboard.up("Enter");
  };
  await open(paths.payment(place, reference));
  await page.getByRole("button", { name: "Refund", exact: true }).focus();
  await page.keyboard.down("Enter");
  const amount = page.getByLabel("Amount in IDR");
  await amount.waitFor();
  await expect.poll(() => amount.evaluate((field) => field === document.activeElement)).toBe(true);
  await hold();
  await page.getByRole("dialog").waitFor();
  expect(posted).toEqual([]);
  // Pressed anew, it sends.
  await page.keyboard.press("Enter");
  await page.getByText("The acquirer has sent the money back.").waitFor();
  expect(posted).toEqual(["/portal/v1/refunds"]);

  await open(paths.clock(place));
  const advance = page.getByRole("button", { name: "+ 1 hour" });
  await advance.focus();
  await page.keyboard.down("Enter");
  await page.getByText("1 hour", { exact: true }).waitFor();
  await expect.poll(() => advance.getAttribute("aria-busy")).toBe(null);
  await hold();
  expect(posted).toEqual(["/portal/v1/refunds", "/portal/v1/sandbox/clock/advance"]);
});

test("a page that is opened while the service does not answer says so within ours, and comes when it answers again", async () => {
  const { page, context, open, place } = await portal.member("owner");
  portal.tolerate(/ERR_INTERNET_DISCONNECTED|dynamically imported module|did not answer/);
  await open(paths.refunds(place));
  await context.setOffline(true);
  await page.getByRole("link", { name: "Disputes" }).click();
  await page.getByRole("heading", { name: "No connection" }).waitFor();
  await context.setOffline(false);
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("heading", { level: 1, name: "Disputes" }).waitFor();
});

/** A page of somebody else's, at another port of the same host: browsers send it our cookies along. */
const FOREIGN = "http://localhost:3999";

async function foreignPage({ context }: Member, html: string): Promise<Page> {
  await context.route(`${FOREIGN}/**`, (route) =>
    route.fulfill({ contentType: "text/html", body: `<!doctype html><title>Foreign</title>${html}` }),
  );
  const page = await context.newPage();
  await page.goto(`${FOREIGN}/`);
  return page;
}

test("what a page of somebody else's posts is refused, though the browser sends the cookie", async () => {
  const member = await portal.member("owner");
  portal.tolerate(/CORS|net::ERR_FAILED|status of 403/);
  const target = `${portal.origin}/portal/v1/team/invitations`;
  const evil = await foreignPage(
    member,
    `<form method="post" enctype="text/plain" action="${target}"><input name='{"role":"owner","x":"' value='"}'></form>`,
  );
  const sent = evil.waitForRequest((request) => request.url() === target && request.method() === "POST");
  await evil.evaluate(
    async ([address, merchant]) => {
      const ask = (method: string, path: string, headers: Record<string, string>, body?: string) =>
        fetch(address + path, { method, credentials: "include", headers, ...(body ? { body } : {}) }).catch(() => null);
      const plain = { "content-type": "text/plain" };
      await fetch(`${address}/portal/v1/team/invitations`, {
        method: "POST",
        mode: "no-cors",
        credentials: "include",
        headers: plain,
        body: '{"role":"owner"}',
      }).catch(() => null);
      await ask("POST", "/portal/v1/team/invitations", { "x-merchant-id": merchant ?? "" }, '{"role":"owner"}');
      await ask("DELETE", "/portal/v1/session", {});
      await ask("PATCH", "/portal/v1/person", { "content-type": "application/json" }, '{"name":"Mallory"}');
    },
    [portal.origin, member.merchantId],
  );
  // The attack was a real one: the cookie went with it.
  expect((await (await sent).allHeaders()).cookie).toMatch(/^session=/);
  await evil.locator("form").evaluate((form: HTMLFormElement) => form.submit());
  await evil.waitForURL(target);
  expect(await evil.locator("body").innerText()).toContain("FORBIDDEN");

  const { data } = (await member.requests.get("/portal/v1/team/invitations")).json as { data: unknown[] };
  expect(data).toEqual([]);
  expect((await member.requests.get("/portal/v1/session")).json).toMatchObject({ person: { name: "Sari Dewi" } });
});

test("no page shows ours in a frame", async () => {
  const member = await portal.member("owner");
  portal.tolerate(/frame-ancestors|X-Frame-Options|chrome-error/);
  const evil = await foreignPage(member, `<iframe src="${portal.origin}/portal/account"></iframe>`);
  await expect.poll(() => evil.frames()[1]?.url()).toBe("chrome-error://chromewebdata/");
});

test("a script that finds its way into a page does not run", async () => {
  const { page, open } = await portal.member("owner");
  portal.tolerate(/Content Security Policy/);
  await open(paths.account());
  await page.getByLabel("Name").fill(`<img src=x onerror="window.owned=1"><script>window.owned=1</script>`);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: /^Your account: <img/ }).waitFor();
  await page.reload();
  await settled(page);
  // And past the pages' own care: markup that lands in the document all the same.
  await page.evaluate(() => {
    const place = document.createElement("div");
    place.innerHTML = `<img src="data:," onerror="window.owned=1"><a href="javascript:window.owned=1">x</a>`;
    document.body.append(place);
    const script = document.createElement("script");
    script.textContent = "window.owned=1";
    document.body.append(script);
    place.querySelector("a")?.click();
  });
  await page.waitForTimeout(100);
  expect(await page.evaluate("window.owned")).toBeUndefined();
});

test("another merchant's address shows nothing of it, and its cookie opens nothing here", async () => {
  const [mine, other] = await Promise.all([portal.member("owner"), portal.member("owner")]);
  await mine.open(paths.refunds(other.place));
  await mine.page.getByText("None of your merchants is at this address.").waitFor();
  const told = await mine.page.evaluate(async (merchant) => {
    const headers = { "x-merchant-id": merchant, "x-environment": "sandbox" };
    const response = await fetch("/portal/v1/payments", { headers });
    return [response.status, ((await response.json()) as { error: { code: string } }).error.code];
  }, other.merchantId);
  expect(told).toEqual([404, "OBJECT_NOT_FOUND"]);

  // Somebody plants their own session beside ours, so that we would work in their account: neither is believed.
  const value = other.requests.cookie?.split("=")[1] ?? "";
  const planted = { name: "session", value, domain: "localhost", path: "/portal", sameSite: "Lax" as const };
  await mine.context.addCookies([planted]);
  await mine.page.goto(`/portal${paths.account()}`);
  await mine.page.waitForURL(/\/sign-in/);
});
