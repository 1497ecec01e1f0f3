// Goal: one process whose clock is wrong ends nothing that others rely on, says so, and goes on when its clock is right again. Method: a
// service whose own clock the test moves, beside one whose clock is right, on one database.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Answer } from "../../e2e/kit/client.ts";
import { type TestService, asOwner, openDatabase, paymentBody, startService } from "../test/kit.ts";
import { type Clock, SECOND, systemClock } from "./ground/clock.ts";
import { createLog } from "./ground/log.ts";
import { uuidOf } from "./ground/ids.ts";
import { DatabaseClock } from "./store/database-clock.ts";

const DAY = 86_400;
let right: TestService;
beforeAll(async () => {
  right = await startService({ roles: ["api"] });
});
afterAll(() => right.stop());

const outcome = ({ status, json }: Answer): string => (status < 300 ? `${status}` : `${status} ${json.error.code}`);
const count = (table: string, merchantId: string): Promise<number> =>
  asOwner(right.database, async (owner) => {
    const { rows } = await owner.query(`select count(*)::int as n from ${table} where merchant_id = $1`, [
      uuidOf(merchantId),
    ]);
    return rows[0].n as number;
  });

/** A service whose clock is ahead by what `ahead` says, in seconds. */
async function beside<T>(
  ahead: { seconds: number },
  work: (other: TestService, clock: Clock) => Promise<T>,
  roles: ("api" | "worker")[] = ["api", "worker"],
): Promise<T> {
  const clock = { now: () => systemClock.now() + ahead.seconds * SECOND };
  const other = await startService({ database: right.database, clock, watchClock: true, roles });
  try {
    return await work(other, clock);
  } finally {
    await other.stop();
  }
}

test("a worker eight days ahead deletes no key, no signature, and ends no payment", async () => {
  const { client, merchantId } = await right.merchant();
  const body = paymentBody({ expires_in: 60 });
  const key = crypto.randomUUID();
  expect(outcome(await client.post("/v1/payments", body, { key }))).toBe("201");
  const tables = ["idempotency_keys", "used_nonces", "events"];
  const before = await Promise.all(tables.map((table) => count(table, merchantId)));
  await beside({ seconds: 8 * DAY }, async () => {
    await new Promise((resolve) => setTimeout(resolve, 1_500)); // two rounds of expiry, three of settlements
  });
  expect(await Promise.all(tables.map((table) => count(table, merchantId)))).toEqual(before);
  expect(outcome(await client.post("/v1/payments", body, { key }))).toBe("200");
  const { json } = await client.get("/v1/payments?limit=1");
  expect(json.data[0].status).toBe("pending");
});

test("what a process half a minute ahead takes in is dated by the time that all go by", async () => {
  const { client, merchantId } = await right.merchant();
  await beside({ seconds: 30 }, async (other) => {
    const elsewhere = Object.assign(Object.create(client) as typeof client, {
      credentials: { ...client.credentials, base_url: `${other.origin}/v1` },
    });
    expect(outcome(await elsewhere.post("/v1/payments", paymentBody(), { skew: 30 }))).toBe("201");
    // Signatures are compared with its own clock: 20 and 320 seconds from the others'.
    expect(outcome(await elsewhere.get("/v1/balances", { skew: 320 }))).toBe("200");
  });
  const ahead = await asOwner(right.database, async (owner) => {
    const text = "select extract(epoch from max(at) - now())::float8 as s from client_audit where merchant_id = $1";
    return (await owner.query(text, [uuidOf(merchantId)])).rows[0].s as number;
  });
  expect(ahead).toBeLessThan(1);
});

test("the window of a quota is the same in a process whose clock is ahead, and so is the time until its end", async () => {
  const { client, merchantId } = await right.merchant();
  await right.operate("PATCH", `/merchants/${merchantId}`, { rate_limit_per_minute: 1 });
  const resetIn = ({ headers }: Answer): number => Number(headers.get("x-ratelimit-reset"));
  await beside({ seconds: 59 }, async (other) => {
    const elsewhere = Object.assign(Object.create(client) as typeof client, {
      credentials: { ...client.credentials, base_url: `${other.origin}/v1` },
    });
    const before = resetIn(await client.get("/v1/balances"));
    const there = [
      await elsewhere.get("/v1/balances", { skew: 59 }),
      await elsewhere.get("/v1/settlements", { skew: 59 }),
    ];
    const after = resetIn(await client.get("/v1/disputes"));
    for (const reset of there.map(resetIn)) expect([before, after]).toContain(reset);
    expect(Number(there[1]?.headers.get("retry-after") ?? 0)).toBeLessThanOrEqual(60);
  });
});

test("a process a minute and more from the database takes no requests, says so, and comes back by itself", async () => {
  const { client } = await right.merchant();
  const ahead = { seconds: 61 };
  await beside(ahead, async (other) => {
    const health = (): Promise<Response> => fetch(`${other.origin}/v1/health`);
    expect((await health()).status).toBe(503);
    const ready = await fetch(`${other.origin}/readyz`);
    expect([ready.status, ((await ready.json()) as { reasons: unknown }).reasons]).toEqual([503, ["clock"]]);
    const elsewhere = Object.assign(Object.create(client) as typeof client, {
      credentials: { ...client.credentials, base_url: `${other.origin}/v1` },
    });
    const refused = await elsewhere.get("/v1/balances", { skew: 61 });
    expect(outcome(refused)).toBe("503 SERVICE_UNAVAILABLE");
    expect(refused.headers.get("retry-after")).toBe("5");
    const metrics = await other.app.metrics.registry.metrics();
    expect(metrics).toMatch(/gerbang_clock_skew_seconds 6[01]\./);
    ahead.seconds = 0;
    await vi.waitFor(async () => expect((await health()).status).toBe(200), { timeout: 30_000 });
    expect(outcome(await elsewhere.get("/v1/balances"))).toBe("200");
  });
});

test("a clock that jumps an hour ahead and back is followed within a second, and nothing is dated in between", async () => {
  const ahead = { seconds: 0 };
  const own = { now: () => systemClock.now() + ahead.seconds * SECOND };
  const database = openDatabase(right.database, 1);
  const clock = new DatabaseClock(own, database, createLog("silent"));
  await clock.compare();
  const near = (at: number, to: number): void => expect(Math.abs(at - to)).toBeLessThan(SECOND / 2);
  near(clock.now(), systemClock.now());
  ahead.seconds = 3_600;
  near(clock.now(), systemClock.now()); // it runs with the stopwatch until it is compared again
  near(clock.awake.now(), own.now()); // a machine that slept for an hour looks like this: leases are over at once
  await clock.compare();
  expect([clock.maySweep, clock.mayServe]).toEqual([false, false]);
  near(clock.now(), systemClock.now()); // the earlier of the two
  near(clock.awake.now(), systemClock.now());
  ahead.seconds = 0;
  await clock.compare();
  expect([clock.maySweep, clock.mayServe]).toEqual([true, true]);
  near(clock.now(), systemClock.now());
  await database.end();
});

test("a clock that is behind is believed: what is irreversible happens later, never earlier", async () => {
  const own = { now: () => systemClock.now() - 20 * SECOND };
  const database = openDatabase(right.database, 1);
  const clock = new DatabaseClock(own, database, createLog("silent"));
  await clock.compare();
  expect(clock.skewMs).toBeLessThan(-19_000);
  expect([clock.maySweep, clock.mayServe]).toEqual([false, true]);
  expect(Math.abs(clock.now() - own.now())).toBeLessThan(SECOND / 2);
  await database.end();
});
