// Goal: the pages come from the service itself, whole and quickly, and the frame around them works for who is signed in and who is not.
// Method: a real browser on a real service.
import { expect, test } from "vitest";
import { paths } from "../../portal/src/paths.ts";
import { usePortal } from "./kit/portal.ts";

const portal = usePortal();

test("a member sees their merchant's pages", async () => {
  const { page, place, open, look } = await portal.member("owner");
  await open(paths.refunds(place));
  expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Refunds");
  await look("refunds");
});

test("who is not signed in is led to the sign-in, and the address is kept", async () => {
  const { page, look } = await portal.guest();
  await page.goto("/portal/account/sessions");
  await page.waitForURL(/\/portal\/sign-in\?next=/);
  expect(new URL(page.url()).searchParams.get("next")).toBe("/account/sessions");
  await look("sign-in");
});
