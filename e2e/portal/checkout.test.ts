// Goal: whoever pays by a phone knows what to do, and sees by itself that it is done. Method: the payers' pages in a real browser as an Indonesian phone
// opens them, by role and name; paid from beside, by the page itself, and without scripts.
import { expect, test } from "vitest";
import { paymentBody } from "../../gateway/test/kit.ts";
import { faults, look, showIn } from "./kit/look.ts";
import { PHONE, usePortal } from "./kit/portal.ts";

const portal = usePortal();
const ATTACK = "<img src=x onerror=document.title='owned'>";
const phone = { viewport: PHONE, locale: "id-ID" };

async function made(changes: Record<string, unknown>) {
  const { client } = await portal.service.merchant({ name: `Toko ${ATTACK}` });
  const { json } = await client.post("/v1/payments", paymentBody({ description: ATTACK, ...changes }));
  const path = new URL(json.checkout_url as string).pathname;
  const outcome = (word: string) =>
    client.post(`/v1/sandbox/payments/${json.reference as string}/simulate`, { outcome: word });
  return { json, path, outcome };
}

test.each(["qris", "va", "bank_transfer", "card", "ewallet"])("a phone pays by %s, in Indonesian", async (method) => {
  const { path, outcome } = await made({ payment_method: method });
  const { page } = await portal.guest(phone);
  await page.goto(portal.origin + path);
  await page.getByRole("heading", { name: `Bayar Toko ${ATTACK}` }).waitFor();
  await page.getByText("Sisa waktu").waitFor();
  for (const theme of ["light", "dark"] as const) {
    await showIn(page, theme);
    expect(await faults(page)).toEqual([]);
  }
  await look(page, `payer-${method}`);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE.width);
  if (method === "va") {
    await page.getByText("Lewat ATM").click();
    await page.getByText("Masukkan nomor rekening tanpa spasi.").locator("visible=true").waitFor();
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
  await page.getByRole("button", { name: "Copy: Account number" }).click();
  await page.getByText("Copied").waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(json.instructions.account_number);
  await outcome("processing");
  await page.getByText("Being processed").waitFor();
  await outcome("succeeded");
  await page.getByText("Paid. Thank you.").waitFor();
  await page.getByText("Welcome back at the shop").waitFor();
});

test("without scripts it can be paid as well, and declined it has a calm face", async () => {
  const { path } = await made({ payment_method: "ewallet" });
  const { page } = await portal.guest({ ...phone, javaScriptEnabled: false });
  await page.goto(portal.origin + path);
  await page.getByRole("button", { name: "Tolak" }).click();
  await page.getByText("Tidak ada uang yang diambil.").waitFor();
});
