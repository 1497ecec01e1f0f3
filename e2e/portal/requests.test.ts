// Goal: a developer sees why a request was refused, and what a key did when it was sent again; what strangers wrote stays text, and nothing private is shown.
// Method: whole stories in a real browser, by role and name, against a whole service.
import { expect, test } from "vitest";
import { paymentBody } from "../../gateway/test/kit.ts";
import { paths } from "../../portal/src/paths.ts";
import { faults } from "./kit/look.ts";
import { PHONE, settled, usePortal } from "./kit/portal.ts";

const portal = usePortal({ roles: ["api"] });

const EVIL = `<img src=x onerror="document.title='owned'">`;

test("requests appear by themselves, with the doctor's word, and nothing private", async () => {
  const member = await portal.member("developer");
  const { page, place, client } = member;
  await member.open(paths.requests(place));
  await page.getByRole("heading", { name: "No requests yet" }).waitFor();
  await member.look("requests-empty");

  const customer = { name: "Budi Santoso", email: "budi@pembeli.example", phone: "+6281234567890" };
  await client.post("/v1/payments", paymentBody({ description: EVIL, customer }));
  await client.post("/v1/payments", paymentBody({ amount_minor: 0 }));
  const body = JSON.stringify(paymentBody());
  const now = String(Date.now());
  await client.post("/v1/payments", body, { headers: { "x-timestamp": now, "x-signature": client.sign(now, body) } });
  await client.get(`/v1/payments/${encodeURIComponent(EVIL)}`);
  await page.getByText("OBJECT_NOT_FOUND").or(page.getByText("PAYMENT_NOT_FOUND")).waitFor();
  await page.getByText("INVALID_AMOUNT").waitFor();
  await member.look("requests");
  expect(await faults(page)).toEqual([]);

  await page.getByLabel("Outcome").selectOption("refused");
  await page.getByText("INVALID_AMOUNT").waitFor();
  await page.getByText("201", { exact: true }).waitFor({ state: "detached" });
  await page.getByRole("row").filter({ hasText: "INVALID_AMOUNT" }).getByRole("link").click();
  // The message of the answer, whole, above the bodies.
  await page.getByText(/^amount_minor must be /).waitFor();
  await page.goBack();
  await page.getByRole("row").filter({ hasText: "unproven" }).getByRole("link").click();
  await page.getByRole("region", { name: "Why the signature was refused" }).getByText("milliseconds").first().waitFor();
  await settled(page);
  await member.look("request-refused");
  expect(await faults(page)).toEqual([]);

  await member.open(paths.requests(place));
  await page.getByRole("row").filter({ hasText: "201" }).getByRole("link").click();
  const request = page.getByRole("region", { name: "Request, body" });
  await request.getByText("<img src=x onerror=").waitFor(); // as JSON, with its quotes escaped
  const shown = await page.locator("main").innerText();
  for (const mark of ["Budi", "pembeli", "812345", client.credentials.secret]) expect(shown).not.toContain(mark);
  await page.getByRole("link", { name: "Open the payment" }).waitFor();
  expect(await page.title()).toBe("POST /v1/payments · gerbang");
  await member.look("request");
});

test("a key: its first request, the replay, and what the conflict changed", async () => {
  const member = await portal.member("support", { browser: { viewport: PHONE } });
  const { page, place, client } = member;
  await member.open(paths.idempotency(place));
  await page.getByRole("heading", { name: "No keys yet" }).waitFor();
  const key = `order/1042 "${EVIL}" 100%`;
  const sent = paymentBody({ amount_minor: 15_000_000 });
  await client.post("/v1/payments", sent, { key });
  await client.post("/v1/payments", sent, { key });
  await client.post("/v1/payments", { ...sent, amount_minor: 16_000_000 }, { key });
  await expect
    .poll(async () => (await member.requests.get("/portal/v1/idempotency-keys")).json.data[0]?.requests, {
      timeout: 30_000,
    })
    .toBe(3);

  await page.getByLabel("Idempotency-Key").fill("no-such-key-anywhere");
  await page.getByRole("button", { name: "Look up" }).click();
  await page.getByRole("heading", { name: "Not found" }).waitFor();
  await member.open(paths.idempotency(place));
  await member.look("idempotency");
  expect(await faults(page)).toEqual([]);
  await page.getByRole("link", { name: key }).click();
  const changed = page.getByRole("region", { name: "What the conflict changed" });
  await changed.getByText("amount_minor:").waitFor();
  expect(await changed.locator("del").allInnerTexts()).toEqual(["15000000"]);
  expect(await changed.locator("ins").allInnerTexts()).toEqual(["16000000"]);
  const uses = page.getByRole("region", { name: "Requests", exact: true }).getByRole("listitem");
  expect(await uses.count()).toBe(3);
  expect(await uses.nth(1).innerText()).toContain("same bytes");
  expect(await uses.nth(2).innerText()).toContain("IDEMPOTENCY_CONFLICT");
  expect(await page.title()).toBe("Idempotency key · gerbang");
  await settled(page);
  await member.look("idempotency-key");
  expect(await faults(page)).toEqual([]);
  await uses.nth(2).getByRole("link").click();
  await page.getByRole("link", { name: key }).waitFor();
});
