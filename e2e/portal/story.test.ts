// Goal: a person finds a payment, sees everything that happened to it, and moves money once however often they click. Method: whole stories
// in a real browser, by role and name, against a whole service.
import { expect, test } from "vitest";
import { paymentBody } from "../../gateway/test/kit.ts";
import { paths } from "../../portal/src/paths.ts";
import { faults } from "./kit/look.ts";
import { type Member, usePortal, settled } from "./kit/portal.ts";

const portal = usePortal();

const EVIL = `<img src=x onerror="document.title='owned'">`;

async function made(member: Member, changes: Record<string, unknown> = {}): Promise<string> {
  const { json } = await member.client.post("/v1/payments", paymentBody({ amount_minor: 15_000_000, ...changes }));
  return json.reference as string;
}

test("create, pay by simulate, refund, and see the story and the ledger", async () => {
  const member = await portal.member("owner");
  const { page, place, client } = member;
  const reference = await made(member, { description: EVIL, metadata: { note: EVIL }, customer: { name: EVIL } });
  await member.open(paths.payment(place, reference));
  const story = page.getByRole("region", { name: "Story of the payment" });
  await expect.poll(() => story.getByRole("heading", { level: 2 }).allInnerTexts()).toHaveLength(5);
  await member.look("payment-pending");

  await page.getByRole("button", { name: "Simulate" }).click();
  await page.getByRole("button", { name: "Report it" }).dblclick();
  await story.getByRole("heading", { name: "Paid", exact: true }).waitFor();

  await page.getByRole("button", { name: "Refund" }).click();
  const dialog = page.getByRole("dialog", { name: "Refund the payment" });
  await dialog.getByLabel("Amount in IDR").fill("200000");
  await dialog.getByRole("button", { name: "Refund" }).click();
  await dialog.getByText("At most IDR 150,000.00").waitFor();
  await dialog.getByLabel("Amount in IDR").fill("50,000.00");
  await dialog.getByLabel("Reason").fill(EVIL);
  await dialog.getByRole("button", { name: "Refund" }).dblclick();
  await story.getByRole("heading", { name: /^Refunded IDR\s?50,000.00/ }).waitFor();
  expect((await client.get("/v1/refunds")).json.data).toHaveLength(1);
  await settled(page);
  expect(await page.title()).toBe("Payment · Gerbang");
  expect(await faults(page)).toEqual([]);
  await member.look("payment-refunded");
});
