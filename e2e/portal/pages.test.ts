// Goal: every address of the site map has a page, which shows what it should without a complaint, and axe finds nothing in it, light or dark, wide
// or on a phone.
// Method: one merchant with one of everything, and each address once; those of the site map that this list leaves out fail it.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { paymentBody } from "../../gateway/test/kit.ts";
import { at } from "../../portal/src/console/paths.ts";
import { type PathName, paths } from "../../portal/src/paths.ts";
import { type Things, oneOfEverything } from "./kit/given.ts";
import { drawn, faults, look, showIn } from "./kit/look.ts";
import { type Member, PHONE, WIDE, settled, usePortal } from "./kit/portal.ts";

const portal = usePortal();

type At = Member["place"];

/** Every address of the site map, with something there. `start` leads to `home`. */
const addresses: Record<Exclude<PathName, "start">, (place: At, things: Things) => string> = {
  signIn: paths.signIn,
  invitation: paths.invitation,
  device: paths.device,
  account: paths.account,
  accountPassword: paths.accountPassword,
  accountAuthenticator: paths.accountAuthenticator,
  accountPasskeys: paths.accountPasskeys,
  accountSessions: paths.accountSessions,
  home: paths.home,
  payments: paths.payments,
  paymentNew: paths.paymentNew,
  payment: (place, { payment }) => paths.payment(place, payment),
  links: paths.links,
  linkNew: paths.linkNew,
  link: (place, { link }) => paths.link(place, link),
  refunds: paths.refunds,
  refund: (place, { refund }) => paths.refund(place, refund),
  disputes: paths.disputes,
  dispute: (place, { dispute }) => paths.dispute(place, dispute),
  settlements: paths.settlements,
  settlement: (place, { settlement }) => paths.settlement(place, settlement),
  balances: paths.balances,
  balance: (place) => paths.balance(place, "IDR"),
  statement: (place) => paths.statement(place, "IDR"),
  journal: (place, { journal }) => paths.journal(place, journal),
  keys: paths.keys,
  key: (place, { key }) => paths.key(place, key),
  webhooks: paths.webhooks,
  delivery: (place, { event }) => paths.delivery(place, event),
  exam: paths.exam,
  events: paths.events,
  event: (place, { event }) => paths.event(place, event),
  requests: paths.requests,
  request: (place, { request }) => paths.request(place, request),
  idempotency: paths.idempotency,
  idempotencyKey: (place, { idempotencyKey }) => paths.idempotencyKey(place, idempotencyKey),
  clock: paths.clock,
  qris: paths.qris,
  create: paths.create,
  settings: paths.settings,
  team: paths.team,
  branding: paths.branding,
  payers: paths.payers,
  audit: paths.audit,
};

const guests: PathName[] = ["signIn", "invitation"];

/** Pages of what no call of the merchants' API gives: a person's own, keys and people, and the parts of the books and of the log that only people read. */
const withoutCurl: ReadonlySet<PathName> = new Set<PathName>([
  ...guests,
  "device",
  "account",
  "accountPassword",
  "accountAuthenticator",
  "accountPasskeys",
  "accountSessions",
  "keys",
  "key",
  "journal",
  "statement",
  "idempotency",
  "idempotencyKey",
  "settings",
  "team",
  "branding",
  "payers",
  "audit",
]);

/** A tablet upright and on its side: the navigation is beside the page, and takes room that tables then lack. */
const TABLETS = [768, 1024];

/** The tables of lists and of Home that show less than all of their columns, and by how much. */
const CUT_TABLES = `[...document.querySelectorAll("main [role=group], main section[aria-label]")]
  .filter((frame) => frame.querySelector("table") && frame.scrollWidth > frame.clientWidth)
  .map((frame) => frame.getAttribute("aria-label") + " is cut off by " + (frame.scrollWidth - frame.clientWidth) + " px")`;

/** The lists whose last cell ends nearer to the frame, or farther from it, than the first one begins. */
const CROOKED_TABLES = `[...document.querySelectorAll("main [role=group] > table")].flatMap((table) => {
  const shown = [...table.rows[0].cells].filter((cell) => cell.offsetWidth > 0);
  const [before, after] = [getComputedStyle(shown[0]).paddingLeft, getComputedStyle(shown.at(-1)).paddingRight];
  return before === after ? [] : [table.parentElement.getAttribute("aria-label") + " has " + before + " before it and " + after + " behind it"];
})`;

/** The figures that are wider than their place, so that one runs into the next. */
const CUT_FIGURES = `[...document.querySelectorAll("main dl > div > dd > span")]
  .map((figure) => [figure, figure.getBoundingClientRect().right - figure.parentElement.getBoundingClientRect().right])
  .filter(([, over]) => over > 0.5)
  .map(([figure, over]) => figure.textContent + " runs over by " + over + " px")`;

async function judge(member: Member | Awaited<ReturnType<typeof portal.guest>>, name: PathName, path: string) {
  const { page, open } = member;
  await open(path);
  const wrong = await page
    .getByRole("alert")
    .filter({ hasNotText: "There is no invitation in this address" })
    .allInnerTexts();
  if ((await page.getByRole("heading", { level: 1 }).innerText()) === "No such page") wrong.push("no such page");
  const curl = page.getByText("The same with curl").or(page.getByText("The same in code")).first();
  if (!withoutCurl.has(name)) await curl.waitFor();
  else if ((await curl.count()) > 0) wrong.push("a call with curl, against the list");
  await showIn(page, "light");
  const light = await faults(page);
  await showIn(page, "dark");
  // Colours are all that differs.
  const dark = await faults(page, ["color-contrast"]);
  for (const width of TABLETS) {
    await page.setViewportSize({ width, height: 800 });
    await drawn(page);
    wrong.push(...(await page.evaluate<string[]>(CUT_TABLES)).map((cut) => `at ${width} px: ${cut}`));
  }
  await page.setViewportSize(PHONE);
  // Plots follow the width of their place a frame later.
  await drawn(page);
  const wider = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
  if (wider > 0) wrong.push(`${wider} px wider than a phone`);
  await page.setViewportSize(WIDE);
  await look(page, `page-${name}`);
  return [...wrong, ...light, ...dark.map((fault) => `dark: ${fault}`)].map((fault) => `${name}: ${fault}`);
}

test("every page shows what it is for, and nobody is kept out of it", async () => {
  const owner = await portal.member("owner");
  const things = await oneOfEverything(owner.client);
  const names = Object.keys(addresses) as (keyof typeof addresses)[];
  expect(new Set([...names, "start"])).toEqual(new Set(Object.keys(paths)));
  const found: string[] = [];
  const member = names.filter((name) => !guests.includes(name));
  // Two at a time: a page that waits for an answer leaves the processor to the other one.
  const second = { ...owner, page: await owner.context.newPage() };
  const other: Member = { ...second, open: owner.openIn(second.page) };
  const take = async (visit: Member): Promise<void> => {
    for (let name = member.shift(); name; name = member.shift())
      found.push(...(await judge(visit, name, addresses[name](owner.place, things))));
  };
  await Promise.all([take(owner), take(other)]);
  const guest = await portal.guest();
  for (const name of guests as (keyof typeof addresses)[])
    found.push(...(await judge(guest, name, addresses[name](owner.place, things))));
  expect(found).toEqual([]);
});

test("no list cuts an amount off, however long references are, on a small phone or beside the navigation", async () => {
  const { merchantId } = await portal.service.merchant({
    name: "Perusahaan Dagang dan Perkebunan Kopi Nusantara Sejahtera Abadi",
    settings: { max_amount_minor: { IDR: 999_999_999_999 } },
  });
  const member = await portal.member("owner", { merchantId });
  const { place, client } = member;
  const post = async (path: string, body: unknown = {}): Promise<string> => {
    const answer = await client.post(path, body);
    expect(answer.status, `${path}: ${answer.text}`).toBeLessThan(300);
    return answer.json.reference ?? answer.json.data?.[0]?.uuid;
  };
  const customer = { email: `${"kusumawardhana".repeat(3)}@perkebunan-nusantara.example` };
  const money = { amount_minor: 999_999_999_999, currency: "IDR", description: "Langganan kopi untuk kantor pusat" };
  const pay = async (payment_method: string): Promise<string> => {
    const reference_id = `INV/2026/11/0000123-JAKARTA-SELATAN-${payment_method}`;
    const reference = await post("/v1/payments", { ...money, payment_method, reference_id, customer });
    await post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
    return reference;
  };
  const [refunded = "", contested = ""] = await Promise.all(["bank_transfer", "va", "ewallet"].map(pay));
  await post("/v1/refunds", { payment_reference: refunded, amount_minor: 123_456_789_012 });
  await post(`/v1/sandbox/payments/${contested}/dispute`, { reason: "product_not_received" });
  const settlement = await post("/v1/sandbox/settlements/run");
  await post("/v1/payment-links", { ...money, reusable: true });
  const operator = await portal.operator();
  // To whoever may not see the sandbox's clock a deadline is told as a time, which is wider than "in 7 days".
  const viewer = await portal.member("viewer", { merchantId });
  const lists = [
    ...[paths.payments, paths.refunds, paths.disputes, paths.settlements, paths.links].map((list) => list(place)),
    paths.settlement(place, settlement),
    paths.home(place),
    paths.balance(place, "IDR"),
    paths.payment(place, refunded),
  ].map((path) => [member, path] as const);
  const all = [at.payments(), at.refunds(), at.settlements(merchantId, "sandbox"), at.payment(refunded)];
  const cut: string[] = [];
  for (const [{ page, open }, path] of [
    [viewer, paths.disputes(place)] as const,
    ...lists,
    ...all.map((list) => [operator, list] as const),
  ]) {
    await open(path);
    for (const width of [360, 768, 1024, 1280, 1440]) {
      await page.setViewportSize({ width, height: 800 });
      await drawn(page);
      const wider = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
      const parts = await page.evaluate<string[]>(CUT_TABLES);
      parts.push(...(await page.evaluate<string[]>(CUT_FIGURES)), ...(await page.evaluate<string[]>(CROOKED_TABLES)));
      if (wider > 0) parts.push(`the page is cut off by ${wider} px`);
      cut.push(...parts.map((part) => `${path} at ${width} px: ${part}`));
    }
  }
  expect(cut).toEqual([]);
});

test("a state stands beside the heading, and a journal says why money that is yours is below zero", async () => {
  const { page, place, client, open } = await portal.member("finance");
  const { refund, journal, settlement, payment, dispute } = await oneOfEverything(client);
  for (const [path, status] of [
    [paths.payment(place, payment), "partially refunded"],
    [paths.refund(place, refund), "succeeded"],
    [paths.dispute(place, dispute), "needs response"],
    [paths.settlement(place, settlement), "processing"],
  ] as const) {
    await open(path);
    const heading = page.locator("div").filter({ has: page.getByRole("heading", { level: 1 }) });
    await heading.last().getByText(status, { exact: true }).waitFor();
    expect(await page.locator("main dt").getByText("Status", { exact: true }).count(), path).toBe(0);
  }
  await open(paths.journal(place, journal));
  await page.getByText("Debits are positive, so money that is yours is a balance below zero.").waitFor();
});

/** Keeps by how much the page has moved by itself, as browsers measure it: 0.1 and less counts as good. */
const KEEP_SHIFTS = `globalThis.moved = 0;
new PerformanceObserver((list) => {
  for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) globalThis.moved += value;
}).observe({ type: "layout-shift", buffered: true });`;

test("nothing moves away from whoever reads while a page loads", async () => {
  const moves: string[] = [];
  for (const viewport of [WIDE, PHONE]) {
    const { page, place, client, context, open } = await portal.member("owner", { browser: { viewport } });
    const things = await oneOfEverything(client);
    await context.addInitScript(KEEP_SHIFTS);
    const names = ["home", "payments", "payment", "dispute", "settlement", "balances", "requests"] as const;
    for (const name of names) {
      await open(addresses[name](place, things));
      // What is drawn last is measured a frame later.
      await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
      const moved = await page.evaluate<number>("globalThis.moved");
      if (moved > 0.1) moves.push(`${name} at ${viewport.width} px: ${moved.toFixed(2)}`);
    }
  }
  expect(moves).toEqual([]);
});

test("Home of a newcomer waits for its first steps, of which each would push the figures down, and does without those that fail", async () => {
  const { page, place, context, open } = await portal.member("owner");
  // The page may ask anew meanwhile, so each question waits for the same moment.
  const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await context.route(/\/portal\/v1\/credentials\?/, async (route) => {
    asked.resolve();
    await answer.promise;
    await route.fulfill({ status: 403, json: { error: { code: "FORBIDDEN", message: "Not yours." } } });
  });
  const others = ["overview", "payments/search", "webhook", "refunds", "disputes"].map((list) =>
    page.waitForResponse((response) => response.url().includes(`/portal/v1/${list}`)),
  );
  const opened = open(paths.home(place));
  await Promise.all(others);
  await asked.promise;
  // What is drawn last is drawn a frame later.
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  const figures = page.getByRole("region", { name: "IDR at a glance" });
  expect(await figures.count()).toBe(0);
  answer.resolve();
  await opened;
  await figures.waitFor();
  await page.getByRole("heading", { name: "First steps" }).waitFor();
});

test("a settlement on paper is whole, says whose it is, and has nothing that only a screen can use", async () => {
  const { page, place, client, open } = await portal.member("owner");
  const { settlement } = await oneOfEverything(client);
  await open(paths.settlement(place, settlement));
  await showIn(page, "dark");
  await page.setViewportSize({ width: 718, height: 1000 }); // A4 less its margins
  await page.emulateMedia({ media: "print" });
  await page.getByText("Toko Senja · sandbox").waitFor();
  await page.getByText(/^Times are in [A-Z]/).waitFor();
  const items = page.getByRole("group", { name: "Items of the batch" });
  expect(await items.getByRole("columnheader").allInnerTexts()).toEqual(
    expect.arrayContaining(["Your reference", "Amount", "Fee", "When"]),
  );
  expect(await page.evaluate<string[]>(CUT_TABLES)).toEqual([]);
  expect(await page.getByRole("button").count()).toBe(0);
  expect(await page.getByText("The same with curl").isVisible()).toBe(false);
  // Browsers leave the dark ground out, and would print light letters on white paper.
  expect(await page.evaluate<string>("getComputedStyle(document.documentElement).color")).toBe("rgb(26, 27, 24)");
  // They would leave out the striped edge, too, which tells the sandbox from real money.
  const edge = `getComputedStyle(document.querySelector('a[href="#page"] + div'))`;
  expect(await page.evaluate<string>(`${edge}.backgroundImage`)).toContain("repeating-linear-gradient");
  expect(await page.evaluate<string>(`${edge}.printColorAdjust`)).toBe("exact");
});

test("a settlement of more items than the page shows is printed with all of them, and tells of those that are missing", async () => {
  const { page, place, client, open } = await portal.member("owner");
  const many = Array.from({ length: 27 }, () => client.post("/v1/payments", paymentBody({ amount_minor: 1_000_000 })));
  const references = (await Promise.all(many)).map(({ json }) => json.reference as string);
  for (const reference of references)
    await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  const { json } = await client.post("/v1/sandbox/settlements/run", {});
  const items = page.getByRole("group", { name: "Items of the batch" });
  const rowsOnPaper: number[] = [];
  await page.exposeFunction("print", async () => rowsOnPaper.push((await items.getByRole("row").count()) - 1));
  await open(paths.settlement(place, json.data[0].uuid));
  // By the browser's own menu, which no page can wait for.
  await page.emulateMedia({ media: "print" });
  await page.getByText("25 of 27 items: only the page that was open.").locator("visible=true").waitFor();
  await page.emulateMedia({ media: "screen" });
  for (const print of [
    () => page.getByRole("button", { name: "Print" }).click(),
    () => page.keyboard.press("Control+p"),
  ]) {
    await print();
    await expect.poll(() => rowsOnPaper).toEqual([27]);
    await page.emulateMedia({ media: "print" });
    expect(await page.getByText("of 27 items").count()).toBe(0);
    await page.emulateMedia({ media: "screen" });
    await page.evaluate(() => dispatchEvent(new Event("afterprint")));
    await expect.poll(() => items.getByRole("row").count()).toBe(26);
    rowsOnPaper.length = 0;
  }
  // Of more than paper is for, the first ones, and where the others are.
  // Whoever prints at once does not print an empty table: the list of the page may come later.
  const isPrinted = Promise.withResolvers<void>();
  await page.route("**/settlements/*/items?*", async (route) => {
    if (new URL(route.request().url()).searchParams.get("limit") === "25") await isPrinted.promise;
    const answer = await (await route.fetch()).json();
    const [sum] = answer.sums;
    await route.fulfill({ json: { ...answer, sums: [{ ...sum, items: 12_345 }] } });
  });
  await page.reload();
  await page.getByRole("button", { name: "Print" }).click();
  await expect.poll(() => rowsOnPaper).toEqual([27]);
  isPrinted.resolve();
  await page.emulateMedia({ media: "print" });
  await page
    .getByText(/^The first 27 of 12345 items. All of them are in the CSV statement/)
    .locator("visible=true")
    .waitFor();
  // The page asks again after printing; an answer that is still under way must not fail the run.
  await page.unrouteAll({ behavior: "ignoreErrors" });
});

test("whoever goes to another settlement while one is fetched for paper does not print it with the items of the first", async () => {
  const { page, place, client, open } = await portal.member("owner");
  const settled = async (): Promise<string> => {
    const { json } = await client.post("/v1/payments", paymentBody({ amount_minor: 1_000_000 }));
    await client.post(`/v1/sandbox/payments/${json.reference as string}/simulate`, { outcome: "succeeded" });
    return (await client.post("/v1/sandbox/settlements/run", {})).json.data[0].uuid as string;
  };
  const [first, second] = [await settled(), await settled()];
  let printed = 0;
  await page.exposeFunction("print", () => void printed++);
  await open(paths.settlement(place, first));
  const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await page.route(`**/settlements/${first}/items?limit=100*`, async (route) => {
    asked.resolve();
    await answer.promise;
    await route.continue();
  });
  await page.getByRole("button", { name: "Print" }).click();
  await asked.promise;
  // As the search does: the page stays, and shows another settlement.
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").getByRole("combobox").fill(second);
  await page.getByRole("dialog").getByRole("option").first().click();
  await page.waitForURL(`**${paths.settlement(place, second)}`);
  const fetched = page.waitForResponse(`**/settlements/${first}/items?limit=100*`);
  answer.resolve();
  await (await fetched).finished();
  await expect.poll(() => page.getByRole("button", { name: "Print" }).isEnabled()).toBe(true);
  await drawn(page);
  expect(printed).toBe(0);
  await page.goBack();
  await page.waitForURL(`**${paths.settlement(place, first)}`);
  await drawn(page);
  expect(printed).toBe(0);
});

test("the call with curl stays open, and follows the filters", async () => {
  const { page, place, open } = await portal.member("owner");
  await open(paths.payments(place));
  await page.getByText("The same with curl").click();
  const call = page
    .getByRole("group")
    .filter({ hasText: "The same with curl" })
    .getByRole("region", { name: "the call" });
  await call.waitFor();
  await page.getByLabel("Status").selectOption("expired");
  await page.waitForURL(/status=expired/);
  await settled(page);
  expect(await call.innerText()).toContain("status=expired");
});

test("an empty page of what a key can fill teaches the call that fills it", async () => {
  const { page, place, open } = await portal.member("owner");
  const empty = [
    paths.payments(place),
    paths.links(place),
    paths.refunds(place),
    paths.disputes(place),
    paths.settlements(place),
    paths.balance(place, "IDR"),
    paths.events(place),
    paths.requests(place),
    paths.idempotency(place),
    paths.qris(place),
  ];
  const untaught: string[] = [];
  for (const path of empty) {
    await open(path);
    if ((await page.getByRole("region", { name: "the call", exact: true }).count()) === 0) untaught.push(path);
  }
  expect(untaught).toEqual([]);
});

test("whoever may not see a page is told once which role it is", async () => {
  const { page, place, open } = await portal.member("support");
  const asked: string[] = [];
  page.on("response", (answer) => void (answer.status() === 403 && asked.push(new URL(answer.url()).pathname)));
  for (const path of [paths.keys(place), paths.balances(place)]) {
    await open(path);
    await page.getByText("Not allowed").waitFor();
    expect((await page.locator("main").innerText()).match(/[Yy]our role/g)).toHaveLength(2); // "Your role, support, …", "can change your role."
  }
  // Once or, as a live page does, again; but for nothing else.
  expect(new Set(asked.filter((path) => path.startsWith("/portal/v1/ba")))).toEqual(new Set(["/portal/v1/balances"]));
  expect(asked).not.toContain("/portal/v1/accounts");
});

test("whoever may not ask for money is told so before they fill in a form, and a refused page keeps its heading", async () => {
  const viewer = await portal.member("viewer");
  await viewer.open(paths.linkNew(viewer.place));
  await viewer.page.getByRole("heading", { name: "Your role cannot create payment links here" }).waitFor();
  expect(await viewer.page.getByRole("button", { name: "Make the link" }).count()).toBe(0);

  const support = await portal.member("support");
  await support.open(paths.statement(support.place, "IDR"));
  await support.page.getByRole("heading", { name: "Statement in IDR", level: 1 }).waitFor();
  await support.page.getByText("Your role, support, does not allow this").waitFor();
});

test("an object of the other environment is one press away, and nobody is asked for a key", async () => {
  const { page, place, client, open } = await portal.member("finance");
  const { payment } = await oneOfEverything(client);
  await open(paths.payment({ ...place, environment: "production" }, payment));
  await page.getByRole("heading", { name: "Not in this environment" }).waitFor();
  expect(await page.locator("main").innerText()).not.toContain("key");
  await page.getByRole("link", { name: "Open it in sandbox" }).first().click();
  await page.getByRole("heading", { name: "Payment", level: 1 }).waitFor();
  await page.getByText("What happened", { exact: true }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/portal${paths.payment(place, payment)}`);
});

test("no page is still to be written", () => {
  const folder = fileURLToPath(new URL("../../portal/src/pages/", import.meta.url));
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".tsx"));
  const text = (name: string): string => readFileSync(join(folder, name), "utf8");
  expect(files.length).toBeGreaterThan(30);
  const unwritten = files.filter((name) => text(name).includes("still to be written"));
  expect(unwritten).toEqual([]);
});
