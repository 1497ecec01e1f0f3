// Goal: what is shown once is lost by no accident: only a button that says so takes it away. Method: secrets in a real browser, and what happens around
// them meanwhile: a key, a press beside the dialog, a step back, a session that ends elsewhere, a question that is refused although the session is good.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { at } from "../../portal/src/console/paths.ts";
import { paths } from "../../portal/src/paths.ts";
import { PASSWORD } from "../../gateway/test/portal.ts";
import { usePortal } from "./kit/portal.ts";

const portal = usePortal();
const secretIn = (page: Page) => page.getByRole("region", { name: "the secret" });

async function makeKey(page: Page): Promise<string> {
  await page.getByRole("button", { name: "Create a key" }).click();
  await page.getByLabel("Name", { exact: true }).fill("checkout");
  await page.getByRole("button", { name: "Create the key" }).click();
  return (await secretIn(page).textContent()) ?? "";
}

test("neither Escape nor a press beside its dialog takes a secret away", async () => {
  const { page, place, open } = await portal.member("developer");
  await open(paths.keys(place));
  const secret = await makeKey(page);
  await page.keyboard.press("Escape");
  await page.mouse.click(5, 400);
  await page.mouse.click(5, 400);
  expect(await secretIn(page).textContent()).toBe(secret);
  await page.getByRole("button", { name: "I have kept it" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });

  const operator = await portal.operator("admin");
  await operator.open(at.tokens());
  await operator.page.getByRole("button", { name: "Make a token" }).click();
  await operator.page.getByLabel("Name", { exact: true }).fill(`nightly-${Date.now()}`);
  await operator.page.getByRole("button", { name: "Make it" }).click();
  await operator.page.getByText("It is shown only once.").waitFor();
  await operator.page.keyboard.press("Escape");
  await operator.page.mouse.click(5, 400);
  await operator.page.getByText("It is shown only once.").waitFor();
  await operator.page.getByRole("button", { name: "Close" }).click();
  await operator.page.getByRole("dialog").waitFor({ state: "detached" });
});

test("no step back takes a secret away, and the browser asks before its tab is closed", async () => {
  const { page, place, open } = await portal.member("developer");
  await open(paths.home(place));
  await page.getByRole("link", { name: "Keys" }).click();
  const secret = await makeKey(page);
  const address = page.url();
  await page.evaluate(() => history.back());
  const question = page.getByRole("dialog", { name: "Leave it here?" });
  await question.getByRole("button", { name: "Back" }).click();
  await question.waitFor({ state: "detached" });
  expect([page.url(), await secretIn(page).textContent()]).toEqual([address, secret]);
  const asked = page.waitForEvent("dialog");
  await page.close({ runBeforeUnload: true });
  const browsers = await asked;
  expect(browsers.type()).toBe("beforeunload");
  await browsers.dismiss();
  expect(await secretIn(page).textContent()).toBe(secret);
  // Whoever says so leaves without it; and once it is kept, nobody is asked.
  await page.evaluate(() => history.back());
  await question.getByRole("button", { name: "Leave" }).click();
  await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
  await page.getByRole("link", { name: "Keys" }).click();
  await makeKey(page);
  await page.getByRole("button", { name: "I have kept it" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.evaluate(() => history.back());
  await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
});

/** Lets the page ask again, as it does by itself without its stream. */
async function asksAgain(page: Page): Promise<void> {
  const asked = page.waitForResponse((answer) => /\/credentials(\?|$)/.test(answer.url()));
  await page.clock.fastForward(20_000);
  await asked;
  await page.clock.runFor(2_000);
}

test("a secret is there again for whoever was signed out meanwhile, once they are back", async () => {
  const { page, place, open, context, openIn, email } = await portal.member("developer");
  portal.tolerate(/net::ERR_FAILED/);
  await page.route("**/portal/v1/stream", (route) => route.abort());
  await page.clock.install();
  await open(paths.keys(place));
  const secret = await makeKey(page);
  const tab = await context.newPage();
  await openIn(tab)(paths.home(place));
  await tab.getByRole("button", { name: "Your account" }).click();
  await tab.getByRole("menuitem", { name: "Sign out" }).click();
  await tab.waitForURL(/\/sign-in/);
  await asksAgain(page);
  await page.getByRole("heading", { name: "You are signed out" }).waitFor();
  await secretIn(page).waitFor({ state: "hidden" });
  await tab.getByLabel("E-mail address").fill(email);
  await tab.getByLabel("Password").fill(PASSWORD);
  await tab.getByRole("button", { name: "Sign in", exact: true }).click();
  await tab.getByRole("heading", { level: 1, name: "Home" }).waitFor();
  await page.getByRole("button", { name: "Go on" }).click();
  await secretIn(page).waitFor();
  expect(await secretIn(page).textContent()).toBe(secret);
});

test("a question that is refused while the session is good takes nothing away, not even what is still on its way", async () => {
  const { page, place, open } = await portal.member("developer");
  portal.tolerate(/net::ERR_FAILED/);
  await page.route("**/portal/v1/stream", (route) => route.abort());
  await page.clock.install();
  await open(paths.keys(place));
  await page.getByRole("button", { name: /^Roll/ }).first().click();
  const { promise: slow, resolve: goOn } = Promise.withResolvers<void>();
  await page.route("**/roll", async (route) => {
    await slow;
    await route.continue();
  });
  await page.getByRole("button", { name: "Roll the key" }).click();
  // What a proof in another tab does to a question that it overtakes: the session has another token by then.
  const error = { code: "UNAUTHORIZED", message: "You are not signed in, or your session is over." };
  await page.route(/\/portal\/v1\/credentials(\?|$)/, (route) => route.fulfill({ status: 401, json: { error } }), {
    times: 1,
  });
  await asksAgain(page);
  goOn();
  await secretIn(page).waitFor();
});
