// Goal: an acquirer fails, and an operator shifts its traffic by a rule after a what-if, and shifts it back; rules are edited by keyboard with
// what is wrong at the cell. Method: a real browser at the console, payments through the API beside it; axe on each view, light and dark.
import { beforeAll, expect, test } from "vitest";
import { paymentBody } from "../../gateway/test/kit.ts";
import { insertPastPayments } from "../../gateway/test/past-payments.ts";
import { at } from "../../portal/src/console/paths.ts";
import type { Client } from "../kit/client.ts";
import { faults } from "./kit/look.ts";
import { PHONE, isClean, usePortal } from "./kit/portal.ts";

const portal = usePortal();

let client: Client;
beforeAll(async () => {
  const made = await portal.service.merchant();
  ({ client } = made);
  const split = { id: "cendana_va", percent: 30, control: "merapi", test: "cendana" };
  const { merchantId } = made;
  const beside = { cendana: "lower_priority" } as const;
  await insertPastPayments(portal.service.database, [
    // Nusantara does well for three days, and fails today.
    ...[3, 2, 1].flatMap((daysAgo) => [
      { merchantId, count: 90, chosen: "nusantara", daysAgo, verdicts: beside },
      { merchantId, count: 10, chosen: "nusantara", daysAgo, status: "expired" as const, verdicts: beside },
      { merchantId, count: 46, chosen: "cendana", daysAgo },
      { merchantId, count: 4, chosen: "cendana", daysAgo, status: "expired" as const },
    ]),
    { merchantId, count: 12, chosen: "nusantara", verdicts: beside },
    { merchantId, count: 48, chosen: "nusantara", status: "failed", verdicts: beside },
    {
      merchantId,
      count: 700,
      chosen: "merapi",
      method: "va",
      amountMinor: 25_000_000,
      split: { ...split, arm: "control" },
    },
    {
      merchantId,
      count: 60,
      chosen: "merapi",
      method: "va",
      amountMinor: 25_000_000,
      status: "expired",
      split: { ...split, arm: "control" },
    },
    {
      merchantId,
      count: 290,
      chosen: "cendana",
      method: "va",
      amountMinor: 25_000_000,
      split: { ...split, arm: "test" },
    },
    {
      merchantId,
      count: 30,
      chosen: "cendana",
      method: "va",
      amountMinor: 25_000_000,
      status: "expired",
      split: { ...split, arm: "test" },
    },
  ]);
});

const gatewayNow = async (): Promise<string> =>
  (await client.post("/v1/payments", paymentBody({ amount_minor: 100_000 }))).json.gateway_code as string;

test("an acquirer fails, an operator looks what another rule would do, lets it decide, and shifts back", async () => {
  const { page, open, look } = await portal.operator("admin");
  expect(await gatewayNow()).toBe("nusantara");

  await open(at.routing());
  await page.getByLabel("Rule 6: method").waitFor();
  await page.getByRole("button", { name: "Add a rule" }).click();
  await page.getByLabel("Rule 7: acquirer", { exact: true }).selectOption("cendana");
  await page.getByLabel("Rule 7: method").selectOption("qris");
  await page.getByLabel("Rule 7: priority").fill("5");
  await page.getByRole("button", { name: "What if?" }).click();
  const moves = page.getByRole("group", { name: "Who would move" });
  await moves.getByText("nusantara → cendana").waitFor();
  expect(await moves.textContent()).toContain("92.0 %");
  await page.locator("figure canvas").waitFor();
  await look("routing-what-if");
  expect(await faults(page)).toEqual([]);

  await page.getByRole("button", { name: "Let it decide…" }).click();
  await page.getByLabel("Reason, for whoever reads it later").fill("Nusantara fails since this morning");
  await page.getByRole("button", { name: "Store and activate" }).click();
  await page.getByText("Version 2 decides.", { exact: false }).first().waitFor();
  expect(await gatewayNow()).toBe("cendana");

  await open(at.routingVersions());
  await page.getByText("Nusantara fails since this morning").waitFor();
  await page.getByRole("button", { name: "Compare version 1" }).click();
  await page.getByText("5 · cendana · qris", { exact: false }).waitFor();
  expect(await faults(page)).toEqual([]);
  await page.getByRole("button", { name: "Close" }).click();
  await look("routing-versions");
  await page.getByRole("button", { name: "Roll back… to version 1" }).click();
  await page.getByRole("button", { name: "Roll back", exact: true }).click();
  await page.getByText("those of 1").waitFor();
  expect(await gatewayNow()).toBe("nusantara");
});

test("at every width all fields of a rule are in sight", async () => {
  const { page, open } = await portal.operator("admin");
  await open(at.routing());
  await page.getByLabel("Rule 6: method").waitFor();
  await page.getByLabel("Rule 6: share of the test in percent").fill("10"); // the name of the test appears
  await page.getByLabel("Rule 2: priority").fill("soon"); // a fault stands at its cell
  const editor = page.getByRole("group", { name: "Routing rules" });
  for (const width of [1280, 1024, 768, 640, 390]) {
    await page.setViewportSize({ width, height: 900 });
    const beyond = await editor.evaluate((frame) =>
      [...frame.querySelectorAll("input,select,button")]
        .filter((field) => field.getBoundingClientRect().right > frame.getBoundingClientRect().right)
        .map((field) => field.getAttribute("aria-label")),
    );
    expect(beyond, `${width} px`).toEqual([]);
    expect(await editor.evaluate((frame) => frame.scrollWidth - frame.clientWidth), `${width} px`).toBe(0);
    const outside = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(outside, `${width} px`).toBeLessThanOrEqual(0);
  }
  expect(await faults(page)).toEqual([]);
});

test("rules are edited by keyboard, and what is wrong stands at its cell", async () => {
  const { page, open, look } = await portal.operator("admin");
  await open(at.routing());
  const priority = page.getByLabel("Rule 2: priority");
  await priority.focus();
  await page.keyboard.press("Alt+ArrowUp");
  await page.waitForFunction(() => document.activeElement?.getAttribute("aria-label") === "Rule 1: priority");
  expect(await page.getByLabel("Rule 1: method").inputValue()).toBe("va");
  await page.keyboard.press("Alt+Enter");
  await page.waitForFunction(() => document.activeElement?.getAttribute("aria-label") === "Rule 2: acquirer");
  await page
    .getByText("is not the code of an acquirer")
    .or(page.getByText(/Invalid string/))
    .first()
    .waitFor();
  await page.getByLabel("Rule 2: acquirer", { exact: true }).selectOption("merapi");
  await page.getByLabel("Rule 2: method").selectOption("card");
  await page.getByText("merapi takes only bank_transfer, va").waitFor();
  expect(await page.getByRole("button", { name: "Let it decide…" }).getAttribute("aria-disabled")).toBe("true");
  await look("routing-faults");
  expect(await faults(page)).toEqual([]);
  await page.getByLabel("Rule 2: weight").focus();
  await page.keyboard.press("Alt+Delete");
  await page.getByText("merapi takes only bank_transfer, va").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Drop the draft" }).click();
  await page.getByText(/^Version \d+ decides\.$/).waitFor();
});

test("a test shows its arms with their intervals, and the difference beside zero", async () => {
  const rules = [
    {
      gateway_code: "merapi",
      payment_method: "va",
      priority: 10,
      weight: 100,
      split: { id: "cendana_va", gateway_code: "cendana", percent: 30 },
    },
    { gateway_code: "nusantara", payment_method: "qris", priority: 10, weight: 100 },
    { gateway_code: "cendana", priority: 50, weight: 100 },
  ];
  const { version } = await portal.service.operate("POST", "/routing/rules", { rules });
  await portal.service.operate("POST", `/routing/rules/${version}/activate`);
  const { page, open, look } = await portal.operator("viewer");
  await open(at.routingTests());
  await page.getByText("not yet distinguishable", { exact: true }).waitFor();
  await page.getByText(/about \d+ more payments/).waitFor();
  await isClean({ page }, "routing-tests");
  await look("routing-tests");
  await open(at.routing());
  expect(await page.getByRole("button", { name: "Let it decide…" }).count()).toBe(0);
});

test("an acquirer is switched off after a plain warning, on a phone too, and its costs are stated", async () => {
  const { page, open, look } = await portal.operator("admin", { viewport: PHONE });
  await open(at.acquirers());
  await look("acquirers");
  await isClean({ page }, "an acquirer of a rule");
  await page.getByRole("button", { name: "Switch off… Nusantara QR" }).click();
  await page.getByText("takes no new payments", { exact: false }).waitFor();
  await page.getByRole("button", { name: "Switch it off" }).click();
  await page.getByText("switched off", { exact: true }).waitFor();
  expect(await gatewayNow()).toBe("cendana");
  await page.getByRole("button", { name: "Switch on… Nusantara QR" }).click();
  await page.getByRole("button", { name: "Switch it on" }).click();
  await page.getByText("switched off", { exact: true }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Costs… of Nusantara QR" }).click();
  await page.getByRole("button", { name: "Add a row" }).click();
  await page.getByLabel("Row 1: basis points").fill("x");
  await page.getByRole("button", { name: "State these costs" }).click();
  await page
    .getByText(/costs\.0\.basis_points/)
    .first()
    .waitFor();
  await page.getByLabel("Row 1: basis points").fill("35");
  expect(await faults(page)).toEqual([]);
  await page.getByRole("button", { name: "State these costs" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const stated = await portal.service.askOperator("/acquirers/nusantara/costs");
  expect(stated.json.costs).toMatchObject([{ basis_points: 35, currency: "IDR" }]);
});
