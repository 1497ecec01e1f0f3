// Goal: somebody who signs a terminal in sees what asks for a key, decides what it may do, and the terminal gets it; whoever was sent a code by
// somebody else is warned. Method: whole stories in a real browser, with a program that asks as the command line does.
import { expect, test } from "vitest";
import { asOwner } from "../../gateway/test/kit.ts";
import { PASSWORD } from "../../gateway/test/portal.ts";
import { paths, withSearch } from "../../portal/src/paths.ts";
import { type Answer, Client, readAnswer } from "../kit/client.ts";
import { faults } from "./kit/look.ts";
import { settled, usePortal } from "./kit/portal.ts";

const portal = usePortal();

async function program(path: string, body: object): Promise<Answer> {
  return readAnswer(
    await fetch(`${portal.service.origin}/portal/v1/device-codes${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", "user-agent": "gerbang-cli/0.1.0 (linux; node 26)" },
      body: JSON.stringify(body),
    }),
  );
}

const NAME = "gerbang CLI on <img src=x onerror=document.title='owned'>";
const begin = async (): Promise<{ device_code: string; user_code: string }> => (await program("", { name: NAME })).json;
const poll = async ({ device_code }: { device_code: string }): Promise<Answer["json"]> =>
  (await program("/token", { device_code })).json;

test("a code is typed, what asks is seen, and the terminal gets a key of what was allowed", async () => {
  const { page, open, look, email } = await portal.member("developer");
  const begun = await begin();
  await open(paths.device());
  await look("device-code");
  expect(await faults(page)).toEqual([]);
  await page.getByLabel("Code").fill("bbbbbbbb");
  await page.keyboard.press("Enter");
  await page.getByText("This code does not exist, is over, or was answered already.").waitFor();
  await page.getByLabel("Code").fill(begun.user_code.toLowerCase());
  await page.keyboard.press("Enter");
  await page.getByText(begun.user_code, { exact: true }).waitFor();
  await settled(page);
  await page.getByText(NAME).waitFor();
  await page.getByText(`You are signed in as ${email}.`).waitFor();
  await page.getByText("where you are", { exact: true }).waitFor();
  await page.getByText("Confirm only if you started this yourself, just now.").waitFor();
  await look("device-answer");
  expect(await faults(page)).toEqual([]);
  for (const scope of ["refunds:write", "sandbox:write"]) await page.getByLabel(scope).uncheck();
  await page.getByRole("button", { name: "Give it a sandbox key" }).click();
  await page.getByRole("heading", { name: "Signed in" }).waitFor();
  await look("device-done");
  expect(await faults(page)).toEqual([]);
  const granted = await poll(begun);
  expect(granted).toMatchObject({ status: "granted", environment: "sandbox", merchant_name: "Toko Senja" });
  expect(granted.scopes).not.toContain("refunds:write");
  expect((await new Client(granted).get("/v1/payments")).status).toBe(200);
  expect(await page.title()).not.toBe("owned");
});

test("who is not signed in signs in first, and comes back to the code; a key of production asks for a proof", async () => {
  const member = await portal.member("owner");
  const begun = await begin();
  const { page, open } = await portal.guest();
  await open(withSearch(paths.device(), { code: begun.user_code }));
  await page.getByLabel("E-mail address").fill(member.email);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.keyboard.press("Enter");
  await page.getByText(begun.user_code, { exact: true }).waitFor();
  await asOwner(portal.service.database, (root) =>
    root.query("update sessions set proved_at = proved_at - interval '11 minutes'"),
  );
  await page.getByLabel("Environment of Toko Senja").selectOption("production");
  portal.tolerate(/403/);
  await page.getByRole("button", { name: "Give it a production key" }).click();
  await page.getByRole("dialog").getByLabel("Password").fill(PASSWORD);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Signed in" }).waitFor();
  expect(await poll(begun)).toMatchObject({ status: "granted", environment: "production" });
});

test("whoever was sent a code by somebody elsewhere is warned, and refuses", async () => {
  const { page, open, look } = await portal.member("owner");
  const begun = await begin();
  await asOwner(portal.service.database, (root) => root.query("update device_codes set address = '198.51.100.7'"));
  await open(withSearch(paths.device(), { code: begun.user_code }));
  await page.getByText("not where you are", { exact: true }).waitFor();
  await look("device-elsewhere");
  expect(await faults(page)).toEqual([]);
  await page.getByRole("button", { name: "Refuse" }).click();
  await page.getByRole("heading", { name: "Refused" }).waitFor();
  expect(await poll(begun)).toEqual({ status: "access_denied" });
});

test("a role that makes no keys is told so, and can still refuse", async () => {
  const { page, open } = await portal.member("finance");
  const begun = await begin();
  await open(withSearch(paths.device(), { code: begun.user_code }));
  await page.getByText("You cannot create keys").waitFor();
  expect(await page.getByRole("button", { name: /^Give it/ }).count()).toBe(0);
  await page.getByRole("button", { name: "Refuse" }).click();
  await page.getByRole("heading", { name: "Refused" }).waitFor();
});

test("a click that was meant for a window that closed just now confirms nothing", async () => {
  const { page, open } = await portal.member("owner");
  const begun = await begin();
  await open(withSearch(paths.device(), { code: begun.user_code }));
  const button = page.getByRole("button", { name: "Give it a sandbox key" });
  await expect.poll(() => button.getAttribute("aria-disabled")).not.toBe("true");
  // A window of somebody else's closes at the first click of two: ours has the focus again, and the second click.
  await button.evaluate(async (element: HTMLButtonElement) => {
    window.dispatchEvent(new Event("focus"));
    await new Promise(requestAnimationFrame);
    element.click();
  });
  expect(await poll(begun)).toMatchObject({ status: "authorization_pending" });
  await button.click(); // it waits until the button can be pressed
  await page.getByRole("heading", { name: "Signed in" }).waitFor();
});

test("no page shows the one that confirms codes in a frame", async () => {
  const answer = await fetch(`${portal.origin}/portal${paths.device()}`);
  expect([answer.status, answer.headers.get("x-frame-options")]).toEqual([200, "DENY"]);
  expect(answer.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
});
