// Goal: who may call what, and which refusal prevails (section 5 of the interface). Method: requests
// signed by hand over a real socket, one case a row, against two instances on one database with a clock the test holds.
import { createHmac } from "node:crypto";
import { type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Answer, Client, operate } from "../../../e2e/kit/client.ts";
import { OPERATOR_TOKEN, type TestService, asOwner, paymentBody, startService } from "../../test/kit.ts";
import { SECOND } from "../ground/clock.ts";
import { type Scope, scopes } from "../merchants/directory.ts";

// Held still, some seconds into a minute: no window of rates ends in the middle of a test.
const nowSeconds = Math.floor(Date.now() / 60_000) * 60 + 5;
const clock = { now: () => nowSeconds * SECOND + 999_999 };
const unknownPayment = `pay_${"0".repeat(26)}`;

let service: TestService;
let other: TestService;
let client: Client;
let webhookSecret: string;

beforeAll(async () => {
  service = await startService({ clock, roles: ["api"] });
  other = await startService({ clock, roles: ["api"], database: service.database });
  ({ client, webhookSecret } = await service.merchant());
});
afterAll(() => Promise.all([service.stop(), other.stop()]));

type Headers_ = Record<string, string>;

const hmac = (secret: string, text: string): string => createHmac("sha256", secret).update(text).digest("hex");

/** Authentication headers; what is changed is changed after the signing. */
function signed(by: Client, text: { at?: number | string; body?: string } = {}, changes: Headers_ = {}): Headers_ {
  const { at = nowSeconds, body = "" } = text;
  const { client_id, secret } = by.credentials;
  return {
    authorization: `Bearer ${client_id}`,
    "x-timestamp": String(at),
    "x-signature": hmac(secret, `${at}.${body}`),
    ...changes,
  };
}

/** A signed POST of exactly these headers, to be sent as often as a test wants. */
function write(by: Client, body: string, changes: Headers_ = {}): Headers_ {
  const json = { "content-type": "application/json", "idempotency-key": crypto.randomUUID() };
  return { ...signed(by, { body, at: nextSecond() }), ...json, ...changes };
}

let second = nowSeconds - 299;
/** Of a second that no request of this file used before, so that nothing is a replay by accident. */
function nextSecond(): number {
  second = second >= nowSeconds + 299 ? nowSeconds - 299 : second + 1;
  return second;
}

const without = (headers: Headers_, ...names: string[]): Headers_ =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));

const at = (instance: TestService, by: Client): Client =>
  new Client({ ...by.credentials, base_url: `${instance.origin}/v1` });

const patch = (merchantId: string, change: unknown): Promise<unknown> =>
  operate(
    { ops_url: `${service.operatorOrigin}/ops/v1`, operator_token: OPERATOR_TOKEN },
    "PATCH",
    `/merchants/${merchantId}`,
    change,
  );

const total = async (by: Client): Promise<number> => (await by.get("/v1/payments")).json.data.length as number;

/** Status and code of an answer whose shape is checked on the way. */
function outcome(answer: Answer): string {
  const requestId = answer.headers.get("x-request-id");
  expect(requestId).toMatch(/^req_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
  for (const name of ["limit", "remaining", "reset"]) {
    expect(answer.headers.get(`x-ratelimit-${name}`), name).toMatch(/^\d+$/);
  }
  if (answer.status < 400) return String(answer.status);
  expect(Object.keys(answer.json as object)).toEqual(["error"]);
  const { error } = answer.json;
  expect(error).toEqual({
    code: expect.stringMatching(/^[A-Z_]+$/),
    message: expect.stringMatching(/./),
    request_id: requestId,
    ...("details" in error ? { details: expect.any(Object) } : {}),
  });
  return `${answer.status} ${error.code}`;
}

const balances = async (headers: Headers_): Promise<string> =>
  outcome(await client.send("GET", "/v1/balances", undefined, headers));

test.each<[string, (id: string) => string | undefined, string]>([
  ["absent", () => undefined, "401 UNAUTHORIZED"],
  ["a list", (id) => `Bearer ${id}, Bearer ${id}`, "401 UNAUTHORIZED"],
  ["a client beyond ASCII", () => "Bearer ak_test_é", "401 CLIENT_NOT_FOUND"],
  ["a client nobody made", () => `Bearer ak_test_${"0".repeat(26)}`, "401 CLIENT_NOT_FOUND"],
  ["a client with one character more", (id) => `Bearer ${id}0`, "401 CLIENT_NOT_FOUND"],
  ["the other environment's prefix", (id) => `Bearer ${id.replace("test", "live")}`, "401 CLIENT_NOT_FOUND"],
  ["as documented", (id) => `Bearer ${id}`, "200"],
])("Authorization: %s", async (_name, value, expected) => {
  const headers = signed(client, { at: nextSecond() });
  const authorization = value(client.credentials.client_id);
  expect(
    await balances(authorization === undefined ? without(headers, "authorization") : { ...headers, authorization }),
  ).toBe(expected);
});

test("Authorization in two lines is none, whichever of them is right", async () => {
  const { authorization = "", ...headers } = signed(client, { at: nextSecond() });
  for (const lines of [
    [authorization, "Bearer ak_test_x"],
    ["Bearer ak_test_x", authorization],
    [authorization, authorization],
  ]) {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const all = ["host", new URL(service.origin).host, ...Object.entries(headers).flat()];
    const doubled = [...all, ...lines.flatMap((line) => ["authorization", line])];
    const sent = request(`${service.origin}/v1/balances`, { headers: doubled }, resolve);
    sent.on("error", reject).end();
    const answer = await promise;
    expect([answer.statusCode, JSON.parse(await text(answer)).error.code]).toEqual([401, "UNAUTHORIZED"]);
  }
});

test("a write that somebody caught is good for no read: not with its body, and not as HEAD", async () => {
  const { client: careless } = await service.merchant();
  const body = JSON.stringify(paymentBody());
  const caught = { ...careless.headers(body), "content-type": "application/json" };
  const headers = { ...caught, "idempotency-key": crypto.randomUUID() };
  expect((await careless.send("POST", "/v1/payments", body, headers)).status).toBe(201);
  for (const method of ["GET", "HEAD"])
    for (const path of ["/v1/payments?limit=100", "/v1/balances", "/v1/events"]) {
      const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
      const length = { "content-length": String(Buffer.byteLength(body)) };
      const sent = request(service.origin + path, { method, headers: { ...caught, ...length } }, resolve);
      sent.on("error", reject).end(body);
      const answer = await promise;
      const said = await text(answer);
      expect([answer.statusCode, method === "GET" ? JSON.parse(said).error.code : said]).toEqual([
        400,
        method === "GET" ? "MALFORMED_REQUEST" : "",
      ]);
    }
});

test.each([["x-timestamp"], ["x-signature"], ["x-timestamp", "x-signature"]])("without %s %s", async (...names) => {
  expect(await balances(without(signed(client), ...names))).toBe("401 SIGNATURE_MISSING");
});

test.each([
  ["a fraction", `${nowSeconds}.5`, "401 SIGNATURE_INVALID"],
  ["nothing", "", "401 SIGNATURE_INVALID"],
  ["301 seconds ago", `${nowSeconds - 301}`, "401 TIMESTAMP_OUT_OF_WINDOW"],
  ["exactly 300 seconds ahead", `${nowSeconds + 300}`, "200"],
])("X-Timestamp, rightly signed: %s", async (_name, timestamp, expected) => {
  expect(await balances(signed(client, { at: timestamp }))).toBe(expected);
});

test.each<[string, (good: string, text: string) => string]>([
  ["empty", () => ""],
  ["twice", (good) => `${good}, ${good}`],
  ["by the webhook secret", (_good, text) => hmac(webhookSecret, text)],
  ["of a body that was not sent", (_good, text) => hmac(client.credentials.secret, `${text}{}`)],
  ["of another second", () => hmac(client.credentials.secret, `${nowSeconds - 1}.`)],
])("X-Signature: %s", async (_name, wrong) => {
  const seconds = nextSecond();
  const headers = signed(client, { at: seconds });
  const bad = { ...headers, "x-signature": wrong(headers["x-signature"] ?? "", `${seconds}.`) };
  expect(await balances(bad)).toBe("401 SIGNATURE_INVALID");
  expect(await balances(headers)).toBe("200"); // what was not valid burnt nothing
});

test("a read's signature is good once for its target, and once for another", async () => {
  const headers = signed(client, { at: nextSecond() });
  const get = async (instance: TestService, path: string): Promise<string> =>
    outcome(await at(instance, client).send("GET", path, undefined, headers));
  expect(await get(service, "/v1/payments")).toBe("200");
  expect(await get(service, "/v1/payments")).toBe("401 SIGNATURE_REPLAYED");
  expect(await get(other, "/v1/payments")).toBe("401 SIGNATURE_REPLAYED");
  expect(await get(other, "/v1/payments?limit=5")).toBe("200");
  expect(await get(service, "/v1/payments?limit=5")).toBe("401 SIGNATURE_REPLAYED");
  expect(await get(service, "/v1/balances")).toBe("200");
});

test("a write's signature is good once, whatever the path, the key and the instance", async () => {
  const body = JSON.stringify(paymentBody());
  const headers = write(client, body);
  const post = async (instance: TestService, path: string, key?: string): Promise<string> =>
    outcome(
      await at(instance, client).send("POST", path, body, { ...headers, ...(key && { "idempotency-key": key }) }),
    );
  expect(await post(service, "/v1/payments")).toBe("201");
  expect(await post(service, "/v1/payments")).toBe("401 SIGNATURE_REPLAYED");
  expect(await post(service, "/v1/payments", "another-key")).toBe("401 SIGNATURE_REPLAYED");
  expect(await post(service, `/v1/payments/${unknownPayment}/cancel`)).toBe("401 SIGNATURE_REPLAYED");
  expect(await post(other, "/v1/payments")).toBe("401 SIGNATURE_REPLAYED");
  expect(await post(other, "/v1/sandbox/clock/advance", "one-more-key")).toBe("401 SIGNATURE_REPLAYED");
});

test("of one signature sent many times at once to two instances, one request gets through", async () => {
  const { client } = await service.merchant();
  const body = JSON.stringify(paymentBody());
  const headers = write(client, body);
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, async (_, index) =>
      outcome(
        await at(index % 2 ? service : other, client).send("POST", "/v1/payments", body, {
          ...headers,
          "idempotency-key": `attempt-${index}`,
        }),
      ),
    ),
  );
  expect(outcomes.filter((text) => text === "201")).toHaveLength(1);
  expect(outcomes.filter((text) => text === "401 SIGNATURE_REPLAYED")).toHaveLength(19);
  expect(await total(client)).toBe(1);
});

test("a read's signature is never good for a write", async () => {
  const { client } = await service.merchant();
  const reference = (await client.post("/v1/payments", paymentBody())).json.reference as string;
  const read = signed(client, { at: nextSecond() });
  expect(outcome(await client.send("GET", `/v1/payments/${reference}`, undefined, read))).toBe("200");
  const json = { ...read, "content-type": "application/json", "idempotency-key": "twelve-characters" };
  for (const path of ["/v1/payments", `/v1/payments/${reference}/cancel`]) {
    expect(outcome(await client.send("POST", path, "{}", json))).toBe("401 SIGNATURE_INVALID");
    expect(outcome(await client.send("POST", path, "", json))).toMatch(/^4/); // and no write is without a body
  }
  expect((await client.get(`/v1/payments/${reference}`)).json.status).toBe("pending");
});

test("of two live credentials one is revoked: within a second everywhere, and the other lives on", async () => {
  const { client: first, merchantId } = await service.merchant();
  const second = await service.client(merchantId);
  for (const by of [first, second, at(other, first), at(other, second)]) {
    expect(outcome(await by.get("/v1/balances"))).toBe("200");
  }
  await service.app.merchants.credentials.end(merchantId, first.credentials.client_id);
  const revokedAt = performance.now();
  expect(outcome(await first.get("/v1/balances"))).toBe("401 CLIENT_NOT_FOUND");
  for (;;) {
    const sentAt = performance.now();
    const result = outcome(await at(other, first).get("/v1/balances"));
    if (result === "401 CLIENT_NOT_FOUND") break;
    expect(result).toBe("200");
    expect(sentAt - revokedAt, "still good after a second").toBeLessThan(1000);
    await pause(20); // the test's client has 200 signatures for reads of one time
  }
  expect(outcome(await second.get("/v1/balances"))).toBe("200");
  expect(outcome(await at(other, second).get("/v1/balances"))).toBe("200");
});

test("a key that a standby lacks which took over is unknown in every process; the other lives on", async () => {
  const { client: first, merchantId } = await service.merchant();
  const second = await service.client(merchantId);
  for (const by of [first, second, at(other, first), at(other, second)])
    expect(outcome(await by.get("/v1/balances"))).toBe("200");
  await asOwner(service.database, async (owner) => {
    await owner.query("begin");
    await owner.query("delete from credentials where client_id = $1", [second.credentials.client_id]);
    await owner.query("update settings_epoch set epoch = epoch - 1");
    await owner.query("commit");
  });
  await vi.waitFor(async () => {
    for (const by of [second, at(other, second)])
      expect(outcome(await by.get("/v1/balances"))).toBe("401 CLIENT_NOT_FOUND");
  }, 20_000);
  for (const by of [first, at(other, first)]) expect(outcome(await by.get("/v1/balances"))).toBe("200");
});

const calls: [Scope, "GET" | "POST", string, Record<string, unknown>?][] = [
  ["payments:read", "GET", "/v1/payments"],
  ["payments:read", "GET", `/v1/payments/${unknownPayment}`],
  ["payments:write", "POST", "/v1/payments"],
  ["payments:write", "POST", `/v1/payments/${unknownPayment}/cancel`],
  ["balances:read", "GET", "/v1/balances"],
  ["sandbox:write", "POST", `/v1/sandbox/payments/${unknownPayment}/simulate`],
  ["sandbox:write", "POST", "/v1/sandbox/clock/advance"],
];
const call = (by: Client, method: "GET" | "POST", path: string, body: unknown = {}): Promise<Answer> =>
  method === "GET" ? by.get(path) : by.post(path, body);

test.each(calls)("scope %s is what %s %s takes", async (scope, method, path) => {
  const { client: lacking, merchantId } = await service.merchant({ scopes: scopes.filter((name) => name !== scope) });
  const refused = await call(lacking, method, path);
  expect([outcome(refused), refused.json.error.details]).toEqual(["403 FORBIDDEN", { scope }]);
  const having = await service.client(merchantId, "sandbox", [scope]);
  expect((await call(having, method, path)).status).not.toBe(403);
});

test("a suspended merchant is refused everything, reads too, in both environments, until it is not", async () => {
  const { client: sandbox, merchantId } = await service.merchant();
  const live = await service.client(merchantId, "production");
  await patch(merchantId, { suspended: true });
  for (const by of [sandbox, live]) {
    for (const [, method, path] of calls) {
      expect(outcome(await call(by, method, path)), path).toBe("403 MERCHANT_SUSPENDED");
    }
  }
  await patch(merchantId, { suspended: false });
  for (const by of [sandbox, live]) expect(outcome(await by.get("/v1/balances"))).toBe("200");
});

test("an object of the other environment is a mismatch to its owner and not found to anyone else", async () => {
  const { client: owner, merchantId } = await service.merchant();
  const live = await service.client(merchantId, "production");
  const { client: stranger, merchantId: strangerId } = await service.merchant();
  const strangerLive = await service.client(strangerId, "production");
  const { reference } = (await owner.post("/v1/payments", paymentBody())).json;
  const read = async (by: Client): Promise<string> => outcome(await by.get(`/v1/payments/${reference}`));
  const cancel = async (by: Client): Promise<string> => outcome(await by.post(`/v1/payments/${reference}/cancel`, {}));
  expect([await read(live), await cancel(live)]).toEqual(["403 ENVIRONMENT_MISMATCH", "403 ENVIRONMENT_MISMATCH"]);
  for (const by of [stranger, strangerLive]) {
    expect([await read(by), await cancel(by)]).toEqual(["404 PAYMENT_NOT_FOUND", "404 PAYMENT_NOT_FOUND"]);
    expect(outcome(await by.get("/v1/payments/pay_1"))).toBe("404 PAYMENT_NOT_FOUND");
  }
  expect([await total(owner), await total(live), await total(stranger)]).toEqual([1, 0, 0]);
  expect([await read(owner), await cancel(owner)]).toEqual(["200", "200"]);
});

test("while production is closed its keys read, and create nothing", async () => {
  const { client: live, merchantId } = await service.merchant({ environment: "production" });
  expect(live.credentials.client_id).toMatch(/^ak_live_/);
  expect(live.credentials.secret).toMatch(/^sk_live_/);
  const body = paymentBody();
  const key = "a-key-of-production";
  for (let attempt = 0; attempt < 2; attempt++) {
    const answer = await live.post("/v1/payments", body, { key });
    expect(outcome(answer)).toBe("503 NO_ROUTE_AVAILABLE");
    expect(answer.headers.get("x-idempotent-replay")).toBeNull();
  }
  expect((await live.get("/v1/balances")).json).toMatchObject({ environment: "production" });
  expect((await live.get("/v1/payments")).json).toEqual({ data: [], has_more: false, next_cursor: null });
  const sandboxed = await live.post("/v1/sandbox/clock/advance", { seconds: 1 });
  expect(outcome(sandboxed)).toBe("403 ENVIRONMENT_MISMATCH");
  expect(sandboxed.json.error.message).toBe("This works only in the sandbox. Use one of its keys.");
  const sandbox = await service.client(merchantId);
  expect(outcome(await sandbox.post("/v1/payments", body, { key }))).toBe("201");
});

const big = JSON.stringify({ metadata: "x".repeat(262_144) });

test("of two errors at once the one that the order names first is answered", async () => {
  const good = JSON.stringify(paymentBody());
  const send = async (headers: Headers_, body = good, path = "/v1/payments", by = client): Promise<string> =>
    outcome(await by.send("POST", path, body, headers));
  const nobody = { authorization: `Bearer ak_test_${"0".repeat(26)}` };
  const stale = { "x-timestamp": String(nowSeconds - 400) };
  const { client: limited, merchantId } = await service.merchant();
  const powerless = await service.client(merchantId, "sandbox", ["disputes:read"]);
  const used = write(limited, good);

  expect(await send({}, good, "/v1/payments/x/nothing-here")).toBe("404 ROUTE_NOT_FOUND");
  expect(await send({}, big)).toBe("413 PAYLOAD_TOO_LARGE");
  expect(await send({ authorization: "Basic x" })).toBe("401 UNAUTHORIZED");
  expect(await send(nobody)).toBe("401 SIGNATURE_MISSING");
  expect(await send(write(client, good, { ...nobody, ...stale }))).toBe("401 CLIENT_NOT_FOUND");
  expect(await send(write(client, good, { ...nobody, "x-timestamp": "soon" }))).toBe("401 CLIENT_NOT_FOUND");
  expect(await send(write(client, good, stale))).toBe("401 TIMESTAMP_OUT_OF_WINDOW");
  expect(await send(used, good, "/v1/payments", limited)).toBe("201");
  expect(await send(used, `${good} `, "/v1/payments", limited)).toBe("401 SIGNATURE_INVALID");
  await patch(merchantId, { suspended: true, rate_limit_per_minute: 1 });
  expect(await send(used, good, "/v1/payments", limited)).toBe("401 SIGNATURE_REPLAYED");
  expect(await send(write(powerless, good), good, "/v1/payments", powerless)).toBe("403 MERCHANT_SUSPENDED");
  await patch(merchantId, { suspended: false });
  expect(await send(write(powerless, good), good, "/v1/payments", powerless)).toBe("403 FORBIDDEN");
  expect(await send(write(limited, "{"), "{", "/v1/payments", limited)).toBe("429 RATE_LIMITED");
  expect(await send(without(write(client, "{"), "idempotency-key"), "{")).toBe("400 MALFORMED_JSON");
  expect(await send(without(write(client, "{}"), "idempotency-key"), "{}")).toBe("422 IDEMPOTENCY_KEY_REQUIRED");
  expect(await send(write(client, "{}", { "idempotency-key": "short" }), "{}")).toBe("422 IDEMPOTENCY_KEY_INVALID");
  const key = { "idempotency-key": `order-${nowSeconds}` };
  expect(await send(write(client, good, key))).toBe("201");
  expect(await send(write(client, "{}", key), "{}")).toBe("409 IDEMPOTENCY_CONFLICT");
  const cancel = `/v1/payments/${unknownPayment}/cancel`;
  expect(await send(write(client, '{"reason":5}'), '{"reason":5}', cancel)).toBe("422 VALIDATION_ERROR");
  const { client: stranger } = await service.merchant();
  const { reference } = (await stranger.post("/v1/payments", paymentBody())).json;
  const foreign = `/v1/payments/${reference}/cancel`;
  expect(await send(write(stranger, "{}"), "{}", foreign, stranger)).toBe("200");
  expect(await send(write(client, "{}"), "{}", foreign)).toBe("404 PAYMENT_NOT_FOUND");
  expect(await send(write(stranger, "{}"), "{}", foreign, stranger)).toBe("409 PAYMENT_NOT_CANCELABLE");
});

test.each([
  ["POST", "/v1/nothing-here", "404 ROUTE_NOT_FOUND", null],
  ["POST", "/openapi-json", "404 ROUTE_NOT_FOUND", null],
  ["POST", "/openapi.json", "405 METHOD_NOT_ALLOWED", "GET, HEAD"],
  ["DELETE", "/v1/payments", "405 METHOD_NOT_ALLOWED", "GET, HEAD, POST"],
  ["PUT", "/v1/payments/x?y=1", "405 METHOD_NOT_ALLOWED", "GET, HEAD"],
])("an unknown path or method comes before a body that is too large: %s %s", async (method, path, expected, allow) => {
  const answer = await client.send(method, path, big, {});
  expect([outcome(answer), answer.headers.get("allow")]).toEqual([expected, allow]);
});

test("HEAD answers as GET does, without the body: with a signature of its own, or with none where none is needed", async () => {
  const head = (path: string, headers: Record<string, string>): Promise<Answer> =>
    client.send("HEAD", path, undefined, headers);
  const got = await client.get("/v1/balances");
  const answer = await head("/v1/balances", client.headers(""));
  expect([answer.status, answer.text]).toEqual([200, ""]);
  expect(answer.headers.get("content-length")).toBe(String(Buffer.byteLength(got.text)));
  expect((await head("/v1/health", {})).status).toBe(200);
  expect((await head("/v1/payments/pay_x", client.headers(""))).status).toBe(404);
  expect((await head("/v1/balances", {})).status).toBe(401);
  const once = client.headers("");
  expect([(await head("/v1/balances", once)).status, (await head("/v1/balances", once)).status]).toEqual([200, 401]);
});

/** One exchange over a bare socket that the service ends. */
async function exchange(bytes: string): Promise<Answer> {
  const { hostname, port } = new URL(service.origin);
  let all = "";
  await new Promise<void>((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes, "latin1"));
    socket.setEncoding("utf8").on("data", (chunk) => (all += String(chunk)));
    socket.on("close", () => resolve());
    socket.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "ECONNRESET" && error.code !== "EPIPE") reject(error);
    });
  });
  const [head = "", text = ""] = all.replace("HTTP/1.1 100 Continue\r\n\r\n", "").split(/\r\n\r\n(.*)/s);
  const [first = "", ...lines] = head.split("\r\n");
  const headers = new Headers(lines.map((line) => line.split(/: ?(.*)/s, 2) as [string, string]));
  return { status: Number(first.split(" ")[1]), headers, text, json: text === "" ? undefined : JSON.parse(text) };
}

const http = (line: string, ...headers: string[]): string =>
  [`${line} HTTP/1.1`, "Host: x", "Connection: close", ...headers, "", ""].join("\r\n");
const chunk = `40001\r\n${"x".repeat(262_145)}\r\n0\r\n\r\n`;
test.each([
  ["bytes that are no HTTP", "hello\r\n\r\n", "400 MALFORMED_REQUEST"],
  ["a version that does not exist", "GET /v1/health HTTP/9.9\r\n\r\n", "400 MALFORMED_REQUEST"],
  ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "400 MALFORMED_REQUEST"],
  ["a method that does not exist", http("STEAL /v1/payments"), "400 MALFORMED_REQUEST"],
  ["a header that is none", http("GET /v1/health", "bad header"), "400 MALFORMED_REQUEST"],
  ["a length that is none", http("POST /v1/payments", "Content-Length: -1"), "400 MALFORMED_REQUEST"],
  [
    "two framings",
    http("POST /v1/payments", "Content-Length: 3", "Transfer-Encoding: chunked"),
    "400 MALFORMED_REQUEST",
  ],
  ["a header too long", http("GET /v1/health", `X-Long: ${"x".repeat(70_000)}`), "431 MALFORMED_REQUEST"],
  ["CONNECT", http("CONNECT example.com:443"), "404 ROUTE_NOT_FOUND"],
  ["QUERY", `${http("QUERY /v1/payments", "Content-Length: 2")}{}`, "405 METHOD_NOT_ALLOWED"],
  ["OPTIONS *", http("OPTIONS *"), "404 ROUTE_NOT_FOUND"],
  ["a known path, another method", http("PATCH /v1/payments"), "405 METHOD_NOT_ALLOWED"],
  ["bad percent-encoding in a reference", http("GET /v1/payments/%zz"), "404 ROUTE_NOT_FOUND"],
  ["percent-encoding that is no UTF-8", http("GET /v1/payments/%ff"), "404 ROUTE_NOT_FOUND"],
  ["bad percent-encoding elsewhere", http("GET /v1/%"), "404 ROUTE_NOT_FOUND"],
  ["bytes beyond ASCII in the path", http("GET /v1/\xff"), "400 MALFORMED_REQUEST"],
  ["a path of ten thousand characters", http(`GET /v1/${"a".repeat(10_000)}`), "404 ROUTE_NOT_FOUND"],
  ["an empty reference", http("GET /v1/payments/"), "404 ROUTE_NOT_FOUND"],
  ["an empty reference, of a write", http("POST /v1/payments//cancel"), "404 ROUTE_NOT_FOUND"],
  ["and one too large", http("POST /v1/payments//cancel", "Content-Length: 262145"), "404 ROUTE_NOT_FOUND"],
  ["no Host", "GET /v1/balances HTTP/1.1\r\nConnection: close\r\n\r\n", "400 MALFORMED_REQUEST"],
  ["no Host, of a write", "POST /v1/payments HTTP/1.1\r\nConnection: close\r\n\r\n", "400 MALFORMED_REQUEST"],
  ["two of them", http("GET /v1/balances", "Host: another.example"), "400 MALFORMED_REQUEST"],
  ["an empty one", "GET /v1/balances HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n", "401 UNAUTHORIZED"],
  ["HTTP/1.0, which needs none", "GET /v1/health HTTP/1.0\r\n\r\n", "200"],
  ["HTTP/1.0", "GET /v1/balances HTTP/1.0\r\n\r\n", "401 UNAUTHORIZED"],
  ["an upgrade", http("GET /v1/balances", "Connection: upgrade", "Upgrade: h2c"), "401 UNAUTHORIZED"],
  ["an expectation nobody knows", http("GET /v1/balances", "Expect: wonders"), "401 UNAUTHORIZED"],
  ["100-continue", `${http("POST /v1/payments", "Expect: 100-continue", "Content-Length: 2")}{}`, "401 UNAUTHORIZED"],
  ["a body said to be too large", http("POST /v1/payments", "Content-Length: 262145"), "413 PAYLOAD_TOO_LARGE"],
  [
    "a body growing too large",
    http("POST /v1/payments", "Transfer-Encoding: chunked") + chunk,
    "413 PAYLOAD_TOO_LARGE",
  ],
])("a bare socket gets the envelope and headers of every other answer: %s", async (_name, bytes, expected) => {
  expect(outcome(await exchange(bytes))).toBe(expected);
});

test("a read that carries something is malformed, whatever is signed", async () => {
  for (const signedBody of ["", "{}"]) {
    const headers = Object.entries(signed(client, { at: nextSecond(), body: signedBody }));
    const lines = headers.map(([name, value]) => `${name}: ${value}`);
    const answer = await exchange(`${http("GET /v1/balances", "Content-Length: 2", ...lines)}{}`);
    expect(outcome(answer)).toBe("400 MALFORMED_REQUEST");
  }
});
