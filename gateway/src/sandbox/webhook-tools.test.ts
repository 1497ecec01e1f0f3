// Goal: samples are like real events, and fault injection does to a receiver exactly what it says, as often as it was asked.
// Method: a whole service with a TLS receiver; what arrives is held against both kinds of signature and the records.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import tls from "node:tls";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Answer, Client } from "../../../e2e/kit/client.ts";
import { type Certificates, type Received, Receiver, isGenuine, makeCertificates } from "../../../e2e/kit/receiver.ts";
import { type TestService, asOwner, cloneDatabase, openDatabase, paymentBody, startService } from "../../test/kit.ts";
import { eventTypes } from "../events/event.ts";
import { uuidOf } from "../ground/ids.ts";
import { verifyBook } from "../ledger/verify.ts";
import { type InjectedFault, type Mode, modes } from "../webhooks/fault-injection.sql.ts";

const config = { webhookAllowHosts: new Set(["localhost"]) };
const trusted = tls.getCACertificates("default");
const MISBEHAVE = "/v1/sandbox/webhook/misbehave";
let certificates: Certificates;
/** Times of the product, shortened. */
const timing = { pollMs: 100, faultRefreshMs: 50, reorderMs: 1_000, delayMs: 500, slowBodyMs: 600 };
let receiver: Receiver;
let service: TestService;
/** The secrets of receivers that refuse what is not genuine, by path. Other paths take everything. */
const strict = new Map<string, string>();

beforeAll(async () => {
  certificates = await makeCertificates();
  tls.setDefaultCACertificates([...trusted, readFileSync(certificates.caFile, "utf8")]);
  receiver = await Receiver.start(certificates);
  receiver.answer = (delivery, response) => {
    const secret = strict.get(delivery.path);
    response.writeHead(secret === undefined || isGenuine(delivery, secret) ? 200 : 401).end();
  };
  service = await startService({ config, timing });
});

afterAll(async () => {
  await service.stop();
  await receiver.close();
  tls.setDefaultCACertificates(trusted);
});

interface Shop {
  client: Client;
  merchantId: string;
  secret: string;
  path: string;
}

let shops = 0;

/** A merchant whose sandbox has an address of its own, at which only genuine deliveries are taken. */
async function shop(of = service): Promise<Shop> {
  const path = `/shop-${++shops}`;
  const { client, merchantId } = await of.merchant();
  const secret = (await of.app.merchants.setWebhook({ merchantId, environment: "sandbox" }, receiver.url(path))) ?? "";
  strict.set(path, secret);
  return { client, merchantId, secret, path };
}

const at = ({ path }: Shop): Received[] => receiver.received.filter((delivery) => delivery.path === path);

async function arrived(of: Shop, count: number): Promise<Received[]> {
  await vi.waitFor(() => expect(at(of)).toHaveLength(count), 30_000);
  return at(of);
}

function put(client: Client, value: unknown, key: string = randomUUID()): Promise<Answer> {
  const body = JSON.stringify(value);
  const headers = { ...client.headers(body), "content-type": "application/json", "idempotency-key": key };
  return client.send("PUT", MISBEHAVE, body, headers);
}

async function misbehave(client: Client, mode: Mode, forNext?: number): Promise<void> {
  const { status, json, text } = await put(client, { mode, ...(forNext === undefined ? {} : { for_next: forNext }) });
  expect(status, text).toBe(200);
  expect(json).toEqual({ mode, for_next: forNext ?? null });
}

const left = async (client: Client): Promise<unknown> => (await client.get(MISBEHAVE)).json;
const NOTHING_LEFT = { mode: "none", for_next: null };

async function trigger(client: Client, type = "payment.succeeded"): Promise<string> {
  const { status, json, text } = await client.post("/v1/sandbox/events/trigger", { type });
  expect(status, text).toBe(200);
  expect(json).toEqual({ event_id: expect.stringMatching(/^evt_/), type });
  return json.event_id as string;
}

async function advance(client: Client, seconds: number): Promise<void> {
  const { status, text } = await client.post("/v1/sandbox/clock/advance", { seconds });
  expect(status, text).toBe(200);
}

interface AttemptRow {
  attempt: number;
  succeeded: boolean;
  status: number | null;
  reason: string | null;
  duration_ms: number;
  request_headers: Record<string, string>;
}

async function attemptsOf({ merchantId }: Shop, count: number, of = service): Promise<AttemptRow[]> {
  return vi.waitFor(async () => {
    const { rows } = await asOwner(of.database, (owner) =>
      owner.query<AttemptRow>(
        "select * from delivery_attempts where merchant_id = $1::uuid order by started_at, attempt",
        [uuidOf(merchantId)],
      ),
    );
    expect(rows).toHaveLength(count);
    return rows;
  }, 30_000);
}

const ownHeaders = ({ headers }: Received): Record<string, unknown> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => /^(x-svc-|webhook-|content-)/.test(name)));
const age = ({ headers, at: arrivedAt }: Received): number => arrivedAt / 1000 - Number(headers["x-svc-timestamp"]);

/** The signature of Standard Webhooks, held against now by the library itself. */
function isStandard({ headers, body }: Received, secret: string): boolean {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}

/** The fields of an object and the kind of value each has. */
const shapeOf = (data: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(Object.entries(data).map(([name, value]) => [name, value === null ? "null" : typeof value]));

test("samples of all types have the shape of the real thing, are signed like it, and leave the books clean", async () => {
  const of = await shop();
  const { client, secret } = of;
  const ids = await Promise.all(eventTypes.map((type) => trigger(client, type)));
  const samples = await arrived(of, eventTypes.length);
  expect(new Set(samples.map(({ event }) => event.id))).toEqual(new Set(ids));
  expect(new Set(samples.map(({ event }) => event.type))).toEqual(new Set(eventTypes));
  for (const sample of samples) {
    expect(isGenuine(sample, secret) && isStandard(sample, secret), sample.event.type).toBe(true);
    expect(sample.headers).toMatchObject({ "x-svc-event-type": sample.event.type, "x-svc-delivery-attempt": "1" });
    expect(Object.keys(sample.event)).toEqual(["id", "type", "created_at", "environment", "api_version", "data"]);
    expect(sample.event.data.sample).toBe(true);
  }
  const [expired] = samples.map(({ event }) => event).filter(({ type }) => type === "payment.expired");
  expect(Date.parse(String(expired?.data.expires_at))).toBeLessThanOrEqual(Date.parse(expired?.created_at ?? ""));

  const real = await realEvents();
  for (const { event } of samples) {
    const { sample: _, ...data } = event.data as Record<string, unknown>;
    const [own] = real.filter(({ type }) => type === event.type);
    expect(own, event.type).toBeDefined();
    expect(shapeOf(data), event.type).toEqual(shapeOf(own?.data ?? {}));
    expect(data.status, event.type).toBe(own?.data.status);
  }

  const database = openDatabase(service.database);
  try {
    const { wrong } = await verifyBook(database, { merchantId: of.merchantId, environment: "sandbox" });
    expect(wrong).toBeUndefined();
  } finally {
    await database.end();
  }
});

/** A real event of every type: everything that can happen, happens to some payment. */
async function realEvents(): Promise<{ type: string; data: Record<string, unknown> }[]> {
  const of = await shop();
  const { client, merchantId } = of;
  const ask = async (path: string, value: unknown): Promise<Answer["json"]> => {
    const { status, json, text } = await client.post(path, value);
    expect(status, text).toBeLessThan(300);
    return json;
  };
  const create = async (changes: Record<string, unknown> = {}): Promise<string> =>
    (await ask("/v1/payments", paymentBody({ metadata: { table: "4" }, ...changes }))).reference as string;
  const pay = async (reference: string): Promise<string> => {
    for (const outcome of ["processing", "succeeded"])
      await ask(`/v1/sandbox/payments/${reference}/simulate`, { outcome });
    return reference;
  };
  await ask(`/v1/payments/${await create()}/cancel`, {});
  await ask(`/v1/sandbox/payments/${await create()}/simulate`, { outcome: "failed" });
  await ask("/v1/refunds", { payment_reference: await pay(await create()), amount_minor: 1_000 });
  const slow = await pay(await create({ metadata: { "sandbox.scenario": "slow" } }));
  const { uuid: refund } = await ask("/v1/refunds", { payment_reference: slow, amount_minor: 1_000 });
  await ask(`/v1/sandbox/refunds/${refund as string}/simulate`, { outcome: "failed" });
  const contested = await pay(await create());
  const { uuid: dispute } = await ask(`/v1/sandbox/payments/${contested}/dispute`, { reason: "product_not_received" });
  const evidence = { statement: "It was delivered.", files: [] };
  await service.app.submitEvidence({ merchantId, environment: "sandbox" }, dispute as string, evidence);
  await ask(`/v1/sandbox/disputes/${dispute as string}/resolve`, { outcome: "won" });
  const { data: batches } = await ask("/v1/sandbox/settlements/run", {});
  await ask(`/v1/sandbox/settlements/${(batches as { uuid: string }[])[0]?.uuid}/pay`, {});
  await create({ expires_in: 60 });
  await advance(client, 61);
  await vi.waitFor(() => expect(new Set(at(of).map(({ event }) => event.type)).size).toBe(eventTypes.length), 30_000);
  return at(of).map(({ event }) => event as { type: string; data: Record<string, unknown> });
}

test("a trigger is one event however often it is asked for, and needs an address", async () => {
  const of = await shop();
  const key = randomUUID();
  const body = { type: "refund.failed" };
  const first = await of.client.post("/v1/sandbox/events/trigger", body, { key });
  const again = await of.client.post("/v1/sandbox/events/trigger", body, { key });
  expect(again.json).toEqual(first.json);
  expect(again.headers.get("x-idempotent-replay")).toBe("true");
  await attemptsOf(of, 1);
  expect(at(of)).toHaveLength(1);

  const { client } = await service.merchant();
  const refused = await client.post("/v1/sandbox/events/trigger", body);
  expect(refused.status).toBe(404);
  expect(refused.json.error).toMatchObject({ code: "OBJECT_NOT_FOUND", message: expect.stringMatching(/register/i) });
  for (const wrong of [{ type: "payment.exploded" }, { type: null }, {}, { ...body, url: "https://x.com/" }]) {
    expect((await of.client.post("/v1/sandbox/events/trigger", wrong)).json.error.code).toBe("VALIDATION_ERROR");
  }
});

test("the tools are the sandbox's, need its scope, and refuse what means nothing", async () => {
  const { client, merchantId } = await shop();
  const live = await service.client(merchantId, "production");
  const reader = await service.client(merchantId, "sandbox", ["payments:read"]);
  for (const [other, code] of [[live, "ENVIRONMENT_MISMATCH"] as const, [reader, "FORBIDDEN"] as const]) {
    for (const answer of [
      await put(other, { mode: "drop" }),
      await other.get(MISBEHAVE),
      await other.post("/v1/sandbox/events/trigger", { type: "payment.created" }),
      await other.post("/v1/sandbox/webhook/exam", {}),
    ]) {
      expect(answer.json.error.code).toBe(code);
    }
  }
  for (const [value, field] of [
    [{ mode: "explode" }, "mode"],
    [{}, "mode"],
    [{ mode: "drop", for_next: 0 }, "for_next"],
    [{ mode: "drop", for_next: 1_001 }, "for_next"],
    [{ mode: "drop", for_next: 1.5 }, "for_next"],
    [{ mode: "none", for_next: 3 }, "for_next"],
    [{ mode: "drop", until: "noon" }, "until"],
  ] as const) {
    const { status, json } = await put(client, value);
    expect([status, json.error.code, json.error.details.field]).toEqual([422, "VALIDATION_ERROR", field]);
  }
  expect(await left(client)).toEqual(NOTHING_LEFT);
});

test("the newest word holds, is told with what is left, and is replayed under its key without being said again", async () => {
  const of = await shop();
  const { client } = of;
  const key = randomUUID();
  const first = await put(client, { mode: "duplicate", for_next: 2 }, key);
  await trigger(client);
  await arrived(of, 2);
  expect(await left(client)).toEqual({ mode: "duplicate", for_next: 1 });
  const again = await put(client, { mode: "duplicate", for_next: 2 }, key);
  expect([again.text, again.headers.get("x-idempotent-replay")]).toEqual([first.text, "true"]);
  expect(await left(client)).toEqual({ mode: "duplicate", for_next: 1 });
  await Promise.all([misbehave(client, "drop"), misbehave(client, "delay", 7), misbehave(client, "drop", 1_000)]);
  await misbehave(client, "byte_order");
  expect(await left(client)).toEqual({ mode: "byte_order", for_next: null });
  await misbehave(client, "none");
  expect(await left(client)).toEqual(NOTHING_LEFT);
  await trigger(client);
  expect((await arrived(of, 3))[2]?.body).toMatch(/^\{"id":/);
});

/** What each mode looks like from the receiver's side. Each is given a shop with this fault switched on once. */
const seen: Record<InjectedFault, (of: Shop) => Promise<void>> = {
  async duplicate(of) {
    await trigger(of.client);
    const [first, second] = await arrived(of, 2);
    expect(second?.body).toBe(first?.body);
    expect(ownHeaders(second as Received)).toEqual(ownHeaders(first as Received));
    expect(isGenuine(first as Received, of.secret)).toBe(true);
    expect(await attemptsOf(of, 1)).toMatchObject([{ attempt: 1, succeeded: true, status: 200 }]);
  },
  async reorder(of) {
    // Both at once, so that they are sent within a second on a slow machine too: the first is held back, and the other overtakes it.
    const ids = await Promise.all(
      (["payment.created", "payment.succeeded"] as const).map((type) => trigger(of.client, type)),
    );
    const [first, second] = (await arrived(of, 2)) as [Received, Received];
    expect(new Set([first.event.id, second.event.id])).toEqual(new Set(ids));
    expect(second.at - first.at).toBeGreaterThan(timing.reorderMs / 2);
    expect(isGenuine(second, of.secret)).toBe(true);
  },
  async delay(of) {
    const begun = Date.now();
    await trigger(of.client);
    const [late] = (await arrived(of, 1)) as [Received];
    expect(late.at - begun).toBeGreaterThan(0.98 * timing.delayMs);
    expect(age(late)).toBeLessThan(3);
    expect(isGenuine(late, of.secret)).toBe(true);
  },
  async drop(of) {
    await trigger(of.client);
    const [dropped] = await attemptsOf(of, 1);
    expect(dropped).toMatchObject({ attempt: 1, succeeded: false, status: null, request_headers: {} });
    expect(dropped?.reason).toMatch(/^Not sent: .*drop/);
    expect(at(of)).toHaveLength(0);
    await genuineNext(of, 1);
  },
  async stale_timestamp(of) {
    await trigger(of.client);
    const [refused] = await attemptsOf(of, 1);
    expect(refused).toMatchObject({ succeeded: false, status: 401 });
    const [old] = at(of) as [Received];
    expect(age(old)).toBeGreaterThan(598);
    expect(age(old)).toBeLessThan(605);
    expect(old.headers["webhook-timestamp"]).toBe(old.headers["x-svc-timestamp"]);
    // Only its age is wrong: at the time it claims to be from, both signatures are good.
    vi.setSystemTime(old.at - 600_000);
    const [own, standard] = [isGenuine(old, of.secret), isStandard(old, of.secret)];
    vi.useRealTimers();
    expect([own, standard]).toEqual([true, true]);
    await genuineNext(of, 2);
  },
  async wrong_signature(of) {
    await trigger(of.client);
    const [refused] = await attemptsOf(of, 1);
    expect(refused).toMatchObject({ succeeded: false, status: 401 });
    const [forged] = at(of) as [Received];
    expect(age(forged)).toBeLessThan(3);
    expect(isGenuine(forged, of.secret) || isStandard(forged, of.secret)).toBe(false);
    expect(forged.headers["x-svc-signature"]).toMatch(/^[0-9a-f]{64}$/);
    const [, genuine] = await genuineNext(of, 2);
    expect(genuine?.body).toBe(forged.body);
  },
  async unknown_type(of) {
    const eventId = await trigger(of.client);
    const [unknown, real] = (await arrived(of, 2)) as [Received, Received];
    expect([unknown.event.type, real.event.type]).toEqual(["sandbox.unheard_of", "payment.succeeded"]);
    expect(unknown.headers).toMatchObject({
      "x-svc-event-type": "sandbox.unheard_of",
      "x-svc-event-id": unknown.event.id,
    });
    expect(unknown.event.id).toMatch(/^evt_[0-9a-hjkmnp-tv-z]{26}$/);
    expect(unknown.event.id).not.toBe(eventId);
    expect(real.event.id).toBe(eventId);
    expect(unknown.event.data).toEqual(real.event.data);
    for (const delivery of [unknown, real]) expect(isGenuine(delivery, of.secret)).toBe(true);
    expect(isStandard(unknown, of.secret)).toBe(true);
    await attemptsOf(of, 1);
  },
  async byte_order(of) {
    await trigger(of.client);
    const [turned] = (await arrived(of, 1)) as [Received];
    expect(Object.keys(turned.event)).toEqual(["data", "api_version", "environment", "created_at", "type", "id"]);
    expect(isGenuine(turned, of.secret) && isStandard(turned, of.secret)).toBe(true);
    const { rows } = await asOwner(service.database, (owner) =>
      owner.query<{ body: string }>("select body from events where merchant_id = $1::uuid", [uuidOf(of.merchantId)]),
    );
    expect(turned.event).toEqual(JSON.parse(rows[0]?.body ?? ""));
    expect(turned.body).not.toBe(rows[0]?.body);
  },
  async slow_body(of) {
    await trigger(of.client);
    const [slow] = (await arrived(of, 1)) as [Received];
    expect(isGenuine(slow, of.secret)).toBe(true);
    const [attempt] = await attemptsOf(of, 1);
    expect(attempt).toMatchObject({ succeeded: true });
    expect(attempt?.duration_ms).toBeGreaterThan((2 / 3) * timing.slowBodyMs);
    expect(attempt?.duration_ms).toBeLessThan(timing.slowBodyMs + 2_000);
  },
};

/** The schedule goes on, and the next attempt is as it should be. */
async function genuineNext(of: Shop, count: number): Promise<Received[]> {
  await advance(of.client, 31);
  const deliveries = await arrived(of, count);
  const last = deliveries.at(-1) as Received;
  expect(last.headers["x-svc-delivery-attempt"]).toBe("2");
  expect(isGenuine(last, of.secret) && isStandard(last, of.secret)).toBe(true);
  expect(await attemptsOf(of, 2)).toMatchObject([{ succeeded: false }, { attempt: 2, succeeded: true, status: 200 }]);
  return deliveries;
}

test.each(modes.filter((mode) => mode !== "none"))("%s, once", async (mode) => {
  const of = await shop();
  await misbehave(of.client, mode, 1);
  await seen[mode](of);
  expect(await left(of.client)).toEqual(NOTHING_LEFT);
  // What was asked for is used up: the next event is delivered as usual.
  const before = at(of).length;
  const eventId = await trigger(of.client);
  const next = (await arrived(of, before + 1)).at(-1) as Received;
  expect([next.event.id, isGenuine(next, of.secret)]).toEqual([eventId, true]);
});

test("of two copies the one that was refused counts", async () => {
  const of = await shop();
  const usual = receiver.answer;
  receiver.answer = (delivery, response) => {
    if (delivery.path === of.path && at(of).length === 2) response.writeHead(409).end();
    else usual(delivery, response);
  };
  try {
    await misbehave(of.client, "duplicate", 1);
    await trigger(of.client);
    expect(await attemptsOf(of, 1)).toMatchObject([{ succeeded: false, status: 409 }]);
  } finally {
    receiver.answer = usual;
  }
  await genuineNext(of, 3);
});

/** What the API shows of an event's attempts, newest first. */
async function shownOf({ client }: Shop, eventId: string): Promise<Answer["json"][]> {
  const { status, json, text } = await client.get(`/v1/events/${eventId}/deliveries`);
  expect(status, text).toBe(200);
  return json.data;
}

test("the history of an attempt with a fault shows the bytes that were sent, and tells what was done", async () => {
  const of = await shop();
  await misbehave(of.client, "byte_order", 1);
  const turned = await trigger(of.client);
  const [sent] = (await arrived(of, 1)) as [Received];
  await attemptsOf(of, 1);
  const [shown] = await shownOf(of, turned);
  expect(shown.request.body).toBe(sent.body);
  expect(shown.note).toMatch(/^On purpose: the fields of the body came in another order/);

  await misbehave(of.client, "duplicate", 1);
  const twice = await trigger(of.client);
  await attemptsOf(of, 2);
  const [copied] = await shownOf(of, twice);
  expect(copied.note).toMatch(/^On purpose: sent twice .*\. The other copy was answered 200 in \d+ ms\.$/);

  await misbehave(of.client, "unknown_type", 1);
  const preceded = await trigger(of.client);
  await attemptsOf(of, 3);
  const unknown = receiver.received.find(
    ({ path, event }) => path === of.path && event.type === "sandbox.unheard_of",
  ) as Received;
  const [real] = await shownOf(of, preceded);
  expect(real.note).toContain(`That was ${unknown.event.id}, with the same data, and was answered 200 in `);
  expect(real.request.body).not.toBe(unknown.body);

  const plain = await trigger(of.client);
  await attemptsOf(of, 4);
  expect((await shownOf(of, plain)).map(({ note }) => note)).toEqual([null]);
});

test("reorder holds one back at a time, and what overtakes it is not counted", async () => {
  const of = await shop();
  await misbehave(of.client, "reorder", 2);
  const ids = await Promise.all(Array.from({ length: 6 }, () => trigger(of.client)));
  const all = await arrived(of, 6);
  expect(all.map(({ event }) => event.id as string).toSorted()).toEqual(ids.toSorted());
  const [before, last] = all.slice(-2) as [Received, Received];
  expect(last.at - before.at).toBeGreaterThan(timing.reorderMs / 2);
  expect(await left(of.client)).toEqual({ mode: "reorder", for_next: 1 });
});

test("drop the first so many: attempts are counted, whichever event they are of", async () => {
  const of = await shop();
  await misbehave(of.client, "drop", 3);
  await trigger(of.client);
  await attemptsOf(of, 1);
  await trigger(of.client);
  await attemptsOf(of, 2);
  await advance(of.client, 31);
  await attemptsOf(of, 4);
  expect(at(of)).toHaveLength(1);
  expect(await left(of.client)).toEqual(NOTHING_LEFT);
});

test("two processes on one database count together, and both know of a change that was made in one", async () => {
  const database = await cloneDatabase();
  const [one, two] = [
    await startService({ config, timing, database }),
    await startService({ config, timing, database }),
  ];
  try {
    const of = await shop(one);
    const other = await two.client(of.merchantId);
    await trigger(of.client); // both know by now that no fault is switched on
    await arrived(of, 1);
    await misbehave(of.client, "drop", 15);
    await Promise.all(Array.from({ length: 40 }, (_, number) => trigger(number % 2 === 0 ? of.client : other)));
    const attempts = await attemptsOf(of, 41, one);
    expect(attempts.filter(({ succeeded }) => !succeeded)).toHaveLength(15);
    expect(at(of)).toHaveLength(26);
    expect(await left(other)).toEqual(NOTHING_LEFT);
  } finally {
    await Promise.all([one.stop(), two.stop()]);
  }
});
