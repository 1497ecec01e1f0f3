// Two screenshots of the payer's page on a phone: a QR code in English, a virtual account in Indonesian.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import type { Client } from "../../kit/client.ts";
import { smallPng } from "./small-png.ts";

export async function takePayer(browser: Browser, client: Client, into: string): Promise<void> {
  const sale = { amount_minor: 7_500_000, currency: "IDR", description: "Two bags of coffee" };
  for (const [method, locale] of [
    ["qris", "en-GB"],
    ["va", "id-ID"],
  ] as const) {
    const { json } = await client.post("/v1/payments", {
      ...sale,
      payment_method: method,
      reference_id: `order-${method}`,
    });
    const context = await browser.newContext({
      viewport: { width: 390, height: 844 },
      deviceScaleFactor: 1.25,
      locale,
      timezoneId: "Asia/Jakarta",
    });
    const page = await context.newPage();
    await page.goto(json.checkout_url as string);
    const file = join(into, `${method}.png`);
    writeFileSync(file, smallPng(await page.screenshot()));
    console.log(file);
    await context.close();
  }
}
