// Goal: whoever pays by a phone knows what to do, and sees by itself that it is done. Method: the payers' pages in a real browser as an Indonesian phone
// opens them, by role and name; paid from beside, by the page itself, and without scripts.
import { expect, test } from "vitest";
import { paths } from "../../portal/src/paths.ts";
import { type SettingsChange, defaultSettings } from "../../gateway/src/merchants/settings.ts";
import { alsoIn } from "../../gateway/test/currencies.ts";
import { paymentBody } from "../../gateway/test/kit.ts";
import { faults, look } from "./kit/look.ts";
import { PHONE, isClean, usePortal } from "./kit/portal.ts";

const portal = usePortal();
const ATTACK = "<img src=x onerror=document.title='owned'>";
const phone = { viewport: PHONE, locale: "id-ID" };

async function made(changes: Record<string, unknown>, settings: SettingsChange = {}) {
  const { client } = await portal.service.merchant({ name: `Toko ${ATTACK}`, settings });
  const { json } = await client.post("/v1/payments", paymentBody({ description: ATTACK, ...changes }));
  const path = new URL(json.checkout_url as string).pathname;
  const outcome = (word: string) =>
    client.post(`/v1/sandbox/payments/${json.reference as string}/simulate`, { outcome: word });
  return { json, path, outcome };
}

/** How many lines the last text of an element takes. */
function linesOfLast({ lastChild }: Element): number {
  const range = document.createRange();
  range.selectNodeContents(lastChild as Node);
  return new Set([...range.getClientRects()].map(({ top }) => top)).size;
}

test.each(["qris", "va", "bank_transfer", "card", "ewallet"])("a phone pays by %s, in Indonesian", async (method) => {
  const { path, outcome } = await made({ payment_method: method });
  const { page } = await portal.guest(phone);
  await page.goto(portal.origin + path);
  await page.getByRole("heading", { name: `Bayar Toko ${ATTACK}` }).waitFor();
  await page.getByText("Sisa waktu").waitFor();
  await isClean({ page }, `payer-${method}`);
  await look(page, `payer-${method}`);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE.width);
  if (method === "va") {
    await page.getByText("Lewat ATM").click();
    await page.getByText("Masukkan nomor virtual account tanpa spasi.").locator("visible=true").waitFor();
  }
  if (method === "qris") {
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Simpan gambar" }).click(),
    ]);
    expect(file.suggestedFilename()).toBe("qris.png");
  }
  if (method === "card") await page.getByRole("button", { name: "Bayar" }).dblclick();
  else await outcome("succeeded");
  await page.getByText("Sudah dibayar. Terima kasih.").waitFor();
  expect(await faults(page)).toEqual([]);
  expect(await page.title()).not.toBe("owned");
  await look(page, `payer-${method}-paid`);
});

test("a payer reads it in English, copies the number, and is taken back to the shop", async () => {
  const { path, json, outcome } = await made({ payment_method: "va", return_url: "https://toko.example/thanks" });
  const payer = await portal.guest(phone);
  const { page, context } = payer;
  await context.route("https://toko.example/**", (route) => route.fulfill({ body: "Welcome back at the shop" }));
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto(portal.origin + path);
  await page.getByRole("link", { name: "English" }).click();
  await page.getByRole("button", { name: "Copy: Virtual account number" }).click();
  await page.getByRole("button").getByText("Copied").waitFor();
  // A screen reader that stands on the button hears it as well.
  await page.getByRole("status").getByText("Copied").waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(json.instructions.account_number);
  await outcome("processing");
  await page.getByText("Being processed").waitFor();
  await outcome("succeeded");
  await page.getByText("Paid. Thank you.").waitFor();
  await page.getByText("You will be taken back in a moment.").locator("visible=true").waitFor();
  await page.getByText("Welcome back at the shop").waitFor();
});

test("where the browser refuses to copy, as inside other apps, the number is copied all the same, or selected", async () => {
  const { path, json } = await made({ payment_method: "va", amount_minor: 150_000_000 });
  const { page, context } = await portal.guest(phone);
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.addInitScript(() => {
    navigator.clipboard.writeText = () => Promise.reject(new DOMException("refused", "NotAllowedError"));
  });
  await page.goto(portal.origin + path);
  await page.getByRole("button", { name: "Salin: Jumlah" }).click();
  await page.getByRole("button").getByText("Tersalin").waitFor();
  // As a payer types it, not as it is written.
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("1500000");
  await page.evaluate(() => void (document.execCommand = () => false));
  await page.getByRole("button", { name: "Salin: Nomor virtual account" }).click();
  await page.waitForFunction((number) => String(getSelection()) === number, json.instructions.account_number);
});

test("a payer whose network is gone when it is paid keeps the page that says so, and goes to the shop with the network", async () => {
  const { path, outcome } = await made({ payment_method: "va", return_url: "https://toko.example/thanks" });
  portal.tolerate(/net::ERR_/);
  const { page, context } = await portal.guest(phone);
  await context.route("https://toko.example/**", (route) => route.fulfill({ body: "Welcome back at the shop" }));
  await outcome("succeeded");
  await page.clock.install();
  await page.goto(portal.origin + path);
  await page.getByText("Sebentar lagi Anda dibawa kembali.").waitFor();
  await context.setOffline(true);
  await page.clock.runFor(10_000);
  await page.getByText("Sudah dibayar. Terima kasih.").waitFor();
  await context.setOffline(false);
  await page.getByText("Welcome back at the shop").waitFor();
});

test.each([
  ["id-ID", "Kembali ke"],
  ["en-US", "Back to"],
])("a payer who does not pay finds a quiet way back to the shop, in %s, and goes back unpaid", async (locale, back) => {
  const { path } = await made({ payment_method: "card", return_url: "https://toko.example/thanks" });
  const { page, context } = await portal.guest({ ...phone, locale });
  await context.route("https://toko.example/**", (route) => route.fulfill({ body: "Welcome back at the shop" }));
  await page.goto(portal.origin + path);
  const link = page.getByRole("link", { name: `${back} Toko ${ATTACK}`, exact: true });
  await link.waitFor();
  await isClean({ page }, `payer-way-back-${locale}`);
  await look(page, `payer-way-back-${locale}`);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE.width);
  // Quiet: the sandbox's decision is the button of this page.
  expect(await link.evaluate((element) => getComputedStyle(element).backgroundColor)).toBe("rgba(0, 0, 0, 0)");
  await page.emulateMedia({ media: "print" });
  expect(await link.isVisible()).toBe(false);
  await page.emulateMedia({ media: "screen" });
  await link.click();
  await page.getByText("Welcome back at the shop").waitFor();
  await page.goto(portal.origin + path);
  await page.locator("[data-face=open]").waitFor();
});

test("a payer who comes back from the bank's app without a network still has the number, and with one the news", async () => {
  const { path, json, outcome } = await made({ payment_method: "va" });
  portal.tolerate(/net::ERR_/);
  const { page, context } = await portal.guest(phone);
  await context.route("**/stream", (route) => route.abort());
  await context.route("**/state", (route) => route.abort());
  await page.goto(portal.origin + path);
  await page.getByText(json.instructions.account_number).waitFor();
  const comeBack = () => page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  await context.setOffline(true);
  await Promise.all([page.waitForEvent("requestfailed", (request) => request.url().endsWith("/state")), comeBack()]);
  await page.getByText(json.instructions.account_number).waitFor();
  await context.setOffline(false);
  await outcome("succeeded");
  await context.unroute("**/state");
  await comeBack();
  await page.getByText("Sudah dibayar. Terima kasih.").waitFor();
});

test("a payer whose network is gone when the time is over keeps the page, and gets the news with the network", async () => {
  const { path, json, outcome } = await made({ payment_method: "va" });
  portal.tolerate(/net::ERR_/);
  const { page, context } = await portal.guest(phone);
  await context.route("**/stream", (route) => route.abort());
  await context.route("**/state", (route) => route.abort());
  await page.clock.install();
  await page.goto(portal.origin + path);
  await page.getByText(json.instructions.account_number).waitFor();
  await context.setOffline(true);
  await page.clock.runFor(25 * 3600 * 1000);
  await page.getByText("00:00").waitFor();
  await page.getByText(json.instructions.account_number).waitFor();
  await outcome("succeeded");
  await context.setOffline(false);
  await page.getByText("Sudah dibayar. Terima kasih.").waitFor();
});

test("a payer with large letters can read an account number and an amount", async () => {
  const { path, json } = await made({ payment_method: "va", amount_minor: 123_456_700 });
  // A phone of 360 pixels at 200 %.
  const { page } = await portal.guest({ ...phone, viewport: { width: 180, height: 370 } });
  await page.goto(portal.origin + path);
  const linesOf = (text: string) =>
    page.getByText(text, { exact: true }).evaluate((element) => {
      const range = document.createRange();
      range.selectNodeContents(element);
      return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size;
    });
  expect(await linesOf(json.instructions.account_number)).toBeLessThanOrEqual(2);
  expect(await linesOf("1.234.567,00")).toBe(1);
  expect(await linesOf(json.instructions.bank_name)).toBeLessThanOrEqual(2);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(180);
});

test.each([
  [320, "va"],
  [390, "bank_transfer"],
])(
  "letters are as large as the payer's browser is told, and a phone of %d pixels has room for them: %s",
  async (width, method) => {
    const { path } = await made({ payment_method: method, amount_minor: 123_456_700 });
    const { page, context } = await portal.guest({ ...phone, viewport: { width, height: 700 } });
    await page.goto(portal.origin + path);
    const browser = await context.newCDPSession(page);
    await browser.send("Page.enable");
    await browser.send("Page.setFontSizes", { fontSizes: { standard: 32 } });
    await page.waitForFunction(() => getComputedStyle(document.body).fontSize === "32px");
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    // Both places of the amount: at the top, and beside its copy button.
    for (const figure of await page.getByText("1.234.567,00").all())
      expect(await figure.evaluate(linesOfLast), await figure.innerText()).toBe(1);
    await page.goto(`${portal.origin}/status`);
    expect(await page.evaluate(() => getComputedStyle(document.body).fontSize)).toBe("32px");
  },
);

test.each([320, 360, 390, 430])("on a phone of %d pixels the largest amount stays in one line", async (width) => {
  const largest = { payment_method: "va", amount_minor: 999_999_999_999 };
  const { path } = await made(largest, { max_amount_minor: { IDR: 999_999_999_999 } });
  const { page } = await portal.guest({ ...phone, viewport: { width, height: 700 } });
  await page.goto(portal.origin + path);
  const figure = page.locator(".amount");
  expect((await figure.textContent())?.trim()).toBe("IDR9.999.999.999,99");
  expect(await figure.evaluate(linesOfLast)).toBe(1);
});

test.each([
  ["#ffffff", "light"],
  ["#fffbe6", "light"],
  ["#000000", "dark"],
  ["#1c1c1a", "dark"],
] as const)("a button in %s is seen on %s paper, and so is the method that is chosen", async (colour, colorScheme) => {
  const { requests, client } = await portal.member("owner");
  expect((await requests.send("PATCH", "/portal/v1/settings", { colour })).status).toBe(200);
  const { json } = await client.post("/v1/payment-links", { currency: "IDR", reusable: true });
  const { page } = await portal.guest({ ...phone, colorScheme });
  await page.goto(json.url as string);
  await page.getByLabel("QRIS").check();
  /** The contrast of an edge, as it is drawn, with the paper. */
  const contrast = (element: Element): number => {
    const pen = document.createElement("canvas").getContext("2d") as CanvasRenderingContext2D;
    const luminance = (...layers: string[]): number => {
      for (const layer of layers) {
        pen.fillStyle = layer;
        pen.fillRect(0, 0, 1, 1);
      }
      const [red = 0, green = 0, blue = 0] = [...pen.getImageData(0, 0, 1, 1).data]
        .map((part) => part / 255)
        .map((part) => (part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05;
    };
    const paper = getComputedStyle(document.querySelector("main") as Element).backgroundColor;
    const { backgroundColor, borderTopColor } = getComputedStyle(element);
    const both = [luminance(paper), luminance(paper, backgroundColor, borderTopColor)];
    return Math.max(...both) / Math.min(...both);
  };
  expect(await page.getByRole("button", { name: "Lanjut" }).evaluate(contrast)).toBeGreaterThan(3);
  expect(await page.locator(".choice", { hasText: "QRIS" }).evaluate(contrast)).toBeGreaterThan(3);
});

test.each(["a button", "printing"])("a payer who reads slowly stays on the page that was paid, by %s", async (by) => {
  const { path, outcome } = await made({ payment_method: "va", return_url: "https://toko.example/thanks" });
  await outcome("succeeded");
  const { page, context, look } = await portal.guest(phone);
  await context.route("https://toko.example/**", (route) => route.fulfill({ body: "Welcome back at the shop" }));
  await page.clock.install();
  await page.goto(portal.origin + path);
  const soon = page.getByText("Sebentar lagi Anda dibawa kembali.");
  await soon.waitFor();
  if (by === "printing") await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  else {
    await look("checkout-paid-leading-back");
    const back = page.getByRole("link", { name: /^Kembali ke / });
    expect(await back.evaluate((link) => link.scrollWidth - link.clientWidth)).toBe(0);
    await page.getByRole("button", { name: "Tetap di sini" }).press("Enter");
    // Whoever goes by keyboard goes on from the way back.
    expect(await page.evaluate(() => document.activeElement?.textContent)).toMatch(/^Kembali ke /);
  }
  await soon.waitFor({ state: "hidden" });
  await page.clock.runFor(60_000);
  expect(await page.getByText("Sudah dibayar. Terima kasih.").isVisible()).toBe(true);
  await page.getByRole("link", { name: /^Kembali ke / }).click();
  await page.getByText("Welcome back at the shop").waitFor();
});

test("a payer who goes back from the shop to read the page is not taken away from it again", async () => {
  const { path, outcome } = await made({ payment_method: "va", return_url: "https://toko.example/thanks" });
  await outcome("succeeded");
  const { page, context } = await portal.guest(phone);
  await context.route("https://toko.example/**", (route) => route.fulfill({ body: "Welcome back at the shop" }));
  // The five seconds take a tenth of one.
  await page.addInitScript(() => {
    const { setTimeout: real } = globalThis;
    Object.assign(globalThis, { setTimeout: (then: () => void, ms: number) => real(then, ms / 50) });
  });
  await page.goto(portal.origin + path);
  await page.getByText("Welcome back at the shop").waitFor();
  await page.goBack();
  await page.getByText("Sudah dibayar. Terima kasih.").waitFor();
  expect(await page.getByText("Sebentar lagi Anda dibawa kembali.").isVisible()).toBe(false);
  await page.waitForTimeout(300);
  expect(await page.getByText("Sudah dibayar. Terima kasih.").isVisible()).toBe(true);
});

test.each([
  ["id-ID", "Salin", 360],
  ["en-US", "Copy", 360],
  ["id-ID", "Salin", 320],
  ["en-US", "Copy", 320],
])("the narrowest phone shows a virtual account's number on one line, in %s", async (locale, copy, width) => {
  const { json, path } = await made({ payment_method: "va" });
  const { page } = await portal.guest({ ...phone, locale, viewport: { width, height: 740 } });
  await page.goto(portal.origin + path);
  const number = page.getByText(json.instructions.account_number);
  await page.getByRole("button", { name: copy }).first().waitFor();
  expect(await number.evaluate((element) => element.getClientRects().length)).toBe(1);
});

test("on paper stands what to pay and where, dark letters on white, and no button", async () => {
  const { json, path } = await made({ payment_method: "va" });
  const { page } = await portal.guest({ ...phone, colorScheme: "dark" });
  await page.goto(portal.origin + path);
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  await page.getByText(json.instructions.account_number).waitFor();
  await page.getByText("1.500,00").first().waitFor();
  // A clock stands still on paper, and whoever pays by it may be in another zone.
  const by = new Intl.DateTimeFormat("id-ID", {
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    timeZone: "Asia/Jakarta",
  }).format(Date.parse(json.expires_at));
  await page.getByText(`Bayar paling lambat ${by} WIB`).locator("visible=true").waitFor();
  expect(await page.getByText("Sisa waktu").isVisible()).toBe(false);
  expect(await page.locator("button:visible, aside:visible, nav:visible").count()).toBe(0);
  expect(await page.evaluate<string>("getComputedStyle(document.body).color")).toBe("rgb(27, 27, 25)");
});

test.each([
  ["succeeded", "Sudah dibayar. Terima kasih."],
  ["processing", "Jangan membayar lagi"],
  ["failed", "Tidak dibayar"],
])("on paper stands what became of a payment: %s", async (word, said) => {
  const { path, outcome } = await made({ payment_method: "va", return_url: "https://toko.example/thanks" });
  await outcome(word);
  const { page } = await portal.guest(phone);
  await page.goto(portal.origin + path);
  await page.emulateMedia({ media: "print" });
  await page.getByText(said).locator("visible=true").first().waitFor();
  // Nothing that only a screen can do.
  for (const promise of ["perlu dimuat ulang", "Sebentar lagi Anda dibawa kembali."])
    expect(await page.getByText(promise).locator("visible=true").count()).toBe(0);
});

test.each([
  ["en", "KWD", "1.500", "You pay KWD 1.500, not KWD 1,500.000."],
  ["en", "KWD", "1,500", ""],
  ["en", "KWD", "1500", "You pay KWD 1,500.000."],
  ["id", "KWD", "1.500", ""],
  ["id", "KWD", "1,500", "Anda membayar KWD 1,500, bukan KWD 1.500,000."],
  ["id", "IDR", "Rp 25.000", "Anda membayar IDR 25.000,00."],
  ["en", "IDR", "25.000", ""],
  ["en", "JPY", "8,888", "You pay JPY 8,888."],
])("in %s, %s %s is read back while it is typed, before anything is sent", async (lang, currency, typed, said) => {
  const { client } = await portal.service.merchant({ settings: alsoIn(defaultSettings, "KWD", "JPY") });
  const { json } = await client.post("/v1/payment-links", { currency, payment_methods: ["card"], reusable: true });
  const { page } = await portal.guest(phone);
  await page.goto(`${json.url as string}?lang=${lang}`);
  await page.locator("#amount").pressSequentially(typed);
  expect((await page.locator("#amount-read").textContent())?.replaceAll("\u00A0", " ")).toBe(said);
  if (said.includes("not")) expect(await faults(page)).toEqual([]);
  await look(page, `link-amount-${lang}-${currency}-${typed}`);
  if (said === "") return;
  // What the service takes is what was said.
  await page.locator("button.main").click();
  const amount =
    said
      .split(/, (?:not|bukan)/)[0]
      ?.replace(/^\D*/, "")
      .replace(/\.$/, "") ?? "";
  expect((await page.locator("p.amount").textContent())?.trim()).toBe(`${currency}${amount}`);
});

test("a payer whose phone slept hears the news on waking, although the stream died and counts as open", async () => {
  const { path, json, outcome } = await made({ payment_method: "va" });
  const { page } = await portal.guest(phone);
  const awayMs = "awayMs";
  await page.addInitScript((key) => {
    class DeafStream extends EventTarget {
      static readonly OPEN = 1;
      static readonly CLOSED = 2;
      readonly readyState = 1;
    }
    Object.assign(globalThis, { EventSource: DeafStream });
    const { now } = Date;
    Date.now = () => now() + Number(sessionStorage.getItem(key));
  }, awayMs);
  await page.goto(portal.origin + path);
  const left = page.locator("[data-left]");
  const turn = (state: "hidden" | "visible", ms: number) =>
    page.evaluate(
      ({ key, state, ms }) => {
        sessionStorage.setItem(key, String(ms));
        Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
      },
      { key: awayMs, state, ms },
    );
  await left.evaluate((countdown) => (countdown.id = "before"));
  await turn("hidden", 0);
  await Promise.all([page.waitForResponse((response) => response.url().endsWith("/state")), turn("visible", 1000)]);
  // Nothing changed in a second: the page stays as it is.
  await page.locator("#before").waitFor();
  await turn("hidden", 1000);
  await Promise.all([page.waitForEvent("load"), turn("visible", 60_000)]);
  await page.getByText(json.instructions.account_number).waitFor();
  expect(await page.locator("#before").count()).toBe(0);
  // What the page asked before the phone slept again is never answered.
  const asked = page.waitForRequest("**/state");
  await page.route("**/state", () => undefined, { times: 1 });
  await turn("hidden", 60_000);
  await turn("visible", 60_000);
  await asked;
  await outcome("succeeded");
  await turn("hidden", 60_000);
  await turn("visible", 60_000);
  await page.getByText("Sudah dibayar. Terima kasih.").waitFor();
});

test("a page whose stream met a proxy's error listens again, and hears by it that it is paid", async () => {
  const { path, outcome } = await made({ payment_method: "qris" });
  const { page } = await portal.guest(phone);
  portal.tolerate(/status of 502/);
  await page.clock.install();
  let asked = 0;
  await page.route("**/stream", (route) => (asked++ === 0 ? route.fulfill({ status: 502 }) : route.continue()));
  const state = page.waitForResponse((response) => response.url().endsWith("/state"));
  await page.goto(portal.origin + path);
  await state;
  const stream = page.waitForResponse((response) => response.url().endsWith("/stream") && response.ok());
  await page.clock.fastForward(6_000);
  await stream;
  await outcome("succeeded");
  await page.getByText("Sudah dibayar. Terima kasih.").waitFor();
});

test("without scripts it can be paid as well, and declined it has a calm face", async () => {
  const { path } = await made({ payment_method: "ewallet", return_url: "https://toko.example/thanks" });
  const { page } = await portal.guest({ ...phone, javaScriptEnabled: false });
  await page.goto(portal.origin + path);
  await page.getByText("tidak perlu dimuat ulang").waitFor();
  expect(await page.getByText(/^Muat ulang/).count()).toBe(0);
  await page.getByRole("button", { name: "Tolak" }).click();
  await page.getByText("beri tahu penjual dulu dan jangan membayar lagi").waitFor();
  // Without scripts nobody is taken anywhere.
  await page.getByRole("link", { name: /^Kembali/ }).waitFor();
  expect(await page.getByText("Sebentar lagi Anda dibawa kembali.").isVisible()).toBe(false);
});

test("a merchant makes a link in the portal; of two phones one pays it, and it is not paid twice", async () => {
  const owner = await portal.member("owner");
  const { page, place, open } = owner;
  await open(paths.links(place));
  await page.getByRole("link", { name: "Make the first one" }).click();
  await page.getByLabel("Amount", { exact: true }).fill("0");
  await page.getByLabel("What it is for").fill(ATTACK);
  await page.getByRole("button", { name: "Make the link" }).click();
  await page.getByText("Enter an amount above zero.").waitFor();
  await page.getByLabel("Amount", { exact: true }).fill("125000");
  await page.getByText(/"amount_minor": ?12500000/).waitFor();
  await page.getByText("Payer's name, time to pay, way back").click();
  await page.getByLabel("return_url").fill("http://toko.example");
  await page.getByRole("button", { name: "Make the link" }).click();
  await page.getByText("Must be an https address").waitFor();
  await page.getByLabel("return_url").fill("");
  await page.getByLabel("Name and e-mail address").selectOption("true");
  await look(page, "link-new");
  await page.getByRole("button", { name: "Make the link" }).dblclick();
  await page.getByRole("img", { name: "The QR code of the link" }).waitFor();
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Save the QR code" }).click(),
  ]);
  expect(file.suggestedFilename()).toMatch(/^[\w-]+\.png$/);
  await look(page, "link-fresh");
  const url = (await page.getByRole("link", { name: "/pay/l/" }).getAttribute("href")) ?? "";

  const [first, second] = [await portal.guest(phone), await portal.guest(phone)];
  for (const payer of [first, second]) await payer.page.goto(url);
  const one = first.page;
  await one.getByText("125.000,00").waitFor();
  await isClean({ page: one }, "payer-link");
  await look(one, "payer-link");
  expect(await one.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE.width);
  const fill = async (payer: typeof first): Promise<void> => {
    await payer.page.getByLabel("Transfer bank").check();
    await payer.page.getByLabel("Nama Anda").fill("Sari Wulandari");
    await payer.page.getByLabel("Alamat email Anda").fill("sari@example.com");
  };
  await fill(first);
  await fill(second);
  await one.getByRole("button", { name: "Lanjut" }).dblclick();
  await one.getByText("Berita transfer").waitFor();
  await second.page.getByRole("button", { name: "Lanjut" }).click();
  await second.page.getByText("Sedang dibayar").waitFor();
  expect(await faults(second.page)).toEqual([]);
  await look(second.page, "payer-link-in-use");
  // Who began comes back, and goes on.
  await one.goto(url);
  await look(one, "payer-link-yours");
  await one.getByRole("link", { name: "Lanjutkan pembayaran Anda" }).click();
  await one.getByRole("button", { name: "Bayar" }).click();
  await one.getByText("Sudah dibayar. Terima kasih.").waitFor();
  await second.page.goto(url);
  await second.page.getByText("Jangan membayar lagi.").waitFor();
  expect(await second.page.getByRole("button").count()).toBe(0);
  await look(second.page, "payer-link-paid");

  await page.getByText("It could be paid once, and it has been.").waitFor();
  await page
    .getByRole("table", { name: "Payments by this link" })
    .or(page.getByText("Bank transfer"))
    .first()
    .waitFor();
  expect(await page.getByRole("button", { name: "Close the link" }).count()).toBe(0);
  await look(page, "link-paid");
  await open(paths.links(place));
  await look(page, "links");
  expect(await page.title()).not.toBe("owned");
});

test("without scripts a payer says how much, is told what is wrong, and pays", async () => {
  const { client } = await portal.service.merchant({ name: "Toko Melati" });
  const asked = { minimum_minor: 1_000_000, maximum_minor: 50_000_000, currency: "IDR", reusable: true };
  const { json } = await client.post("/v1/payment-links", { ...asked, description: "Untuk kucing di pasar" });
  portal.tolerate(/status of 422/); // the page that says what is wrong
  const { page } = await portal.guest({ ...phone, javaScriptEnabled: false });
  await page.goto(json.url as string);
  await page.getByLabel("Berapa yang ingin Anda bayar?").fill("5.000");
  await page.getByLabel("QRIS").check();
  await page.getByRole("button", { name: "Lanjut" }).click();
  await page.getByText("Jumlah ini tidak bisa dibayar di sini. Masukkan jumlah lain.").waitFor();
  await page.getByLabel("Berapa yang ingin Anda bayar?").fill("50.000");
  await page.getByRole("button", { name: "Lanjut" }).click();
  await page.getByText("50.000,00").waitFor();
  await page.getByRole("button", { name: "Bayar" }).click();
  await page.getByText("Sudah dibayar. Terima kasih.").waitFor();
});
