// Goal: quotas (section 8 of the interface): each client has its own, unauthenticated callers share one by
// address, and nobody pays for one of them. Method: two instances on one database and a clock that tests move by windows.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Answer, Client, operate, readAnswer } from "../../../e2e/kit/client.ts";
import { OPERATOR_TOKEN, type TestService, paymentBody, startService } from "../../test/kit.ts";
import { SECOND } from "../ground/clock.ts";
import type { Principal } from "../merchants/directory.ts";
import { Admission } from "./admission.ts";
import { rateOf } from "./rate.ts";

const WINDOW = 60;
const UNAUTHENTICATED = 5;
const base = Math.floor(Date.now() / 1000 / WINDOW) * WINDOW;
let windowStart = base;
let second = 10;
const clock = { now: () => (windowStart + second) * SECOND };

let service: TestService;
let other: TestService;
let tight: TestService;

beforeAll(async () => {
  service = await startService({ clock, roles: ["api"] });
  const { database } = service;
  other = await startService({ clock, roles: ["api"], database });
  tight = await startService({
    clock,
    roles: ["api"],
    database,
    config: { unauthenticatedLimitPerMinute: UNAUTHENTICATED },
  });
});
afterAll(() => Promise.all([service.stop(), other.stop(), tight.stop()]));

/** Ends the window for everybody. */
function nextWindow(): void {
  windowStart += WINDOW;
  second = 10;
}
// Another window than the test before had, and never far from the real time, which is what requests are signed with.
beforeEach(() => {
  windowStart = windowStart === base ? base - WINDOW : base;
  second = 10;
});

const at = (instance: TestService, by: Client): Client =>
  new Client({ ...by.credentials, base_url: `${instance.origin}/v1` });
const operator = (method: string, path: string, value?: unknown, instance = service): Promise<Answer["json"]> =>
  operate({ ops_url: `${instance.operatorOrigin}/ops/v1`, operator_token: OPERATOR_TOKEN }, method, path, value);

/** A new merchant, limited by its operator. */
async function limited(limit: number): Promise<{ client: Client; merchantId: string }> {
  const { client, merchantId } = await service.merchant();
  const changed = await operator("PATCH", `/merchants/${merchantId}`, { rate_limit_per_minute: limit });
  expect(changed.rate_limit_per_minute).toBe(limit);
  return { client, merchantId };
}

/** The rate headers, as numbers. */
function rate({ headers }: Answer): { limit: number; remaining: number; reset: number; retryAfter?: number } {
  const read = (name: string): number => {
    expect(headers.get(name), name).toMatch(/^\d+$/);
    return Number(headers.get(name));
  };
  return {
    limit: read("x-ratelimit-limit"),
    remaining: read("x-ratelimit-remaining"),
    reset: read("x-ratelimit-reset"),
    ...(headers.has("retry-after") ? { retryAfter: read("retry-after") } : {}),
  };
}

function expectRefused(answer: Answer): void {
  expect(answer.status).toBe(429);
  expect(answer.json).toEqual({
    error: {
      code: "RATE_LIMITED",
      message: expect.any(String),
      request_id: answer.headers.get("x-request-id"),
    },
  });
}

test("without a setting it is 100 a minute", async () => {
  const { merchant_id } = await operator("POST", "/merchants", { name: "Warung" });
  const client = await service.client(merchant_id as string);
  const answer = await client.get("/v1/balances");
  expect([answer.status, rate(answer).limit, rate(answer).remaining]).toEqual([200, 100, 99]);
});

test("the headers count down to nothing, then 429 says when to come back, and the next window is whole", async () => {
  const { client } = await limited(4);
  const reset = windowStart + WINDOW;
  for (const remaining of [3, 2, 1, 0]) {
    const answer = await client.get("/v1/balances");
    expect(answer.status).toBe(200);
    expect(rate(answer)).toEqual({ limit: 4, remaining, reset });
  }
  for (const now of [10, 10, 37, 59]) {
    second = now;
    const refused = await client.get("/v1/balances");
    expectRefused(refused);
    expect(rate(refused)).toEqual({ limit: 4, remaining: 0, reset, retryAfter: WINDOW - now });
  }
  nextWindow();
  expect(rate(await client.get("/v1/balances"))).toEqual({ limit: 4, remaining: 3, reset: reset + WINDOW });
});

test("reads, writes, refusals and replays count alike; each says what is left", async () => {
  const { client } = await limited(20);
  const body = paymentBody();
  const [key, { reference }] = ["a-key-to-repeat", (await client.post("/v1/payments", paymentBody())).json];
  const calls: [number, () => Promise<Answer>][] = [
    [201, () => client.post("/v1/payments", body, { key })],
    [200, () => client.post("/v1/payments", body, { key })],
    [409, () => client.post("/v1/payments", { ...body, amount_minor: 1 }, { key })],
    [200, () => client.post(`/v1/payments/${reference}/cancel`, {})],
    [409, () => client.post(`/v1/payments/${reference}/cancel`, {})],
    [422, () => client.post("/v1/payments", {})],
    [400, () => client.post("/v1/payments", "{")],
    [404, () => client.get("/v1/payments/pay_1")],
    [200, () => client.get("/v1/payments?limit=1")],
    [422, () => client.get("/v1/payments?limit=0")],
  ];
  for (const [index, [status, call]] of calls.entries()) {
    const answer = await call();
    expect([answer.status, rate(answer).limit, rate(answer).remaining]).toEqual([status, 20, 18 - index]);
  }
});

test("only requests with a valid signature count against the client", async () => {
  const { client } = await limited(3);
  const { client_id } = client.credentials;
  const forger = new Client({ ...client.credentials, secret: "sk_test_forged" });
  expect(rate(await client.get("/v1/balances")).remaining).toBe(2);
  for (let round = 0; round < 3; round++) {
    const forged = await forger.get("/v1/balances");
    expect([forged.json.error.code, rate(forged).limit]).toEqual(["SIGNATURE_INVALID", 6000]);
    expect((await client.get("/v1/balances", { skew: 1000 })).json.error.code).toBe("TIMESTAMP_OUT_OF_WINDOW");
    const unsigned = await client.send("GET", "/v1/balances", undefined, { authorization: `Bearer ${client_id}` });
    expect(unsigned.json.error.code).toBe("SIGNATURE_MISSING");
    expect((await client.get("/v1/nothing-here")).json.error.code).toBe("ROUTE_NOT_FOUND");
    expect((await client.post("/v1/payments", "x".repeat(262_145))).status).toBe(413);
    expect((await client.get("/v1/health")).status).toBe(200);
  }
  expect(rate(await client.get("/v1/balances")).remaining).toBe(1);
});

test("each client_id has a quota of its own, in the same merchant too", async () => {
  const { client: first, merchantId } = await limited(2);
  const second = await service.client(merchantId);
  for (const remaining of [1, 0]) expect(rate(await first.get("/v1/balances")).remaining).toBe(remaining);
  expectRefused(await first.get("/v1/balances"));
  expect(rate(await second.get("/v1/balances")).remaining).toBe(1);
});

test("two instances count together, also when everything comes at once", async () => {
  const { client } = await limited(10);
  for (const remaining of [9, 8, 7, 6]) {
    expect(rate(await at(remaining % 2 ? service : other, client).get("/v1/balances")).remaining).toBe(remaining);
  }
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, index) => at(index % 2 ? service : other, client).get("/v1/balances")),
  );
  const passed = answers.filter(({ status }) => status === 200);
  expect(passed.map((answer) => rate(answer).remaining).toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5]);
  for (const answer of answers.filter(({ status }) => status !== 200)) expectRefused(answer);
});

test("a person who acts for two merchants at once has a count at each", async () => {
  const { database } = service.app;
  const admission = new Admission(database, clock, (cause) => expect.unreachable(String(cause)));
  const at = ({ merchantId }: { merchantId: string }) =>
    ({ actor: "sari@toko.example", merchant: { merchantId, rateLimitPerMinute: 10 } }) as Principal;
  const [one, two] = [at(await service.merchant()), at(await service.merchant())];
  const counts = async (...principals: Principal[]): Promise<number[]> =>
    (await Promise.all(principals.map((principal) => admission.admit(principal)))).map(({ count }) => count);
  expect(await counts(one, two, one, one)).toEqual([1, 1, 2, 3]);
  admission.takeBack(one, rateOf(10, 3, windowStart));
  expect(await counts(two, one, two)).toEqual([2, 3, 3]);
});

test("a replay costs its client nothing at any instance, even where no request follows it", async () => {
  const { database } = service.app;
  const [here, elsewhere] = [service, other].map(
    ({ app }) => new Admission(app.database, clock, (cause) => expect.unreachable(String(cause))),
  ) as [Admission, Admission];
  const { merchantId } = await service.merchant();
  const client = { actor: "ak_test_replayed", merchant: { merchantId, rateLimitPerMinute: 10 } } as Principal;
  for (const { rate } of await Promise.all(Array.from({ length: 10 }, () => elsewhere.admit(client))))
    elsewhere.takeBack(client, rate);
  const counted = async (): Promise<unknown> =>
    (
      await database.query({ text: "select requests from rate_windows where client_id = $1", values: [client.actor] })
    )[0]?.requests;
  await expect.poll(counted).toBe(0n);
  expect((await here.admit(client)).count).toBe(1);
});

test("what a quota refuses is not done, and its key is not used up", async () => {
  const { client } = await limited(1);
  await client.get("/v1/balances");
  const [body, key] = [paymentBody(), "the-key-of-a-refused-one"];
  expectRefused(await client.post("/v1/payments", body, { key }));
  nextWindow();
  expect((await client.post("/v1/payments", body, { key })).status).toBe(201);
});

test("a new limit holds in every instance within a second", async () => {
  const { client, merchantId } = await limited(50);
  expect(rate(await at(other, client).get("/v1/balances")).limit).toBe(50);
  await operator("PATCH", `/merchants/${merchantId}`, { rate_limit_per_minute: 40_000 });
  const changedAt = performance.now();
  expect(rate(await client.get("/v1/balances")).limit).toBe(40_000);
  for (;;) {
    const sentAt = performance.now();
    if (rate(await at(other, client).get("/v1/balances")).limit === 40_000) break;
    expect(sentAt - changedAt).toBeLessThan(1000);
  }
});

const json = { "content-type": "application/json" };
const bad: [string, (origin: string) => Promise<Response>][] = [
  ["a path that does not exist", (origin) => fetch(`${origin}/v1/nothing-here`)],
  ["no credentials", (origin) => fetch(`${origin}/v1/payments`, { method: "POST", headers: json, body: "{}" })],
  ["a client nobody made", (origin) => fetch(`${origin}/v1/payments`, { headers: { authorization: "Bearer ak_x" } })],
  [
    "a body too large",
    (origin) => fetch(`${origin}/v1/payments`, { method: "POST", headers: json, body: "x".repeat(262_145) }),
  ],
  [
    "a path of the operators, who are elsewhere",
    (origin) => fetch(`${origin}/ops/v1/acquirers`, { headers: { authorization: "Bearer x" } }),
  ],
];

/** Uses up what unauthenticated callers have. */
async function exhaust(): Promise<void> {
  for (let count = 0; count < UNAUTHENTICATED; count++) await (await fetch(`${tight.origin}/v1/nothing-here`)).text();
}

test("unauthenticated callers have one quota by address: each bad request counts, and then each is refused", async () => {
  const reset = windowStart + WINDOW;
  for (const [index, [name, send]] of bad.entries()) {
    const answer = await readAnswer(await send(tight.origin));
    expect([401, 404, 413], name).toContain(answer.status);
    expect(rate(answer), name).toEqual({ limit: UNAUTHENTICATED, remaining: UNAUTHENTICATED - 1 - index, reset });
  }
  for (const [name, send] of bad) {
    const answer = await readAnswer(await send(tight.origin));
    expectRefused(answer);
    expect(rate(answer), name).toEqual({ limit: UNAUTHENTICATED, remaining: 0, reset, retryAfter: WINDOW - second });
  }
  nextWindow();
  const [, send] = bad[0] ?? expect.unreachable();
  expect((await send(tight.origin)).status).toBe(404);
});

test("when unauthenticated callers have used theirs up: health, signed requests and the operator still pass", async () => {
  const { client, merchantId } = await limited(50);
  const known = at(tight, client);
  expect((await known.get("/v1/balances")).status).toBe(200);
  await exhaust();
  for (let round = 0; round < 3; round++) {
    expect((await fetch(`${tight.origin}/v1/health`)).status).toBe(200);
    const read = await known.get("/v1/balances");
    expect([read.status, rate(read).limit]).toEqual([200, 50]);
    expect((await known.post("/v1/payments", paymentBody())).status).toBe(201);
    expect((await known.post("/v1/payments", "{")).status).toBe(400); // its own mistakes are on its own account
    const { merchant_id } = await operator("GET", `/merchants/${merchantId}`, undefined, tight);
    expect(merchant_id).toBe(merchantId);
  }
  expectRefused(await readAnswer(await fetch(`${tight.origin}/v1/nothing-here`)));
});

test("when unauthenticated callers have used theirs up: a merchant not heard of before, or just changed, still passes", async () => {
  const { client, merchantId } = await limited(50);
  const known = at(tight, client);
  await exhaust();
  expect((await known.get("/v1/balances")).status).toBe(200);
  await operator("PATCH", `/merchants/${merchantId}`, { rate_limit_per_minute: 60 }, tight);
  expect((await known.get("/v1/balances")).status).toBe(200);
});

test("a forged request of a known client is an unauthenticated caller's, and takes nothing from the client", async () => {
  const { client } = await limited(50);
  const known = at(tight, client);
  expect((await known.get("/v1/balances")).status).toBe(200);
  const forger = new Client({ ...known.credentials, secret: "sk_test_forged" });
  for (let count = 0; count < UNAUTHENTICATED; count++) {
    expect((await forger.get("/v1/balances")).json.error.code).toBe("SIGNATURE_INVALID");
  }
  expectRefused(await forger.get("/v1/balances"));
  expect(rate(await known.get("/v1/balances")).remaining).toBe(48);
});
