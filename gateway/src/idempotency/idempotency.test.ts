// Goal: one key, one effect, one answer (section 4.11 of the interface). Method: what HTTP and the database do to it,
// over a real socket; what happens between processes with two instances on one database, and with a lock held by hand.
import { type IncomingMessage, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Answer, Client, operate } from "../../../e2e/kit/client.ts";
import { OPERATOR_TOKEN, type TestService, asOwner, paymentBody, startService } from "../../test/kit.ts";
import { SECOND, systemClock } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { uuidOf } from "../ground/ids.ts";
import { type Intent, RunningKeys, idempotently } from "./idempotency.ts";
import { waiting } from "../../test/slowness.ts";

let service: TestService;
let other: TestService;
let client: Client;
let merchantId: string;

beforeAll(async () => {
  service = await startService();
  other = await startService({ database: service.database, roles: ["api"] });
  ({ client, merchantId } = await service.merchant());
});
afterAll(() => Promise.all([service.stop(), other.stop()]));

const create = (body: unknown, key?: string | null, by = client): Promise<Answer> =>
  by.post("/v1/payments", body, key === undefined ? {} : { key });
const newKey = (): string => `key-${crypto.randomUUID()}`;
const elsewhere = (by: Client): Client => new Client({ ...by.credentials, base_url: `${other.origin}/v1` });
const operator = (method: string, path: string, value: unknown): Promise<unknown> =>
  operate({ ops_url: `${service.operatorOrigin}/ops/v1`, operator_token: OPERATOR_TOKEN }, method, path, value);

/** Status, code, and whether the answer is a replay. */
function outcome({ status, headers, json }: Answer): string {
  const replay = headers.get("x-idempotent-replay");
  if (replay !== null) expect(replay).toBe("true");
  if (status >= 400) expect(Object.keys(json as object)).toEqual(["error"]);
  return [status, json?.error?.code, replay && "replay"].filter(Boolean).join(" ");
}

async function stored(by: Client, referenceId: unknown): Promise<number> {
  return (await by.get(`/v1/payments?reference_id=${String(referenceId)}`)).json.data.length as number;
}

test("a creation is replayed byte for byte with 200, whatever became of the payment, by either instance", async () => {
  const body = JSON.stringify(paymentBody({ metadata: { order: "1" }, description: "Kopi" }));
  const key = newKey();
  const first = await create(body, key);
  expect(outcome(first)).toBe("201");
  const cancelKey = newKey();
  const path = `/v1/payments/${first.json.reference}/cancel`;
  const canceled = await client.post(path, { reason: "changed my mind" }, { key: cancelKey });
  expect(outcome(canceled)).toBe("200");
  for (const by of [client, elsewhere(client), client]) {
    const again = await create(body, key, by);
    expect(outcome(again)).toBe("200 replay");
    expect(again.text).toBe(first.text);
    expect(again.headers.get("content-type")).toBe(first.headers.get("content-type"));
    expect(again.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
    const canceledAgain = await by.post(path, { reason: "changed my mind" }, { key: cancelKey });
    expect(outcome(canceledAgain)).toBe("200 replay");
    expect(canceledAgain.text).toBe(canceled.text);
  }
});

test("a simulated outcome and a step of the clock happen once", async () => {
  const { client } = await service.merchant();
  const { reference } = (await create(paymentBody(), undefined, client)).json;
  const steps: [string, unknown][] = [
    [`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" }],
    ["/v1/sandbox/clock/advance", { seconds: 100 }],
  ];
  for (const [path, body] of steps) {
    const key = newKey();
    const first = await client.post(path, body, { key });
    const again = await client.post(path, body, { key });
    expect([outcome(first), outcome(again), again.text]).toEqual(["200", "200 replay", first.text]);
  }
  expect((await client.get("/v1/sandbox/clock")).json.offset_seconds).toBe(100);
  expect((await client.get("/v1/balances")).json.data[0].available_minor).toBe(148_950); // 150,000 less 70 basis points
});

test.each<[string, string, () => Promise<Record<string, unknown>>, string]>([
  [
    "a reference_id that is taken",
    "/v1/payments",
    async () => {
      const body = paymentBody();
      await create(body);
      return body;
    },
    "409 REFERENCE_ID_DUPLICATE",
  ],
  [
    "a payment whose name is malformed",
    "/v1/sandbox/payments/pay_1/simulate",
    () => Promise.resolve({ outcome: "succeeded" }),
    "404 PAYMENT_NOT_FOUND",
  ],
])(
  "a refusal that is a decision is stored and replayed with its own status: %s",
  async (_name, path, body, expected) => {
    const text = JSON.stringify(await body());
    const key = newKey();
    const first = await client.post(path, text, { key });
    expect(outcome(first)).toBe(expected);
    for (const by of [client, elsewhere(client)]) {
      const again = await by.post(path, text, { key });
      expect(outcome(again)).toBe(`${expected} replay`);
      expect(again.text).toBe(first.text);
    }
  },
);

test("errors of a field are not stored: the key is free for the request put right", async () => {
  const body = paymentBody();
  const key = newKey();
  expect(outcome(await create({ ...body, expires_in: 5 }, key))).toBe("422 VALIDATION_ERROR");
  expect(outcome(await create({ ...body, expires_in: 5 }, key))).toBe("422 VALIDATION_ERROR");
  expect(outcome(await create("{", key))).toBe("400 MALFORMED_JSON");
  expect(outcome(await client.post("/v1/payments", body, { key, skew: 1000 }))).toBe("401 TIMESTAMP_OUT_OF_WINDOW");
  expect(outcome(await create(body, key))).toBe("201");
});

test("a method that is switched off is not stored either", async () => {
  const { client, merchantId } = await service.merchant({ settings: { methods: ["va"] } });
  const [body, key] = [paymentBody(), newKey()];
  expect(outcome(await create(body, key, client))).toBe("422 PAYMENT_METHOD_UNAVAILABLE");
  await operator("PATCH", `/merchants/${merchantId}`, { methods: ["va", "qris"] });
  expect(outcome(await create(body, key, client))).toBe("201");
});

test.each([
  ["the method is switched off", { methods: ["va"] }],
  ["less is allowed", { max_amount_minor: 1_000 }],
])("a request that ended in GATEWAY_ERROR goes on under its key, though %s meanwhile", async (_what, settings) => {
  const { client, merchantId } = await service.merchant();
  const body = paymentBody({ metadata: { "sandbox.scenario": "gateway_error_once" } });
  const key = newKey();
  expect(outcome(await create(body, key, client))).toBe("502 GATEWAY_ERROR");
  await operator("PATCH", `/merchants/${merchantId}`, settings);
  const refused = async (): Promise<string> =>
    outcome(await create({ ...body, reference_id: newKey() }, newKey(), client));
  await vi.waitFor(async () => expect(await refused()).toMatch(/^422/), 30_000);
  expect(outcome(await create({ ...body, description: "another" }, key, client))).toBe("409 IDEMPOTENCY_CONFLICT");
  expect(outcome(await create(body, key, client))).toBe("201");
  expect(outcome(await create(body, key, client))).toBe("200 replay");
});

test("no route is not stored: when there is one again, the same key goes through", async () => {
  const body = paymentBody();
  const key = newKey();
  const switchAll = async (enabled: boolean): Promise<void> => {
    for (const code of ["nusantara", "cendana"]) await operator("PATCH", `/acquirers/${code}`, { enabled });
  };
  await switchAll(false);
  try {
    expect(outcome(await create(body, key))).toBe("503 NO_ROUTE_AVAILABLE");
    const again = await create(body, key);
    expect(outcome(again)).toBe("503 NO_ROUTE_AVAILABLE");
    expect(Number(again.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await stored(client, body.reference_id)).toBe(0);
  } finally {
    await switchAll(true);
    // The other instance hears of it within a second.
    await vi.waitFor(
      async () => expect(outcome(await create(paymentBody(), newKey(), elsewhere(client)))).toBe("201"),
      30_000,
    );
  }
  expect(outcome(await create(body, key))).toBe("201");
});

test.each<[string, (body: Record<string, unknown>) => unknown]>([
  ["one more space", (body) => `${JSON.stringify(body)} `],
  ["a field that breaks a rule", (body) => ({ ...body, amount_minor: -1 })],
])("the same key with another body conflicts: %s", async (_name, change) => {
  const body = paymentBody();
  const key = newKey();
  const first = await create(body, key);
  for (const by of [client, elsewhere(client)]) {
    const answer = await create(change(body), key, by);
    expect(outcome(answer)).toBe("409 IDEMPOTENCY_CONFLICT");
    expect(answer.json.error.details).toEqual({ idempotency_key: key, first_seen_at: first.json.created_at });
  }
  const again = await create(body, key);
  expect([outcome(again), again.text]).toEqual(["200 replay", first.text]);
});

test("the same key on another path conflicts, on another payment too", async () => {
  const [first, second] = [await create(paymentBody()), await create(paymentBody())];
  const key = newKey();
  const cancel = (reference: unknown): string => `/v1/payments/${String(reference)}/cancel`;
  expect(outcome(await client.post(cancel(first.json.reference), {}, { key }))).toBe("200");
  for (const path of [cancel(second.json.reference), cancel("pay_1"), "/v1/payments", "/v1/sandbox/clock/advance"]) {
    expect(outcome(await client.post(path, {}, { key })), path).toBe("409 IDEMPOTENCY_CONFLICT");
  }
  expect((await client.get(`/v1/payments/${second.json.reference}`)).json.status).toBe("pending");
});

test("a key belongs to merchant and environment: to both credentials of one, to nobody else", async () => {
  const [body, key] = [paymentBody(), newKey()];
  const { client: owner, merchantId } = await service.merchant();
  expect(outcome(await create(body, key, owner))).toBe("201");
  expect(outcome(await create(body, key, await service.client(merchantId)))).toBe("200 replay");
  const live = await service.client(merchantId, "production");
  expect(outcome(await create(body, key, live))).toBe("503 NO_ROUTE_AVAILABLE");
  expect(outcome(await create(body, key, (await service.merchant()).client))).toBe("201");
});

/** Sends header values exactly as given, several under one name if asked. */
async function createWithKeys(body: string, keys: string[]): Promise<string> {
  const headers = { ...client.headers(body), "content-type": "application/json", "idempotency-key": keys };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request(`${service.origin}/v1/payments`, { method: "POST", headers }, resolve);
    sent.on("error", reject);
    sent.end(body);
  });
  let text = "";
  for await (const chunk of response) text += String(chunk);
  return [response.statusCode, JSON.parse(text).error?.code].filter(Boolean).join(" ");
}

test.each<[string, string[], string]>([
  ["none", [], "422 IDEMPOTENCY_KEY_REQUIRED"],
  ["empty", [""], "422 IDEMPOTENCY_KEY_INVALID"],
  ["only spaces", ["          "], "422 IDEMPOTENCY_KEY_INVALID"],
  ["255 characters", ["k".repeat(255)], "201"],
  ["beyond ASCII", ["caf\u00e9-caf\u00e9-caf\u00e9"], "422 IDEMPOTENCY_KEY_INVALID"],
  ["every sign that ASCII has", ["!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ \t azAZ09"], "201"],
  ["two, the same", ["a-key-twice", "a-key-twice"], "422 IDEMPOTENCY_KEY_INVALID"],
])("Idempotency-Key: %s", async (_name, keys, expected) => {
  const body = paymentBody();
  expect(await createWithKeys(JSON.stringify(body), keys)).toBe(expected);
  expect(await stored(client, body.reference_id)).toBe(expected === "201" ? 1 : 0);
});

test("every write needs a key, and no read does", async () => {
  const body = paymentBody();
  const { reference } = (await create(body)).json;
  for (const path of [
    "/v1/payments",
    `/v1/payments/${reference}/cancel`,
    `/v1/sandbox/payments/${reference}/simulate`,
    "/v1/sandbox/clock/advance",
  ]) {
    expect(outcome(await client.post(path, {}, { key: null })), path).toBe("422 IDEMPOTENCY_KEY_REQUIRED");
  }
  const headers = { "idempotency-key": "x" }; // a key on a read is nobody's concern
  expect(outcome(await client.get(`/v1/payments/${reference}`, { headers }))).toBe("200");
  expect((await client.get(`/v1/payments/${reference}`)).json.status).toBe("pending");
});

test("a key is kept for 72 hours of the book's clock, from the first request, and is new afterwards", async () => {
  const { client } = await service.merchant();
  const advance = async (seconds: number): Promise<void> => {
    expect(outcome(await client.post("/v1/sandbox/clock/advance", { seconds }))).toBe("200");
  };
  const body = JSON.stringify(paymentBody());
  const [key, other] = [newKey(), newKey()];
  const first = await create(body, key, client);
  expect(outcome(await create(paymentBody({ amount_minor: 7 }), other, client))).toBe("201");
  await advance(36 * 3600);
  expect(outcome(await create(body, key, client))).toBe("200 replay"); // and a replay does not prolong it
  await advance(36 * 3600 - 60);
  const late = await create(body, key, client);
  expect([outcome(late), late.text]).toEqual(["200 replay", first.text]);
  expect(outcome(await create({}, other, client))).toBe("409 IDEMPOTENCY_CONFLICT");
  await advance(61);
  const anew = await create(body, key, client);
  expect(outcome(anew)).toBe("409 REFERENCE_ID_DUPLICATE");
  expect(outcome(await create({}, other, client))).toBe("422 INVALID_AMOUNT");
  expect(outcome(await create(paymentBody(), other, elsewhere(client)))).toBe("201");
  const replayed = await create(body, key, client);
  expect([outcome(replayed), replayed.text]).toEqual(["409 REFERENCE_ID_DUPLICATE replay", anew.text]);
});

test("a retry of a move of the clock moves it once, also beyond the 72 hours after which it forgets keys", async () => {
  const { client } = await service.merchant();
  const [key, body] = [newKey(), { seconds: 30 * 86_400 }];
  const first = await client.post("/v1/sandbox/clock/advance", body, { key });
  expect(outcome(first)).toBe("200");
  const again = await client.post("/v1/sandbox/clock/advance", body, { key });
  expect([outcome(again), again.text]).toEqual(["200 replay", first.text]);
  expect((await client.get("/v1/sandbox/clock")).json.offset_seconds).toBe(body.seconds);
  await client.post("/v1/sandbox/clock/advance", { seconds: 72 * 3600 });
  expect(outcome(await client.post("/v1/sandbox/clock/advance", body, { key }))).toBe("200");
});

test.each([
  ["one instance", false],
  ["two instances", true],
])("many requests at once with one key have one effect, on %s", async (_name, both) => {
  const { client } = await service.merchant();
  for (let round = 0; round < 3; round++) {
    const [body, key] = [JSON.stringify(paymentBody()), newKey()];
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, index) => create(body, key, both && index % 2 ? elsewhere(client) : client)),
    );
    const outcomes = answers.map(outcome);
    expect(outcomes.filter((text) => text === "201")).toHaveLength(1);
    for (const text of outcomes) expect(["201", "200 replay", "409 IDEMPOTENCY_IN_PROGRESS"]).toContain(text);
    const made = answers.filter(({ status }) => status < 300).map(({ text }) => text);
    const again = await create(body, key, both ? elsewhere(client) : client);
    expect(outcome(again)).toBe("200 replay");
    expect(new Set([...made, again.text]).size).toBe(1);
    expect((await client.get("/v1/payments")).json.data).toHaveLength(round + 1);
  }
});

test("many different bodies at once with one key: one is kept, the others conflict or wait their turn", async () => {
  const { client } = await service.merchant();
  const key = newKey();
  const answers = await Promise.all(
    Array.from({ length: 16 }, (_, index) => create(paymentBody(), key, index % 2 ? elsewhere(client) : client)),
  );
  const outcomes = answers.map(outcome);
  expect(outcomes.filter((text) => text === "201")).toHaveLength(1);
  for (const text of outcomes)
    expect(["201", "409 IDEMPOTENCY_CONFLICT", "409 IDEMPOTENCY_IN_PROGRESS"]).toContain(text);
  expect((await client.get("/v1/payments")).json.data).toHaveLength(1);
});

test("while another process runs the first request, the second is told so within 200 ms, and nothing is stored", async () => {
  const body = paymentBody();
  const key = newKey();
  await asOwner(service.database, async (owner) => {
    await owner.query("begin");
    await owner.query({
      text: `insert into idempotency_keys (merchant_id, environment, idempotency_key, first_seen_at, body_digest, endpoint)
values ($1, 'sandbox', $2, now(), sha256('first'), 'POST /v1/payments')`,
      values: [uuidOf(merchantId), key],
    });
    // The machine may be slow, the service may not: beyond 200 ms, only what two requests take that wait for nobody, on either side of it.
    const others = (): Promise<number> =>
      waiting(async () => expect(outcome(await create(paymentBody(), newKey()))).toBe("201"));
    const beyondMs: number[] = [];
    for (let before = await others(); beyondMs.length < 3;) {
      const told = await waiting(async () => {
        expect(outcome(await create(body, key))).toBe("409 IDEMPOTENCY_IN_PROGRESS");
      });
      const after = await others();
      beyondMs.push(told - before - after);
      before = after;
    }
    expect(Math.min(...beyondMs)).toBeLessThan(200);
    await owner.query("rollback"); // that process dies
  });
  expect(await stored(client, body.reference_id)).toBe(0);
  expect(outcome(await create(body, key))).toBe("201");
});

test("a table that is locked as a whole, as by a migration, is not told as a request in progress", async () => {
  const body = paymentBody();
  const key = newKey();
  await asOwner(service.database, async (owner) => {
    await owner.query("begin");
    await owner.query("lock table idempotency_keys in exclusive mode");
    expect(outcome(await create(body, key))).toBe("503 SERVICE_UNAVAILABLE");
    await owner.query("rollback");
  });
  expect(await stored(client, body.reference_id)).toBe(0);
  expect(outcome(await create(body, key))).toBe("201");
});

test("the database keeps a key's request and its answer for 72 hours", async () => {
  const key = newKey();
  await create(paymentBody(), key);
  await asOwner({ ...service.database, ownerUrl: service.database.url }, async (role) => {
    const change = (to: string): Promise<unknown> =>
      role.query(`update idempotency_keys set ${to} where merchant_id = $1 and idempotency_key = $2`, [
        uuidOf(merchantId),
        key,
      ]);
    const later = (time: string): string =>
      `first_seen_at = first_seen_at + interval '${time}', status = null, response = null`;
    for (const to of [
      "response = '{}'",
      "status = null, response = null",
      "body_digest = sha256('x')",
      later("71:59:59.999999"),
    ])
      await expect(change(to), to).rejects.toThrow(/for 72 hours/);
    await change(later("72 hours"));
    await expect(change("endpoint = 'POST /v1/refunds'")).rejects.toThrow(/for 72 hours/);
    await change("status = 201, response = '{}'");
    await expect(change("status = 202")).rejects.toThrow(/for 72 hours/);
  });
});

test("the database forgets no key before its 72 hours, by its own clock and its book's", async () => {
  const other = await service.merchant();
  const key = newKey();
  await create(paymentBody(), key, other.client);
  await asOwner({ ...service.database, ownerUrl: service.database.url }, async (role) => {
    const values = [uuidOf(other.merchantId), key];
    const insert = (age: string): Promise<unknown> =>
      role.query({
        text: `insert into idempotency_keys (merchant_id, environment, idempotency_key, first_seen_at, body_digest, endpoint)
values ($1, 'production', $2, now() - interval '${age}', sha256('x'), 'x')`,
        values,
      });
    const forget = async (environment: string): Promise<number | null> => {
      const text = `delete from idempotency_keys where merchant_id = $1 and idempotency_key = $2 and environment = '${environment}'`;
      return (await role.query({ text, values })).rowCount;
    };
    await expect(forget("sandbox")).rejects.toThrow(/stays for 72 hours/);
    await other.client.post("/v1/sandbox/clock/advance", { seconds: 72 * 3_600 });
    await insert("71:59:00");
    await expect(forget("production")).rejects.toThrow(/stays for 72 hours/);
    expect(await forget("sandbox")).toBe(1);
    values[1] = newKey();
    await insert("72:00:00");
    expect(await forget("production")).toBe(1);
  });
});

test("a second request of a key waits a moment for the first, and is told when it takes longer", async () => {
  const keys = new RunningKeys();
  const intent = { book: { merchantId: "mer_x", environment: "sandbox" }, key: "order-1001" } as Intent;
  const replay = keys.alone(intent, () => Promise.reject(new Fault("SIGNATURE_REPLAYED")));
  const owner = keys.alone(intent, () => Promise.resolve("done"));
  await expect(replay).rejects.toMatchObject({ code: "SIGNATURE_REPLAYED" });
  expect(await owner).toBe("done");
  void keys.alone(intent, () => new Promise(() => undefined));
  // However late timers are, those of one process end in the order in which they are due.
  const late = pause(200, "told after 200 ms");
  const told = keys.alone(intent, () => Promise.resolve("done")).catch((error: unknown) => error);
  expect(await Promise.race([late, told])).toMatchObject({ code: "IDEMPOTENCY_IN_PROGRESS" });
});

test("a commit without an answer: what it did itself is its answer; what was there before it is answered as always", async () => {
  const key = newKey();
  await client.post("/v1/sandbox/clock/advance", { seconds: 100 }); // keys go by the book's clock, arrivals by the real one
  const before = systemClock.now();
  const first = await create(paymentBody(), key);
  const after = systemClock.now();
  const { rows } = await asOwner(service.database, (owner) =>
    owner.query(
      `select endpoint, body_digest, (extract(epoch from first_seen_at - make_interval(secs => clock_offset_seconds)) * 1000000)::bigint as began
from idempotency_keys join books using (merchant_id, environment) where idempotency_key = $1`,
      [key],
    ),
  );
  const [record] = rows as [{ endpoint: string; body_digest: Buffer; began: string }];
  const recall = (changes: Partial<Intent>): Promise<unknown> => {
    const intent: Intent = {
      book: { merchantId, environment: "sandbox" },
      key,
      endpoint: record.endpoint,
      bodyDigest: record.body_digest,
      requestId: "req_1",
      receivedAt: before,
      ...changes,
    };
    const { book } = intent;
    const never = { name: "never", book, needs: [], execute: () => ({ status: 201, body: "" }) };
    return idempotently(intent, never, service.app.database).recall?.() ?? Promise.reject(new Error("no recall"));
  };
  expect(await recall({})).toEqual({ status: 201, body: first.text });
  expect(await recall({ receivedAt: Number(record.began) }), "begun as it came").toEqual({
    status: 201,
    body: first.text,
  });
  expect(await recall({ receivedAt: after })).toEqual({ status: 200, body: first.text, replayed: true });
  await expect(recall({ receivedAt: after, bodyDigest: Buffer.alloc(32) })).rejects.toMatchObject({
    code: "IDEMPOTENCY_CONFLICT",
  });
  await expect(recall({ receivedAt: after, endpoint: "POST /v1/refunds" })).rejects.toMatchObject({
    code: "IDEMPOTENCY_CONFLICT",
  });
  expect(await recall({ endpoint: "POST /v1/refunds" }), "another endpoint's record is not its own").toBe(undefined);
  expect(await recall({ key: newKey() })).toBe(undefined);
  const open = newKey();
  await asOwner(service.database, (owner) =>
    owner.query(
      `insert into idempotency_keys (merchant_id, environment, idempotency_key, first_seen_at, body_digest, endpoint)
select merchant_id, environment, $2, first_seen_at, body_digest, endpoint from idempotency_keys where idempotency_key = $1`,
      [key, open],
    ),
  );
  expect(await recall({ key: open }), "what it began has no answer yet").toBe(undefined);
  const expired = after + 72 * 3600 * SECOND;
  expect(await recall({ receivedAt: expired }), "a record that has expired is not its own").toBe(undefined);
});
