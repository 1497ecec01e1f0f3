// `npm run pictures`: screenshots for the documents, from a new service with a week of business. For another folder: `-- --into /somewhere`.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Browser, Page } from "playwright-core";
import { paths } from "../../portal/src/paths.ts";
import { Client, operate } from "../kit/client.ts";
import { Receiver, makeCertificates } from "../kit/receiver.ts";
import { type Demo, Service } from "../kit/service.ts";
import { launchBrowser } from "./kit/chromium.ts";
import { settled } from "./kit/look.ts";
import { makeBusy, takeConsole } from "./pictures/console.ts";
import { takePayer } from "./pictures/payer.ts";
import { smallPng } from "./pictures/small-png.ts";

const root = join(import.meta.dirname, "../..");
const { values } = parseArgs({ options: { into: { type: "string", default: join(root, "docs") } } });
/** The folder of one face's pictures. */
function into(face: "portal" | "console" | "payer"): string {
  const folder = join(values.into, face);
  mkdirSync(folder, { recursive: true });
  return folder;
}

const methods = ["qris", "qris", "qris", "va", "ewallet", "card"];
const PAYMENTS = 36;

/** Makes payments of some days: most are paid, some fail, one is refunded, one disputed, and a batch is settled. Gives the one for the screenshot. */
async function business(client: Client): Promise<string> {
  const post = async (path: string, body: unknown = {}) => {
    const answer = await client.post(path, body);
    if (answer.status >= 300) process.stderr.write(`${path}: ${answer.text}\n`);
    return answer.json;
  };
  const made: string[] = [];
  for (let at = 0; at < PAYMENTS; at++) {
    const { reference } = await post("/v1/payments", {
      amount_minor: 2_500_000 + ((at * 7_919) % 90) * 500_000,
      currency: "IDR",
      payment_method: methods[at % methods.length],
      reference_id: `order-${10_200 + at}`,
      description: ["Kopi tubruk 1 kg", "Batik tulis", "Teh poci", "Sepatu lari"][at % 4],
      customer: { name: ["Budi Santoso", "Dewi Lestari", "Agus Salim"][at % 3] },
    });
    if (typeof reference !== "string") continue;
    made.push(reference);
    if (at % 9 !== 8)
      await post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: at % 7 === 6 ? "failed" : "succeeded" });
    if (at % 6 === 5 && at < PAYMENTS - 1) await post("/v1/sandbox/clock/advance", { seconds: 79_200 });
  }
  const [story = ""] = made.slice(-6, -5);
  await post("/v1/refunds", { payment_reference: story, amount_minor: 1_000_000, reason: "One of two was sold out." });
  await post(`/v1/sandbox/payments/${made.at(-5) ?? ""}/dispute`, { reason: "product_not_received" });
  await post("/v1/sandbox/settlements/run");
  await post("/v1/payments", {
    amount_minor: 7_500_000,
    currency: "IDR",
    payment_method: "qris",
    reference_id: "order-10236",
  });
  return story;
}

async function picture(page: Page, name: string, path: string, first?: () => Promise<void>): Promise<void> {
  await page.goto(`/portal${path}`);
  await settled(page);
  await first?.();
  await page.waitForTimeout(500); // plots draw themselves after the data
  const file = join(into("portal"), `${name}.png`);
  writeFileSync(file, smallPng(await page.screenshot()));
  console.log(file);
}

async function takePortal(browser: Browser, demo: Demo, client: Client, story: string): Promise<void> {
  const context = await browser.newContext({
    baseURL: new URL(demo.portal_sign_in).origin,
    viewport: { width: 1280, height: 720 },
    deviceScaleFactor: 1.25,
    locale: "en-GB",
    timezoneId: "Asia/Jakarta",
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  await page.goto(demo.portal_sign_in);
  await page.getByRole("heading", { name: /^Welcome/ }).waitFor();
  const place = { merchant: demo.merchant_id, environment: "sandbox" as const };
  const [settlement] = (await client.get("/v1/settlements")).json.data as { uuid: string }[];
  await picture(page, "home", paths.home(place));
  await picture(page, "payment", paths.payment(place, story));
  await picture(page, "webhooks", paths.webhooks(place));
  await picture(page, "settlement", settlement ? paths.settlement(place, settlement.uuid) : paths.settlements(place));
  await picture(page, "qris", paths.qris(place), async () => {
    await page.getByRole("button", { name: /^Read it: the code of/ }).click();
  });
  await page.emulateMedia({ colorScheme: "dark" });
  await picture(page, "payments-dark", paths.payments(place));
  await context.close();
}

execFileSync(process.execPath, [join(root, "portal/build.ts")], { stdio: "inherit" });
const certificates = await makeCertificates();
const receiver = await Receiver.start(certificates);
const service = await Service.start({
  env: { NODE_EXTRA_CA_CERTS: certificates.caFile, WEBHOOK_ALLOW_HOSTS: "localhost" },
});
try {
  const { demo } = service;
  await operate(demo, "PUT", `/merchants/${demo.merchant_id}/webhook`, { environment: "sandbox", url: receiver.url() });
  const client = new Client(demo);
  const browser = await launchBrowser();
  try {
    // The console comes first: the portal's pictures move its sandbox's clock, and a what-if shows the days of all merchants.
    await takeConsole(browser, demo, await makeBusy(service), into("console"));
    await takePayer(browser, client, into("payer"));
    await takePortal(browser, demo, client, await business(client));
  } finally {
    await browser.close();
  }
} finally {
  await service.discard();
  await receiver.close();
}
