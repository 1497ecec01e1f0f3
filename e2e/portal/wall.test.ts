// Goal: the wall is read from afar, by everybody and on every screen; an acquirer that fails is on it within five seconds; and a wall that hears nothing says so.
// Method: a real browser at a service with an acquirer that does what it is told; axe on each page, light and dark; every size looked at.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { at } from "../../portal/src/console/paths.ts";
import { paymentBody } from "../../gateway/test/kit.ts";
import { scriptedAcquirer } from "../../gateway/test/scripted-acquirer.ts";
import { slowness } from "../../gateway/test/slowness.ts";
import { faultsIn, showIn } from "./kit/look.ts";
import { isClean, usePortal } from "./kit/portal.ts";

const rimba = scriptedAcquirer("rimba");
const portal = usePortal({ acquirers: [rimba] });

const OFFICE = { width: 1920, height: 1080 };
const sizes = {
  office: OFFICE,
  desktop: { width: 1440, height: 900 },
  tablet: { width: 820, height: 1180 },
  phone: { width: 390, height: 844 },
};

/** Keeps a picture of what is in sight, where LOOK names a folder. */
async function look(page: Page, name: string): Promise<void> {
  const folder = process.env.LOOK;
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}

test("the wall shows what happens, without scrolling in an office, and axe finds nothing on any screen", async () => {
  const { client } = await portal.service.merchant();
  for (const outcome of ["succeeded", "succeeded", "failed"]) {
    const { json } = await client.post("/v1/payments", paymentBody({ amount_minor: 12_500_000 }));
    await client.post(`/v1/sandbox/payments/${json.reference}/simulate`, { outcome });
  }
  await client.post("/v1/payments", paymentBody({ customer: { email: "a@review.test" } }));
  const { page, open } = await portal.operator("viewer", { viewport: OFFICE });
  await open(at.wallScreen());
  await page.getByText("2 of 3 that ended").waitFor();
  expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Wall");
  expect(await page.getByText("250K").count()).toBe(1);
  expect(await page.getByRole("navigation").count()).toBe(0);
  // "M" is a thousand millions to whoever reads Indonesian, so amounts are shortened in the reader's own way.
  const reader = await portal.operator("viewer", { viewport: OFFICE, locale: "id-ID" });
  await reader.open(at.wallScreen());
  await reader.page.getByText("250\u00a0rb").waitFor();
  for (const [size, viewport] of Object.entries(sizes)) {
    await page.setViewportSize(viewport);
    for (const theme of ["light", "dark"] as const) {
      await showIn(page, theme);
      expect(await faultsIn(page, theme), `${size}, ${theme}`).toEqual([]);
      await page.waitForTimeout(150); // until the plots are of that size
      await look(page, `wall.${size}-${theme}`);
    }
    const [width, height] = await page.evaluate(() => [
      document.documentElement.scrollWidth,
      document.documentElement.scrollHeight,
    ]);
    expect(width).toBeLessThanOrEqual(viewport.width);
    if (size === "office") expect(height).toBeLessThanOrEqual(viewport.height);
  }
});

test("by keyboard: a digit chooses the period, F turns to the full screen and back, and the address says both", async () => {
  const { page, open } = await portal.operator("viewer", { viewport: OFFICE });
  await open(at.wall());
  await page.getByRole("navigation").first().waitFor();
  await page.keyboard.press("3");
  await page.waitForURL(/\/wall\?.*period=week/);
  expect(await page.getByRole("button", { name: "7 days" }).getAttribute("aria-pressed")).toBe("true");
  await page.keyboard.press("f");
  await page.waitForURL(/\/wall\/screen\?.*period=week/);
  await page.getByRole("button", { name: "Back to the console (F)" }).waitFor();
  expect(await page.getByRole("navigation").count()).toBe(0);
  await page.keyboard.press("f");
  await page.waitForURL(/\/wall\?.*period=week/);
});

test("an acquirer that fails is seen within five seconds, with what it is left alone for", async () => {
  const { service } = portal;
  const { version } = await service.operate("POST", "/routing/rules", {
    rules: [{ gateway_code: "rimba", priority: 1, weight: 100 }],
  });
  await service.operate("POST", `/routing/rules/${version}/activate`);
  const { client } = await service.merchant();
  const { page, open } = await portal.operator("viewer", { viewport: OFFICE });
  await open(at.wallScreen());
  const line = page.getByRole("region", { name: "Acquirers" }).getByRole("listitem").filter({ hasText: "rimba" });
  await line.getByText("healthy", { exact: true }).waitFor();
  rimba.otherwise = "down";
  const failed = Array.from({ length: 6 }, () => client.post("/v1/payments", paymentBody()));
  await Promise.all(failed);
  const begun = performance.now();
  await line.getByText("down").waitFor();
  expect(performance.now() - begun).toBeLessThan(5_000 * slowness());
  expect(await line.textContent()).toMatch(/of the latest \d+ calls failed · circuit open for qris/);
  await line.getByRole("img", { name: /rimba: open in \d of 60 spans/i }).waitFor();
  await look(page, "wall.acquirer-down");

  // The page with the switch does not call it healthy meanwhile.
  await open(at.acquirers());
  const card = page.getByRole("region", { name: "rimba", exact: true });
  await card.getByText("down", { exact: true }).waitFor();
  expect(await card.getByText("healthy").count()).toBe(0);
});

test("a screen whose browser names no language draws the wall all the same", async () => {
  const { context, page, open } = await portal.operator("viewer", { viewport: OFFICE });
  // What Chromium says where the system has no locale.
  await context.addInitScript(() =>
    Object.defineProperty(navigator, "language", { value: "en-US@posix", configurable: true }),
  );
  await open(at.wallScreen());
  await page.locator("figure canvas").first().waitFor();
  expect(await page.getByText("Something went wrong").count()).toBe(0);
});

test("a wall that is not answered says so from afar, and recovers by itself", async () => {
  portal.tolerate(/Failed to load resource|net::ERR/);
  const { page, context, open } = await portal.operator("viewer", { viewport: OFFICE });
  await page.clock.install();
  await open(at.wallScreen());
  await page.getByText("Payments a minute").waitFor();
  await context.setOffline(true);
  const stale = page.getByRole("alert").filter({ hasText: "No answer since" });
  // An answer that was on its way when the network went may still come, and counts from then on.
  const later = async (): Promise<number> => {
    await page.clock.runFor(40_000);
    return stale.count();
  };
  await expect.poll(later).toBe(1);
  await look(page, "wall.stale");
  await context.setOffline(false);
  await page.clock.runFor(20_000);
  await page.getByRole("alert").waitFor({ state: "detached" });
});

test("the system page shows what runs and no secret, and axe finds nothing on it", async () => {
  const { page, open, look: lookAll } = await portal.operator("viewer");
  await open(at.system());
  await page.getByText("alive").waitFor();
  await isClean({ page }, "system wall");
  await lookAll("system");
});
