// Goal: whatever happens to the workers and to the receiver, every committed event ends delivered or undelivered, told with
// the same bytes, its attempts numbered without a gap. Method: an API process, a worker process that is killed again and
// again while payments flow, a receiver that answers by script, another that has moods, and then time moved to the end of the
// ladder. The leases of the last worker that is killed end by themselves.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { Client, operate } from "./kit/client.ts";
import { gerbangHere } from "./kit/command-here.ts";
import { type Certificates, type Received, Receiver, makeCertificates } from "./kit/receiver.ts";
import { Service } from "./kit/service.ts";

/** What the receiver does to an event's attempts, in turn; the last for all that follow. */
const scripts = [
  ["200"],
  ["500", "200"],
  ["302", "404", "200"],
  ["reset", "200"],
  ["500", "302", "reset", "500", "302", "reset", "500", "200"],
  ["500"],
];
const KILLS = 3;
/** A fifth of the usual times, and more where others have to end within one. */
const delivery = {
  deadlineMs: 2_000,
  waitMs: 2_000,
  leaseMs: 3_500,
  renewMs: 800,
  parkMs: 200,
  pollMs: 100,
  stopMs: 1_500,
};
const timing = { delivery };
/** What a dead process held can be claimed after this time at the latest, less the time until the next poll. */
const LEASED_MS_MAX = delivery.leaseMs + delivery.renewMs - delivery.pollMs;
/** Between two payments of a flow: they go on until the last worker was killed. */
const FLOW_MS = 100;
/** One payment in so many names the receiver that has moods. */
const MOODY = 20;
const MOODY_AT_LAST = 8;

let api: Service;
let worker: Service;
let receiver: Receiver;
/** It does to all that comes at a time the same: nothing, so that attempts time out; a certificate of nobody's; an answer. */
let moody: Receiver;
let mood: "silent" | "500" | "200" = "silent";
let certificates: Certificates;
let client: Client;
let database: pg.Client;
/** How often each event has come, by what the receiver saw. */
const visits = new Map<string, number>();

const scriptOf = (delivery: Received): string[] =>
  scripts[Number(/(\d+)$/.exec(String(delivery.event.data.reference_id))?.[1] ?? 0) % scripts.length] ?? ["200"];

beforeAll(async () => {
  certificates = await makeCertificates();
  receiver = await Receiver.start(certificates);
  receiver.answer = (delivery, response) => {
    const visit = visits.get(delivery.event.id) ?? 0;
    visits.set(delivery.event.id, visit + 1);
    const script = scriptOf(delivery);
    const act = script[Math.min(visit, script.length - 1)] ?? "200";
    if (act === "reset") response.destroy();
    else response.writeHead(Number(act), act === "302" ? { location: receiver.url("/elsewhere") } : {}).end();
  };
  moody = await Receiver.start(certificates);
  moody.answer = (_delivery, response) => {
    if (mood !== "silent") response.writeHead(Number(mood)).end();
  };
  const env = { NODE_EXTRA_CA_CERTS: certificates.caFile, WEBHOOK_ALLOW_HOSTS: "localhost" };
  api = await Service.start({ env, args: ["--role", "api"], timing });
  const { dataDirectory } = api;
  await vi.waitFor(() => expect(existsSync(join(dataDirectory, "demo.json"))).toBe(true), 30_000);
  const { demo } = api;
  await operate(demo, "PATCH", `/merchants/${demo.merchant_id}`, { rate_limit_per_minute: 10_000_000 });
  await operate(demo, "PUT", `/merchants/${demo.merchant_id}/webhook`, { environment: "sandbox", url: receiver.url() });
  client = new Client(demo);
  const cluster = join(dataDirectory, "postgres", "cluster");
  const { owner, service } = JSON.parse(readFileSync(join(cluster, "gerbang.json"), "utf8")) as Record<string, string>;
  const databasePort = readFileSync(join(cluster, "postmaster.pid"), "utf8").split("\n")[3];
  const secrets = JSON.parse(readFileSync(join(dataDirectory, "secrets.json"), "utf8")) as Record<string, string>;
  database = new pg.Client(`postgres://postgres:${owner}@127.0.0.1:${databasePort}/gerbang`);
  await database.connect();
  worker = await Service.start({
    args: ["--role", "worker"],
    timing,
    env: {
      ...env,
      DATABASE_URL: `postgres://gerbang_service:${service}@127.0.0.1:${databasePort}/gerbang`,
      MASTER_KEY: secrets.masterKey ?? "",
      OPERATOR_TOKEN: secrets.operatorToken ?? "",
    },
  });
});
afterAll(async () => {
  await database.end();
  await worker.discard();
  const { code, stdout } = await gerbangHere(["verify"], { GERBANG_DATA: api.dataDirectory });
  await api.discard();
  await Promise.all([receiver.close(), moody.close()]);
  expect(code, stdout).toBe(0);
});

/** Creates a payment and gives its reference. */
async function pay(referenceId: string, callbackUrl: string | undefined): Promise<string> {
  const { status, json } = await client.post("/v1/payments", {
    amount_minor: 100_000,
    currency: "IDR",
    payment_method: "qris",
    reference_id: referenceId,
    ...(callbackUrl !== undefined && { callback_url: callbackUrl }),
  });
  expect(status).toBe(201);
  return json.reference as string;
}

async function states(): Promise<Record<string, number>> {
  const { rows } = await database.query<{ state: string; n: string }>(
    "select coalesce(d.state::text, 'nowhere') as state, count(*) as n from events e left join deliveries d using (merchant_id, environment, event_id) group by 1",
  );
  return Object.fromEntries(rows.map(({ state, n }) => [state, Number(n)]));
}

/** Payments that were made, also in a first try of the test. */
let made = 0;
const flowing = { on: false };
afterEach(() => void (flowing.on = false));

test("workers killed in a loop, a receiver that fails in every way: nothing is lost and nothing is skipped", async () => {
  flowing.on = true;
  const flow = async (lane: number): Promise<void> => {
    while (flowing.on) {
      const number = made++;
      const reference = await pay(`flow-${lane}-${number}`, number % MOODY === 0 ? moody.url() : undefined);
      if (number % 3 === 0) await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
      await pause(FLOW_MS);
    }
  };
  const flows = [1, 2, 3].map(flow);
  for (let kill = 1; kill < KILLS; kill++) {
    const before = made;
    await pause(600);
    await vi.waitFor(() => expect(made).toBeGreaterThan(before), 30_000);
    await worker.kill("SIGKILL");
    // Nobody has what it had claimed; the time until its leases end is not waited for.
    await database.query("update deliveries set leased_until = now() where leased_until is not null");
    await worker.start();
  }
  // The last one leaves what it was waiting for in its leases, and another keeps away from it for as long as they last. One that was done with
  // everything at the moment of its death leaves nothing, and another takes its place.
  let orphans: { event_id: string; leased_until: string }[] = [];
  for (let last = 1; orphans.length === 0; last++) {
    expect(last).toBeLessThan(6);
    if (last > 1) await worker.start();
    await vi.waitFor(async () => expect(await leased()).not.toHaveLength(0), { timeout: 30_000, interval: 100 });
    await worker.kill("SIGKILL");
    orphans = await leased();
  }
  const { rows: killed } = await database.query<{ at: string }>("select now()::text as at");
  flowing.on = false;
  await Promise.all(flows);
  const { rows: long } = await database.query(
    "select from deliveries where leased_until > $1::timestamptz + make_interval(secs => $2)",
    [killed[0]?.at, LEASED_MS_MAX / 1_000],
  );
  expect(long).toHaveLength(0);
  await worker.start();
  // While those leases last, some payments that meet each mood in turn: their second attempts are due when time moves, not before.
  for (let number = 0; number < MOODY_AT_LAST; number++) await pay(`moody-${made++}`, moody.url());
  await idle();
  for (const { event_id: eventId, leased_until: until } of orphans) {
    const { rows } = await database.query<{ early: boolean; attempt: number }>(
      "select started_at < $2::timestamptz as early, attempt from delivery_attempts where event_id = $1::uuid order by attempt",
      [eventId, until],
    );
    expect(rows[0], eventId).toEqual({ early: false, attempt: 1 });
  }
  moody.present(await makeCertificates());
  // Time moves from one step of the ladder to the next, and on
  // while something is left: attempts that came late, and payments that expired on the way.
  const ladder = [30, 90, 480, 3_000, 7_200, 10_800, 21_600];
  for (let step = 0; ; step++) {
    await idle();
    if (((await states()).pending ?? 0) === 0) break;
    if (step === 1) {
      moody.present(certificates);
      mood = "500";
    } else if (step === 2) mood = "200";
    expect(step).toBeLessThan(40);
    await client.post("/v1/sandbox/clock/advance", { seconds: ladder[step] ?? 3_600 });
  }
  const { delivered = 0, undelivered = 0, ...others } = await states();
  expect(others).toEqual({});
  expect(delivered).toBeGreaterThan(undelivered);
  expect(undelivered).toBeGreaterThan(5);
}, 400_000);

test("one event met a time-out, a certificate that nobody vouches for and an error, and was delivered", async () => {
  const { rows } = await database.query<{ reasons: string }>(
    `select string_agg(coalesce(a.reason, 'none'), ' then ' order by a.attempt) as reasons
from delivery_attempts a
join deliveries d using (merchant_id, environment, event_id)
where d.url = $1 and d.state = 'delivered'
group by a.event_id`,
    [moody.url()],
  );
  const met = /within 2 seconds.* then .*TLS certificate.* then .*500.* then none$/;
  expect(rows.filter(({ reasons }) => met.test(reasons)).length, rows[0]?.reasons).toBeGreaterThan(3);
});

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** What a worker has, and until when; times as text, so that no microsecond is lost. */
async function leased(): Promise<{ event_id: string; leased_until: string }[]> {
  const { rows } = await database.query<{ event_id: string; leased_until: string }>(
    `select event_id, leased_until::text
from deliveries
where lease_token is not null and leased_until > now() + interval '1 second' and attempts = 0`,
  );
  return rows;
}

/** Waits until nothing is due at this moment of the sandbox. */
async function idle(): Promise<void> {
  await vi.waitFor(
    async () => {
      const { rows } = await database.query(
        `select from deliveries d join books b using (merchant_id, environment)
where d.state = 'pending' and (d.leased_until > now() or d.next_attempt_at <= now() + make_interval(secs => b.clock_offset_seconds))
limit 1`,
      );
      expect(rows).toHaveLength(0);
    },
    { timeout: 120_000, interval: 250 },
  );
}

test("each event was told with one body under one identity, its attempts numbered from one without a gap", async () => {
  for (const [eventId, deliveries] of Map.groupBy(receiver.received, ({ event }) => event.id as string)) {
    expect(new Set(deliveries.map(({ body }) => body)).size, eventId).toBe(1);
    expect(deliveries.every(({ headers }) => headers["x-svc-event-id"] === eventId)).toBe(true);
  }
  const { rows } = await database.query<{ event_id: string; numbers: number[]; attempts: number; state: string }>(
    `select d.event_id, d.attempts, d.state, array_agg(a.attempt::integer order by a.attempt) as numbers
from deliveries d left join delivery_attempts a using (merchant_id, environment, event_id)
group by d.event_id, d.attempts, d.state`,
  );
  for (const { event_id: eventId, numbers, attempts, state } of rows) {
    expect(numbers, eventId).toEqual(Array.from({ length: attempts }, (_, index) => index + 1));
    if (state === "undelivered") expect(attempts, eventId).toBe(8);
    else expect(attempts, eventId).toBeLessThanOrEqual(8);
  }
});
