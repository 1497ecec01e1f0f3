// Goal: an operator makes a merchant and runs it from the console: its settings, its keys, its payouts and its ledger.
// Method: a real browser at the operators' listener; axe on each page, light and dark.
import { readFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { exponentOf as exponentOfService, isCurrency } from "../../gateway/src/ground/money.ts";
import { defaultSettings } from "../../gateway/src/merchants/settings.ts";
import { alsoIn } from "../../gateway/test/currencies.ts";
import { exponentOf } from "../../portal/src/console/pages/merchants/exponents.ts";
import { at } from "../../portal/src/console/paths.ts";
import { type Things, oneOfEverything } from "./kit/given.ts";
import { faults } from "./kit/look.ts";
import { type OperatorVisit, PHONE, isCleanInConsole, usePortal } from "./kit/portal.ts";

const portal = usePortal();

/** A merchant with a batch that waits for its bank, named with what a page must show as text. */
async function merchantWithBatch(name: string): Promise<Things & { id: string }> {
  const { merchantId } = await portal.service.merchant({ name });
  const things = await oneOfEverything(await portal.service.client(merchantId, "sandbox"));
  return { ...things, id: merchantId };
}

async function areClean(operator: OperatorVisit, pages: Record<string, string>): Promise<void> {
  for (const [name, path] of Object.entries(pages)) {
    await operator.open(path);
    await isCleanInConsole(operator, name);
  }
}

test("every page of merchants is one that axe finds nothing in, in light and dark", async () => {
  const { merchantId: id } = await portal.service.merchant({ name: "Toko <img src=x onerror=alert(1)>" });
  await areClean(await portal.operator("admin"), {
    merchants: at.merchants(),
    merchant: at.merchant(id),
    "merchant-access": `${at.merchant(id)}?tab=access`,
  });
});

test("every page of settlements is one that axe finds nothing in, in light and dark", async () => {
  const { id, settlement } = await merchantWithBatch("Toko <img src=x onerror=alert(1)>");
  await areClean(await portal.operator("admin"), {
    disputes: at.disputes(id, "sandbox"),
    settlements: at.settlements(id, "sandbox"),
    settlement: at.settlement(id, "sandbox", settlement),
  });
});

test("every page of events is one that axe finds nothing in, in light and dark; a viewer sends nothing again", async () => {
  const { id } = await merchantWithBatch("Toko <img src=x onerror=alert(1)>");
  const [event] = (await portal.service.askOperator(`/merchants/${id}/books/sandbox/events`)).json.data;
  await areClean(await portal.operator("support"), {
    events: at.events(id, "sandbox"),
    event: at.event(id, "sandbox", event.id as string),
    "rejected-calls": at.rejectedCalls(),
  });
  const viewer = await portal.operator("viewer", { viewport: PHONE });
  await viewer.open(at.event(id, "sandbox", event.id as string));
  await viewer.page.getByText("What the receiver is told").waitFor();
  expect(await viewer.page.getByRole("button", { name: "Send it again" }).count()).toBe(0);
  expect(await viewer.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE.width);
});

test("on a narrow phone an admin sees which wallets are frozen, and the buttons that change them, without scrolling aside", async () => {
  const { merchantId } = await portal.service.merchant({ settings: alsoIn(defaultSettings, "KWD") });
  await portal.service.operate("PATCH", `/merchants/${merchantId}`, { wallet_frozen: { KWD: true } });
  const { page, open } = await portal.operator("admin", { viewport: { width: 360, height: 740 } });
  await open(at.merchant(merchantId));
  const table = page.getByRole("region", { name: "Currencies", exact: true });
  await table.getByText("frozen").locator("visible=true").waitFor();
  expect(await table.evaluate((region) => region.scrollWidth - region.clientWidth)).toBe(0);
});

test("what a key changed is read in the console, with where it came from, and leads to each object", async () => {
  const { id, payment } = await merchantWithBatch("Toko Melur");
  const visit = await portal.operator("viewer");
  const { page, open } = visit;
  await open(at.access(id));
  // Of its two keys the newer one, which has made everything.
  await page.getByRole("group", { name: "Credentials" }).getByRole("link").first().click();
  await page.getByRole("heading", { level: 1, name: "What a key changed" }).waitFor();
  const made = page.getByRole("row", { name: /^create payment/ }).filter({ hasText: payment });
  expect(await made.innerText()).toContain("127.0.0.1");
  await isCleanInConsole(visit, "key");
  await made.getByRole("link", { name: payment }).click();
  await page.getByRole("heading", { level: 1, name: "Payment", exact: true }).waitFor();
  // The story of the payment leads back to the key.
  await page
    .getByRole("link", { name: /^ak_test_/ })
    .first()
    .click();
  await page.getByRole("heading", { level: 1, name: "What a key changed" }).waitFor();
});

test("every page of the ledger is one that axe finds nothing in, in light and dark", async () => {
  const { id } = await merchantWithBatch("Toko <img src=x onerror=alert(1)>");
  await areClean(await portal.operator("admin"), {
    ledger: at.ledger(id, "sandbox"),
    entries: at.entries(id, "sandbox", "IDR", "merchant:available"),
    statement: at.statement(id, "sandbox", "IDR", "merchant:available"),
  });
});

test("amounts of settings have as many decimals as the service counts in", () => {
  const known = Intl.supportedValuesOf("currency").filter(isCurrency);
  expect(known.length).toBeGreaterThan(100);
  for (const currency of known) expect(exponentOf(currency), currency).toBe(exponentOfService(currency));
});

test("an admin makes a merchant, sets it up, lets its systems and its owner in, and suspends it", async () => {
  const operator = await portal.operator("admin");
  const { page, open } = operator;
  const dialog = page.getByRole("dialog");
  const click = (name: string) => page.getByRole("button", { name, exact: true }).click();
  await open(at.merchants());
  // The page offers it twice while there is no merchant at all.
  await page.getByRole("button", { name: "Make a merchant", exact: true }).first().click();
  await page.getByLabel("Name", { exact: true }).last().fill("Warung Pagi");
  await click("Make it");
  await page.getByRole("link", { name: "I have handed them over" }).waitFor();
  expect(await page.getByText(/^whsec_/).count()).toBe(2);
  await page.getByRole("link", { name: "I have handed them over" }).click();
  await page.getByRole("heading", { level: 1, name: "Warung Pagi" }).waitFor();

  // A currency comes with its prices; what the service says of a field is said at the field.
  await click("Add a currency…");
  await dialog.getByLabel("Currency", { exact: true }).fill("USD");
  const largest = dialog.getByLabel("Largest payment");
  await largest.fill("99,999,999,999");
  await click("Save");
  await dialog.getByText("Enter at most 9,999,999,999.99.").waitFor();
  await largest.fill("0");
  await dialog.getByText("Enter an amount above zero.").waitFor();
  await largest.fill("5,000");
  await dialog.getByText("USD 5,000.00 is 500000 minor units.").waitFor();
  await click("Save");
  const prices = dialog.getByLabel("Share, in basis points");
  await expect.poll(() => prices.first().getAttribute("aria-invalid")).toBe("true");
  for (const price of await prices.all()) await price.fill("290");
  await click("Save");
  await page.getByRole("row", { name: /^USD.*5,000\.00/ }).waitFor();
  await click("Change the calendar…");
  await dialog.getByLabel("Holidays").fill("2027-02-30");
  await click("Save");
  await dialog.getByText(/^Entry 1 is not a date YYYY-MM-DD/).waitFor();
  await operator.look("console-merchant-calendar");
  await dialog.getByLabel("Holidays").fill("2027-01-01");
  await click("Save");
  await page.getByText("Fri, 1 Jan 2027").waitFor();
  await page.getByText("Saturday, Sunday", { exact: true }).waitFor();
  await page.getByText("1 hour", { exact: true }).waitFor();
  // A day that ends at midnight is over when the next begins, as the merchant's own page says.
  const batch = page.getByRole("term").filter({ hasText: "Put into a batch" }).locator("xpath=..");
  await batch.getByText("T+1", { exact: true }).waitFor();
  await click("Change the calendar…");
  await dialog.getByLabel("Days until it is in a batch").fill("0");
  await dialog.getByText("0 is the same as 1 if the day ends at 00:00").waitFor();
  await click("Save");
  await dialog.waitFor({ state: "detached" });
  expect(await batch.innerText()).toContain("T+1");
  // A field that somebody empties is no smallest payout.
  const smallest = page.getByRole("term").filter({ hasText: "Smallest payout in USD" }).locator("xpath=..");
  for (const [typed, shown] of [
    ["10", "USD10.00"],
    ["", "USD0.00"],
  ] as const) {
    await click("Change the calendar…");
    await dialog.getByLabel("Smallest payout in USD").fill(typed);
    await click("Save");
    await smallest.getByText(shown).waitFor();
  }
  await click("Change card");
  await dialog.getByLabel("State").selectOption("off");
  await dialog.getByLabel("Share, in basis points").first().fill("250");
  await operator.look("console-merchant-method");
  await click("Save");
  await page.getByRole("row", { name: /^card off.*IDR 2\.50 %.*USD 2\.90 %/ }).waitFor();
  await click("Take USD away");
  await dialog.getByText("no payment in it can be refunded", { exact: false }).waitFor();
  await page.keyboard.press("Escape");
  await click("Freeze the USD wallet");
  await dialog.getByText("A transfer that the bank already has is not stopped", { exact: false }).waitFor();
  await click("Freeze the wallet");
  await page.getByRole("row", { name: /^USD.*frozen/ }).waitFor();

  await page.getByRole("tab", { name: "Access" }).click();
  await click("Make a credential…");
  await click("Make it");
  await dialog.getByText(/^ak_test_/).waitFor();
  await click("I have handed it over");
  await page.getByRole("row", { name: /ak_test_.*everything.*active/ }).waitFor();
  await page.getByRole("button", { name: /^Revoke / }).click();
  await click("Revoke it");
  await page.getByRole("row", { name: /revoked/ }).waitFor();
  await click("Set the address of sandbox");
  await dialog.getByLabel("Address").fill("not an address");
  await click("Set it");
  await dialog.getByText("The address must begin with https://").waitFor();
  await page.keyboard.press("Escape");
  await click("Invite an owner…");
  await click("Make the link");
  await dialog.getByText(/\/portal\/invitation#/).waitFor();
  await click("Done");

  await click("Suspend…");
  await dialog.getByText("every request of its people in the portal", { exact: false }).waitFor();
  await dialog.getByText("answer for them, or the disputes are lost", { exact: false }).waitFor();
  await click("Suspend the merchant");
  await page.getByText("Its systems and its people in the portal are answered with 403.").waitFor();
  await click("Lift the suspension…");
  await click("Lift the suspension");
  await page.getByText("active", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Who changed what" }).click();
  await page.getByText("What operators changed of this merchant or tried to.").waitFor();
  const changes = page.getByRole("group", { name: "Changes" });
  await changes.getByRole("row", { name: /webhook .* refused 422/ }).waitFor();
  await page.getByRole("link", { name: "this merchant" }).click();
  await page.getByRole("heading", { level: 1, name: "Warung Pagi" }).waitFor();
});

test("a batch that the bank returned is recorded, its money is available again, and its statement stays to be read", async () => {
  const { id, settlement } = await merchantWithBatch('Toko, "Senja"');
  const admin = await portal.operator("admin");
  const { page, open } = admin;
  const book = `/merchants/${id}/books/sandbox`;
  const available = async (): Promise<number> => {
    const { currencies } = (await portal.service.askOperator(book)).json;
    const accounts = currencies[0].accounts as { account: string; balance_minor: number }[];
    return -(accounts.find(({ account }) => account === "merchant:available")?.balance_minor ?? 0);
  };
  const before = await available();
  const batch = (await portal.service.askOperator(`${book}/settlements/${settlement}/record`)).json.settlement;

  // While its wallet is frozen, the page says what to do before anything is recorded.
  const freeze = (isFrozen: boolean) =>
    portal.service.operate("PATCH", `/merchants/${id}`, { wallet_frozen: { IDR: isFrozen } });
  await freeze(true);
  await open(at.settlement(id, "sandbox", settlement));
  await page
    .getByText("The wallet is frozen: open it first, on the merchant's page, under Settings.")
    .first()
    .waitFor();
  await freeze(false);
  const due = page.getByRole("term").filter({ hasText: /^Due$/ }).locator("xpath=..");
  expect(await due.locator("time").getAttribute("datetime")).toBe(batch.payout_date);

  // The statement, line by line: it adds up to the batch.
  await open(at.settlement(id, "sandbox", settlement));
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download CSV" }).click(),
  ]);
  const [head = "", ...lines] = readFileSync(await download.path(), "utf8")
    .trimEnd()
    .split("\r\n");
  const column = (name: string): number => head.split(",").indexOf(name);
  const net = (line: string | undefined): number => Number(line?.split(",")[column("net_minor")]);
  const total = lines.pop();
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.map((line) => line.split(",")[column("kind")])).toContain("payment");
  expect(lines.reduce((sum, line) => sum + net(line), 0)).toBe(batch.net_minor);
  expect([total?.split(",")[1], net(total)]).toEqual([settlement, batch.net_minor]);

  // By keyboard: what it does to the book is read first, and Escape leaves it as it is.
  const returned = page.getByRole("button", { name: "Record that the bank returned it" });
  await returned.focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Merchant, in payout").waitFor();
  await admin.look("console-settlement-return");
  expect(await faults(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  expect(await available()).toBe(before);
  // Where it was before the dialog.
  await returned.and(page.locator(":focus")).waitFor();
  await page.keyboard.press("Enter");
  await dialog.getByRole("button", { name: "Record it" }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("The batch is recorded as returned.").waitFor();
  await page.getByRole("table", { name: "The batch as an equation" }).getByText("given back by the bank").waitFor();
  await page.getByText("no, the bank returned it").waitFor();
  expect(await available()).toBe(before + (batch.net_minor as number));
  // What the bank said is said: nothing more is offered, the page says where the money is, and the statement still is.
  await page.getByText("Its money is available again and goes into the next batch").waitFor();
  expect(await page.getByText("read its status first").count()).toBe(0);
  expect(await page.getByRole("button", { name: /^Record that the bank/ }).count()).toBe(0);
  expect(await page.getByRole("button", { name: "Download CSV" }).count()).toBe(1);
  const { data } = (await portal.service.askOperator("/audit?limit=1")).json;
  expect(data[0]).toMatchObject({ actor: admin.email, path: expect.stringMatching(/\/return$/), status: 200 });
});

// From here on the policy wants a second operator for payouts.
test("what the bank said about a batch is recorded, by a second operator where the policy wants one", async () => {
  const { id, settlement } = await merchantWithBatch("Toko Senja");
  const first = await portal.operator("admin");
  const second = await portal.operator("admin");
  const { page, open } = first;
  await open(at.settlement(id, "sandbox", settlement));
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download CSV" }).click(),
  ]);
  expect(download.suggestedFilename()).toBe(`${settlement}.csv`);
  await page.getByRole("button", { name: "Record that the bank paid it" }).click();
  await page.getByText("money that the bank returns after that is not recorded here").waitFor();
  // As it is told on the page of what waits, and to a second operator: with a sign, and as people read what somebody has.
  const effects = async (): Promise<string[][]> => {
    const rows = await page.getByRole("group", { name: "What happens to the book" }).first().getByRole("row").all();
    return Promise.all(rows.slice(1).map((row) => row.getByRole("cell").allInnerTexts()));
  };
  const told = await effects();
  expect(told).toEqual([
    ["Merchant, in payout", "98,950.00", "\u221298,950.00", "0.00"],
    ["Paid out by the bank", "0.00", "+98,950.00", "98,950.00"],
  ]);
  const buttons = page.getByRole("dialog").getByRole("button");
  expect(await buttons.allInnerTexts()).toEqual(["", "Record it", "Back"]);
  await page.getByLabel("The bank's reference").fill("TRF-0001");
  await first.look("console-settlement-pay");
  await page.getByRole("button", { name: "Record it" }).click();
  await page.getByText("The batch is recorded as paid.").waitFor();
  await page.getByText("TRF-0001").waitFor();

  const { version } = (await portal.service.askOperator("/approvals/policy")).json;
  await portal.service.operate("PUT", "/approvals/policy", { version, actions: { record_payout: {} } });
  const other = await merchantWithBatch("Toko Fajar");
  // Who comes from what waits is told the same, and types the same.
  await open(at.payout(other.id, "sandbox", other.settlement));
  expect(await effects()).toEqual(told);
  await page.getByRole("button", { name: "Ask: record that it was paid" }).click();
  await page.getByText("money that the bank returns after that is not recorded here").waitFor();
  await page.getByLabel("The bank's reference").waitFor();
  await open(at.settlement(other.id, "sandbox", other.settlement));
  await page.getByRole("button", { name: "Record that the bank paid it" }).click();
  await page.getByLabel("The bank's reference").fill("TRF-0002");
  await page.getByRole("button", { name: "Ask a second operator" }).click();
  await page.getByText("Nothing is recorded yet: a second operator has to approve.").waitFor();
  await first.look("console-settlement-asked");
  const { data } = (await portal.service.askOperator("/approvals?status=waiting")).json;
  const approved = await second.requests.post(`/ops/v1/approvals/${data[0].uuid}/approve`);
  expect([approved.status, approved.json.status]).toEqual([200, "executed"]);
  await open(at.settlement(other.id, "sandbox", other.settlement));
  await page.getByText("TRF-0002").waitFor();
});

test("no page sends a payout of real money without the bank's reference", async () => {
  const { id, settlement } = await merchantWithBatch("Toko Kenanga");
  const { page, open } = await portal.operator("admin");
  const sent: string[] = [];
  // The sandbox's batch, in the place of one of production, which has none here.
  await page.route("**/books/production/**", async (route) => {
    const request = route.request();
    if (request.method() !== "GET") sent.push(request.url());
    await route.fulfill({ response: await route.fetch({ url: request.url().replace("/production/", "/sandbox/") }) });
  });
  const dialog = page.getByRole("dialog");
  for (const [address, opens] of [
    [at.settlement(id, "production", settlement), "Record that the bank paid it"],
    [at.payout(id, "production", settlement), "Record that it was paid"],
  ] as const) {
    await open(address);
    await page.getByRole("button", { name: opens }).click();
    // Whether or not the policy wants a second operator.
    await dialog.getByRole("button", { name: /^(?:Record|Ask)/ }).click();
    await expect.poll(() => dialog.getByLabel("The bank's reference").getAttribute("aria-invalid")).toBe("true");
  }
  expect(sent).toEqual([]);
});

test("support verifies a book on the phone, sees how far it is and what it found, and takes the book along", async () => {
  const { id } = await merchantWithBatch("Toko Fajar");
  const support = await portal.operator("support", { viewport: PHONE });
  const { page, open } = support;
  await open(at.ledger(id, "sandbox"));
  await page.getByText("This book has not been verified here yet.").waitFor();
  const viewer = await portal.operator("viewer");
  await viewer.open(at.ledger(id, "sandbox"));
  // The replay is held where it is, in its checks of the batches' items.
  const goesOn = Promise.withResolvers<void>();
  const { operators } = portal.service.app.databases;
  const query = operators.query.bind(operators);
  const held = vi.spyOn(operators, "query").mockImplementation(async (statement) => {
    if (statement.name === "verify: next settlement_items") await goesOn.promise;
    return query(statement);
  });
  await page.getByRole("button", { name: "Verify the book" }).focus();
  await page.keyboard.press("Enter");
  await page.getByText(/rows checked against the journals/).waitFor();
  const bar = page.getByRole("progressbar", { name: "How far the replay is" });
  expect(Number(await bar.getAttribute("value"))).toBeGreaterThan(0.8);
  // Whoever comes meanwhile sees the same.
  await viewer.page.reload();
  await viewer.page.getByText(/journals a second/).waitFor();
  expect(await viewer.page.getByRole("button", { name: /Stop|Verify|Download/ }).count()).toBe(0);
  await page.getByRole("button", { name: "Stop" }).focus();
  await page.keyboard.press("Enter");
  const asked = { text: "select from book_verifications where stopped_by is not null" };
  await expect.poll(async () => (await query(asked)).length).toBe(1);
  held.mockRestore();
  goesOn.resolve();
  await page.getByText(/^Stopped by operator\d+@gateway.example after \d+ journals, so it proves nothing/).waitFor();
  await isCleanInConsole(support, "replay");

  await page.getByRole("button", { name: "Verify the book" }).click();
  await page.getByText(/journals were replayed/).waitFor();
  await page.getByText("The chain still ends there.").waitFor();
  const { head_hash: head } = (await portal.service.askOperator(`/merchants/${id}/books/sandbox`)).json;
  expect(await page.getByText(head).count()).toBe(1);
  await page.getByText("1 replay before").click();
  await page.getByRole("region", { name: "Replays before" }).getByText("stopped").waitFor();
  await isCleanInConsole(support, "replayed");
  const [book] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download as hledger" }).click(),
  ]);
  expect(book.suggestedFilename()).toBe(`book-${id}-sandbox.journal`);
  expect(readFileSync(await book.path(), "utf8")).toMatch(/; end of .*: \d+ journals\n$/);
});

test("a statement has the days and the times of its reader's zone", async () => {
  const { id } = await merchantWithBatch("Toko Senja");
  const { page, open } = await portal.operator("viewer", { timezoneId: "Pacific/Kiritimati" });
  await open(at.statement(id, "sandbox", "IDR", "merchant:available"));
  const line = page.getByRole("row", { name: /^capture/ }).first();
  const posted = Date.parse((await line.getByRole("time").getAttribute("datetime")) ?? "");
  const there = new Date(posted + 14 * 3_600_000).toISOString();
  expect(await line.innerText()).toContain(there.slice("YYYY-MM-DDT".length, -".000Z".length));
  const day = there.slice(0, "YYYY-MM-DD".length);
  const asked = page.waitForRequest((request) => /\/ops\/v1\/.*\/statement\?/.test(request.url()));
  await open(`${at.statement(id, "sandbox", "IDR", "merchant:available")}&from=${day}&to=${day}`);
  const begin = Date.parse(`${day}T00:00:00Z`) - 14 * 3_600_000;
  const { searchParams } = new URL((await asked).url());
  expect([Date.parse(searchParams.get("from") ?? ""), Date.parse(searchParams.get("to") ?? "")]).toEqual([
    begin,
    begin + 86_399_000,
  ]);
  await line.waitFor();
});

test("a viewer reads a book on the phone, and is offered nothing that changes or takes anything", async () => {
  const { id } = await merchantWithBatch("Toko Fajar");
  const { page, open } = await portal.operator("viewer", { viewport: PHONE });
  await open(at.ledger(id, "sandbox"));
  await page.getByRole("link", { name: "merchant:available" }).click();
  await page.getByRole("heading", { level: 1, name: "merchant:available in IDR" }).waitFor();
  await page.getByRole("link", { name: "Statement of a period" }).click();
  await page.getByRole("table").getByText("capture").first().waitFor();
  // A capture has a minus there: whoever reads it must know which side that is.
  await page.getByText("Debits are positive.").waitFor();
  const [csv] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download CSV" }).click(),
  ]);
  expect(csv.suggestedFilename()).toMatch(new RegExp(`^statement-${id}-sandbox-merchant-available-IDR-.*\\.csv$`));
  await open(at.ledger(id, "staging"));
  await page.getByRole("alert").waitFor();
  expect(await page.getByText("merchant:available").count()).toBe(0);
  await open(at.merchant(id));
  expect(await page.getByRole("button", { name: /Suspend|Change|Freeze|Add/ }).count()).toBe(0);
});
