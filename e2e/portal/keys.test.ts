// Goal: a developer makes a key and uses it at once, registers an address and sees every type of event arrive, one of them fail, why, and arrive
// after all; and finds their keys and secrets under control. Method: whole stories in a real browser, with a real TLS receiver.
import { readFileSync } from "node:fs";
import tls from "node:tls";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { timing } from "../../gateway/test/event-rig.ts";
import { paymentBody } from "../../gateway/test/kit.ts";
import { paths } from "../../portal/src/paths.ts";
import { Client } from "../kit/client.ts";
import { Receiver, isGenuine, makeCertificates } from "../kit/receiver.ts";
import { faults } from "./kit/look.ts";
import { PHONE, settled, usePortal } from "./kit/portal.ts";

const ATTACK = "<img src=x onerror=document.title='owned'>";
const trusted = tls.getCACertificates("default");
let receiver: Receiver;

beforeAll(async () => {
  const certificates = await makeCertificates();
  tls.setDefaultCACertificates([...trusted, readFileSync(certificates.caFile, "utf8")]);
  receiver = await Receiver.start(certificates);
});
afterAll(async () => {
  await receiver.close();
  tls.setDefaultCACertificates(trusted);
});
const portal = usePortal({ config: { webhookAllowHosts: new Set(["localhost"]) }, timing });

const textOf = async (page: Page, region: string): Promise<string> =>
  (await page.getByRole("region", { name: region }).textContent()) ?? "";
const signing = (clientId: string, secret: string): Client =>
  new Client({ client_id: clientId, secret, base_url: `${portal.service.origin}/v1` });

test("a key is made and used at once with a signed request; it is changed, rolled and revoked", async () => {
  const { page, place, open, look } = await portal.member("developer");
  await open(paths.keys(place));
  await page.getByRole("button", { name: "Create a key" }).click();
  await page.getByRole("button", { name: "Create the key" }).click();
  await page.getByText("A name is needed.").waitFor();
  await page.getByLabel("Name").fill(ATTACK);
  await page.getByText("From where, until when, and how signed").click();
  await page.getByLabel("Allowed addresses").fill("127.0.0.1/8");
  await page.getByRole("button", { name: "Create the key" }).click();
  await page.getByText("the network is 127.0.0.0/8").waitFor();
  await look("keys-create");
  await page.getByLabel("Allowed addresses").fill("127.0.0.0/8\n::1");
  await page.getByRole("button", { name: "Create the key" }).click();
  const secret = await textOf(page, "the secret");
  const key = signing(await textOf(page, "the client_id"), secret);
  expect((await key.get("/v1/balances")).status).toBe(200);
  await look("keys-secret");
  await page.getByRole("button", { name: "I have kept it" }).click();

  // Not "live", which in a client_id means production.
  const listed = page.getByRole("row").filter({ hasText: key.credentials.client_id });
  await listed.getByText("active", { exact: true }).waitFor();
  await key.post("/v1/payments", paymentBody());
  await page.getByRole("link", { name: key.credentials.client_id }).click();
  await page.getByRole("heading", { name: "What a key changed" }).waitFor();
  const change = page.getByRole("row").filter({ hasText: "create payment" });
  for (const text of ["127.0.0.1", "pending"]) await change.getByText(text).waitFor();
  await look("key-changes");
  await change.getByRole("link").click();
  await page
    .getByRole("region", { name: "Story of the payment" })
    .getByText(`by ${key.credentials.client_id}`)
    .waitFor();
  await look("story-by-key");
  await open(paths.keys(place));

  const row = page.getByRole("row").filter({ hasText: ATTACK });
  await page.reload();
  await settled(page);
  await row.getByText("127.0.0.1").waitFor(); // where it was used from
  expect(await page.content()).not.toContain(secret);
  await look("keys");
  expect(await faults(page)).toEqual([]);

  await row.getByRole("button", { name: /^Change/ }).click();
  await page.getByLabel("Name").fill("checkout");
  await page.getByLabel("Allowed addresses").fill("203.0.113.7");
  await page.getByRole("button", { name: "Change the key" }).click();
  const renamed = page.getByRole("row").filter({ hasText: "checkout" });
  await renamed.getByText("203.0.113.7/32").waitFor();
  expect((await key.get("/v1/balances")).json.error.code).toBe("FORBIDDEN");
  await renamed.getByRole("button", { name: "Change checkout" }).click();
  await page.getByLabel("Allowed addresses").fill("");
  await page.getByRole("button", { name: "Change the key" }).click();
  await renamed.getByText("anywhere").waitFor();

  await renamed.getByRole("button", { name: "Roll checkout" }).click();
  await page.getByRole("button", { name: "Roll the key" }).click();
  const rolled = signing(await textOf(page, "the client_id"), await textOf(page, "the secret"));
  await page.getByRole("button", { name: "I have kept it" }).click();
  for (const one of [key, rolled]) expect((await one.get("/v1/balances")).status).toBe(200);

  const old = renamed.filter({ hasText: key.credentials.client_id });
  await old.getByText("rolled").waitFor();
  await old.getByRole("button", { name: "Revoke checkout" }).click();
  await page.getByRole("button", { name: "Revoke the key" }).click();
  await old.getByText("revoked").waitFor();
  expect((await key.get("/v1/balances")).json.error.code).toBe("CLIENT_NOT_FOUND");
  expect((await rolled.get("/v1/balances")).status).toBe(200);
  expect(await page.title()).not.toBe("owned");
});

test("the secret of a first address stays until it was seen, whatever is fetched meanwhile", async () => {
  const { page, place, open } = await portal.member("developer");
  await page.clock.install();
  await open(paths.webhooks(place));
  await page.getByLabel("Address").fill(receiver.url("/kept"));
  await page.getByRole("button", { name: "Register the address" }).click();
  const secret = await textOf(page, "the signing secret");
  const fetched = page.waitForResponse(
    (answer) => answer.request().method() === "GET" && new URL(answer.url()).pathname === "/portal/v1/webhook",
  );
  // What was fetched is old by now, and the person comes back from another tab.
  await page.clock.fastForward(20_000);
  await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))");
  await fetched;
  await page.clock.runFor(1_000);
  expect(await textOf(page, "the signing secret")).toBe(secret);
  await page.getByRole("button", { name: "I have kept it" }).click();
  await page.getByRole("tab", { name: "Trigger" }).waitFor();
});

test("an address is registered, all 13 types arrive, one fails on purpose, is looked into and sent again", async () => {
  const { page, place, client, open, look } = await portal.member("developer");
  // The next attempt follows the sandbox's clock, which is ahead.
  await client.post("/v1/sandbox/clock/advance", { seconds: 4 * 86_400 });
  await open(paths.webhooks(place));
  await look("webhooks-first");
  await page.getByLabel("Address").fill("http://shop.example/hook");
  await page.getByRole("button", { name: "Register the address" }).click();
  await page.getByText("must begin with https://").waitFor();
  await page.getByLabel("Address").fill(receiver.url("/story"));
  await page.getByRole("button", { name: "Register the address" }).click();
  const secret = await textOf(page, "the signing secret");
  await page.getByRole("button", { name: "I have kept it" }).click();

  await page.getByRole("tab", { name: "Trigger" }).click();
  await page.getByRole("button", { name: "Trigger all 13" }).click();
  await expect.poll(() => page.getByText("delivered", { exact: true }).count()).toBe(13);
  const arrived = receiver.received.filter((one) => one.path === "/story");
  expect(new Set(arrived.map(({ event }) => event.type)).size).toBe(13);
  expect(arrived.every((one) => isGenuine(one, secret))).toBe(true);
  await look("webhooks-trigger");

  const answer = receiver.answer;
  onTestFinished(() => void (receiver.answer = answer));
  receiver.answer = (_delivery, response) => void response.writeHead(500, { "x-shop": ATTACK }).end(ATTACK);
  await page.getByRole("button", { name: "Trigger dispute.opened" }).click();
  await page.getByRole("link", { name: "see its attempts" }).click();
  await page.getByRole("heading", { name: "Delivery of dispute.opened" }).waitFor();
  expect(await textOf(page, "the body of the answer")).toBe(ATTACK);
  expect(await textOf(page, "the headers of the answer")).toContain(`x-shop: ${ATTACK}`);
  expect(await textOf(page, "the headers of the request")).toContain("webhook-signature: v1,");
  await page.getByText("1", { exact: true }).first().waitFor();
  // Once the page knows the book's clock.
  await expect.poll(() => page.getByText("Next attempt").locator("..").innerText()).toMatch(/seconds?$/);
  await look("delivery-failed");
  expect(await faults(page)).toEqual([]);

  receiver.answer = answer;
  await page.getByRole("button", { name: "Send it again" }).click();
  await page.getByText("Attempt 2").waitFor();
  await page.getByText("delivered", { exact: true }).waitFor();
  await page.getByRole("link", { name: "The event itself" }).click();
  expect(JSON.parse(await textOf(page, "the event"))).toMatchObject({ type: "dispute.opened", data: { sample: true } });
  await look("event");

  await open(`${paths.webhooks(place)}?outcome=failed`);
  expect(await page.getByRole("row").count()).toBe(2); // the head and the one that failed
  await look("webhooks-deliveries");
  expect(await faults(page)).toEqual([]);
  expect(await page.title()).not.toBe("owned");
});

test("a secret is rotated and the old one retired; a delivery misbehaves once, and the doctor says why", async () => {
  const { page, place, open, look, requests } = await portal.member("owner", { browser: { viewport: PHONE } });
  await requests.send("PUT", "/portal/v1/webhook", { url: receiver.url("/rotate") });
  await open(paths.webhooks(place));
  await page.getByRole("button", { name: "Rotate" }).click();
  await page.getByRole("button", { name: "Rotate the secret" }).click();
  const secret = await textOf(page, "the signing secret").catch(() => "");
  await page.getByRole("button", { name: "I have kept it" }).click();
  await page.getByText("both sign").waitFor();
  await page.getByRole("button", { name: "Retire the old one now" }).click();
  await page.getByRole("button", { name: "Retire the old secret" }).click();
  await page.getByText("One secret signs.").waitFor();

  await page.getByRole("tab", { name: "Misbehave" }).click();
  await page.getByLabel("What goes wrong").selectOption("wrong_signature");
  await page.getByLabel("For so many attempts").fill("1");
  await page.getByRole("button", { name: "Misbehave" }).click();
  await page.getByText("for 1 more attempt").waitFor();
  await look("webhooks-misbehave");
  await requests.post("/portal/v1/sandbox/events/trigger", { type: "refund.failed" });
  await expect.poll(() => receiver.received.filter(({ path }) => path === "/rotate").length).toBe(1);
  const [forged] = receiver.received.filter(({ path }) => path === "/rotate");
  if (!forged) throw new Error("nothing arrived");
  expect(isGenuine(forged, secret)).toBe(false);

  await page.getByRole("tab", { name: "Doctor" }).click();
  await page.getByLabel("Headers").fill(
    Object.entries(forged.headers)
      .map(([name, value]) => `${name}: ${String(value)}`)
      .join("\n"),
  );
  await page.getByLabel("Raw body").fill(forged.body);
  await page.getByRole("button", { name: "Find out" }).click();
  await page.getByRole("status").getByText("unknown", { exact: true }).waitFor();
  await look("webhooks-doctor");
  expect(await faults(page)).toEqual([]);
});

test("a receiver that takes everything does not pass its test, and is told what it should have refused", async () => {
  const { page, place, open, look, requests } = await portal.member("developer");
  await requests.send("PUT", "/portal/v1/webhook", { url: receiver.url("/exam") });
  await open(paths.exam(place));
  await page.getByRole("button", { name: "Test the receiver" }).click();
  await page.getByText("not passed").waitFor({ timeout: 30_000 });
  await page.getByText("refuses bad signature").waitFor();
  const rule = page.getByRole("link", { name: "The rule: verify before anything else" }).first();
  expect(await rule.getAttribute("href")).toBe("/docs/webhooks#verify-before-anything-else");
  await look("exam");
  expect(await faults(page)).toEqual([]);
  await requests.post("/portal/v1/sandbox/events/trigger", { type: "refund.failed" });
  await open(paths.events(place));
  await page.getByRole("link", { name: "refund.failed" }).click();
  await page.getByText("Its data is a sample.").waitFor();
});

test("a role that may not finds no button, and the page of keys is not theirs", async () => {
  const { page, place, open } = await portal.member("support");
  await open(paths.webhooks(place));
  await page.getByText("Ask an owner or a developer to register one.").waitFor();
  await open(paths.keys(place));
  await page.getByRole("alert").getByText("Not allowed").waitFor();
  expect(await page.getByRole("button", { name: "Create a key" }).count()).toBe(0);
});
