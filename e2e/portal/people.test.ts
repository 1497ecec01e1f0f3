// Goal: people come in, come back, and lose nothing but what they should: by invitation, password, authenticator, passkey and link; whatever is lost,
// revoked or restarted meanwhile.
// Method: whole stories in a real browser, with a virtual device for passkeys.
import type { CDPSession, Page } from "playwright-core";
import { expect, test } from "vitest";
import { systemClock, SECOND } from "../../gateway/src/ground/clock.ts";
import { codeOf } from "../../gateway/src/people/totp.ts";
import { bytesOf } from "../../gateway/test/people.ts";
import { paymentBody } from "../../gateway/test/kit.ts";
import { PASSWORD } from "../../gateway/test/portal.ts";
import { paths } from "../../portal/src/paths.ts";
import { hold } from "./kit/hold.ts";
import { type Member, type Visit, settled, usePortal } from "./kit/portal.ts";

const portal = usePortal();

const heading = (page: Page) => page.getByRole("heading", { level: 1 });
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

async function sign({ page }: Visit, email: string, password = PASSWORD): Promise<void> {
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password").fill(password);
  await button(page, "Sign in").click();
}

async function signOut({ page, open }: Visit): Promise<void> {
  await open(paths.account());
  await page.getByRole("button", { name: /^Your account/ }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await heading(page).and(page.getByText("Sign in")).waitFor();
}

/** Lets a page without its stream and with something typed hear that its session has ended: it asks by itself, without a press of anybody's. */
async function hears(page: Page): Promise<void> {
  await page.clock.fastForward(20_000);
  await page.getByRole("heading", { name: "You are signed out" }).waitFor();
}

/** Presses a button that makes the page ask who is signed in. What the page asks by itself before gets its answer afterwards, too. */
async function pressBeforeItKnows(page: Page, name: string, meanwhile: () => Promise<void>): Promise<void> {
  await expect.poll(() => button(page, name).isEnabled()).toBe(true);
  await hold(page, "**/portal/v1/session", async () => {
    await meanwhile();
    await button(page, name).click();
  });
}

/** A code of the authenticator that is good `steps` from now, so that none is used twice. */
function codeIn(secret: string, steps: number): string {
  return codeOf(bytesOf(secret.replaceAll(" ", "")), Math.floor(systemClock.now() / SECOND / 30) + steps);
}

/** A device with passkeys that says yes by itself. */
async function withDevice({ context, page }: Visit): Promise<CDPSession> {
  const cdp = await context.newCDPSession(page);
  await cdp.send("WebAuthn.enable");
  await cdp.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return cdp;
}

test("an invited person joins, leaves, and comes back by the password", async () => {
  const owner = await portal.member("owner");
  const made = await owner.requests.post("/portal/v1/team/invitations", { role: "finance" });
  const { url } = made.json as { url: string };
  const visit = await portal.guest();
  const { page } = visit;
  await page.goto(url.replace("127.0.0.1", "localhost"));
  await heading(page).and(page.getByText("Join Toko Senja")).waitFor();
  expect(new URL(page.url()).hash).toBe("");
  await visit.look("invitation");

  await page.getByLabel("E-mail address").fill("budi@toko.example");
  await page.getByLabel("Your name").fill("Budi Santoso");
  await page.getByLabel("Password").fill("rahasia");
  await button(page, "Join").click();
  await page
    .getByText(/at least 12/)
    .last()
    .waitFor();
  expect(await page.getByLabel("Your name").inputValue()).toBe("Budi Santoso");
  await page.getByLabel("Password").fill(PASSWORD);
  await button(page, "Join").click();
  await page.waitForURL(new RegExp(`/portal/${owner.merchantId}/sandbox`));

  await signOut(visit);
  await sign(visit, "budi@toko.example", "not the password");
  await page.getByText("do not belong together").waitFor();
  expect(await page.getByLabel("E-mail address").inputValue()).toBe("budi@toko.example");
  await sign(visit, "budi@toko.example");
  await page.waitForURL(new RegExp(`/portal/${owner.merchantId}/sandbox`));
  // The link is used up.
  const other = await portal.guest();
  await other.page.goto(url.replace("127.0.0.1", "localhost"));
  await other.page.getByText("was accepted already").waitFor();
});

test("an authenticator is set up by its key, asked for at the sign-in, and replaced by a recovery code when it is lost", async () => {
  const member = await portal.member("owner");
  const { page, open, look } = member;
  await open(paths.accountAuthenticator());
  await button(page, "Set up an authenticator app").click();
  await page.getByRole("img", { name: /secret, for your app/ }).waitFor();
  const secret = (await page.locator("code").first().textContent()) ?? "";
  await page.getByLabel("Code that the app shows").fill("000000");
  await button(page, "Confirm").click();
  await page.getByText("This is not a code that the authenticator shows now").waitFor();
  await page.getByLabel("Code that the app shows").fill(codeIn(secret, -1));
  await button(page, "Confirm").click();
  const codes = page.getByRole("region", { name: "Your recovery codes" });
  await codes.waitFor();
  const [first = "", second = ""] = await codes.getByRole("listitem").allTextContents();
  await look("recovery-codes");

  // Whoever signs out is asked whether the codes are kept while the session still stands.
  const question = page.getByRole("dialog", { name: "Leave it here?" });
  for (const answer of ["Back", "Sign out"]) {
    await codes.waitFor();
    await page.getByRole("button", { name: /^Your account/ }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await question.getByRole("button", { name: answer }).click();
    await question.waitFor({ state: "detached" });
  }
  await heading(page).and(page.getByText("Sign in")).waitFor();
  await sign(member, member.email);
  await page.getByLabel("Code of your authenticator app").fill(codeIn(secret, 0));
  await look("sign-in-code");
  await button(page, "Sign in").click();
  await page.waitForURL(/\/sandbox/);

  // The phone is lost.
  await signOut(member);
  await sign(member, member.email);
  await page.getByLabel("Code of your authenticator app").fill(first);
  await button(page, "Sign in").click();
  await page.waitForURL(/\/sandbox/);
  await open(paths.accountAuthenticator());
  await page.getByText("9 of them are left").waitFor();
  await button(page, "Remove the authenticator").click();
  await button(page, "Remove it").click();
  await page.getByText("Not set up yet").waitFor();
  // And its codes with it.
  await signOut(member);
  await sign(member, member.email);
  await page.waitForURL(/\/sandbox/);
  expect(second).not.toBe("");
});

test("a passkey is added, signs in by itself, and signs nobody in once it is removed", async () => {
  const member = await portal.member("owner");
  const { page, open, look } = member;
  await withDevice(member);
  await open(paths.accountPasskeys());
  await page.getByLabel("What you call it").fill("<img src=x onerror=alert(1)>");
  await button(page, "Add a passkey").click();
  await page.getByRole("cell", { name: "<img src=x onerror=alert(1)>", exact: true }).waitFor();
  await look("passkeys");

  await signOut(member);
  await button(page, "Sign in with a passkey").click();
  await page.waitForURL(/\/sandbox/);
  await open(paths.accountPasskeys());
  await page.getByRole("button", { name: /^Remove </ }).click();
  await button(page, "Remove it").click();
  await page.getByText("No passkeys yet").waitFor();

  await signOut(member);
  await button(page, "Sign in with a passkey").click();
  await page.getByText("This passkey was not accepted").waitFor();
});

test("a password beside a passkey asks for the passkey or a recovery code", async () => {
  const member = await portal.member("owner");
  const { page, open, look } = member;
  await withDevice(member);
  await open(paths.accountPasskeys());
  await button(page, "Add a passkey").click();
  await button(page, "Make new recovery codes").click();
  const codes = page.getByRole("region", { name: "Your recovery codes" });
  await codes.waitFor();
  const [code = ""] = await codes.getByRole("listitem").allTextContents();
  await signOut(member);
  await sign(member, member.email);
  await page.getByLabel("Recovery code").fill(code);
  await look("sign-in-recovery");
  await button(page, "Sign in").click();
  await page.waitForURL(/\/sandbox/);

  // What removing either of two second factors changes, and what removing the last one does.
  await open(paths.accountPasskeys());
  await page.getByRole("button", { name: /^Remove / }).click();
  const dialog = page.getByRole("dialog");
  await dialog
    .getByText("your password alone signs you in, and your recovery codes stop working", { exact: false })
    .waitFor();
  await page.keyboard.press("Escape");
  await open(paths.accountAuthenticator());
  await button(page, "Set up an authenticator app").click();
  await page.getByRole("img", { name: /secret, for your app/ }).waitFor();
  const secret = (await page.locator("code").first().textContent()) ?? "";
  await page.getByLabel("Code that the app shows").fill(codeIn(secret, 0));
  await button(page, "Confirm").click();
  await button(page, "Remove the authenticator").click();
  await dialog.getByText("you sign in with a passkey, or with your password and a recovery code").waitFor();
  await button(page, "Remove it").click();
  await page.getByText("The authenticator is removed.").waitFor();
  await open(paths.accountPasskeys());
  await page.getByText("10 of them are left.", { exact: false }).waitFor();
});

test("a link signs in once, leads to a first password, and stays in no address", async () => {
  const member = await portal.member("owner");
  const { page, context, look } = member;
  await context.clearCookies();
  const session = await member.requests.get("/portal/v1/session");
  const { token } = await portal.service.app.people.links.make(session.json.person.person_id as string, "reset");
  await page.goto(`/portal/sign-in#link=${token}`);
  await heading(page).and(page.getByText("Welcome, Sari Dewi")).waitFor();
  expect(new URL(page.url()).hash).toBe("");
  await look("welcome");
  await page.getByRole("link", { name: "Choose a password" }).click();
  await page.getByLabel("New password").fill("teh poci pagi hari 12");
  await button(page, "Choose this password").click();
  await page.waitForURL(/\/sandbox/);
  // The session from before the reset is over, and so is the link.
  expect((await member.requests.get("/portal/v1/session")).status).toBe(401);
  const other = await portal.guest();
  await other.page.goto(`/portal/sign-in#link=${token}`);
  await other.page.getByText("This link is over, or was used already").waitFor();
  await sign(other, member.email, "teh poci pagi hari 12");
  await other.page.waitForURL(/\/sandbox/);
});

test("a link that is pasted into the tab of the page that waits for it counts as well", async () => {
  const member = await portal.member("owner");
  const invited = await member.requests.post("/portal/v1/team/invitations", { role: "viewer" });
  const { url } = invited.json as { url: string };
  const { page } = await portal.guest();
  // The address of the link differs from that of the open page only after the #, so the browser loads nothing.
  await page.goto("/portal/invitation");
  await page.getByText("There is no invitation in this address").waitFor();
  await page.goto(`/portal/invitation${new URL(url).hash}`);
  await heading(page).and(page.getByText("Join Toko Senja")).waitFor();
  expect(new URL(page.url()).hash).toBe("");

  const session = await member.requests.get("/portal/v1/session");
  const { token } = await portal.service.app.people.links.make(session.json.person.person_id as string, "sign_in");
  await page.goto("/portal/sign-in");
  await heading(page).and(page.getByText("Sign in")).waitFor();
  await page.goto("/portal/sign-in#link=no-such-link");
  await page.getByText("This link is over, or was used already").waitFor();
  await page.goto(`/portal/sign-in#link=${token}`);
  await page.waitForURL(/\/sandbox/);
  expect(new URL(page.url()).hash).toBe("");
});

test("who opens a page at 127.0.0.1 while signed in at localhost is shown the way there", async () => {
  const { page, place } = await portal.member("owner");
  const byNumber = portal.service.origin;
  await page.goto(`${byNumber}/portal${paths.payments(place)}`);
  await heading(page).and(page.getByText("Sign in")).waitFor();
  await page.getByRole("link", { name: "localhost" }).click();
  await heading(page).and(page.getByText("Payments")).waitFor();
  expect(new URL(page.url()).hostname).toBe("localhost");
  const guest = await portal.guest();
  await guest.page.goto("/portal/sign-in");
  await heading(guest.page).and(guest.page.getByText("Sign in")).waitFor();
  expect(await guest.page.getByRole("link", { name: "localhost" }).count()).toBe(0);
});

test("a profile changes the language of the menus and the zone of the times", async () => {
  const { page, open } = await portal.member("viewer");
  await open(paths.account());
  await page.getByLabel("Language").selectOption("id");
  await page.getByLabel("Time zone").selectOption("Asia/Makassar");
  await button(page, "Save").click();
  await page.getByRole("link", { name: "Kata sandi" }).waitFor();
  await page.getByRole("link", { name: "Sesi", exact: true }).click();
  await page
    .getByTitle(/Asia\/Makassar/)
    .first()
    .waitFor();
});

/** The same person in another browser. */
async function again(member: Member): Promise<Visit> {
  const visit = await portal.guest();
  await visit.open(paths.signIn());
  await sign(visit, member.email);
  await visit.page.waitForURL(/\/sandbox/);
  return visit;
}

test("a session that is revoked elsewhere ends at the next click, and the address is kept for afterwards", async () => {
  const here = await portal.member("owner");
  await here.open(paths.accountPassword());
  const there = await again(here);
  await there.open(paths.accountSessions());
  await button(there.page, "Sign out everywhere else").click();
  await there.page.getByText("You are signed out everywhere else.").waitFor();

  await here.page.getByRole("link", { name: "Sessions" }).click();
  await here.page.waitForURL(/\/sign-in\?next=/);
  expect(new URL(here.page.url()).searchParams.get("next")).toBe(paths.accountSessions());
  await sign(here, here.email);
  await here.page.waitForURL(new RegExp(`${paths.accountSessions()}$`));
});

test("who is signed out elsewhere while they type loses nothing: the page is hidden, and goes on after a sign-in", async () => {
  const here = await portal.member("owner");
  const { page, context, open, openIn, look } = here;
  await context.route("**/portal/v1/stream", (route) => route.abort());
  await page.clock.install();
  await open(paths.team(here.place));
  await button(page, "Invite somebody").click();
  await page.getByLabel("E-mail").fill("tamu@toko.example");
  const tab = await context.newPage();
  await openIn(tab)(paths.home(here.place));
  await tab.getByRole("button", { name: "Your account" }).click();
  await tab.getByRole("menuitem", { name: "Sign out" }).click();
  await tab.waitForURL(/\/sign-in/);

  await hears(page);
  await page.locator("h1").waitFor({ state: "hidden" });
  expect(await page.getByLabel("E-mail").isVisible()).toBe(false);
  await look("signed-out-elsewhere");
  await page.keyboard.press("Escape");
  await button(page, "Go on").click();
  await page.getByRole("heading", { name: "You are signed out" }).waitFor();

  await pressBeforeItKnows(page, "Go on", async () => {
    await sign({ ...here, page: tab }, here.email);
    await tab.getByRole("heading", { level: 1, name: "Home" }).waitFor();
  });
  await page.getByRole("heading", { name: "You are signed out" }).waitFor({ state: "detached" });
  expect(await page.getByLabel("E-mail").inputValue()).toBe("tamu@toko.example");
  await button(page, "Make the link").click();
  await page.getByText("It is shown only once.").waitFor();
});

test("what somebody typed before they were signed out elsewhere is not kept in the name of who signs in next", async () => {
  const here = await portal.member("owner");
  const other = await portal.member("owner", { merchantId: here.merchantId });
  portal.tolerate(/net::ERR_FAILED/);
  const { page, context, client, open, openIn } = here;
  const { reference } = (await client.post("/v1/payments", paymentBody({ amount_minor: 1_000_000 }))).json;
  await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  const { json } = await client.post(`/v1/sandbox/payments/${reference}/dispute`, { reason: "general" });
  await context.route("**/portal/v1/stream", (route) => route.abort());
  await page.clock.install();
  await open(paths.dispute(here.place, json.uuid));
  await page.route("**/evidence", (route) => (route.request().method() === "PUT" ? route.abort() : route.continue()));
  await page.getByLabel("Statement").fill("Mine alone.");
  await page.getByText("The draft could not be saved").waitFor();
  await page.unroute("**/evidence");
  const unaware = await context.newPage();
  await unaware.clock.install();
  await openIn(unaware)(paths.team(here.place));
  await button(unaware, "Invite somebody").click();
  await unaware.getByLabel("E-mail").fill("tamu@toko.example");
  await unaware.route("**/portal/v1/**", (route) =>
    route.request().method() === "GET" ? route.abort() : route.continue(),
  );
  const tab = await context.newPage();
  await openIn(tab)(paths.home(here.place));
  await tab.getByRole("button", { name: "Your account" }).click();
  await tab.getByRole("menuitem", { name: "Sign out" }).click();
  await tab.waitForURL(/\/sign-in/);
  await hears(page);
  let writes = 0;
  page.on("request", (request) => void (request.method() !== "GET" && writes++));
  await pressBeforeItKnows(page, "Go on", async () => {
    await sign({ ...here, page: tab }, other.email);
    await tab.getByRole("heading", { level: 1, name: "Home" }).waitFor();
  });
  await page.getByLabel("Statement").waitFor();
  expect(await page.getByLabel("Statement").inputValue()).toBe("");
  expect(writes).toBe(0);

  // A page that has heard of nothing: what it sends is refused, and it is the other person's from its next question on.
  portal.tolerate(/status of 401/);
  await button(unaware, "Make the link").click();
  await unaware.getByText("Someone else has signed in in this browser", { exact: false }).waitFor();
  const reloaded = unaware.waitForEvent("load");
  await unaware.unroute("**/portal/v1/**");
  await unaware.clock.fastForward(70_000);
  await reloaded;
  expect(await unaware.getByText("tamu@toko.example").count()).toBe(0);
});

test("a page that is left open over a restart of the service keeps what was typed, and goes on", async () => {
  const { page, open } = await portal.member("owner");
  portal.tolerate(/ERR_CONNECTION_REFUSED/);
  await open(paths.account());
  await page.getByLabel("Name").fill("Sari Dewi Lestari");
  await portal.restart(async () => {
    await button(page, "Save").click();
    await page.getByText("The service is not answering", { exact: false }).first().waitFor();
    expect(await page.getByLabel("Name").inputValue()).toBe("Sari Dewi Lestari");
  });
  await button(page, "Save").click();
  await page.getByText("Your profile is changed.").waitFor();
  await page.reload();
  await settled(page);
  expect(await page.getByLabel("Name").inputValue()).toBe("Sari Dewi Lestari");
});
