// Goal: what something else changed while a form stood open is not overwritten, and who is refused because of it reads why and then sees how things stand,
// without loading the page anew. Method: forms in a real browser, and the change made through the API before they are sent.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { at } from "../../portal/src/console/paths.ts";
import { paths } from "../../portal/src/paths.ts";
import { paidPayment } from "./kit/given.ts";
import { usePortal } from "./kit/portal.ts";

const portal = usePortal();

const refunded = (page: Page) => page.locator("dl div").filter({ hasText: "Refunded" });

test("an operator who is refused because of a refund elsewhere reads why, and sees that refund", async () => {
  const { client } = await portal.service.merchant();
  const reference = await paidPayment(client);
  const { page, open } = await portal.operator("admin");
  await open(at.payment(reference));
  await refunded(page).getByText("0.00").waitFor();
  await page.getByRole("button", { name: "Refund…" }).click();
  await client.post("/v1/refunds", { payment_reference: reference, amount_minor: 100_000 });
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Reason").fill("Returned");
  await dialog.getByRole("button", { name: "Refund", exact: true }).click();
  await refunded(page).getByText("1,000.00").waitFor();
  await dialog.getByText("REFUND_EXCEEDS_PAYMENT").waitFor();
});

test("a payout that was recorded elsewhere is no more to be recorded; who tries is told why", async () => {
  const { client, merchantId } = await portal.service.merchant();
  await paidPayment(client);
  const [batch] = (await client.post("/v1/sandbox/settlements/run", {})).json.data;
  const { page, open } = await portal.operator("admin");
  await open(at.payout(merchantId, "sandbox", batch.uuid));
  await page.getByRole("button", { name: "Record that it came back" }).click();
  await client.post(`/v1/sandbox/settlements/${batch.uuid}/pay`, {});
  await page.getByRole("dialog").getByRole("button", { name: "Record that it came back" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByRole("status").getByText(/paid/).waitFor();
  expect(await page.getByRole("button", { name: "Record that it came back" }).count()).toBe(0);
});

test("whose role was taken away reads so, and is offered no more what they may not do", async () => {
  const owner = await portal.member("owner");
  const { page, place, open, client, email } = await portal.member("support", { merchantId: owner.merchantId });
  await open(paths.payment(place, await paidPayment(client)));
  const { data } = (await owner.requests.get("/portal/v1/team")).json as { data: Record<string, string>[] };
  const person = data.find((one) => one.email === email)?.person_id;
  await owner.requests.send("PATCH", `/portal/v1/team/${person}`, { role: "viewer" });
  await page.getByRole("button", { name: "Refund", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Refund", exact: true }).click();
  await dialog.getByText("Your role, viewer, does not allow this", { exact: false }).waitFor();
  await dialog.getByRole("button", { name: "Back" }).click();
  await page.getByRole("button", { name: "Refund", exact: true }).waitFor({ state: "detached" });
});

test("a key that was revoked elsewhere is told as gone, and stands so in the list", async () => {
  const { page, place, open, client, requests } = await portal.member("developer");
  const { client_id } = client.credentials;
  await open(paths.keys(place));
  const row = page.getByRole("row").filter({ hasText: client_id });
  await row.getByRole("button", { name: /^Revoke/ }).click();
  await requests.send("DELETE", `/portal/v1/credentials/${client_id}`);
  await page.getByRole("button", { name: "Revoke the key" }).click();
  await page.getByText("No such key, or it has ended already.").waitFor();
  // Behind the dialog, where nothing has a role.
  await page.locator("tr").filter({ hasText: client_id }).getByText("revoked").waitFor();
  await page.getByText("No such key, or it has ended already.").waitFor();
});

test("a draft that was kept in another tab is not overwritten by an old one, and not submitted unread", async () => {
  const { page, place, client, open, context, openIn } = await portal.member("owner");
  const reference = await paidPayment(client);
  const { uuid } = (await client.post(`/v1/sandbox/payments/${reference}/dispute`, { reason: "general" })).json;
  const statement = page.getByLabel("Statement");
  await open(paths.dispute(place, uuid));
  await statement.fill("We sent it.");
  await page.getByText(/^Draft kept/).waitFor();
  const tab = await context.newPage();
  await openIn(tab)(paths.dispute(place, uuid));
  const write = async (text: string): Promise<void> => {
    const kept = tab.waitForResponse((answer) => answer.request().method() === "PUT");
    await tab.getByLabel("Statement").fill(text);
    await (await kept).finished();
  };
  // Nothing is typed here: the form goes on with the other draft, and asks for no submission of it unread.
  await write("We sent it, and it was signed for.");
  await page.getByRole("button", { name: "Submit…" }).click();
  await page.getByRole("alert").getByText("changed in another tab", { exact: false }).waitFor();
  await expect.poll(() => statement.inputValue()).toBe("We sent it, and it was signed for.");
  expect(await page.getByRole("dialog").count()).toBe(0);
  // Something is typed here, too.
  await write("Signed for on Monday.");
  await statement.fill("Signed for on Tuesday.");
  const other = page.getByRole("region", { name: "The draft that was kept elsewhere" });
  await other.getByText("Signed for on Monday.").waitFor();
  await page.getByRole("button", { name: "Submit…" }).click();
  await expect.poll(() => page.getByRole("button", { name: "Submit…" }).isEnabled()).toBe(true);
  expect(await page.getByText(/^Draft kept|changed in another tab|^The draft could not/).count()).toBe(0); // said once, by the choice
  expect(await page.getByRole("dialog").count()).toBe(0);
  // Once it is taken back there, what is typed here is kept, and nothing is left to choose.
  await write("We sent it, and it was signed for.");
  await statement.fill("Signed for on Tuesday, at noon.");
  await page.getByText(/^Draft kept/).waitFor();
  await other.waitFor({ state: "detached" });
  await tab.reload();
  await write("Signed for on Monday.");
  await statement.fill("Signed for on Tuesday.");
  await other.getByRole("button", { name: "Go on with that draft" }).click();
  await expect.poll(() => statement.inputValue()).toBe("Signed for on Monday.");
  // The other way round.
  await write("Signed for on Wednesday.");
  await statement.fill("Signed for on Thursday.");
  await other.getByRole("button", { name: "Keep mine in its place" }).click();
  await other.waitFor({ state: "detached" });
  // And once it is to be submitted, the last moment.
  await page.getByRole("button", { name: "Submit…" }).click();
  const submit = page.getByRole("dialog").getByRole("button", { name: "Submit it" });
  await submit.waitFor();
  await tab.reload();
  await write("Signed for on Friday.");
  await submit.click();
  await page.getByRole("dialog").getByText("changed in another tab", { exact: false }).waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Back" }).click();
  await expect.poll(() => statement.inputValue()).toBe("Signed for on Friday.");
  await page.getByRole("button", { name: "Submit…" }).click();
  await submit.click();
  await page.getByText("Your answer is submitted").first().waitFor();
  await page.getByText("Signed for on Friday.").waitFor();
});

test("a policy that another operator changed meanwhile is neither overwritten nor in the way of what was typed", async () => {
  const policy = async () => (await portal.service.askOperator("/approvals/policy")).json;
  const { page, open } = await portal.operator("admin");
  await open(at.approvalPolicy());
  await page.getByRole("checkbox", { name: "Refund a payment" }).check();
  await page.getByLabel("Refund a payment: above IDR").fill("500000");
  const { version } = await policy();
  const theirs = { decide_receipt: {}, record_payout: { above_minor: { USD: 200_000 } } };
  await portal.service.operate("PUT", "/approvals/policy", { version, actions: theirs });
  await page.getByRole("button", { name: "Put it in force" }).click();
  await page.getByText("The policy has changed since you began.", { exact: false }).waitFor();
  expect(await page.getByLabel("Refund a payment: above IDR").inputValue()).toBe("500000");
  expect(await page.getByRole("checkbox", { name: "Assign or return late money" }).isChecked()).toBe(true);
  await page.getByRole("button", { name: "Put it in force" }).click();
  await page.getByText(`Version ${version + 2}, by`).waitFor();
  await expect.poll(() => page.getByLabel("Refund a payment: above IDR").inputValue()).toBe("500,000.00");
  expect(await page.getByText("The policy has changed since").count()).toBe(0);
  expect((await policy()).actions).toEqual({ ...theirs, refund_payment: { above_minor: { IDR: 50_000_000 } } });
});

test("limits and currencies that another operator has set meanwhile are not taken back by who changes something else", async () => {
  const { merchantId } = await portal.service.merchant();
  const settings = `/merchants/${merchantId}`;
  const usd = { per_currency: { USD: { basis_points: 100, flat_minor: 0 } } };
  const { fees } = (await portal.service.askOperator(settings)).json;
  const prices = Object.entries(fees as Record<string, object>).map(([method, fee]) => [method, { ...fee, ...usd }]);
  await portal.service.operate("PATCH", settings, {
    currencies: ["IDR", "USD"],
    max_amount_minor: { USD: 100_000 },
    fees: Object.fromEntries(prices),
  });
  const { page, open } = await portal.operator("admin");
  await open(at.merchant(merchantId));
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "Change limits…" }).click();
  await portal.service.operate("PATCH", settings, { max_amount_minor: { USD: 5_000 } });
  await dialog.getByLabel(/minute/).fill("777");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByText("The settings have changed since this was opened", { exact: false }).waitFor();
  const limit = async (): Promise<unknown> =>
    (await portal.service.askOperator(settings)).json.max_amount_minor_per_currency.USD;
  expect(await limit()).toBe(5_000);
  await dialog.getByRole("button", { name: "Close" }).click();
  await page.getByRole("button", { name: "Change limits…" }).click();
  await dialog.getByLabel(/minute/).fill("777");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  expect(await limit()).toBe(5_000);
});

test("who saves settings and opens them again at once sees them as saved, and can change them further", async () => {
  const { merchantId } = await portal.service.merchant();
  const { page, open } = await portal.operator("admin");
  await open(at.merchant(merchantId));
  // What the page asks after the change is answered only once the dialog is open again.
  const openedAgain = Promise.withResolvers<void>();
  let isSaved = false;
  await page.route(`**/ops/v1/merchants/${merchantId}`, async (route) => {
    if (route.request().method() === "PATCH") isSaved = true;
    else if (isSaved) await openedAgain.promise;
    await route.continue();
  });
  const dialog = page.getByRole("dialog");
  const rate = dialog.getByLabel(/minute/);
  await page.getByRole("button", { name: "Change limits…" }).click();
  await rate.fill("777");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Change limits…" }).click();
  expect(await rate.inputValue()).toBe("777");
  openedAgain.resolve();
  await rate.fill("778");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  const { rate_limit_per_minute: saved } = (await portal.service.askOperator(`/merchants/${merchantId}`)).json;
  expect(saved).toBe(778);
});

test("rules that another operator has activated meanwhile are not replaced unread", async () => {
  const { service } = portal;
  const { page, open } = await portal.operator("admin");
  await open(at.routing());
  const rule = { gateway_code: "nusantara", priority: 7, weight: 100 };
  const { version } = await service.operate("POST", "/routing/rules", { rules: [rule], note: "Away from the other" });
  await page.getByLabel("Rule 1: priority").fill("42");
  await page.keyboard.press("Tab");
  await service.operate("POST", `/routing/rules/${version}/activate`);
  const decide = page.getByRole("button", { name: "Let it decide…" });
  await expect.poll(() => decide.isEnabled(), { timeout: 30_000 }).toBe(true);
  await decide.click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Store and activate" }).click();
  await dialog.getByText(`Version ${version} decides since a moment ago`, { exact: false }).waitFor();
  const decides = async () => (await service.askOperator("/routing/activations?limit=1")).json.data[0].version;
  expect(await decides()).toBe(version);
  // Behind the dialog the page says so, too; whoever has read that goes on.
  await page.getByText(`Version ${version} decides.`, { exact: false }).waitFor();
  await dialog.getByRole("button", { name: "Store and activate" }).click();
  await dialog.waitFor({ state: "detached" });
  expect(await decides()).toBeGreaterThan(version);
});
