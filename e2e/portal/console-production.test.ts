// Goal: in production whoever becomes an operator is led to a second factor, sees nothing of the console before there is one, and all of it after.
// Method: a service with the configuration of production, at the end of a tunnel; a real browser, by keyboard.
import { afterAll, beforeAll, expect, test } from "vitest";
import { SECOND, systemClock } from "../../gateway/src/ground/clock.ts";
import { readConfig } from "../../gateway/src/ground/config.ts";
import { codeOf } from "../../gateway/src/people/totp.ts";
import { bytesOf } from "../../gateway/test/people.ts";
import { PASSWORD } from "../../gateway/test/portal.ts";
import { at } from "../../portal/src/console/paths.ts";
import { isClean, settled, usePortal } from "./kit/portal.ts";
import { openTunnel } from "./kit/tunnel.ts";

const tunnel = await openTunnel();
const portal = usePortal({
  config: readConfig({
    NODE_ENV: "production",
    MASTER_KEY: "3b1f6a0c9d2e47588f6b1c0d9e8a7f65443322110f0e0d0c1b2a394857667584",
    OPERATOR_TOKEN: "op_9f2c71e04d5b8a6630c1e7f2",
    BASE_URL: "https://pay.example/v1",
    DATABASE_URL: "postgres://gerbang@db.example/gerbang?sslmode=verify-full",
    CONSOLE_URL: tunnel.origin,
    UNAUTHENTICATED_LIMIT_PER_MINUTE: "1000000",
  }),
});
beforeAll(() => tunnel.leadTo(portal.service.operatorOrigin));
afterAll(() => tunnel.close());

test("a new operator is led to a second factor, and into the console once it is there", async () => {
  const { token } = await portal.service.app.consolePeople.operators.invite({ role: "admin" }, "command-line");
  const { page, open, look } = await portal.consoleGuest({ baseURL: tunnel.origin });
  const heading = (name: string) => page.getByRole("heading", { level: 1, name }).waitFor();
  /** What the console asked for beyond the account, and was not refused. */
  const told: string[] = [];
  page.on("response", (answer) => {
    const { pathname } = new URL(answer.url());
    if (!pathname.startsWith("/ops/v1/") || /^\/ops\/v1\/(session|person|passkeys|invitations)/.test(pathname)) return;
    if (answer.ok()) told.push(pathname);
  });
  await page.goto(`${tunnel.origin}/console/invitation#${token}`);
  await settled(page);
  await page.getByLabel("E-mail address").fill("ratna@gateway.example");
  await page.getByLabel("Your name").fill("Ratna Dewi");
  await page.getByLabel("Password").fill(PASSWORD);
  await page.keyboard.press("Enter");
  await heading("A second factor first");
  await isClean({ page }, "console-second-factor");
  await look("console-second-factor");

  // Whichever page they name, it is this one: nothing of the console is shown or told.
  for (const path of [at.home(), at.payments(), at.tokens(), at.wall(), at.wallScreen(), at.routing()]) {
    await open(path);
    await heading("A second factor first");
    expect(await page.getByRole("navigation", { name: /console/i }).count(), path).toBe(0);
  }
  expect(told).toEqual([]);

  await page.getByRole("link", { name: "Set up an authenticator app" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Set up an authenticator app", exact: true }).press("Enter");
  await page.getByRole("img", { name: /secret, for your app/ }).waitFor();
  const secret = (await page.locator("code").first().textContent()) ?? "";
  const code = codeOf(bytesOf(secret.replaceAll(" ", "")), Math.floor(systemClock.now() / SECOND / 30));
  await page.getByLabel("Code that the app shows").fill(code);
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "Your recovery codes" }).waitFor();
  await open(at.home());
  await heading("Home");
  await open(at.tokens());
  await heading("Tokens");
  expect(told).toContain("/ops/v1/tokens");
});
