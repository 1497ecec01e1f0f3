// Goal: an acquirer fails; the wall shows it within five seconds; an operator asks what another rule would do, lets it decide, sees payments go to the other
// acquirer, and shifts them back when the first one is well. Method: two remote acquirers that do what they are told, payments all the while, two
// windows of one operator as they would be open on a desk: the wall, and the pages that one works in.
import { afterEach, beforeAll, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { paymentBody } from "../../gateway/test/kit.ts";
import { insertPastPayments } from "../../gateway/test/past-payments.ts";
import { scriptedAcquirer } from "../../gateway/test/scripted-acquirer.ts";
import { at } from "../../portal/src/console/paths.ts";
import type { Client } from "../kit/client.ts";
import { faults } from "./kit/look.ts";
import { usePortal } from "./kit/portal.ts";
import { slowness } from "../../gateway/test/slowness.ts";

const SEEN_WITHIN_MS = 5_000;
const DESK = { width: 1440, height: 900 };

const [rimba, pesisir] = [scriptedAcquirer("rimba"), scriptedAcquirer("pesisir")];
const portal = usePortal({ acquirers: [rimba, pesisir] });

let client: Client;
beforeAll(async () => {
  const { service } = portal;
  const made = await service.merchant({ name: "Kopi Melati" });
  ({ client } = made);
  const rules = [
    { gateway_code: "rimba", payment_method: "qris", priority: 10, weight: 100 },
    { gateway_code: "pesisir", payment_method: "qris", priority: 20, weight: 100 },
  ];
  const { version } = await service.operate("POST", "/routing/rules", { rules, note: "Rimba first" });
  await service.operate("POST", `/routing/rules/${version}/activate`);
  // Three days on which both did well, and a morning on which one did not.
  const { merchantId } = made;
  const beside = { pesisir: "lower_priority" } as const;
  await insertPastPayments(service.database, [
    ...[3, 2, 1].flatMap((daysAgo) => [
      { merchantId, count: 95, chosen: "rimba", daysAgo, verdicts: beside },
      { merchantId, count: 60, chosen: "pesisir", daysAgo },
    ]),
    { merchantId, count: 40, chosen: "rimba", status: "failed" as const, verdicts: beside },
  ]);
});

/** Payments come in all the while, as they do in a shop. */
let shopping: { stop(): Promise<void> } | undefined;
afterEach(async () => {
  await shopping?.stop();
  shopping = undefined;
});

function openTheShop(): { stop(): Promise<void> } {
  const closing = new AbortController();
  const buyers = Array.from({ length: 3 }, async () => {
    while (!closing.signal.aborted) {
      const { status, json } = await client.post("/v1/payments", paymentBody({ amount_minor: 100_000 }));
      // A refusal is what a merchant sees while nobody takes it; anything else is ours.
      if (status >= 300) expect(["GATEWAY_ERROR", "NO_ROUTE_AVAILABLE"]).toContain(json.error.code);
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
  });
  return {
    async stop() {
      closing.abort();
      await Promise.all(buyers);
    },
  };
}

const acquirerOf = async (): Promise<string> =>
  (await client.post("/v1/payments", paymentBody({ amount_minor: 100_000 }))).json.gateway_code as string;

/** By keyboard, once the button may be pressed. */
async function press(page: Page, name: string): Promise<void> {
  const button = page.getByRole("button", { name, exact: true });
  await expect.poll(() => button.isEnabled(), { timeout: 30_000 }).toBe(true);
  await button.press("Enter");
}

const onWall = (wall: Page, code: string) =>
  wall.getByRole("region", { name: "Acquirers" }).getByRole("listitem").filter({ hasText: code });

test("an acquirer fails, an operator shifts its traffic after a what-if, and shifts it back", async () => {
  const { page, context, open, openIn, look } = await portal.operator("admin", { viewport: DESK });
  const wall = await context.newPage();
  await openIn(wall)(at.wallScreen());
  await onWall(wall, "rimba").getByText("healthy").waitFor();
  expect(await acquirerOf()).toBe("rimba");

  shopping = openTheShop();
  rimba.otherwise = "down";
  const failedAtMs = performance.now();
  await onWall(wall, "rimba").getByText("down").waitFor();
  expect(performance.now() - failedAtMs).toBeLessThan(SEEN_WITHIN_MS * slowness());
  expect(await onWall(wall, "rimba").textContent()).toMatch(/calls failed · circuit open for qris/);
  expect(await onWall(wall, "pesisir").textContent()).toContain("healthy");

  // From the wall to what is known of it.
  await open(at.acquirers());
  const card = page.getByRole("region", { name: "rimba" });
  await card.getByRole("row", { name: /^qris.*open/ }).waitFor();
  await look("outage-acquirers");

  // What would another order do?
  await open(at.routing());
  await page.getByLabel("Rule 2: priority").fill("5");
  await page.keyboard.press("Tab");
  await press(page, "What if?");
  const moves = page.getByRole("group", { name: "Who would move" });
  // What moves did worse than it would have done.
  const success = moves.getByRole("row", { name: /rimba → pesisir/ }).getByRole("cell", { name: /% → .*%/ });
  const [before = 100, after = 0] = ((await success.textContent()) ?? "").split("→").map((share) => parseFloat(share));
  expect(before).toBeLessThan(after);
  await page.locator("figure canvas").first().waitFor();
  expect(await faults(page)).toEqual([]);
  await look("outage-what-if");

  await press(page, "Let it decide…");
  await page.getByLabel("Reason, for whoever reads it later").fill("Rimba does not answer");
  await press(page, "Store and activate");
  // Said once it is active: which version decides stands on the page all along.
  await page.getByText(/Version \d+ decides now/).waitFor();

  // Payments go to the other one first: it is asked, and the one that fails is not.
  await expect.poll(acquirerOf, { timeout: 30_000 }).toBe("pesisir");
  // What was under way by the old rules comes to its end first.
  const takenAtFirst = pesisir.opened.length;
  await expect.poll(() => pesisir.opened.length, { timeout: 30_000 }).toBeGreaterThan(takenAtFirst + 3);
  const [askedBefore, takenBefore] = [rimba.opened.length, pesisir.opened.length];
  await open(at.payments());
  await page.getByRole("row").nth(1).waitFor();
  await page.getByRole("row").nth(1).getByRole("link").first().press("Enter");
  await page.waitForURL(/\/payments\/pay_/);
  await page.getByText("pesisir").first().waitFor();
  await expect.poll(() => pesisir.opened.length, { timeout: 30_000 }).toBeGreaterThan(takenBefore + 3);
  expect(rimba.opened.length).toBe(askedBefore);

  // Rimba is well again: back to what was before, by a version of its own.
  rimba.otherwise = "ok";
  await open(at.routingVersions());
  await page.getByText("Rimba does not answer").waitFor();
  const [, restored] = (await portal.service.askOperator("/routing/activations?limit=2")).json.data;
  await press(page, `Roll back… to version ${restored.version}`);
  await press(page, "Roll back");
  await page.getByText(`those of ${restored.version}`).waitFor();
  await look("outage-rolled-back");
  // Its circuit lets a payment through to see whether it is well, and closes.
  await expect.poll(acquirerOf, { timeout: 45_000, interval: 500 }).toBe("rimba");
  await onWall(wall, "rimba")
    .getByText(/healthy|failing/)
    .waitFor();
  await look("outage-wall");
});
