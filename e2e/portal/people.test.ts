import { test } from "vitest";
import { paths } from "../../portal/src/paths.ts";
import { usePortal } from "./kit/portal.ts";

const portal = usePortal();

test("look", async () => {
  const guest = await portal.guest();
  await guest.open(paths.signIn());
  await guest.look("sign-in");
  const { page, open, look } = await portal.member("owner");
  await open(paths.account());
  await look("account");
  await open(paths.accountPassword());
  await look("password");
  await open(paths.accountAuthenticator());
  await look("authenticator");
  await page.getByRole("button", { name: "Set up" }).click();
  await page.getByRole("button", { name: "Confirm" }).waitFor();
  await look("authenticator2");
  await open(paths.accountPasskeys());
  await look("passkeys");
  await open(paths.accountSessions());
  await look("sessions");
});
