// Goal: one line in the log for each request says who asked for what, from where, and what came of it, and never a secret; the guide lists
// its fields. Method: a service whose log is kept, asked by everybody there is.
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { OPERATOR_TOKEN, type TestService, paymentBody, startService } from "../../test/kit.ts";
import { joins } from "../../test/portal.ts";
import { keptPath } from "./request-line.ts";

type Line = Record<string, unknown> & { msg: string; path?: string };

let service: TestService;
let written = "";
beforeAll(async () => {
  service = await startService({
    roles: ["api"],
    logLevel: "info",
    logTo: { write: (line) => void (written += line) },
  });
});
beforeEach(() => {
  written = "";
});
afterAll(() => service.stop());

const lines = (): Line[] =>
  written
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);

/** The line of the request that a path began, once it is written. */
const lineOf = (path: string): Promise<Line> =>
  vi.waitFor(() => {
    const found = lines().find((line) => line.msg === "request" && line.path?.startsWith(path));
    if (!found) throw new Error(`no line of ${path} in ${written}`);
    return found;
  }, 30_000);

test("a merchant's request is one line, with who, what, from where and how it ended", async () => {
  const { client, merchantId } = await service.merchant();
  const made = await client.post("/v1/payments", paymentBody({ customer: { email: "ayu@example.com" } }));
  expect(await lineOf("/v1/payments")).toEqual({
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    level: "info",
    msg: "request",
    request_id: made.headers.get("x-request-id"),
    method: "POST",
    path: "/v1/payments",
    route: "/v1/payments",
    status: 201,
    ms: expect.any(Number),
    address: "127.0.0.1",
    actor: client.credentials.client_id,
    merchant_id: merchantId,
    environment: "sandbox",
  });
  await client.get(`/v1/payments/${made.json.reference}`);
  expect(await lineOf(`/v1/payments/${made.json.reference}`)).toMatchObject({ route: "/v1/payments/:reference" });
  expect(lines()).toHaveLength(2);
  expect(written).not.toMatch(/ayu@|idempotency/i);
  expect(written).not.toContain(client.credentials.secret);
});

test("an error's line has its code, one that is given again as well", async () => {
  const { client } = await service.merchant();
  const key = crypto.randomUUID();
  const body = paymentBody();
  await client.post("/v1/payments", body);
  written = "";
  for (let n = 0; n < 2; n++) await client.post("/v1/payments", body, { key });
  await vi.waitFor(() => expect(lines()).toHaveLength(2), 30_000);
  expect(lines().map(({ status, code }) => [status, code])).toEqual([
    [409, "REFERENCE_ID_DUPLICATE"],
    [409, "REFERENCE_ID_DUPLICATE"],
  ]);
});

test("a key that was named and not proved is no actor", async () => {
  const { client } = await service.merchant();
  const { client_id: clientId } = client.credentials;
  await client.get("/v1/balances", { headers: { "x-signature": "00".repeat(32) } });
  const line = await lineOf("/v1/balances");
  expect(line).toMatchObject({ status: 401, code: "SIGNATURE_INVALID", claimed_client_id: clientId });
  expect(line).not.toHaveProperty("actor");
  expect(line).not.toHaveProperty("merchant_id");
  written = "";
  const headers = client.headers("");
  for (let n = 0; n < 2; n++) await client.send("GET", "/v1/balances", undefined, headers);
  await vi.waitFor(() => expect(lines()).toHaveLength(2), 30_000);
  expect(lines()[1]).toMatchObject({ code: "SIGNATURE_REPLAYED", claimed_client_id: clientId });
  expect(lines()[1]).not.toHaveProperty("actor");
});

test("a person's request names the person and whom they act for, and never the session", async () => {
  const { merchantId } = await service.merchant();
  const browser = await joins(service, merchantId);
  const { json } = await browser.get("/portal/v1/session");
  written = "";
  await browser.get("/portal/v1/payments?limit=1");
  const line = await lineOf("/portal/v1/payments");
  expect(line).toMatchObject({ actor: json.person.person_id, merchant_id: merchantId });
  await browser.get("/portal/v1/session");
  expect(await lineOf("/portal/v1/session")).toMatchObject({ actor: line.actor });
  expect(written).not.toContain(browser.cookie?.split("=")[1]);
});

test("the token of a payer's page and what stands in queries are not in the log", async () => {
  const { client } = await service.merchant();
  const { json } = await client.post("/v1/payments", paymentBody({ payment_method: "ewallet" }));
  const { pathname } = new URL(json.instructions.redirect_url);
  const token = pathname.slice("/pay/".length);
  for (const path of [pathname, `${pathname}?token=${token}`, `${pathname}/more`, `/pey/${token}`, `/PAY/${token}`])
    await (await fetch(service.origin + path)).text();
  await (await fetch(`${service.origin}/v1/payments?token=${token}&q=ayu@example.com`)).text();
  const link = await client.post("/v1/payment-links", { currency: "IDR", reusable: true });
  await (await fetch(link.json.url as string)).text();
  await vi.waitFor(() => expect(lines()).toHaveLength(9), 30_000);
  expect(written).not.toContain(token);
  expect(written).not.toContain((link.json.url as string).slice(-52));
  expect(written).not.toContain("ayu@");
  expect(lines().map(({ path }) => path)).toContain("/pay/[redacted]");
});

test("an operator's token is not in the log", async () => {
  await service.operate("GET", "/merchants");
  expect(await lineOf("/ops/v1/merchants")).toMatchObject({ status: 200, address: "127.0.0.1", actor: "environment" });
  expect(written).not.toContain(OPERATOR_TOKEN);
});

test("bytes that are not HTTP are one line with the address", async () => {
  const socket = connect(Number(new URL(service.origin).port), "127.0.0.1");
  socket.on("error", () => undefined);
  socket.end("HELLO\r\n\r\n");
  await vi.waitFor(
    () =>
      expect(lines()).toMatchObject([
        { msg: "malformed request", status: 400, code: "MALFORMED_REQUEST", address: "127.0.0.1" },
      ]),
    30_000,
  );
  expect(written).not.toContain("HELLO");
});

describe("a path as it is kept", () => {
  test.each([
    ["without its query", "/v1/payments/pay_01?x=secret", "/v1/payments/:reference", "/v1/payments/pay_01"],
    ["without a token", "/pay/abcdefghijklmnopqrstuvwxyz", "/pay/:token", "/pay/[redacted]"],
    ["without a link's token", `/pay/l/${"a".repeat(52)}`, "/pay/l/:token", "/pay/l/[redacted]"],
    ["without a short token", "/pay/short", "/pay/:token", "/pay/[redacted]"],
    ["without an e-mail address", "/v1/x/ayu@example.com", "/v1/x/:id", "/v1/x/[redacted]"],
    ["without an encoded one", "/v1/x/ayu%40example.com", "/v1/x/:id", "/v1/x/[redacted]"],
    ["without a telephone number", "/v1/x/+6281234567890", "/v1/x/:id", "/v1/x/[redacted]"],
    ["with other encoded text", "/v1/x/a%2Fb", "/v1/x/:id", "/v1/x/a%2Fb"],
    ["without a secret", "/v1/x/sk_test_abc", undefined, "/v1/x/[redacted]"],
    ["unknown", "/wp-login.php", undefined, "/wp-login.php"],
    ["unknown and long", `/${"a".repeat(1_000)}`, undefined, "/[redacted]"],
    ["cut", `/v1/payments/${"a".repeat(1_000)}`, "/v1/payments/:reference", `/v1/payments/${"a".repeat(287)}`],
  ])("%s", (_name, url, route, kept) => {
    expect(keptPath(url, route)).toBe(kept);
  });
});

test("the guide has a row for each field of the log", async () => {
  const { client } = await service.merchant();
  await client.get("/v1/balances", { headers: { "x-signature": "00".repeat(32) } });
  await client.get("/v1/balances");
  await vi.waitFor(() => expect(lines()).toHaveLength(2), 30_000);
  const seen = new Set(lines().flatMap((line) => Object.keys(line)));
  const guide = readFileSync(new URL("../../../docs/guides/observability.md", import.meta.url), "utf8");
  const table = guide.slice(guide.indexOf("## The log"), guide.indexOf("\n## ", guide.indexOf("## The log") + 5));
  const documented = new Set([...table.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name));
  expect([...seen].filter((name) => !documented.has(name))).toEqual([]);
  expect(documented.size).toBeGreaterThanOrEqual(seen.size);
});
