// Goal: an owner lets people in and shows the business as it should be seen; a developer makes a payment, pays it, moves time, and reads its code.
// Method: whole stories in a real browser, by role and name. Names that others typed are script, and must stay text.
import { randomBytes } from "node:crypto";
import { deflateSync } from "node:zlib";
import { afterAll, expect, test } from "vitest";
import { type Action, actionsOf } from "../../gateway/src/people/roles.ts";
import { meaningOf, roles } from "../../portal/src/pages/settings/team/roles.ts";
import { paths } from "../../portal/src/paths.ts";
import { pngOf } from "../../gateway/test/files.ts";
import { mailServer } from "../../gateway/test/mail-server.ts";
import { paymentBody } from "../../gateway/test/kit.ts";
import { PASSWORD } from "../../gateway/test/portal.ts";
import { type Member, usePortal } from "./kit/portal.ts";

const mail = await mailServer();
afterAll(mail.close);
const portal = usePortal({ config: { mail: { url: mail.url, from: "portal@pay.example" } } });
const ATTACK = "<img src=x onerror=document.title='owned'>";

/** What somebody would see who was attacked successfully: a picture of the attacker's, or another title. */
async function isText({ page }: Pick<Member, "page">): Promise<void> {
  expect(await page.locator('img[src="x"]').count()).toBe(0);
  expect(await page.title()).not.toBe("owned");
}

test("what is said of each role of a team is what it may do in production", () => {
  const said: [sentence: RegExp, action: Action][] = [
    [/creates, cancels/i, "payments:write"],
    [/refunds payments/i, "refunds:write"],
    [/answers disputes/i, "disputes:write"],
    [/makes keys/i, "credentials:write"],
    [/sets webhooks/i, "webhooks:write"],
    [/reads[^.]* balances/i, "balances:read"],
    [/reads[^.]* settlements/i, "settlements:read"],
    [/reads[^.]* events/i, "events:read"],
    [/reads[^.]* requests/i, "requests:read"],
  ];
  for (const role of roles.filter((one) => one !== "owner"))
    for (const [sentence, action] of said) {
      const says = sentence.test(meaningOf[role]);
      expect([role, action, says]).toEqual([role, action, actionsOf(role, "production").has(action)]);
    }
});

test("a merchant reads when payments become a payout, and on which days no batch is formed", async () => {
  const { merchantId, page, place, open } = await portal.member("finance");
  const settlement = { delay_days: 0, closed_weekdays: [0], holidays: ["2027-03-10"], pay_after_seconds: 172_800 };
  await portal.service.operate("PATCH", `/merchants/${merchantId}`, { settlement });
  await open(paths.settings(place));
  const fact = (name: string) => page.getByRole("term").filter({ hasText: name }).locator("xpath=..");
  // The day that ends at midnight is over when the next begins.
  await fact("Put into a batch").getByText("1 day after the payment (T+1); a day ends at 00:00 (UTC+07:00)").waitFor();
  expect(await fact("No batch on").innerText()).toContain("Sunday, Wed, 10 Mar 2027");
  await fact("From a batch to its payout").getByText("2 days").waitFor();
});

test("an owner invites a viewer by a link that is shown once, changes their role and removes them", async () => {
  const owner = await portal.member("owner");
  const { page, place, open, look } = owner;
  await open(paths.team(place));
  await page.getByRole("button", { name: "Invite somebody" }).click();
  await page.getByRole("dialog").getByLabel("Role").selectOption("viewer");
  await page.getByRole("button", { name: "Make the link" }).click();
  await page.getByText("It is shown only once.").waitFor();
  const link = (await page.getByRole("region", { name: "the link" }).textContent()) ?? "";
  expect(link).toContain("/portal/invitation#");
  await look("team-invited");
  await page.getByRole("button", { name: "Done" }).click();
  expect(await page.getByText(link).count()).toBe(0);
  await page.getByRole("region", { name: "Invitations" }).getByText("whoever has the link").waitFor();

  // Whoever it is calls themselves what they like.
  const viewer = await portal.guest();
  const token = link.split("#")[1];
  const answer = await viewer.page.request.post(`${portal.origin}/portal/v1/invitations/accept`, {
    headers: { origin: portal.origin, "sec-fetch-site": "same-origin", "content-type": "application/json" },
    data: { token, email: "tamu@people.example", name: ATTACK, password: PASSWORD },
  });
  expect(answer.status()).toBe(200);

  // What a viewer may not is not offered, and is refused where its address is known.
  await viewer.open(paths.team(place));
  expect(await viewer.page.getByRole("button", { name: /Invite|Remove|Role/ }).count()).toBe(0);
  const nav = viewer.page.getByRole("navigation").first();
  expect(await nav.getByRole("link", { name: "Audit log" }).count()).toBe(0);
  expect(await nav.getByRole("link", { name: "Clock" }).count()).toBe(0);
  await viewer.open(paths.create(place));
  await viewer.page.getByText("Your role cannot create payments here").waitFor();
  await viewer.open(paths.audit(place));
  await viewer.page.getByRole("alert").getByText("FORBIDDEN").waitFor();
  await viewer.open(paths.settings(place));
  expect(await viewer.page.getByRole("button", { name: "Save" }).count()).toBe(0);

  await open(paths.team(place));
  await page.getByRole("cell", { name: `${ATTACK} tamu@people.example` }).waitFor();
  await isText(owner);
  await page.getByRole("button", { name: `Change the role of ${ATTACK}` }).click();
  await page.getByRole("dialog").getByLabel("Role").selectOption("finance");
  await page.getByRole("button", { name: "Change the role", exact: true }).click();
  await page
    .getByRole("region", { name: "Members" })
    .last()
    .getByRole("cell", { name: "finance", exact: true })
    .waitFor();
  await look("team");
  await page.getByRole("button", { name: `Remove ${ATTACK}` }).click();
  await page.getByRole("button", { name: "Remove the member" }).click();
  // While the dialog is open nothing behind it has a role.
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByRole("button", { name: `Remove ${ATTACK}` }).waitFor({ state: "detached" });

  await open(paths.audit(place));
  await page.getByRole("button", { name: "remove member" }).click();
  await page.getByRole("dialog").getByText("DELETE /portal/v1/team/").waitFor();
  await isText(owner);
  await look("audit-entry");
});

test("an owner is told whether a letter went to whom they invite", async () => {
  const { page, place, open, look } = await portal.member("owner");
  await open(paths.team(place));
  await page.getByRole("button", { name: "Invite somebody" }).click();
  await page.getByLabel("E-mail").fill("tamu@toko.example");
  await page.getByRole("button", { name: "Make the link" }).click();
  await page.getByText("An e-mail with this link is on its way to tamu@toko.example.").waitFor();
  await look("team-mailed");
  expect(mail.recipients).toEqual(["<tamu@toko.example>"]);
  const link = (await page.getByRole("region", { name: "the link" }).textContent()) ?? "";
  expect(mail.taken.join("").replaceAll("=\n", "")).toContain(link.split("#")[1]);

  // Both entries of the audit, the call and what it did, say whom it was for.
  await open(paths.audit(place));
  for (const action of ["invite", "invited"]) {
    const row = page.getByRole("row").filter({ has: page.getByRole("button", { name: action, exact: true }) });
    await row.getByText("tamu@toko.example").locator("visible=true").waitFor();
  }
  await look("audit-invited");
  await page.getByRole("button", { name: "invite", exact: true }).click();
  await page.getByRole("dialog").getByText("tamu@toko.example").first().waitFor();
  expect(await page.getByRole("dialog").innerText()).not.toContain("#");
});

test("an owner takes an invitation back, and is told that the last owner stays", async () => {
  const { page, place, open, requests } = await portal.member("owner");
  await requests.post("/portal/v1/team/invitations", { role: "support", email: "budi@toko.example" });
  await open(paths.team(place));
  await page.getByRole("button", { name: "Take back the invitation for budi@toko.example" }).click();
  await page.getByRole("button", { name: "Take it back" }).click();
  await page.getByText("No open invitations").waitFor();
  await page.getByRole("button", { name: /^Remove / }).click();
  await page.getByRole("button", { name: "Leave" }).click();
  await page.getByRole("dialog").getByRole("alert").waitFor();
  expect((await requests.get("/portal/v1/team")).json.data).toHaveLength(1);
});

test("an owner names and brands the business, and a payer sees it", async () => {
  const owner = await portal.member("owner");
  const { page, place, open, look, client } = owner;
  await open(paths.settings(place));
  await page.getByLabel("Name").fill(`Toko ${ATTACK}`);
  await page.getByLabel("Time zone").selectOption("Asia/Makassar");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("The settings are saved.").waitFor();
  await isText(owner);
  await look("settings");
  await open(paths.audit(place));
  expect(await page.locator("time").first().getAttribute("title")).toContain("shown in Asia/Makassar");

  await open(paths.branding(place));
  const file = (name: string, buffer: Buffer) =>
    page.getByLabel("Picture").setInputFiles({ name, mimeType: "image/png", buffer });
  await file("logo.png", Buffer.from("<script>alert(1)</script>"));
  await page.getByRole("alert").getByText("This is neither a PNG nor a JPEG.").waitFor();
  await file("logo.png", Buffer.alloc(200_000));
  await page.getByRole("alert").getByText("This is neither a PNG nor a JPEG.").waitFor();
  // A picture of noise, which stays large as a PNG whatever its size.
  const pixels = deflateSync(randomBytes(2_501 * 700).map((value, at) => (at % 2_501 === 0 ? 0 : value)));
  await file("logo.png", pngOf(2_500, 700, { pixels }));
  await page.getByRole("img", { name: "Your logo" }).and(page.locator('[width="432"][height="121"]')).waitFor();
  await file("logo.png", pngOf(120, 40));
  const shown = page.getByRole("img", { name: "Your logo" }).and(page.locator('[width="120"]'));
  expect(await shown.evaluate((img: HTMLImageElement) => img.naturalWidth)).toBe(120);
  await page.getByRole("textbox", { name: "Colour" }).fill("red");
  await page.getByRole("button", { name: "Save the colour" }).click();
  await page.getByText("Enter a colour as # and six hex digits.").waitFor();
  await page.getByRole("textbox", { name: "Colour" }).fill("#FFE08A");
  await page.getByRole("button", { name: "Save the colour" }).click();
  await page.getByRole("img", { name: "The button, in #ffe08a" }).waitFor();
  await look("branding");

  const made = await client.post("/v1/payments", {
    amount_minor: 5_000_000,
    currency: "IDR",
    payment_method: "ewallet",
    reference_id: "branded",
  });
  const payer = await portal.guest();
  const address = new URL(made.json.instructions.redirect_url as string);
  await payer.page.goto(portal.origin + address.pathname);
  expect(await payer.page.locator("img.logo").evaluate((img: HTMLImageElement) => img.naturalWidth)).toBe(120);
  const approve = payer.page.getByRole("button", { name: "Pay", exact: true });
  expect(await approve.evaluate((button) => getComputedStyle(button).backgroundColor)).toBe("rgb(255, 224, 138)");
  await payer.page.getByRole("heading", { name: `Pay Toko ${ATTACK}` }).waitFor();
  await isText(payer);
});

test("a developer creates a payment by the form while the code follows, pays it, and lets time pass", async () => {
  const developer = await portal.member("developer");
  const { page, place, open, look, requests, merchantId } = developer;
  await portal.service.app.merchants.patch(merchantId, { settlement: { delay_days: 1 } });
  await open(paths.create(place));
  await page.getByLabel("Amount").fill("75,000.00");
  await page.getByLabel("Your reference").fill("order '1'");
  await page.getByLabel("Description").fill(ATTACK);
  const curl = page.getByRole("region", { name: "the call in curl" });
  await expect.poll(() => curl.textContent()).toContain('"amount_minor": 7500000');
  expect(await curl.textContent()).toContain(String.raw`"reference_id": "order '\''1'\''"`);
  await page.getByRole("tab", { name: "Python" }).click();
  const python = page.getByRole("region", { name: "the call in Python" });
  expect(await python.textContent()).toContain(`"description": "${ATTACK}"`);
  for (const language of ["TypeScript", "PHP", "Go", "Java"]) await page.getByRole("tab", { name: language }).click();
  await look("create");

  await page.getByLabel("Amount").fill("1.234");
  await page.getByRole("button", { name: "Create the payment" }).click();
  expect((await requests.get("/portal/v1/payments")).json.data).toEqual([]);
  await page.getByLabel("Amount").fill("75000");
  // A fault of a field that is folded away unfolds it, whoever finds the fault: the page, or the service.
  const fold = page.getByText("Customer, expiry, addresses, metadata");
  for (const [label, wrong, fault] of [
    ["Seconds to pay in", "soon", "Enter a whole number of seconds."],
    ["Customer's telephone", "0812", "Must be + and 8 to 15 digits."],
  ] as const) {
    if (!(await page.getByLabel(label).isVisible())) await fold.click();
    await page.getByLabel(label).fill(wrong);
    await fold.click();
    await page.getByRole("button", { name: "Create the payment" }).click();
    await page.getByText(fault).locator("visible=true").first().waitFor();
    await page.getByLabel(label).fill("");
  }
  await page.getByRole("button", { name: "Create the payment" }).dblclick();
  const made = page.getByRole("region", { name: "The payment" });
  await made.getByText("pending").waitFor();
  await made.getByRole("img", { name: "The QRIS code of the payment" }).waitFor();
  await look("created");
  await made.getByRole("button", { name: "Pay it" }).click();
  await made.getByText("succeeded").waitFor();
  await isText(developer);
  expect((await requests.get("/portal/v1/payments")).json.data).toMatchObject([
    { amount_minor: 7_500_000, status: "succeeded", reference_id: "order '1'" },
  ]);
  // A payment that is held for review is not offered to be paid. Its payer would be the next one's, too, so that stays in sight.
  await fold.click();
  await page.getByLabel("Customer's e-mail").fill("sari@review.test");
  await page.getByRole("button", { name: "Create the payment" }).click();
  await made.getByText("Nobody can pay it yet").waitFor();
  expect(await made.getByRole("button", { name: "Pay it" }).count()).toBe(0);
  expect(await page.getByLabel("Customer's e-mail").inputValue()).toBe("sari@review.test");
  await page.getByLabel("Customer's e-mail").fill("");
  // What the service refuses is said at its field, and what was typed stays.
  await page.getByLabel("Your reference").fill("order '1'");
  await page.getByRole("button", { name: "Create the payment" }).click();
  await page.getByRole("alert").getByText("REFERENCE_ID_DUPLICATE").waitFor();
  expect(await page.getByLabel("Your reference").inputValue()).toBe("order '1'");

  await requests.post("/portal/v1/payments", {
    amount_minor: 100_000,
    currency: "IDR",
    payment_method: "va",
    reference_id: "waits",
    expires_in: 3600,
  });
  await open(paths.clock(place));
  await page.getByText("not at all").waitFor();
  await page.getByRole("button", { name: /^Move the clock by (1 hour|\d+ minutes.*): A payment expires$/ }).click();
  const happened = page.getByRole("region", { name: "What fell due" });
  await happened.getByRole("link", { name: "payment.expired" }).waitFor();
  await look("clock");
  await page.getByRole("button", { name: "+ 7 days" }).click();
  await happened.getByRole("link", { name: "settlement.paid" }).waitFor();
});

test("a QRIS code goes round: composed, read, changed and caught; a payment's own is paid from its picture", async () => {
  const developer = await portal.member("developer");
  const { page, place, open, look, client } = developer;
  await client.post("/v1/payments", {
    amount_minor: 12_345_600,
    currency: "IDR",
    payment_method: "qris",
    reference_id: ATTACK,
  });
  await open(paths.qris(place));
  await page.getByRole("button", { name: `Read it: the code of ${ATTACK}` }).click();
  await page.getByRole("row", { name: "54 Amount 123456.00" }).waitFor();
  await page.getByText("whole", { exact: true }).waitFor();
  await look("qris");
  const payment = page.getByRole("region", { name: "The payment of the code" });
  await payment.getByRole("button", { name: "Pay it" }).click();
  await payment.getByText("succeeded").waitFor();
  await isText(developer);

  await page.getByText("Name, city, amount, and who is paid").click();
  await page.getByLabel("Merchant's name").fill("Kedai Kopi");
  await page.getByRole("button", { name: "Compose" }).click();
  await page.getByRole("row", { name: "59 Merchant's name KEDAI KOPI" }).waitFor();
  await page.getByRole("img", { name: "The picture of the code" }).waitFor();
  await page.getByText("No payment in this sandbox has this code.").waitFor();
  const field = page.getByLabel("The text of the code");
  await field.fill((await field.inputValue()).replace("KEDAI KOPI", "KEDAI TEH!"));
  await page.getByRole("button", { name: "Read it", exact: true }).first().click();
  await page.getByText(/something in it was changed/).waitFor();
  await field.fill(ATTACK);
  await page.getByRole("button", { name: "Read it", exact: true }).first().click();
  await page.getByText(/stands no tag and length/).waitFor();
  await isText(developer);
});

test("an owner has a payer forgotten: found by telephone, erased after a question, and found no more", async () => {
  const { page, place, open, look, client } = await portal.member("owner");
  const phone = "+628119998877";
  const made = await client.post("/v1/payments", paymentBody({ customer: { name: ATTACK, phone } }));
  const reference = made.json.reference as string;
  await open(paths.payers(place));
  await page.getByLabel("E-mail address or telephone").fill("nobody");
  await page.getByRole("button", { name: "Find the payments" }).click();
  await page.getByText("Enter an e-mail address with one @").waitFor();
  await page.getByLabel("E-mail address or telephone").fill(phone);
  await page.getByRole("button", { name: "Find the payments" }).click();
  await page.getByRole("link", { name: "one payment" }).waitFor();
  await look("payer-found");
  await page.getByRole("button", { name: "Erase this payer" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Erase the payer" }).click();
  await page.getByText("Erased from one payment.").waitFor();
  await page.getByText(`No payment here has ${phone}.`).waitFor();
  await open(paths.payment(place, reference));
  await page.getByText(reference).first().waitFor();
  expect(await page.getByText(phone).count()).toBe(0);
});
