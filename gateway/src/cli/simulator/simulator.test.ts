// Goal: an acquirer that keeps its word, and breaks it only as it is told. Method: signed requests made here by hand over
// real sockets, so that its side of the protocol is held against the guide and not against our own adapter.
import { createHmac } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Mailbox, SECRET } from "../../../test/remote-rig.ts";
import { type Simulator, startSimulator } from "./simulator.ts";

let simulator: Simulator;
const mailbox = new Mailbox();
let count = 0;

beforeAll(async () => {
  await mailbox.start();
  simulator = await startSimulator({ port: 0, host: "127.0.0.1", secret: SECRET });
});
afterAll(async () => {
  await simulator.stop();
  await mailbox.close();
});
beforeEach(() => simulator.behave({ mode: "ok", slow_ms: 50, refunds: "later" }));
const others: Simulator[] = [];
afterEach(async () => {
  mailbox.answers = [];
  for (const other of others.splice(0)) await other.stop();
});

interface Answer {
  status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into bodies of every shape
  json: any;
}
interface Changes {
  at?: number;
  signature?: string;
  headers?: Record<string, string>;
  url?: string;
}

/** A request signed by hand. */
async function call(method: string, path: string, body?: unknown, changes: Changes = {}): Promise<Answer> {
  const text = body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body);
  const timestamp = String(Math.floor(Date.now() / 1000) + (changes.at ?? 0));
  const signature = createHmac("sha256", SECRET).update(`${timestamp}.${method} ${path}.${text}`).digest("hex");
  const response = await fetch((changes.url ?? simulator.url) + path, {
    method,
    headers: {
      "x-acquirer-timestamp": timestamp,
      "x-acquirer-signature": changes.signature ?? signature,
      ...changes.headers,
    },
    ...(body === undefined ? {} : { body: text }),
    signal: AbortSignal.timeout(changes.url === undefined ? 2_000 : 5_000),
  });
  return { status: response.status, json: JSON.parse(await response.text()) };
}
/** A request of the control surface. */
async function control(method: string, path: string, body?: unknown): Promise<Answer> {
  const text = body === undefined ? null : JSON.stringify(body);
  const response = await fetch(simulator.url + path, { method, body: text });
  return { status: response.status, json: await response.json() };
}

const order = (changes: object = {}) => ({
  operation_key: `pay.${++count}`,
  amount_minor: 150_000,
  currency: "IDR",
  payment_method: "qris",
  merchant_name: "Kopi Gerbang",
  reference: `pay_${count}`,
  expires_at: "2099-11-21T07:42:22Z",
  pay_url: "https://pay.example.com/pay/x",
  callback_url: mailbox.url,
  ...changes,
});
const refundOrder = (payment: string, changes: object = {}) => ({
  operation_key: `rfd.${++count}`,
  payment_operation_key: payment,
  amount_minor: 50_000,
  currency: "IDR",
  callback_url: mailbox.url,
  ...changes,
});
const outcome = ({ status, json }: Answer): unknown[] => [status, json.error?.code, json.error?.final];

async function paidPayment(): Promise<string> {
  const { operation_key } = (await call("POST", "/payments", order())).json;
  await simulator.pay(operation_key, { callbacks: 0 });
  return operation_key;
}

describe("payments", () => {
  test("201 at first, 200 with the same content, 409 with other content", async () => {
    const first = order();
    const created = await call("POST", "/payments", first);
    expect(created).toEqual({
      status: 201,
      json: {
        operation_key: first.operation_key,
        status: "waiting",
        instructions: {
          type: "qr_string",
          value: expect.stringMatching(/^000201/),
          qr_string: expect.any(String),
          expires_at: first.expires_at,
        },
      },
    });
    expect(await call("POST", "/payments", first)).toEqual({ ...created, status: 200 });
    expect(await call("GET", `/payments/${first.operation_key}`)).toEqual({ ...created, status: 200 });
    for (const changes of [{ amount_minor: 1 }, { reference: "other" }, { callback_url: "http://localhost:1/" }]) {
      expect(outcome(await call("POST", "/payments", { ...first, ...changes }))).toEqual([409, "key_conflict", true]);
    }
    expect(outcome(await call("POST", `/payments/${first.operation_key}/void`, {}))).toEqual([
      409,
      "known_operation",
      undefined,
    ]);
  });

  test("cancelled while it waits it has failed, twice too, and takes no money any more", async () => {
    const first = order();
    await call("POST", "/payments", first);
    const path = `/payments/${first.operation_key}`;
    for (let time = 0; time < 2; time++)
      expect(await call("POST", `${path}/cancel`, {})).toMatchObject({ status: 200, json: { status: "failed" } });
    expect((await control("POST", `${path}/pay`, {})).status).toBe(409);
    expect((await call("GET", path)).json.status).toBe("failed");
  });

  test.for(["processing", "paid"])("cancelled while it is %s it stays so: 409, and nothing final", async (status) => {
    const first = order();
    await call("POST", "/payments", first);
    const path = `/payments/${first.operation_key}`;
    await control("POST", `${path}/pay`, { status });
    expect(outcome(await call("POST", `${path}/cancel`, {}))).toEqual([409, "not_waiting", undefined]);
    expect((await call("GET", path)).json.status).toBe(status);
    expect((await call("POST", "/payments/c.never/cancel", {})).status).toBe(404);
  });

  test("404 for a key that was never used; voided, it is 410 for ever", async () => {
    const first = order();
    const path = `/payments/${first.operation_key}`;
    expect(outcome(await call("GET", path))).toEqual([404, "unknown_operation", undefined]);
    const voided = { status: 200, json: { operation_key: first.operation_key, status: "void" } };
    expect(await call("POST", `${path}/void`, {})).toEqual(voided);
    expect(await call("POST", `${path}/void`)).toEqual(voided);
    for (let round = 0; round < 2; round++) {
      expect(outcome(await call("POST", "/payments", first))).toEqual([410, "voided", true]);
    }
    expect((await call("GET", path)).status).toBe(404);
  });

  test("what it does not take is refused for good", async () => {
    const first = order({ currency: "USD" });
    expect(outcome(await call("POST", "/payments", first))).toEqual([422, "unsupported", true]);
    expect(outcome(await call("POST", "/payments", { ...first, currency: "IDR" }))).toEqual([422, "unsupported", true]);
  });

  test("a payment is paid with what the control surface says, and the callback says the same", async () => {
    const { operation_key } = (await call("POST", "/payments", order())).json;
    const transaction = { transaction_id: "tx-own", amount_minor: 9_007_199_254_740_991, currency: "USD" };
    const paid = await control("POST", `/payments/${operation_key}/pay`, {
      status: "paid",
      ...transaction,
      callbacks: 2,
    });
    expect(paid).toMatchObject({ status: 200, json: { operation_key, status: "paid", transaction } });
    expect((await call("GET", `/payments/${operation_key}`)).json).toMatchObject({ status: "paid", transaction });
    const deliveries = [await mailbox.take(operation_key), await mailbox.take(operation_key)];
    const [first, second] = deliveries.map(({ body }) => body.toString());
    expect(first).toBe(second);
    expect(JSON.parse(first ?? "")).toEqual({
      callback_id: expect.stringMatching(/^[\w-]{36}$/),
      kind: "payment",
      operation_key,
      status: "paid",
      transaction,
      occurred_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    });
    for (const { path, headers, body } of deliveries) {
      const text = `${String(headers["x-acquirer-timestamp"])}.POST ${path}.${body.toString()}`;
      expect(headers["x-acquirer-signature"]).toBe(createHmac("sha256", SECRET).update(text).digest("hex"));
    }
  });

  test("callbacks come late, or not at all, as asked", async () => {
    const { operation_key } = (await call("POST", "/payments", order())).json;
    await simulator.pay(operation_key, { status: "processing", callbacks: 0 });
    const begun = performance.now();
    await simulator.pay(operation_key, { status: "failed", delay_ms: 200 });
    expect(JSON.parse((await mailbox.take(operation_key)).body.toString())).toMatchObject({ status: "failed" });
    expect(performance.now() - begun).toBeGreaterThan(190);
    expect(mailbox.all.filter(({ body }) => body.includes(`"${operation_key}"`))).toHaveLength(1);
  });

  test("a callback that is not taken is repeated, later and later, until it is", async () => {
    const { operation_key } = (await call("POST", "/payments", order())).json;
    mailbox.answers = [503, 302];
    const begun = performance.now();
    await simulator.pay(operation_key);
    const bodies = [];
    for (let round = 0; round < 3; round++) bodies.push((await mailbox.take(operation_key)).body.toString());
    expect(new Set(bodies).size).toBe(1);
    expect(performance.now() - begun).toBeGreaterThan(2_400);
    await expect.poll(() => simulator.operations(1)[0]).toMatchObject({ callbacks_waiting: 0 });
  });
});

describe("refunds", () => {
  const mode = (refunds: "now" | "later" | "held" | "fail" | "fail_now"): void => simulator.behave({ refunds });

  test.for([
    ["now", "succeeded", "succeeded", false],
    ["later", "pending", "succeeded", true],
    ["fail", "pending", "failed", true],
    ["fail_now", "failed", "failed", false],
  ] as const)("%s: answered %s, then %s", async ([refunds, answered, end, called]) => {
    mode(refunds);
    const refund = refundOrder(await paidPayment());
    expect(await call("POST", "/refunds", refund)).toEqual({
      status: 201,
      json: { operation_key: refund.operation_key, status: answered },
    });
    if (called) {
      const { body } = await mailbox.take(refund.operation_key);
      expect(JSON.parse(body.toString())).toMatchObject({ kind: "refund", status: end });
    }
    expect((await call("POST", "/refunds", refund)).json.status).toBe(end);
    expect((await call("GET", `/refunds/${refund.operation_key}`)).json.status).toBe(end);
  });

  test("held: pending until somebody concludes it", async () => {
    mode("held");
    const refund = refundOrder(await paidPayment());
    expect((await call("POST", "/refunds", refund)).json.status).toBe("pending");
    const concluded = await control("POST", `/refunds/${refund.operation_key}/settle`, { status: "failed" });
    expect(concluded).toMatchObject({ status: 200, json: { status: "failed" } });
    expect(JSON.parse((await mailbox.take(refund.operation_key)).body.toString())).toMatchObject({ status: "failed" });
  });

  test("never more than was paid; what failed is free again", async () => {
    mode("held");
    const payment = await paidPayment();
    const first = refundOrder(payment, { amount_minor: 100_000 });
    expect((await call("POST", "/refunds", first)).status).toBe(201);
    const tooMuch = refundOrder(payment, { amount_minor: 50_001 });
    expect(outcome(await call("POST", "/refunds", tooMuch))).toEqual([422, "exceeds_payment", true]);
    await simulator.conclude(first.operation_key, { status: "failed", callbacks: 0 });
    expect(outcome(await call("POST", "/refunds", tooMuch))).toEqual([422, "exceeds_payment", true]); // a no holds
    expect((await call("POST", "/refunds", refundOrder(payment, { amount_minor: 150_000 }))).status).toBe(201);
  });

  test("only of what exists, was paid, and in its currency", async () => {
    const open = (await call("POST", "/payments", order())).json.operation_key;
    const payment = await paidPayment();
    const refused = async (refund: object) => outcome(await call("POST", "/refunds", refund));
    expect(await refused(refundOrder("pay.nobody"))).toEqual([422, "unknown_payment", true]);
    expect(await refused(refundOrder(open))).toEqual([422, "not_paid", true]);
    expect(await refused(refundOrder(payment, { currency: "USD" }))).toEqual([422, "currency_mismatch", true]);
    const missing = refundOrder(payment);
    expect((await call("POST", `/refunds/${missing.operation_key}/void`, {})).json.status).toBe("void");
    expect(await refused(missing)).toEqual([410, "voided", true]);
  });
});

describe("what it does not listen to", () => {
  test("requests that are not signed, or not by us, or not now", async () => {
    const body = order();
    const refused = async (changes: Changes) => outcome(await call("POST", "/payments", body, changes));
    expect(await refused({ signature: "0".repeat(64) })).toEqual([401, "signature_invalid", true]);
    expect(await refused({ signature: "" })).toEqual([401, "signature_invalid", true]);
    expect(await refused({ at: -302 })).toEqual([401, "timestamp_out_of_window", true]);
    expect(await refused({ at: 302 })).toEqual([401, "timestamp_out_of_window", true]);
    const unsigned = await control("POST", "/payments", body);
    expect(outcome(unsigned)).toEqual([401, "signature_missing", true]);
    expect((await call("GET", `/payments/${body.operation_key}`)).status).toBe(404);
  });

  test("paths and methods that it does not know", async () => {
    const wrong = [
      "GET /",
      "GET /payments",
      "DELETE /payments/a",
      "POST /payments/a/b",
      "GET /payments/A",
      "POST /operations",
    ];
    for (const line of [...wrong, "GET /payments/", `GET /payments/${"a".repeat(65)}`, "GET /payments/a?x=1"]) {
      const [method = "", path = ""] = line.split(" ");
      expect(outcome(await call(method, path)), line).toEqual([404, "route_not_found", true]);
    }
  });

  test("bodies that are no JSON, or more than 64 KiB", async () => {
    for (const body of ["{", "[]", "null", '{"operation_key":"a","operation_key":"b"}']) {
      expect(outcome(await call("POST", "/payments", body)), body).toEqual([400, "malformed_json", true]);
    }
    const long = `{"merchant_name":"${"x".repeat(70_000)}"}`;
    expect(outcome(await call("POST", "/payments", long))).toEqual([413, "too_large", true]);
    const chunks = new ReadableStream({
      start(controller) {
        for (let at = 0; at < 100; at++) controller.enqueue(new Uint8Array(1_000));
        controller.close();
      },
    });
    const streamed = await fetch(`${simulator.url}/payments`, {
      method: "POST",
      body: chunks,
      duplex: "half",
    } as object);
    expect(streamed.status).toBe(413);
  });

  test("fields that are wrong, missing or too many, by their names", async () => {
    for (const [field, changes] of Object.entries({
      amount_minor: { amount_minor: "150000" },
      currency: { currency: "idr" },
      operation_key: { operation_key: "PAY" },
      payment_method: { payment_method: "cash" },
      expires_at: { expires_at: "2026-02-31T00:00:00Z" },
      callback_url: { callback_url: "ftp://x" },
      note: { note: "?" },
    })) {
      const answer = await call("POST", "/payments", order(changes));
      expect(outcome(answer), field).toEqual([422, "validation_error", true]);
      expect(answer.json.error.message).toContain(field);
    }
    const { amount_minor: _left, ...without } = order({});
    expect((await call("POST", "/payments", without)).json.error.message).toBe("amount_minor: is required");
  });
});

describe("the control surface", () => {
  test("shows the newest operations first, at most a hundred", async () => {
    for (let at = 0; at < 101; at++) await call("POST", "/payments", order());
    const { data } = (await control("GET", "/operations")).json;
    expect(data).toHaveLength(100);
    expect(data[0]).toMatchObject({ kind: "payment", operation_key: `pay.${count}`, status: "waiting" });
  });

  test("says how it behaves, and takes nothing else", async () => {
    const changed = await control("PUT", "/behaviour", { mode: "slow", for_next: 3, slow_ms: 10, refunds: "held" });
    const behaviour = { mode: "slow", for_next: 3, slow_ms: 10, refunds: "held" };
    expect(changed).toEqual({ status: 200, json: behaviour });
    expect((await control("GET", "/behaviour")).json).toEqual(behaviour);
    for (const wrong of [{ mode: "odd" }, { for_next: 1 }, { mode: "ok", for_next: 0 }, { speed: 1 }]) {
      expect((await control("PUT", "/behaviour", wrong)).status).toBe(422);
    }
    expect((await control("GET", "/behaviour")).json).toEqual(behaviour);
  });

  test("404 for what is not there, 422 for what makes no sense", async () => {
    expect((await control("POST", "/payments/pay.nobody/pay", {})).status).toBe(404);
    expect((await control("POST", "/refunds/rfd.nobody/settle", {})).status).toBe(404);
    const { operation_key } = (await call("POST", "/payments", order())).json;
    for (const wrong of [{ status: "done" }, { amount_minor: 1.5 }, { transaction_id: "a b" }, { callbacks: 21 }]) {
      expect((await control("POST", `/payments/${operation_key}/pay`, wrong)).status).toBe(422);
    }
  });

  test("is not for pages in a browser", async () => {
    const response = await fetch(`${simulator.url}/operations`, { headers: { origin: "https://elsewhere.example" } });
    expect(response.status).toBe(403);
  });
});

describe("behaviour", () => {
  const open = (body: object) => call("POST", "/payments", body);
  const isKnown = async (key: string) => (await call("GET", `/payments/${key}`)).status === 200;

  test("holds for so many requests, and then it works again", async () => {
    simulator.behave({ mode: "error", for_next: 2 });
    const body = order();
    expect([await open(body), await open(body), await open(body)].map(({ status }) => status)).toEqual([500, 500, 201]);
  });

  test("error: 500, nothing final, nothing done", async () => {
    simulator.behave({ mode: "error", for_next: 1 });
    const body = order();
    expect(outcome(await open(body))).toEqual([500, "broken", undefined]);
    expect(await isKnown(body.operation_key)).toBe(false);
  });

  test("refuse: final, and the key is refused for good; what is known is not forgotten for it", async () => {
    const before = order();
    await open(before);
    simulator.behave({ mode: "refuse", for_next: 2 });
    const body = order();
    expect(outcome(await open(body))).toEqual([422, "refused", true]);
    expect((await open(before)).status).toBe(200);
    expect(outcome(await open(body))).toEqual([422, "refused", true]);
  });

  test("slow: answers late", async () => {
    simulator.behave({ mode: "slow", for_next: 1, slow_ms: 150 });
    const begun = performance.now();
    expect((await open(order())).status).toBe(201);
    expect(performance.now() - begun).toBeGreaterThan(140);
  });

  test.for([
    ["timeout", true],
    ["timeout_before", false],
    ["reset", true],
    ["garbage", true],
  ] as const)("%s: no answer that anybody could use; done: %s", async ([mode, done]) => {
    simulator.behave({ mode, for_next: 1 });
    const body = order();
    await expect(open(body)).rejects.toThrow();
    expect(await isKnown(body.operation_key)).toBe(done);
  });
});

test("it forgets the oldest that are finished, and takes no more when nothing is", async () => {
  const small = await startSimulator({ port: 0, host: "127.0.0.1", secret: SECRET, maximum: 20 });
  others.push(small);
  const at = { url: small.url };
  for (let round = 0; round < 60; round++)
    expect((await call("POST", `/payments/v.${round}/void`, {}, at)).status).toBe(200);
  expect(small.operations(1000).length).toBeLessThanOrEqual(21);
  expect(small.operations(1)[0]).toMatchObject({ operation_key: "v.59" });
  for (let round = 0; round < 60; round++) await call("POST", "/payments", order(), at);
  expect(small.operations(1000).length).toBeLessThanOrEqual(40);
  expect(outcome(await call("POST", "/payments", order(), at))).toEqual([503, "full", undefined]);
});
