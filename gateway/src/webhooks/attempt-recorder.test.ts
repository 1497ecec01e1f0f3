// Goal: attempts are recorded together, soon, and without waiting for the disk. Method: the recorder itself on a real PostgreSQL, with
// deliveries that have no events.
import { randomUUID } from "node:crypto";
import { setImmediate as turn } from "node:timers/promises";
import { afterAll, beforeEach, expect, test, vi } from "vitest";
import { failStatements } from "../../test/failing-statements.ts";
import { asOwner, cloneDatabase, openDatabase } from "../../test/kit.ts";
import { type AttemptRecord, recordAttempts } from "../events/outbox.sql.ts";
import { SECOND, systemClock } from "../ground/clock.ts";
import { newId, uuidOf } from "../ground/ids.ts";
import { createLog } from "../ground/log.ts";
import type { Book } from "../merchants/books.ts";
import type { Database, Statement } from "../store/database.ts";
import { AttemptRecorder } from "./attempt-recorder.ts";

const name = await cloneDatabase();
const database = openDatabase(name);
const book: Book = { merchantId: newId("merchant", systemClock.now()), environment: "sandbox" };
const leaseToken = randomUUID();
let asked: Statement[] = [];
const query = database.query.bind(database);
database.query = (statement) => {
  asked.push(statement);
  return query(statement);
};

beforeEach(() => {
  asked = [];
});
afterAll(() => database.end());

/** Deliveries that are leased, and how the first attempt of each went. */
async function attempts(count: number): Promise<AttemptRecord[]> {
  const now = systemClock.now();
  const eventIds = Array.from({ length: count }, () => newId("event", now));
  await asOwner(name, (owner) =>
    owner.query(
      `insert into deliveries (merchant_id, environment, event_id, url, next_attempt_at, lease_token, leased_until)
select $1::uuid, 'sandbox', event_id, 'https://shop.example/hook', now(), $2::uuid, now() + interval '12 s'
from unnest($3::uuid[]) as v(event_id)`,
      [uuidOf(book.merchantId), leaseToken, eventIds.map(uuidOf)],
    ),
  );
  return eventIds.map((eventId) => ({
    book,
    eventId,
    attempt: 1,
    startedAt: now,
    durationMs: 3,
    succeeded: true,
    status: 200,
    reason: undefined,
    address: "192.0.2.1",
    requestHeaders: "{}",
    responseHeaders: "{}",
    responseBody: Buffer.from("ok"),
    state: "delivered",
    nextAttemptAt: now,
    leaseToken,
  }));
}

/** How many of these are delivered, and have their attempt. */
async function recorded(records: readonly AttemptRecord[]): Promise<number> {
  const ids = records.map(({ eventId }) => uuidOf(eventId));
  return asOwner(name, async (owner) => {
    const { rows } = await owner.query<{ count: number }>(
      `select count(*)::integer from deliveries join delivery_attempts using (merchant_id, environment, event_id, url)
where event_id = any($1::uuid[]) and state = 'delivered' and lease_token is null and host = 'shop.example'`,
      [ids],
    );
    return rows[0]?.count ?? 0;
  });
}

/** What these deliveries are, and how many attempts they have. */
async function stateOf(records: readonly AttemptRecord[]): Promise<unknown[]> {
  const ids = records.map(({ eventId }) => uuidOf(eventId));
  const text = `select d.*, (select count(*) from delivery_attempts a where a.event_id = d.event_id) as made
from deliveries d
where event_id = any($1::uuid[])
order by event_id`;
  return asOwner(name, async (owner) => (await owner.query(text, [ids])).rows);
}

test("an attempt whose lease was lost is not recorded, and leaves the delivery as who holds it now needs it", async () => {
  const [taken, parked, held] = (await attempts(3)) as [AttemptRecord, AttemptRecord, AttemptRecord];
  await asOwner(name, async (owner) => {
    const lease = "update deliveries set lease_token = $2 where event_id = $1";
    await owner.query(lease, [uuidOf(taken.eventId), randomUUID()]);
    await owner.query(lease, [uuidOf(parked.eventId), null]);
  });
  const before = await stateOf([taken, parked]);
  const rows = await database.query<{ event_id: string }>(recordAttempts([taken, parked, held]));
  expect(rows.map(({ event_id }) => event_id)).toEqual([uuidOf(held.eventId)]);
  expect(await stateOf([taken, parked])).toEqual(before);
  expect(await stateOf([held])).toMatchObject([{ state: "delivered", made: "1" }]);
});

test("a record counts the attempt, plans the next one, and ends the lease and what somebody asked for", async () => {
  const [first] = (await attempts(1)) as [AttemptRecord];
  await asOwner(name, (owner) =>
    owner.query("update deliveries set resend_of = 'undelivered' where event_id = $1", [uuidOf(first.eventId)]),
  );
  const nextAttemptAt = first.nextAttemptAt + 60 * SECOND;
  await database.query(recordAttempts([{ ...first, attempt: 4, state: "pending", nextAttemptAt }]));
  const ended = { resend_of: null, lease_token: null, leased_until: null };
  const next_attempt_at = new Date(Math.floor(nextAttemptAt / 1_000));
  expect(await stateOf([first])).toMatchObject([
    { state: "pending", attempts: 4, next_attempt_at, made: "1", ...ended },
  ]);
});

test("what ends soon after one another is one statement", async () => {
  const recorder = new AttemptRecorder(database, createLog("silent"));
  const records = await attempts(5);
  for (const record of records) {
    recorder.record(record);
    await turn();
  }
  await expect.poll(() => recorded(records)).toBe(5);
  expect(asked).toHaveLength(1);
  await recorder.stop();
});

test("a statement that was cancelled is sent again, and what came back is kept", async () => {
  const recorder = new AttemptRecorder(database, createLog("silent"));
  const [record] = await attempts(1);
  if (!record) return expect.unreachable();
  const cancelled = failStatements(database.pool, "57014", () => asked.length === 1);
  recorder.record(record);
  await expect.poll(() => recorded([record])).toBe(1);
  cancelled.restore();
  const kept = await query({
    text: "select status, reason from delivery_attempts where event_id = $1",
    values: [uuidOf(record.eventId)],
  });
  expect(kept).toEqual([{ status: 200, reason: null }]);
  await recorder.stop();
});

test("a stop writes down what is left, at once or soon", async () => {
  const recorder = new AttemptRecorder(database, createLog("silent"));
  const records = await attempts(300);
  for (const record of records) recorder.record(record);
  await recorder.stop();
  expect(await recorded(records)).toBe(300);
  expect(asked.map(({ values = [] }) => (values[0] as Buffer).readInt32BE(12))).toEqual([128, 128, 44]);
});

test("its commit does not wait for the disk; every other one on the connection does", async () => {
  const [record] = await attempts(1);
  const client = await database.pool.connect();
  const setting = async (): Promise<unknown> => (await client.query("show synchronous_commit")).rows[0];
  try {
    expect(await setting()).toEqual({ synchronous_commit: "on" });
    await client.query("begin");
    const { rowCount } = await client.query(recordAttempts([record as AttemptRecord]));
    expect(rowCount).toBe(1);
    expect(await setting()).toEqual({ synchronous_commit: "off" });
    await client.query("commit");
    expect(await setting()).toEqual({ synchronous_commit: "on" });
  } finally {
    client.release();
  }
  expect(await recorded([record as AttemptRecord])).toBe(1);
});

test("a result that comes in the very moment in which the last batch is done is recorded, too", async () => {
  const [done, late] = await attempts(2);
  for (let steps = 0; steps < 8; steps++) {
    let written = 0;
    const later = async (): Promise<void> => {
      for (let step = 0; step < steps; step++) await Promise.resolve();
      recorder.record(late as AttemptRecord);
    };
    const query = async (): Promise<[]> => {
      if (++written === 1) void later();
      return [];
    };
    const recorder = new AttemptRecorder({ query } as unknown as Database, createLog("silent"), 0);
    recorder.record(done as AttemptRecord);
    await vi.waitFor(() => expect(written, `${steps} steps after the answer`).toBe(2), { interval: 1 });
  }
});
