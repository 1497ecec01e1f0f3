// Goal: the main job runs for real: a process, sockets, PostgreSQL, TLS. Method: play a merchant from credentials to money.
import { afterAll, beforeAll, expect, test } from "vitest";
import { Client, operate } from "./kit/client.ts";
import { gerbangHere } from "./kit/command-here.ts";
import { Receiver, isGenuine, makeCertificates } from "./kit/receiver.ts";
import { Service, gerbang } from "./kit/service.ts";

let receiver: Receiver;
let service: Service;

beforeAll(async () => {
  const certificates = await makeCertificates();
  receiver = await Receiver.start(certificates);
  service = await Service.start({
    fromNothing: true,
    env: { NODE_EXTRA_CA_CERTS: certificates.caFile, WEBHOOK_ALLOW_HOSTS: "localhost", LOG_LEVEL: "info" },
  });
});
afterAll(async () => {
  await service.discard();
  await receiver.close();
});

test("a signed payment becomes money in the balances and verified webhooks", async () => {
  const { demo } = service;
  const { webhook_secret: secret } = await operate(demo, "PUT", `/merchants/${demo.merchant_id}/webhook`, {
    environment: "sandbox",
    url: receiver.url(),
  });
  const client = new Client(demo);
  const created = await client.post("/v1/payments", {
    amount_minor: 500_000,
    currency: "IDR",
    payment_method: "ewallet",
    reference_id: "order-1",
    metadata: { table: "7" },
  });
  expect(created.status).toBe(201);
  // The payer opens the page that the instructions name, and approves.
  const page = await fetch(created.json.instructions.redirect_url, {
    method: "POST",
    redirect: "manual",
    body: new URLSearchParams({ decision: "approve" }),
  });
  expect(page.status).toBe(303);
  const delivered = await receiver.waitFor(({ event }) => event.type === "payment.succeeded");
  expect(isGenuine(delivered, secret)).toBe(true);
  expect(delivered.headers).toMatchObject({
    "x-svc-event-id": delivered.event.id,
    "x-svc-event-type": "payment.succeeded",
    "x-svc-delivery-attempt": "1",
  });
  expect(delivered.event).toMatchObject({
    environment: "sandbox",
    api_version: "v1",
    data: { reference: created.json.reference, status: "succeeded", amount_minor: 500_000, metadata: { table: "7" } },
  });
  // When an event is received, its journal is already recorded.
  expect((await client.get("/v1/balances")).json.data[0].available_minor).toBe(created.json.net_minor);
});

test("a payment's own callback_url takes its events instead of the registered address", async () => {
  const client = new Client(service.demo);
  const { json } = await client.post("/v1/payments", {
    amount_minor: 100_000,
    currency: "IDR",
    payment_method: "qris",
    reference_id: "order-callback",
    callback_url: receiver.url("/own"),
  });
  const delivered = await receiver.waitFor(({ event }) => event.data.reference === json.reference);
  expect(delivered.path).toBe("/own");
});

test("verify says clean, with the database running; the command line signs a request that is accepted", async () => {
  const verify = await gerbang(["verify"], { GERBANG_DATA: service.dataDirectory });
  expect(verify.code, verify.stderr).toBe(0);
  expect(verify.stderr).toMatch(/^Books: 2, journals: \d+, in \d+\.\d s: clean$/m);
  expect(
    verify.stdout
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { clean: boolean }).clean),
  ).toEqual([true, true]);
  expect((await fetch(`${service.url}/v1/balances`, { headers: await signedBy(["sign"]) })).status).toBe(200);
});

/** The headers that a command prints, with the demo merchant's key. */
async function signedBy([command = "", ...options]: string[]): Promise<Record<string, string>> {
  const { client_id: id, secret } = service.demo;
  const { stdout, stderr } = await gerbang([command, "--client-id", id, "--secret", secret, ...options], {});
  expect(stderr).toBe("");
  const lines = stdout.trim().split("\n");
  return Object.fromEntries(lines.map((line) => line.split(/: (.*)/s, 2) as [string, string]));
}

test("the command line signs by RFC 9421 what is accepted, and says what it needs for it", async () => {
  const read = `${service.url}/v1/payments?limit=5&reference_id=a%2fb`;
  expect((await fetch(read, { headers: await signedBy(["sign", "--rfc9421", "--url", read]) })).status).toBe(200);
  const url = `${service.url}/v1/payments`;
  const body = `{"amount_minor":100000,"currency":"IDR","payment_method":"qris","reference_id":"signed-by-message"}`;
  const headers = await signedBy([
    "sign",
    "--rfc9421",
    "--url",
    url,
    "--body",
    body,
    "--idempotency-key",
    "a-key-of-mine",
  ]);
  expect(headers["Idempotency-Key"]).toBe("a-key-of-mine");
  expect((await fetch(url, { method: "POST", headers, body })).status).toBe(201);
  expect((await fetch(url, { method: "POST", headers, body })).status).toBe(401);
  const pair = ["--client-id", "ak_test_x", "--secret", "sk_test_x"];
  for (const [options, words] of [
    [["--rfc9421"], "--url"],
    [["--rfc9421", "--url", "/v1/balances"], "--url"],
    [["--url", url], "--rfc9421"],
    [["--rfc9421", "--url", url, "--nonce", "short"], "--nonce"],
  ] as const) {
    const { code, stdout, stderr } = await gerbangHere(["sign", ...pair, ...options], {});
    expect([code, stdout, stderr]).toEqual([2, "", expect.stringContaining(words)]);
  }
});

test("the command line takes the secret from the environment as well, where no list of processes shows it", async () => {
  const signed = ["sign", "--client-id", "ak_test_x", "--timestamp", "1700000000"];
  const byOption = await gerbangHere([...signed, "--secret", "sk_test_x"], { GERBANG_SECRET: "sk_test_other" });
  expect(byOption.code).toBe(0);
  expect(await gerbangHere(signed, { GERBANG_SECRET: "sk_test_x" })).toEqual(byOption);
  const without = await gerbangHere(signed, {});
  expect([without.code, without.stdout, without.stderr]).toEqual([2, "", expect.stringContaining("GERBANG_SECRET")]);
});

test("metrics tell of requests, batches, commits and deliveries, on an address of their own", async () => {
  const text = await (await fetch(service.metricsUrl)).text();
  for (const name of [
    "gerbang_http_requests_total",
    "gerbang_lane_batch_size_sum",
    "gerbang_lane_wait_seconds_count",
    'gerbang_lane_commits_total{lane="creation",result="committed"}',
    "gerbang_webhook_first_attempt_lag_seconds_count",
    "gerbang_webhook_oldest_due_seconds",
  ]) {
    expect(text).toContain(name);
  }
  expect((await fetch(`${service.url}/metrics`)).status).toBe(404);
});

test("the log has one line a request with its identity, and neither secrets nor bodies", async () => {
  const client = new Client(service.demo);
  const answer = await client.get("/v1/balances");
  const requestId = answer.headers.get("x-request-id") ?? "";
  await expect.poll(() => service.output).toContain(requestId);
  const lines = service.output.split("\n").filter((line) => line.includes(requestId));
  expect(lines).toHaveLength(1);
  const { secret, webhook_secret: hook, operator_token: token } = service.demo;
  for (const word of [secret, hook, token, "order-1", "x-signature"]) expect(service.output).not.toContain(word);
});

test("a production start without its secrets says everything that is missing", async () => {
  const { code, stderr } = await gerbang(["serve"], { NODE_ENV: "production", DATABASE_URL: "" });
  expect(code).toBe(1);
  for (const name of ["MASTER_KEY", "OPERATOR_TOKEN", "BASE_URL", "DATABASE_URL"]) expect(stderr).toContain(name);
});
