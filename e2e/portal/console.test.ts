// Goal: an operator signs in to the console, sees what their role allows, lets another one in, and nobody else gets anywhere.
// Method: a real browser at the operators' listener; axe on each page, light and dark.
import { expect, test } from "vitest";
import { at } from "../../portal/src/console/paths.ts";
import { faults, showIn } from "./kit/look.ts";
import { PHONE, usePortal } from "./kit/portal.ts";

const portal = usePortal();

const own = { home: at.home(), operators: at.operators(), tokens: at.tokens(), audit: at.audit(), account: "/account" };

test("every page of access is one that axe finds nothing in, in light and dark", async () => {
  const { page, open, look } = await portal.operator("admin");
  for (const [name, path] of Object.entries(own)) {
    await open(path);
    for (const theme of ["light", "dark"] as const) {
      await showIn(page, theme);
      expect(await faults(page), `${name}, ${theme}`).toEqual([]);
    }
    await look(`console-${name}`);
  }
});

test("an admin invites somebody, who becomes an operator by the link and may do what their role allows", async () => {
  const admin = await portal.operator("admin");
  await admin.open(at.operators());
  await admin.page.getByRole("button", { name: "Invite somebody" }).click();
  await admin.page.getByLabel("Role", { exact: true }).selectOption("support");
  await admin.page.getByRole("button", { name: "Make the link" }).click();
  const link = await admin.page.getByText(/\/console\/invitation#/).textContent();
  const newcomer = await portal.consoleGuest({ viewport: PHONE });
  await newcomer.page.goto(link ?? "");
  expect(await newcomer.page.getByRole("heading", { level: 1 }).textContent()).toBe("Run gerbang");
  await newcomer.page.getByLabel("E-mail address").fill("wulan@gateway.example");
  await newcomer.page.getByLabel("Your name").fill("Wulan Sari");
  await newcomer.page.getByLabel("Password").fill("teh poci pagi hari 12");
  await newcomer.page.getByRole("button", { name: "Join" }).click();
  await newcomer.page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
  await newcomer.open(at.operators());
  expect(await newcomer.page.getByRole("button", { name: "Invite somebody" }).count()).toBe(0);
  await admin.page.getByRole("button", { name: "Done" }).click();
  await admin.open(at.audit());
  expect(await admin.page.getByRole("link", { name: admin.email }).first().isVisible()).toBe(true);
});

test("a link of the start signs the demo operator in, and an operator who is taken out is out at once", async () => {
  const { consolePeople } = portal.service.app;
  const { personId } = await consolePeople.demoOperator();
  const { token } = await consolePeople.makeLink(personId, "sign_in");
  const { page, open } = await portal.consoleGuest();
  await page.goto(`${portal.consoleOrigin}/console/sign-in#link=${token}`);
  await page.getByRole("link", { name: "Go to the pages" }).click();
  await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
  await consolePeople.operators.remove(personId);
  await open(at.audit()).catch(() => undefined);
  await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
});

test("who signs in to the portal is nobody in the console, and the other way round", async () => {
  const member = await portal.member("owner");
  await member.page.goto(`${portal.consoleOrigin}/console`);
  await member.page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  await member.page.getByLabel("E-mail address").fill(member.email);
  await member.page.getByLabel("Password").fill("kopi tubruk senja 7");
  await member.page.getByRole("button", { name: "Sign in" }).first().click();
  await member.page.getByText("You are no operator of this gateway").waitFor();
  const operator = await portal.operator("viewer");
  await operator.page.goto(`${portal.origin}/portal`);
  await operator.page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
});
