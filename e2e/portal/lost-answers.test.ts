// Goal: a change whose answer was lost is told neither as failed nor as done, and the page says what to do; a wrong password is told as that alone.
// Method: answers taken away after the service has given them, in a real browser.
import type { Route } from "playwright-core";
import { expect, test } from "vitest";
import { SECOND, systemClock } from "../../gateway/src/ground/clock.ts";
import { codeOf } from "../../gateway/src/people/totp.ts";
import { paymentBody } from "../../gateway/test/kit.ts";
import { bytesOf } from "../../gateway/test/people.ts";
import { PASSWORD } from "../../gateway/test/portal.ts";
import { at } from "../../portal/src/console/paths.ts";
import { paths } from "../../portal/src/paths.ts";
import { usePortal } from "./kit/portal.ts";

const portal = usePortal({ config: { webhookAllowHosts: new Set(["localhost"]) } });

/** Has a change done whose answer never arrives. A request that is handed on loses where it came from, by which the service knows its own pages. */
async function losesAnswer(route: Route): Promise<void> {
  if (route.request().method() === "GET") return route.fallback();
  const answer = await route.fetch({ headers: { ...route.request().headers(), "sec-fetch-site": "same-origin" } });
  expect(answer.status()).toBeLessThan(300);
  await route.abort();
}

const LOOK_FIRST = "It may have been done all the same: look before you send it again.";

test("whoever tells of an incident without an answer is told to look first, and sees it", async () => {
  const { page, open } = await portal.operator("admin");
  portal.tolerate(/net::ERR_FAILED/);
  await open(at.status());
  await page.route("**/ops/v1/incidents", losesAnswer);
  await page.getByRole("button", { name: "Report an incident" }).click();
  await page.getByLabel("Title").fill("Cards fail at one bank");
  await page.getByLabel("Message").fill("We look into it.");
  await page.getByRole("button", { name: "Tell everybody" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("alert").getByText(LOOK_FIRST, { exact: false }).waitFor();
  await dialog.getByRole("button", { name: "Close" }).click();
  await page.getByText("Cards fail at one bank").first().waitFor();
});

test("whoever is answered that the service cannot answer is told to look first: it may have been done", async () => {
  const { page, open } = await portal.operator("admin");
  portal.tolerate(/503/);
  await open(at.status());
  await page.route("**/ops/v1/incidents", async (route) => {
    if (route.request().method() === "GET") return route.fallback();
    await route.fetch({ headers: { ...route.request().headers(), "sec-fetch-site": "same-origin" } });
    const error = { code: "SERVICE_UNAVAILABLE", message: "The service cannot answer now.", request_id: "req_1" };
    return route.fulfill({ status: 503, json: { error } });
  });
  await page.getByRole("button", { name: "Report an incident" }).click();
  await page.getByLabel("Title").fill("Wallets fail");
  await page.getByLabel("Message").fill("We look into it.");
  await page.getByRole("button", { name: "Tell everybody" }).click();
  const advice = page.getByRole("dialog").getByRole("alert");
  await advice.getByText(LOOK_FIRST, { exact: false }).waitFor();
  expect(await advice.textContent()).not.toContain("safe");
});

test("a reference that another payment has is no change of somebody else's", async () => {
  const { page, place, open, client } = await portal.member("owner");
  portal.tolerate(/409/);
  const made = await client.post("/v1/payments", paymentBody({ reference_id: "order-77" }));
  expect(made.status).toBe(201);
  await open(paths.paymentNew(place));
  await page.getByLabel("Your reference").fill("order-77");
  await page.getByRole("button", { name: "Create the payment" }).click();
  const alert = page.getByRole("alert");
  await alert.getByText("Another payment already uses this reference_id.").waitFor();
  await alert.getByText("Enter another reference, or look for the payment that has it.").waitFor();
});

test("what has an idempotency key may be sent again, and the page says so", async () => {
  const { page, place, open } = await portal.member("owner");
  portal.tolerate(/net::ERR_FAILED/);
  await open(paths.clock(place));
  await page.route("**/clock/advance", losesAnswer);
  await page.getByRole("button", { name: "+ 1 hour" }).click();
  await page.getByRole("alert").getByText("Sent again, it is not done twice.", { exact: false }).waitFor();
  await page.unroute("**/clock/advance");
  await page.getByRole("button", { name: "+ 1 hour" }).click();
  await page.getByRole("alert").waitFor({ state: "detached" });
  await page.getByText("1 hour", { exact: true }).waitFor();
});

test("a wrong password is told as that, and no session is said to have ended; one that was changed without an answer may be the new one", async () => {
  const { page, open, email } = await portal.member("owner");
  portal.tolerate(/net::ERR_FAILED/);
  const guest = await portal.guest();
  await guest.open(paths.signIn());
  await guest.page.getByLabel("E-mail address").fill(email);
  await guest.page.getByLabel("Password").fill("not my password");
  await guest.page.getByRole("button", { name: "Sign in", exact: true }).click();
  const refusal = guest.page.getByRole("alert");
  await refusal.getByText("do not belong together", { exact: false }).waitFor();
  expect(await refusal.textContent()).not.toContain("session");

  await open(paths.accountPassword());
  await page.route("**/person/password", losesAnswer);
  await page.getByLabel("Current password").fill(PASSWORD);
  await page.getByLabel("New password").fill("kopi tubruk senja 8");
  const change = page.getByRole("button", { name: "Change the password" });
  await change.click();
  await page.getByRole("alert").getByText(LOOK_FIRST, { exact: false }).waitFor();
  await page.unroute("**/person/password");
  await change.click();
  await page.getByRole("alert").getByText("The current password is wrong.").waitFor();
  expect(await page.getByRole("alert").textContent()).not.toContain("session");
  await page.getByLabel("Current password").fill("kopi tubruk senja 8");
  await change.click();
  await page.getByText("Your password is changed.", { exact: false }).waitFor();
});

test("a rotation without an answer is shown as done, and a second one says that it ends the secret in use", async () => {
  const { page, place, open, requests, merchantId } = await portal.member("developer");
  portal.tolerate(/net::ERR_FAILED/);
  await requests.send("PUT", "/portal/v1/webhook", { url: "https://localhost/hook" });
  await open(paths.webhooks(place));
  await page.route("**/webhook/rotate", losesAnswer);
  await page.getByRole("button", { name: "Rotate" }).click();
  const dialog = page.getByRole("dialog");
  expect(await dialog.getByRole("status").count()).toBe(0);
  await dialog.getByRole("button", { name: "Rotate the secret" }).click();
  await dialog.getByText("that oldest one ends at once", { exact: false }).waitFor();
  await dialog.getByRole("alert").getByText(LOOK_FIRST, { exact: false }).waitFor();

  const operator = await portal.operator("admin");
  await operator.open(at.access(merchantId));
  await operator.page.getByRole("button", { name: "A new secret for sandbox" }).click();
  await operator.page.getByText("that oldest one ends at once", { exact: false }).waitFor();
});

test("whoever registers a first address without an answer is told that its secret was in that answer", async () => {
  const { page, place, open } = await portal.member("developer");
  portal.tolerate(/net::ERR_FAILED/);
  await open(paths.webhooks(place));
  await page.route("**/portal/v1/webhook", losesAnswer);
  await page.getByLabel("Address").fill("https://localhost/hook");
  const register = page.getByRole("button", { name: "Register the address" });
  await register.click();
  await page.getByRole("alert").getByText(LOOK_FIRST, { exact: false }).waitFor();
  await page.unroute("**/portal/v1/webhook");
  await register.click();
  await page.getByText("rotate it to get one that you see", { exact: false }).waitFor();
  await page.getByRole("button", { name: "Go on" }).click();
  await page.getByText("Never rotated.", { exact: false }).waitFor();
});

test("a suspension without an answer is asked for again as a suspension, not as its end", async () => {
  const { merchantId } = await portal.service.merchant();
  const { page, open } = await portal.operator("admin");
  portal.tolerate(/net::ERR_FAILED/);
  await open(at.merchant(merchantId));
  await page.route(`**/ops/v1/merchants/${merchantId}`, losesAnswer);
  await page.getByRole("button", { name: "Suspend…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Suspend the merchant" }).click();
  await dialog.getByRole("alert").getByText(LOOK_FIRST, { exact: false }).waitFor();
  // Behind the dialog, where nothing has a role, the page shows it.
  await page.getByText("Lift the suspension…").waitFor();
  await page.unroute(`**/ops/v1/merchants/${merchantId}`);
  await dialog.getByRole("button", { name: "Suspend the merchant" }).click();
  await dialog.waitFor({ state: "detached" });
  expect((await portal.service.askOperator(`/merchants/${merchantId}`)).json.suspended).toBe(true);
});

test("whoever confirms an authenticator without an answer is told that nobody has seen its recovery codes", async () => {
  const { page, open } = await portal.member("owner");
  portal.tolerate(/net::ERR_FAILED/);
  await open(paths.accountAuthenticator());
  await page.getByRole("button", { name: "Set up an authenticator app" }).click();
  await page.getByRole("img", { name: /secret, for your app/ }).waitFor();
  const secret = (await page.locator("code").first().textContent()) ?? "";
  await page.route("**/authenticator/confirm", losesAnswer);
  const code = codeOf(bytesOf(secret.replaceAll(" ", "")), Math.floor(systemClock.now() / SECOND / 30));
  await page.getByLabel("Code that the app shows").fill(code);
  await page.getByRole("button", { name: "Confirm" }).click();
  const told = page.getByText("if nobody has kept them, make new ones", { exact: false });
  await told.waitFor();
  await page.getByRole("button", { name: "Make new recovery codes" }).click();
  await page.getByRole("region", { name: "Your recovery codes" }).waitFor();
  expect(await told.count()).toBe(0);
});
