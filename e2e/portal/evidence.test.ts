// Goal: a dispute is answered with a PDF and a photo before its deadline, and won; nothing that comes with files or texts does anything.
// Method: the whole story in a real browser, and people who try.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { jpegOf, pdfOf, pngOf } from "../../gateway/test/files.ts";
import { paymentBody } from "../../gateway/test/kit.ts";
import { at } from "../../portal/src/console/paths.ts";
import { paths } from "../../portal/src/paths.ts";
import type { Client } from "../kit/client.ts";
import { faults } from "./kit/look.ts";
import { hold } from "./kit/hold.ts";
import { PHONE, settled, usePortal } from "./kit/portal.ts";

const portal = usePortal();

const ATTACK = '<img src=x onerror="document.title=`broken`">';

/** A contested payment of the merchant. */
async function disputed(client: Client, amountMinor = 10_000_000): Promise<string> {
  const { reference } = (await client.post("/v1/payments", paymentBody({ amount_minor: amountMinor }))).json;
  await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  const { json } = await client.post(`/v1/sandbox/payments/${reference}/dispute`, { reason: "product_not_received" });
  return json.uuid as string;
}

const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name, exact: true });
const kept = (page: Page) => page.getByRole("list", { name: "Files" }).getByRole("listitem");
const add = (page: Page, ...files: { name: string; mimeType: string; buffer: Buffer }[]) =>
  page.getByLabel("Add files").setInputFiles(files);
const pdf = (name: string, buffer = pdfOf("Resi 1042")) => ({ name, mimeType: "application/pdf", buffer });

test("a dispute is answered with a PDF and a photo before its deadline, and won", async () => {
  const { page, place, client, open, look } = await portal.member("owner");
  await open(paths.disputes(place));
  await page.getByRole("heading", { name: "No disputes" }).waitFor();
  await look("disputes-none");
  const uuid = await disputed(client);
  await open(paths.disputes(place));
  await look("disputes");
  await page.getByRole("link", { name: uuid }).click();
  await page.getByRole("timer", { name: "Time left to answer" }).waitFor();
  expect(await page.getByRole("timer").textContent()).toMatch(/^(?:6 days 23:59:\d\d|7 days 00:00:00)$/);
  await page.getByText("never arrived").waitFor();

  // The draft keeps itself, whatever happens to the page.
  await page.getByLabel("Statement").fill(`It was signed for. ${ATTACK}`);
  await page.getByLabel("Carrier").fill("JNE");
  await page.getByLabel("Delivered on").fill("2026-11-20");
  await page.getByText(/^Draft kept/).waitFor();
  await page.reload();
  await settled(page);
  expect(await page.getByLabel("Statement").inputValue()).toBe(`It was signed for. ${ATTACK}`);

  const name = `resi ${ATTACK.replace("/", "")}.pdf`;
  await add(page, pdf(name), { name: "foto.jpg", mimeType: "image/jpeg", buffer: jpegOf(4000, 3000, 400_000) });
  await expect
    .poll(() =>
      kept(page)
        .filter({ has: button(page, /^Remove/) })
        .count(),
    )
    .toBe(2);
  expect(await kept(page).allInnerTexts()).toEqual(
    expect.arrayContaining([expect.stringContaining(name), expect.stringMatching(/foto\.jpg\s+JPEG, 391 KiB/)]),
  );
  expect(await faults(page)).toEqual([]);
  await look("dispute-answer");

  const saving = page.waitForEvent("download");
  await button(page, "Download foto.jpg").click();
  expect((await saving).suggestedFilename()).toBe("foto.jpg");

  await button(page, "Submit…").click();
  const question = page.getByRole("dialog", { name: "Submit your answer?" });
  await question.getByText("The statement and 2 files go to whoever decides").waitFor();
  await look("dispute-submit");
  // As in the form of a refund, what acts comes first.
  expect(await question.getByRole("button").allInnerTexts()).toEqual(["", "Submit it", "Back"]);
  // Whoever presses twice submits once.
  await question.getByRole("button", { name: "Submit it" }).dblclick();
  await page.getByText("Your answer is submitted", { exact: true }).waitFor();
  await page.getByText(`It was signed for. ${ATTACK}`).waitFor();
  await page.getByLabel("Add files").waitFor({ state: "detached" });
  await look("dispute-submitted");
  expect((await client.get("/v1/events?type=dispute.updated")).json.data).toHaveLength(1);

  await button(page, "Decide for the merchant").click();
  await page.getByText("You won").waitFor();
  expect(await faults(page)).toEqual([]);
  await look("dispute-won");
  expect((await client.get(`/v1/disputes/${uuid}`)).json.outcome).toBe("won");
  expect((await client.get("/v1/balances")).json.data[0].held_minor).toBe(0);
  expect(await page.title()).toBe("Dispute · gerbang");
});

test("a file that calls itself a program is saved as what it is, by the merchant and by the operator", async () => {
  const { page, place, client, merchantId, requests, open } = await portal.member("owner");
  const uuid = await disputed(client);
  await open(paths.dispute(place, uuid));
  // To a browser on a desktop a page, and a program to Windows: the scripts in it are real.
  const both = Buffer.concat([
    Buffer.from("%PDF-1.7\n<html><script>alert(1)</script></html>\n"),
    pdfOf("x").subarray(9),
  ]);
  for (const name of ["resi.html", "resi.hta"]) await add(page, pdf(name, both));
  const saved = async (shown: Page, name: string | RegExp): Promise<string> => {
    const saving = shown.waitForEvent("download");
    await button(shown, name).click();
    return (await saving).suggestedFilename();
  };
  expect(await saved(page, "Download resi.html")).toBe("resi.html.pdf");
  expect(await saved(page, "Download resi.hta")).toBe("resi.hta.pdf");
  await requests.send("PUT", `/portal/v1/disputes/${uuid}/evidence`, { statement: "See the files." });
  await requests.post(`/portal/v1/disputes/${uuid}/evidence/submit`);
  const operator = await portal.operator("support");
  await operator.open(at.dispute(merchantId, "sandbox", uuid));
  expect(await saved(operator.page, /^resi\.html/)).toBe("resi.html.pdf");
  expect(await saved(operator.page, /^resi\.hta/)).toBe("resi.hta.pdf");
});

test("files that are not what they say are refused one by one in a sentence, on a phone too, and the others are kept", async () => {
  const { page, place, client, open, look, requests } = await portal.member("support", {
    browser: { viewport: PHONE },
  });
  const uuid = await disputed(client);
  await open(paths.dispute(place, uuid));
  const tooLarge = Buffer.concat([pdfOf("x"), Buffer.alloc(10 * 1024 * 1024 + 1 - pdfOf("x").length, 0x20)]);
  await add(
    page,
    pdf("setup.pdf", Buffer.from("MZ\x90\0this program cannot be run in DOS mode")),
    pdf("kosong.pdf", Buffer.alloc(0)),
    pdf("besar.pdf", tooLarge),
    { name: "bomb.png", mimeType: "image/png", buffer: pngOf(50_000, 50_000, { pixels: Buffer.alloc(9) }) },
    pdf("baik.pdf"),
  );
  const refusal = (name: string) => kept(page).filter({ hasText: name }).getByRole("alert");
  expect(await refusal("setup.pdf").textContent()).toContain("This is a Windows program, whatever its name says.");
  expect(await refusal("kosong.pdf").textContent()).toBe("The file is empty.");
  expect(await refusal("besar.pdf").textContent()).toContain("10,485,761 bytes");
  expect(await refusal("bomb.png").textContent()).toContain("50000 × 50000 pixels");
  await button(page, "Remove baik.pdf").waitFor();
  expect(await faults(page)).toEqual([]);
  await look("dispute-refused");
  for (const name of ["setup.pdf", "kosong.pdf", "besar.pdf", "bomb.png"])
    await button(page, `Dismiss ${name}`).click();
  await button(page, "Remove baik.pdf").click();
  await expect.poll(() => kept(page).count()).toBe(0);

  // Without a statement nothing is submitted.
  await button(page, "Submit…").click();
  await page.getByText("A statement is needed.").waitFor();
  expect((await requests.post(`/portal/v1/disputes/${uuid}/evidence/submit`)).status).toBe(422);
});

test("a file whose answer was lost may have arrived, and what something else answered says nothing of it", async () => {
  const { page, place, client, open } = await portal.member("owner");
  portal.tolerate(/net::ERR_FAILED/);
  await open(paths.dispute(place, await disputed(client)));
  // A request that is handed on loses where it came from, by which the service knows its own pages.
  await page.route("**/evidence/files", async (route) => {
    const answer = await route.fetch({ headers: { ...route.request().headers(), "sec-fetch-site": "same-origin" } });
    expect(answer.status()).toBe(201);
    await route.abort();
  });
  await add(page, pdf("resi.pdf"));
  await page.getByRole("alert").getByText("The file may have arrived all the same", { exact: false }).waitFor();
  await button(page, /^Remove resi.pdf/).waitFor();
  await button(page, "Dismiss resi.pdf").click();
  await page.unroute("**/evidence/files");
  await page.route("**/evidence/files", (route) => route.fulfill({ contentType: "text/html", body: "<html>Sign in" }));
  await add(page, pdf("faktur.pdf"));
  await page.getByRole("alert").getByText("The file may have arrived all the same", { exact: false }).waitFor();
  await button(page, "Dismiss faktur.pdf").click();
  expect(await kept(page).count()).toBe(1);
});

test("a double click removes one file, and what is said of a file that somebody else removed stands at no other", async () => {
  const { page, place, client, requests, open } = await portal.member("owner");
  const uuid = await disputed(client);
  await open(paths.dispute(place, uuid));
  for (const name of ["satu.pdf", "dua.pdf", "tiga.pdf"]) {
    await add(page, pdf(name));
    await button(page, `Remove ${name}`).waitFor();
  }
  // The second press comes when the next file has moved up to the same place.
  const first = await button(page, "Remove satu.pdf").boundingBox();
  const [x, y] = [(first?.x ?? 0) + 10, (first?.y ?? 0) + 10];
  await page.mouse.move(x, y);
  await page.mouse.down({ clickCount: 1 });
  await page.mouse.up({ clickCount: 1 });
  await button(page, "Remove satu.pdf").waitFor({ state: "detached" });
  // The keyboard goes on below the list, and not at the top of the page.
  expect(await page.getByLabel("Add files").evaluate((input) => input === document.activeElement)).toBe(true);
  await page.mouse.down({ clickCount: 2 });
  await page.mouse.up({ clickCount: 2 });

  await hold(page, "**/evidence", async () => {
    const { files } = (await requests.get(`/portal/v1/disputes/${uuid}/evidence`)).json;
    expect(files.map(({ name }: { name: string }) => name)).toEqual(["dua.pdf", "tiga.pdf"]);
    await requests.send("DELETE", `/portal/v1/disputes/${uuid}/evidence/files/${files[0].file_id}`);
    await button(page, "Remove dua.pdf").click();
  });
  await page.getByText("The evidence has no such file.").waitFor();
  await expect.poll(() => kept(page).count()).toBe(1);
  expect(await kept(page).getByRole("alert").count()).toBe(0);
});

test("the deadline passes while the page is open: nothing is taken any more, and the page says so", async () => {
  const { page, place, client, open, look } = await portal.member("finance");
  const uuid = await disputed(client);
  await open(paths.dispute(place, uuid));
  await page.getByLabel("Statement").fill("Too late.");
  await page.getByText(/^Draft kept/).waitFor();
  await hold(page, /\/portal\/v1\/disputes\//, async () => {
    await client.post("/v1/sandbox/clock/advance", { seconds: 8 * 24 * 3600 });
    await button(page, "Submit…").click();
  });
  // In the form, or above the page once it is gone.
  await page.getByText("The dispute no longer awaits this step", { exact: false }).first().waitFor();
  await page.reload();
  await settled(page);
  await page.getByText("You lost").waitFor();
  await page.getByText("Nothing was submitted before the deadline.").waitFor();
  await look("dispute-lost");
  expect(await button(page, "Submit…").count()).toBe(0);
});

test("a dispute that was decided before the deadline is not told as one that nobody answered in time", async () => {
  const { page, place, client, open } = await portal.member("finance");
  const uuid = await disputed(client);
  await client.post(`/v1/sandbox/disputes/${uuid}/resolve`, { outcome: "lost" });
  await open(paths.dispute(place, uuid));
  await page.getByText("You lost").waitFor();
  await page.getByText("The acquirer decided for the payer.").waitFor();
});

test("a page that is told of the lost dispute takes nothing any more by itself", async () => {
  const { page, place, client, open } = await portal.member("finance");
  await open(paths.dispute(place, await disputed(client)));
  await button(page, "Submit…").waitFor();
  await client.post("/v1/sandbox/clock/advance", { seconds: 8 * 24 * 3600 });
  await page.getByText("You lost").waitFor();
  // The form follows what it may take, which the page asks for by itself.
  await button(page, "Submit…").waitFor({ state: "detached" });
});

test("a deadline is told from now by the sandbox's clock, and as its day as long as that clock is not known", async () => {
  const { page, place, merchantId, client, open } = await portal.member("owner");
  await client.post("/v1/sandbox/clock/advance", { seconds: 20 * 86_400 });
  await disputed(client);
  const deadline = (of: Page) => of.locator("tbody time").last();
  await hold(page, "**/sandbox/clock", async () => {
    await open(paths.disputes(place));
    expect(await deadline(page).innerText()).toMatch(/^\d+ \w+ \d{4}$/);
    expect(await deadline(page).getAttribute("title")).toMatch(/\d\d:\d\d/);
  });
  await expect.poll(() => deadline(page).innerText()).toBe("in 7 days");

  const viewer = await portal.member("viewer", { merchantId });
  await viewer.open(paths.disputes(place));
  expect(await deadline(viewer.page).innerText()).toMatch(/^\d+ \w+ \d{4}$/);
});

test("another merchant's dispute is not there, and a viewer reads and does not write", async () => {
  const theirs = await portal.member("owner");
  const uuid = await disputed(theirs.client);
  const mine = await portal.member("owner");
  await mine.open(paths.dispute(mine.place, uuid));
  await mine.page.getByRole("heading", { name: "Not found" }).waitFor();

  const viewer = await portal.member("viewer", { merchantId: theirs.merchantId });
  await viewer.open(paths.dispute(viewer.place, uuid));
  await viewer.page.getByText("Nobody has written anything yet.").waitFor();
  expect(await viewer.page.getByLabel("Add files").count()).toBe(0);
  expect(await button(viewer.page, "Decide for the merchant").count()).toBe(0);
});
