// The console's screenshots: waiting tasks, the wall, a review, an approval, routing with a what-if, a settlement, a ledger and the trial balance, on a busy service.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { at } from "../../../portal/src/console/paths.ts";
import { uuidOf } from "../../../gateway/src/ground/ids.ts";
import { startEmbedded } from "../../../gateway/src/store/embedded.ts";
import { Client, operate } from "../../kit/client.ts";
import { type Demo, type Service, gerbang } from "../../kit/service.ts";
import { settled } from "../kit/look.ts";
import { smallPng } from "./small-png.ts";
import { calm, writeTraffic } from "./traffic.ts";

/** The demo with the operator's one-time sign-in address. */
type ConsoleDemo = Demo & { console_sign_in: string };

interface Busy {
  ownerUrl: string;
  /** Pays one payment of the busy shop. */
  pay(this: void): Promise<void>;
  /** The merchant and the environment of these objects. */
  book: [merchant: string, environment: string];
  review: string;
  approval: string;
  settlement: string;
}

/** Creates objects that wait for an operator, beside a week of another merchant's payments. */
export async function makeBusy(service: Service): Promise<Busy> {
  const { demo } = service;
  const ask = (method: string, path: string, body?: unknown) => operate(demo, method, path, body);
  const { merchant_id: melati } = await ask("POST", "/merchants", { name: "Toko Melati" });
  const { ownerUrl } = await startEmbedded(service.dataDirectory, false);
  await writeTraffic(ownerUrl, uuidOf(melati));
  await gerbang(["insights", "rebuild"], { GERBANG_DATA: service.dataDirectory });

  const { merchant_id: lasem } = await ask("POST", "/merchants", { name: "Batik Lasem" });
  const keys = await ask("POST", `/merchants/${lasem}/credentials`, { environment: "sandbox" });
  const shop = new Client({ base_url: demo.base_url, client_id: keys.client_id, secret: keys.secret });
  const post = async (path: string, body: unknown = {}) => (await shop.post(path, body)).json;
  const payer = { name: "Dimas Pratama", email: "dimas@mailinator.com" };
  const sale = { amount_minor: 12_500_000, currency: "IDR", payment_method: "va", customer: payer };
  const paid: string[] = [];
  for (let at = 0; at < 9; at++) {
    const customer = at === 8 ? payer : { name: "Dewi Lestari", email: `dewi${at}@batik.example` };
    const changes = { amount_minor: 8_500_000 + at * 1_750_000, reference_id: `kain-${2_301 + at}`, customer };
    const { reference } = await post("/v1/payments", { ...sale, ...changes, payment_method: at % 2 ? "qris" : "va" });
    await post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: at === 4 ? "failed" : "succeeded" });
    if (at !== 4) paid.push(reference);
  }
  const [contested = "", refunded = ""] = paid;
  await post("/v1/refunds", { payment_reference: paid.at(-1), amount_minor: 1_500_000, reason: "One of two was torn" });
  const { uuid } = await post(`/v1/sandbox/payments/${contested}/dispute`, { reason: "product_not_received" });
  const { data: batches } = await post("/v1/sandbox/settlements/run");
  for (const reference_id of ["kain-2313", "kain-2314"]) {
    const customer = { name: "Agus Salim", email: "agus@batik.example" };
    const { reference } = await post("/v1/payments", { ...sale, amount_minor: 21_000_000, reference_id, customer });
    await post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  }
  const large = { ...sale, amount_minor: 6_250_000_000, description: "Kain tulis, 40 lembar" };
  const { error } = await post("/v1/payments", { ...large, reference_id: "kain-2310" });
  await post("/v1/payments", { ...large, amount_minor: 5_400_000_000, reference_id: "kain-2311" });
  // Money that came after its payment was canceled.
  const metadata = { "sandbox.scenario": "auto_success" };
  const late = await post("/v1/payments", { ...sale, payment_method: "qris", reference_id: "kain-2312", metadata });
  await post(`/v1/payments/${late.reference}/cancel`);
  await ask("POST", `/merchants/${lasem}/books/sandbox/disputes/${uuid}/evidence`, {
    statement: "The parcel was handed over on Monday; the courier has the payer's signature.",
    files: [],
  });
  await ask("PUT", "/approvals/policy", {
    version: 0,
    actions: { refund_payment: { above_minor: { IDR: 1_000_000 } } },
  });
  const { token } = await ask("POST", "/tokens", { name: "sari", role: "admin" });
  const asked = await fetch(`${demo.ops_url}/payments/${refunded}/refunds`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "idempotency-key": "ticket-4711", "content-type": "application/json" },
    body: JSON.stringify({ amount_minor: 10_250_000, reason: "Paid twice, ticket 4711" }),
  });
  const { approval } = (await asked.json()) as { approval: { uuid: string } };
  const pay = async (): Promise<void> => {
    const customer = { name: "Agus Salim", email: "agus@batik.example" };
    const { reference } = await post("/v1/payments", { ...sale, reference_id: `kain-${Date.now()}`, customer });
    await post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  };
  return {
    ownerUrl,
    pay,
    book: [lasem, "sandbox"],
    review: error.details.reference,
    approval: approval.uuid,
    settlement: batches[0].uuid,
  };
}

export async function takeConsole(
  browser: Browser,
  demo: Demo,
  { ownerUrl, pay, book, review, approval, settlement }: Busy,
  into: string,
): Promise<void> {
  const { console_sign_in: signIn } = demo as ConsoleDemo;
  const context = await browser.newContext({
    baseURL: new URL(signIn).origin,
    deviceScaleFactor: 1.25,
    locale: "en-GB",
    timezoneId: "Asia/Jakarta",
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  await page.goto(signIn);
  await page.getByRole("heading", { name: /^Welcome/ }).waitFor();
  const picture = async (name: string, path: string, height: number, first?: () => Promise<void>): Promise<void> => {
    await page.setViewportSize({ width: name.startsWith("wall") ? 1600 : 1280, height });
    await page.goto(`/console${path}`);
    await settled(page);
    await first?.();
    await page.mouse.move(0, 0);
    await page.waitForTimeout(700); // plots draw themselves after the data
    const file = join(into, `${name}.png`);
    writeFileSync(file, smallPng(await page.screenshot()));
    console.log(file);
  };
  await picture("review", at.review(review), 860);
  await picture("approval", at.approval(approval), 860);
  await picture("routing", at.routing(), 1120, async () => {
    await page.getByRole("button", { name: "Add a rule" }).click();
    await page.getByLabel("Rule 7: acquirer", { exact: true }).selectOption("cendana");
    await page.getByLabel("Rule 7: method").selectOption("qris");
    await page.getByLabel("Rule 7: priority").fill("5");
    await page.getByRole("button", { name: "What if?" }).click();
    await page.getByText("Payments that would move").waitFor({ timeout: 60_000 });
  });
  await picture("settlement", at.settlement(...book, settlement), 860);
  await picture("ledger", at.ledger(...book), 960, async () => {
    await page.getByRole("button", { name: "Verify the book" }).click();
    await page.getByText("replayed, and every total").waitFor();
  });
  await picture("trial-balance", at.trialBalance("sandbox"), 960);
  const paying = setInterval(() => void pay(), 1_500);
  try {
    const isPaid = async (): Promise<void> => {
      await page.waitForFunction(() => /Payments a minute\s*[1-9]/.test(document.body.innerText));
    };
    await page.goto(`/console${at.home()}`);
    await page.getByText("Late money").waitFor();
    await calm(ownerUrl);
    await picture("home", at.home(), 860, isPaid);
    await calm(ownerUrl);
    await page.emulateMedia({ colorScheme: "dark" });
    await picture("wall-dark", at.wallScreen(), 900, isPaid);
  } finally {
    clearInterval(paying);
  }
  await context.close();
}
