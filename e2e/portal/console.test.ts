// Goal: an operator signs in to the console, sees what their role allows, lets another one in, and nobody else gets anywhere.
// Method: a real browser at the operators' listener; axe on each page, light and dark.
import { expect, test } from "vitest";
import { at } from "../../portal/src/console/paths.ts";
import { PHONE, isClean, usePortal } from "./kit/portal.ts";

const portal = usePortal();

const own = { home: at.home(), operators: at.operators(), tokens: at.tokens(), audit: at.audit(), account: "/account" };

test("every page of access is one that axe finds nothing in, in light and dark", async () => {
  const { page, open, look } = await portal.operator("admin");
  for (const [name, path] of Object.entries(own)) {
    await open(path);
    await isClean({ page }, name);
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
  await newcomer.page.getByText("Reads everything except tokens and invitations, and changes nothing.").waitFor();
  await newcomer.open("/account");
  await newcomer.page.getByText("Your name, language and time zone, and your role.").waitFor();
  await admin.page.getByRole("button", { name: "Done" }).click();
  await admin.open(at.audit());
  expect(await admin.page.getByRole("link", { name: admin.email }).first().isVisible()).toBe(true);
});

test("a link of the start signs the demo operator in, and an operator who is taken out is out at once", async () => {
  const { consolePeople } = portal.service.app;
  const { personId } = await consolePeople.demoOperator();
  const { token } = await consolePeople.links.make(personId, "sign_in");
  const { page, open } = await portal.consoleGuest();
  await page.goto(`${portal.consoleOrigin}/console/sign-in#link=${token}`);
  await page.getByRole("link", { name: "Go to the pages" }).click();
  await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
  await consolePeople.operators.remove(personId);
  await open(at.audit());
  await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  await page.getByText("gerbang people reset-link --console --email …").waitFor();
});

test("the documentation is one press away, at the address where it is served", async () => {
  const { page, open } = await portal.operator("viewer");
  await open(at.home());
  await page.getByRole("button", { name: /^Your account/ }).click();
  const entry = page.getByRole("menuitem", { name: "Documentation" });
  expect(await entry.getAttribute("href")).toBe(`${portal.service.origin}/docs/`);
  const [tab] = await Promise.all([page.waitForEvent("popup"), entry.click()]);
  await tab.waitForURL(/\/docs\/$/);
  await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
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

test("support tells everybody of an incident, goes on with it, corrects a word and resolves it; a viewer reads", async () => {
  const { page, open, look } = await portal.operator("support");
  await open(at.status());
  await page.getByText("Nothing is open").waitFor();
  await page.getByRole("button", { name: "Report an incident" }).click();
  await page.getByRole("button", { name: "Tell everybody" }).click();
  await page.getByText("A title is needed.").waitFor();
  await page.getByLabel("Title").fill("Cards fail");
  await page.getByLabel("Impact").selectOption("major");
  await page.getByLabel("card", { exact: true }).check();
  await page.getByLabel("Message").fill("Cards of one bank are declnied.");
  await page.getByRole("button", { name: "Tell everybody" }).click();
  const card = page.getByRole("article", { name: "Cards fail" });
  await card.getByRole("button", { name: "Post an update" }).click();
  await page.getByLabel("Message").fill("The bank does not answer.");
  await page.getByRole("button", { name: "Post it" }).click();
  await card.getByText("The bank does not answer.").waitFor();
  await card.getByRole("button", { name: "Correct “Cards of one bank" }).click();
  await page.getByRole("textbox", { name: "Text" }).fill("Cards of one bank are declined.");
  await page.getByRole("button", { name: "Correct it" }).click();
  await card.getByText("Cards of one bank are declined.").waitFor();
  await page.getByRole("button", { name: "Plan work" }).click();
  await page.getByLabel("Title").fill("New server");
  const nextYear = new Date().getFullYear() + 1;
  await page.getByLabel("From").fill(`${nextYear}-01-02T03:00`);
  await page.getByLabel("Until").fill(`${nextYear}-01-02T02:00`);
  await page.getByLabel("Message").fill("Five minutes without answers.");
  await page.getByRole("button", { name: "Tell everybody" }).click();
  await page.getByText("It must end after it starts, within seven days.").waitFor();
  await page.getByLabel("Until").fill(`${nextYear}-01-02T04:00`);
  await page.getByRole("button", { name: "Tell everybody" }).click();
  await page.getByRole("article", { name: "New server" }).getByText(`2 Jan ${nextYear}, 04:00`).waitFor();
  await isClean({ page }, "console-status");
  await look("console-status");
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(1280);

  const viewer = await portal.operator("viewer", { viewport: PHONE });
  await viewer.open(at.status());
  await viewer.page.getByRole("article", { name: "Cards fail" }).waitFor();
  expect(await viewer.page.getByRole("button", { name: /Report|Plan|Resolve|Edit|Correct/ }).count()).toBe(0);
  expect(await viewer.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE.width);

  await card.getByRole("button", { name: "Resolve" }).click();
  await page.getByLabel("Message").fill("All cards are taken.");
  await page.getByRole("button", { name: "Resolve it" }).click();
  await card.waitFor({ state: "detached" });
  await page.getByRole("article", { name: "New server" }).getByRole("button", { name: "Resolve" }).click();
  await page.getByLabel("Message").fill("Not this time.");
  await page.getByRole("button", { name: "Resolve it" }).click();
  await page.getByText("Nothing is open").waitFor();
  const told = (await (await fetch(`${portal.origin}/status.json`)).json()) as { past: { title: string }[] };
  expect(told.past.map(({ title }) => title).toSorted()).toEqual(["Cards fail", "New server"]);
});
