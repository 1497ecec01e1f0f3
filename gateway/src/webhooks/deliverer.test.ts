// Goal: every event reaches its receiver by the schedule of the interface, and what happened is on record. Method: a whole
// service with a TLS receiver, time moved by the sandbox's own clock, and the tables read; the schedule's rule by property.
import { readFileSync } from "node:fs";
import tls from "node:tls";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Client } from "../../../e2e/kit/client.ts";
import { type Certificates, type Received, Receiver, isGenuine, makeCertificates } from "../../../e2e/kit/receiver.ts";
import { A_POLL_MS, timing } from "../../test/event-rig.ts";
import { type TestService, asOwner, cloneDatabase, paymentBody, startService } from "../../test/kit.ts";
import { attemptOffsetsSeconds } from "../events/event.ts";
import { type Micros, SECOND, systemClock } from "../ground/clock.ts";
import { uuidOf } from "../ground/ids.ts";
import { nextStep } from "./delivery-attempt.ts";

const LADDER = [0, 30, 120, 600, 3_600, 10_800, 21_600, 43_200];
/** How long anything is waited for that is sure to come. */
const PATIENCE_MS = 30_000;
/** No call ends by itself while a test waits: what comes meanwhile has not waited for one that hangs. */
const patient = { ...timing, deadlineMs: 3_600_000, bodyMs: 3_600_000 };
const config = { webhookAllowHosts: new Set(["localhost"]) };
/** Real time, which a test may move on. */
const clock = { ahead: 0, now: (): Micros => systemClock.now() + clock.ahead };
const trusted = tls.getCACertificates("default");
let certificates: Certificates;
let receiver: Receiver;
let service: TestService;

beforeAll(async () => {
  certificates = await makeCertificates();
  tls.setDefaultCACertificates([...trusted, readFileSync(certificates.caFile, "utf8")]);
  receiver = await Receiver.start(certificates);
  // Each test has a path of its own, and each path its way to answer: the first segment is a status.
  receiver.answer = (delivery, response) => {
    const status = Number(delivery.path.split("/")[1]);
    response.writeHead(status, { location: "/200/elsewhere", "x-shop": "kopi" }).end(`answer ${status}`);
  };
  service = await startService({ config, timing: patient, clock });
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
}

/** A merchant, with an address registered when a path is given. */
async function shop(path: string | undefined): Promise<Shop> {
  const { client, merchantId, webhookSecret } = await service.merchant();
  if (path === undefined) return { client, merchantId, secret: webhookSecret };
  const secret = await service.app.merchants.setWebhook({ merchantId, environment: "sandbox" }, receiver.url(path));
  return { client, merchantId, secret: secret ?? "" };
}

async function create(client: Client, changes: Record<string, unknown> = {}): Promise<string> {
  const { status, json, text } = await client.post("/v1/payments", paymentBody(changes));
  expect(status, text).toBe(201);
  return json.reference as string;
}

async function advance(client: Client, seconds: number): Promise<void> {
  const { status, text } = await client.post("/v1/sandbox/clock/advance", { seconds });
  expect(status, text).toBe(200);
}

const at = (path: string): Received[] => receiver.received.filter((delivery) => delivery.path === path);
const attemptOf = (delivery: Received): number => Number(delivery.headers["x-svc-delivery-attempt"]);
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface DeliveryRow {
  type: string;
  body: string;
  url: string | null;
  state: string | null;
  attempts: number | null;
  delay: number | null;
  leased: boolean | null;
}

/** The merchant's events with their deliveries; `delay` is how long after the event the next attempt is planned. */
async function deliveriesOf(merchantId: string): Promise<DeliveryRow[]> {
  return asOwner(service.database, async (client) => {
    const { rows } = await client.query<DeliveryRow>(
      `select e.type, e.body, d.url, d.state, d.attempts, d.lease_token is not null as leased,
  extract(epoch from d.next_attempt_at - e.created_at)::float8 as delay
from events e
left join deliveries d using (merchant_id, environment, event_id)
where e.merchant_id = $1::uuid
order by e.event_id`,
      [uuidOf(merchantId)],
    );
    return rows;
  });
}

async function oneDelivery(merchantId: string): Promise<DeliveryRow> {
  const rows = await deliveriesOf(merchantId);
  expect(rows).toHaveLength(1);
  return rows[0] as DeliveryRow;
}

interface AttemptRow {
  attempt: number;
  succeeded: boolean;
  status: number | null;
  reason: string | null;
  address: string | null;
  duration_ms: number;
  request_headers: Record<string, string>;
  response_headers: Record<string, string> | null;
  response_body: Buffer | null;
}

async function attemptsOf(merchantId: string): Promise<AttemptRow[]> {
  return asOwner(service.database, async (client) => {
    const { rows } = await client.query<AttemptRow>(
      "select * from delivery_attempts where merchant_id = $1::uuid order by event_id, attempt",
      [uuidOf(merchantId)],
    );
    return rows;
  });
}

/** Waits until this many attempts of the merchant's only delivery are on record. */
async function awaitAttempts(merchantId: string, attempts: number): Promise<DeliveryRow> {
  return vi.waitFor(async () => {
    const row = await oneDelivery(merchantId);
    expect(row).toMatchObject({ attempts, leased: false });
    return row;
  }, PATIENCE_MS);
}

test("a payment's life is told in events, each the envelope of the interface under a genuine signature", async () => {
  const path = "/200/life";
  const { client, merchantId, secret } = await shop(path);
  const reference = await create(client, { metadata: { table: "4" } });
  for (const outcome of ["processing", "succeeded"]) {
    await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome });
  }
  await vi.waitFor(() => expect(at(path)).toHaveLength(3), PATIENCE_MS);
  const types = (await deliveriesOf(merchantId)).map(({ type }) => type);
  expect(types).toEqual(["payment.created", "payment.processing", "payment.succeeded"]);
  for (const delivery of at(path)) {
    expect(isGenuine(delivery, secret)).toBe(true);
    expect(attemptOf(delivery)).toBe(1);
    expect(delivery.event).toMatchObject({
      id: expect.stringMatching(/^evt_[0-9a-hjkmnp-tv-z]{26}$/),
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      environment: "sandbox",
      api_version: "v1",
      data: { reference, metadata: { table: "4" } },
    });
    expect(Object.keys(delivery.event)).toEqual(["id", "type", "created_at", "environment", "api_version", "data"]);
    expect(delivery.headers["x-svc-event-id"]).toBe(delivery.event.id);
    expect(delivery.headers["x-svc-event-type"]).toBe(delivery.event.type);
    expect(delivery.event.data.paid_at === undefined).toBe(delivery.event.type !== "payment.succeeded");
  }
  expect(new Set(at(path).map(({ event }) => event.id)).size).toBe(3);
  const statuses = Object.fromEntries(at(path).map(({ event }) => [event.type, event.data.status]));
  expect(statuses).toEqual({
    "payment.created": "pending",
    "payment.processing": "processing",
    "payment.succeeded": "succeeded",
  });
});

test("a receiver that always fails is tried eight times, when and only when each delay since the event has passed", async () => {
  const path = "/500/ladder";
  const { client, merchantId, secret } = await shop(path);
  const begun = performance.now();
  await create(client, { expires_in: 86_400 });
  let advanced = 0;
  for (const [index, delay] of LADDER.entries()) {
    const attempt = index + 1;
    if (attempt > 1) {
      // Real time runs as well: stand some seconds before the due time first, and nothing may come.
      const before = delay - Math.ceil((performance.now() - begun) / 1000) - 10 - advanced;
      await advance(client, before);
      await pause(A_POLL_MS);
      expect(at(path), `before attempt ${attempt}`).toHaveLength(attempt - 1);
      await advance(client, 12);
      advanced += before + 12;
    }
    const row = await awaitAttempts(merchantId, attempt);
    expect(at(path)).toHaveLength(attempt);
    expect(attemptOf(at(path).at(-1) as Received)).toBe(attempt);
    expect(row.state).toBe(attempt === 8 ? "undelivered" : "pending");
    if (attempt < 8) expect(row.delay).toBe(LADDER[attempt]);
  }
  const bodies = new Set(at(path).map(({ body }) => body));
  expect([...bodies]).toEqual([(await oneDelivery(merchantId)).body]);
  expect(at(path).every((delivery) => isGenuine(delivery, secret))).toBe(true);
  expect((await attemptsOf(merchantId)).map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);

  await advance(client, 40_000);
  await pause(A_POLL_MS);
  expect(at(path)).toHaveLength(8);
  expect(await oneDelivery(merchantId)).toMatchObject({ state: "undelivered", attempts: 8 });
});

test("each attempt is formed anew: same body, fresh timestamp and signature; a success ends the schedule", async () => {
  const path = "/503/third";
  const { client, merchantId, secret } = await shop(path);
  const usual = receiver.answer;
  receiver.answer = (delivery, response) => {
    if (delivery.path === path && attemptOf(delivery) === 3) response.writeHead(204).end();
    else usual(delivery, response);
  };
  await create(client, { expires_in: 86_400 });
  await awaitAttempts(merchantId, 1);
  clock.ahead += SECOND; // so that the next attempt falls into another second
  await advance(client, 31);
  await awaitAttempts(merchantId, 2);
  await advance(client, 90);
  expect(await awaitAttempts(merchantId, 3)).toMatchObject({ state: "delivered" });
  const [first, second, third] = at(path) as [Received, Received, Received];
  expect(second.body).toBe(first.body);
  expect(third.body).toBe(first.body);
  expect(second.headers["x-svc-timestamp"]).not.toBe(first.headers["x-svc-timestamp"]);
  expect(second.headers["x-svc-signature"]).not.toBe(first.headers["x-svc-signature"]);
  expect(second.headers["x-svc-event-id"]).toBe(first.headers["x-svc-event-id"]);
  expect(at(path).map(attemptOf)).toEqual([1, 2, 3]);
  expect(at(path).every((delivery) => isGenuine(delivery, secret))).toBe(true);
  await advance(client, 80_000);
  await pause(A_POLL_MS);
  expect(at(path).filter(({ event }) => event.type === "payment.created")).toHaveLength(3);
});

test("every attempt is on record as it went", async () => {
  const path = "/302/record";
  const { client, merchantId } = await shop(path);
  await create(client, { expires_in: 86_400 });
  await awaitAttempts(merchantId, 1);
  const [attempt] = await attemptsOf(merchantId);
  const [delivery] = at(path) as [Received];
  expect(attempt).toMatchObject({
    attempt: 1,
    succeeded: false,
    status: 302,
    reason: expect.stringContaining("302"),
    address: "127.0.0.1",
    response_headers: { "x-shop": "kopi", location: "/200/elsewhere" },
    request_headers: {
      "X-SVC-Event-Id": delivery.event.id,
      "X-SVC-Signature": delivery.headers["x-svc-signature"],
      "X-SVC-Delivery-Attempt": "1",
    },
  });
  expect(attempt?.response_body?.toString()).toBe("answer 302");
  expect(attempt?.duration_ms).toBeLessThan(5_000);
  expect(at("/200/elsewhere")).toHaveLength(0);
  expect(await oneDelivery(merchantId)).toMatchObject({ state: "pending", delay: 30 });
});

test("a payment's callback_url overrides the registered address; without any address the event has nowhere to go", async () => {
  const { client, merchantId, secret } = await shop("/200/registered");
  const reference = await create(client, { callback_url: receiver.url("/200/callback") });
  await client.post(`/v1/payments/${reference}/cancel`, {});
  await vi.waitFor(() => expect(at("/200/callback")).toHaveLength(2), PATIENCE_MS);
  expect(at("/200/callback").every((delivery) => isGenuine(delivery, secret))).toBe(true);
  await create(client);
  await vi.waitFor(() => expect(at("/200/registered")).toHaveLength(1), PATIENCE_MS);
  expect((await deliveriesOf(merchantId)).map(({ url }) => url)).toEqual([
    receiver.url("/200/callback"),
    receiver.url("/200/callback"),
    receiver.url("/200/registered"),
  ]);

  const silent = await shop(undefined);
  await create(silent.client);
  expect(await oneDelivery(silent.merchantId)).toMatchObject({ type: "payment.created", url: null, state: null });

  const own = await shop(undefined);
  await create(own.client, { callback_url: receiver.url("/200/own") });
  await vi.waitFor(() => expect(at("/200/own")).toHaveLength(1), PATIENCE_MS);
  expect(isGenuine(at("/200/own")[0] as Received, own.secret)).toBe(true);
});

test("an answer that comes late but in time, and then trickles, counts by its status line", async () => {
  const path = "/200/trickle";
  const { client, merchantId } = await shop(path);
  const usual = receiver.answer;
  receiver.answer = (delivery, response) => {
    if (delivery.path !== path) return usual(delivery, response);
    setTimeout(() => {
      response.writeHead(200);
      response.write("o");
      setTimeout(() => response.end("k"), 100);
    }, 400);
  };
  await create(client);
  await pause(A_POLL_MS); // a poll goes by while it is on its way
  expect(await awaitAttempts(merchantId, 1)).toMatchObject({ state: "delivered" });
  expect(at(path)).toHaveLength(1);
  const [attempt] = await attemptsOf(merchantId);
  expect(attempt?.duration_ms).toBeGreaterThanOrEqual(390);
});

test("a long jump of the clock fires one attempt, not all that were missed", async () => {
  const path = "/500/jump";
  const { client, merchantId } = await shop(path);
  await create(client, { expires_in: 86_400 });
  await awaitAttempts(merchantId, 1);
  await advance(client, 40_000);
  const row = await awaitAttempts(merchantId, 2);
  await pause(A_POLL_MS);
  expect(at(path)).toHaveLength(2);
  expect(row.state).toBe("pending");
  expect(row.delay).toBeGreaterThan(40_000);
});

test("an attempt that the database refuses to keep as it went is kept plainly, and is not made again", async () => {
  const path = "/229/unkeepable";
  const { client, merchantId } = await shop(path);
  await asOwner(service.database, (owner) =>
    owner.query("alter table delivery_attempts add constraint no_229 check (status is distinct from 229)"),
  );
  await create(client);
  expect(await awaitAttempts(merchantId, 1)).toMatchObject({ state: "delivered" });
  expect(await attemptsOf(merchantId)).toMatchObject([
    { attempt: 1, succeeded: true, status: null, reason: expect.stringMatching(/could not be kept/) },
  ]);
  expect(at(path)).toHaveLength(1);
});

test("the last attempt that is kept is the last that is made", async () => {
  const path = "/503/thousandth";
  const { client, merchantId } = await shop(path);
  await create(client);
  await awaitAttempts(merchantId, 1);
  await asOwner(service.database, (owner) =>
    owner.query(
      `update deliveries set attempts = 999, by_hand = 998, next_attempt_at = now() - interval '1 second'
where merchant_id = $1::uuid`,
      [uuidOf(merchantId)],
    ),
  );
  expect(await awaitAttempts(merchantId, 1_000)).toMatchObject({ state: "undelivered" });
});

test("a receiver that hangs holds up its own deliveries and nobody else's", async () => {
  const slow = await shop("/200/quick");
  const quick = await shop("/200/quick");
  const hanging = await Receiver.start(certificates);
  try {
    const held: (() => void)[] = [];
    hanging.answer = (_delivery, response) => void held.push(() => response.end());
    await Promise.all(Array.from({ length: 80 }, () => create(slow.client, { callback_url: hanging.url() })));
    await vi.waitFor(() => expect(hanging.received.length).toBeGreaterThanOrEqual(4), PATIENCE_MS);
    await create(quick.client);
    await vi.waitFor(() => expect(at("/200/quick")).toHaveLength(1), PATIENCE_MS);
    expect(await attemptsOf(slow.merchantId)).toEqual([]); // while the others still hang
    expect(hanging.received).toHaveLength(4); // as many as a host gets that has never answered
    hanging.answer = (_delivery, response) => void response.end();
    for (const release of held) release();
    await vi.waitFor(() => expect(hanging.received).toHaveLength(80), PATIENCE_MS);
    await vi.waitFor(async () => {
      const rows = await deliveriesOf(slow.merchantId);
      expect(rows.filter(({ state }) => state !== "delivered")).toEqual([]);
    }, PATIENCE_MS);
  } finally {
    await hanging.close();
  }
});

test("merchants whose hosts hang, dead or with an answer that never ends, keep nobody's new host and no burst waiting", async () => {
  const hanging = await Promise.all(Array.from({ length: 48 }, () => Receiver.start(certificates)));
  try {
    // Some never answer. Others answer at once and then never come to an end.
    for (const [number, hole] of hanging.entries())
      hole.answer = (_delivery, response) => {
        if (number % 2 === 0) return;
        response.writeHead(200);
        response.write("and");
      };
    const good = await shop("/200/burst");
    await create(good.client);
    await vi.waitFor(() => expect(at("/200/burst")).toHaveLength(1), PATIENCE_MS);
    const shops = [await shop(undefined), await shop(undefined), await shop(undefined)];
    for (let round = 0; round < 14; round++)
      await Promise.all(
        hanging.map((hole, number) => create((shops[number % 3] as Shop).client, { callback_url: hole.url() })),
      );
    const fresh = await Receiver.start(certificates);
    await Promise.all([
      create((await shop(undefined)).client, { callback_url: fresh.url() }),
      ...Array.from({ length: 100 }, () => create(good.client)),
    ]);
    await vi.waitFor(() => expect([fresh.received.length, at("/200/burst").length]).toEqual([1, 101]), PATIENCE_MS);
    await fresh.close();
  } finally {
    await Promise.all(hanging.map((hole) => hole.close()));
  }
});

test("a delivery to a host that answers is this process's own as soon as it is written; the first one waits to be claimed", async () => {
  const { client, merchantId } = await shop("/200/direct");
  await asOwner(service.database, (owner) =>
    owner.query(`create table written as select event_id, false as leased from deliveries limit 0;
create function note_written() returns trigger language plpgsql security definer as
$$ begin insert into written values (new.event_id, new.leased_until is not null); return null; end $$;
create trigger note_written after insert on deliveries for each row execute function note_written()`),
  );
  for (let nth = 1; nth <= 3; nth++) {
    await create(client);
    await vi.waitFor(async () => {
      const states = (await deliveriesOf(merchantId)).map(({ state }) => state);
      expect(states).toEqual(Array.from({ length: nth }, () => "delivered"));
    }, PATIENCE_MS);
  }
  const { rows } = await asOwner(service.database, (owner) =>
    owner.query<{ leased: boolean }>("select leased from written order by event_id"),
  );
  await asOwner(service.database, (owner) =>
    owner.query("drop trigger note_written on deliveries; drop function note_written; drop table written"),
  );
  expect(rows.map(({ leased }) => leased)).toEqual([false, true, true]);
  expect(at("/200/direct")).toHaveLength(3);
});

test("what a merchant owes to dead hosts is left alone in the database until one of them has a place", async () => {
  const holes = await Promise.all(Array.from({ length: 24 }, () => Receiver.start(certificates)));
  try {
    for (const hole of holes) hole.answer = () => undefined;
    const { client, merchantId } = await shop("/200/alive");
    for (let round = 0; round < 16; round++)
      await Promise.all(holes.map((hole) => create(client, { callback_url: hole.url() })));
    const sent = vi.spyOn(service.app.database, "query");
    for (let look = 0; look < 30; look++) {
      await create(client); // for a host that answers: each makes the deliverer look again at what is due
      await pause(timing.pollMs / 5);
    }
    const statements = sent.mock.calls.map(([statement]) => statement);
    sent.mockRestore();
    const pending = (await deliveriesOf(merchantId)).filter(({ state }) => state === "pending");
    expect(pending.length).toBeGreaterThanOrEqual(holes.length * 16);
    const claims = statements.filter(({ name }) => name?.startsWith("claim first deliveries")).length;
    const parked = statements.flatMap(({ name, values }) =>
      name === "park deliveries" ? (values?.[0] as unknown[]) : [],
    );
    expect(claims).toBeGreaterThan(0);
    // A queue that was full is left out of the claims for `parkMs`, however slowly they come. Were they not left alone, each claim would take some
    // 26 of them and give them back.
    expect(parked.length).toBeLessThan(10 * claims);
    await vi.waitFor(() => expect(at("/200/alive")).toHaveLength(30), PATIENCE_MS);
  } finally {
    await Promise.all(holes.map((hole) => hole.close()));
  }
});

test("two processes on one database deliver each event once", async () => {
  const database = await cloneDatabase();
  // An event is sent again where an answer or the renewal of a lease comes too late, as it may on a busy machine. Here neither has to come soon.
  const unhurried = { config, timing: { ...patient, leaseMs: 3_600_000 }, database };
  const [left, right] = [await startService(unhurried), await startService(unhurried)];
  try {
    const path = "/200/both";
    const { client, merchantId } = await left.merchant();
    await left.app.merchants.setWebhook({ merchantId, environment: "sandbox" }, receiver.url(path));
    const other = await right.client(merchantId);
    const count = 60;
    const references = await Promise.all(
      Array.from({ length: count }, (_, number) => create(number % 2 === 0 ? client : other)),
    );
    await vi.waitFor(() => expect(at(path).length).toBeGreaterThanOrEqual(count), PATIENCE_MS);
    await pause(2 * A_POLL_MS);
    expect(at(path)).toHaveLength(count);
    expect(new Set(at(path).map(({ event }) => event.data.reference))).toEqual(new Set(references));
    const { rows } = await asOwner(database, (owner) =>
      owner.query<{ state: string; count: number }>(
        "select state, count(*)::integer as count from deliveries group by state",
      ),
    );
    expect(rows).toEqual([{ state: "delivered", count }]);
  } finally {
    await Promise.all([left.stop(), right.stop()]);
  }
});

test("a stop waits for calls by the clock, and not by its looks at them, each of which takes longer in a busy process", async () => {
  const hole = await Receiver.start(certificates);
  hole.answer = () => undefined;
  const other = await startService({ config, timing: { ...patient, stopMs: 60_000 } });
  const { client } = await other.merchant();
  await create(client, { callback_url: hole.url() });
  await hole.waitFor(() => true);
  const real = performance.now.bind(performance);
  const begun = real();
  // A minute goes by within one look.
  const now = vi.spyOn(performance, "now").mockImplementation(() => begun + 6_000 * (real() - begun));
  await other.app.stop();
  now.mockRestore();
  expect(real() - begun).toBeLessThan(20_000);
  const { rows } = await asOwner(other.database, (owner) =>
    owner.query("select attempts, lease_token from deliveries"),
  );
  expect(rows).toEqual([{ attempts: 0, lease_token: null }]);
  await hole.close();
});

test("the next attempt is never earlier than planned, and a late one never brings the one after it along", () => {
  expect(attemptOffsetsSeconds).toEqual(LADDER);
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 1_600_000_000, max: 4_000_000_000 }),
      fc.integer({ min: 0, max: 999_999 }),
      fc.integer({ min: 0, max: 100_000 }),
      (attempt, seconds, micros, lateSeconds) => {
        const createdAt = seconds * SECOND + micros;
        const bookTime = createdAt + ((LADDER[attempt - 1] ?? 0) + lateSeconds) * SECOND;
        expect(nextStep(true, attempt, createdAt, bookTime).state).toBe("delivered");
        const { state, nextAttemptAt } = nextStep(false, attempt, createdAt, bookTime);
        expect(state).toBe(attempt === 8 ? "undelivered" : "pending");
        if (attempt === 8) return;
        const planned = createdAt + (LADDER[attempt] ?? 0) * SECOND;
        expect(nextAttemptAt).toBeGreaterThanOrEqual(planned);
        expect(nextAttemptAt).toBeGreaterThan(bookTime);
        if (bookTime < planned) expect(nextAttemptAt).toBe(planned);
        else expect(nextAttemptAt - bookTime).toBeLessThanOrEqual(30 * SECOND);
      },
    ),
  );
});
