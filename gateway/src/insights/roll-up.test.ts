// Goal: every payment that comes to its end is counted once, whatever commits late, works at the same time, dies on the way or is restored
// elsewhere. Method: payments through the API and transactions held open by hand, counted step by step; the count beside one made anew.
import pg from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Client } from "../../../e2e/kit/client.ts";
import { allCounted } from "../../test/counted.ts";
import { type TestService, asOwner, openDatabase, paymentBody, startService } from "../../test/kit.ts";
import { createLog } from "../ground/log.ts";
import { uuidOf } from "../ground/ids.ts";
import { verifyBook } from "../ledger/verify.ts";
import type { Database } from "../store/database.ts";
import { countCommitted, rebuild, rollUpAge } from "./roll-up.ts";
import { countStep, selectProgress } from "./roll-up.sql.ts";

let service: TestService;
let database: Database;
const log = createLog("silent");
beforeAll(async () => {
  service = await startService({ roles: ["api"] });
  database = openDatabase(service.database);
});
afterAll(async () => {
  await database.end();
  await service.stop();
});

/** What is counted of a merchant, a line a bucket, without the hour. */
async function counted(merchantId: string): Promise<string[]> {
  const rows = await database.query({
    text: `select concat_ws(' ', method, acquirer, outcome, currency, sum(payments), sum(amount_minor), sum(fee_minor)) as line
from payment_quarters where merchant_id = $1::uuid group by method, acquirer, outcome, currency order by 1`,
    values: [uuidOf(merchantId)],
  });
  return rows.map(({ line }) => line as string);
}

async function all(): Promise<unknown[]> {
  return database.query({ text: "select * from payment_quarters order by 1, 2, 3, 4, 5, 6, 7" });
}

/** All totals, a line for what is told apart, without their times: those of a sandbox that was moved forward are of the moment of counting. */
async function totals(): Promise<string[]> {
  const rows = await database.query({
    text: `select concat_ws(' ', step_seconds, method, acquirer, outcome, currency, sum(payments), sum(amount_minor)) as line
from payment_totals group by step_seconds, method, acquirer, outcome, currency order by 1`,
  });
  return rows.map(({ line }) => line as string);
}

async function create(client: Client, changes: Record<string, unknown> = {}): Promise<string> {
  const { json } = await client.post("/v1/payments", paymentBody(changes));
  return (json.reference ?? json.error?.details?.reference) as string;
}

async function pay(client: Client, changes: Record<string, unknown> = {}): Promise<string> {
  const reference = await create(client, changes);
  await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
  return reference;
}

test("each end is counted once, by method, acquirer and outcome; what has no end is not", async () => {
  const { client, merchantId } = await service.merchant();
  await pay(client, { amount_minor: 1_000_000 });
  const refunded = await pay(client, { amount_minor: 500_000 });
  await client.post("/v1/refunds", { payment_reference: refunded, amount_minor: 100_000 });
  const declined = await create(client, { payment_method: "va" });
  await client.post(`/v1/sandbox/payments/${declined}/simulate`, { outcome: "failed" });
  await client.post(`/v1/payments/${await create(client)}/cancel`, {});
  await create(client, { customer: { email: "someone@reject.test" } });
  await create(client, { customer: { email: "someone@review.test" } });
  await create(client);
  await create(client);
  await client.post("/v1/sandbox/events/trigger", { type: "payment.succeeded" });
  await allCounted(database);
  const lines = await counted(merchantId);
  expect(lines.map((line) => line.replace(/ \w+ (succeeded|failed|canceled)/, " … $1"))).toEqual([
    "qris  rejected IDR 1 150000 1050",
    "qris … canceled IDR 1 150000 1050",
    expect.stringMatching(/^qris … succeeded IDR 2 1500000 \d+$/),
    expect.stringMatching(/^va … failed IDR 1 150000 \d+$/),
  ]);
  // What nobody paid ends by time, and so does what nobody judged.
  await client.post("/v1/sandbox/clock/advance", { seconds: 86_400 });
  await allCounted(database);
  const later = await counted(merchantId);
  expect(later).toHaveLength(5);
  expect(later).toEqual(expect.arrayContaining(["qris  rejected IDR 2 300000 2100", ...lines.slice(1)]));
  expect(later[2]).toMatch(/^qris \w+ expired IDR 2 300000 2100$/);
  expect((await verifyBook(database, { merchantId, environment: "sandbox" })).wrong).toBeUndefined();
});

test("what commits late is counted when it commits, and nothing before it is counted twice", async () => {
  const { client, merchantId } = await service.merchant();
  const late = await create(client);
  const slow = new pg.Client({ connectionString: service.database.ownerUrl });
  await slow.connect();
  await slow.query("begin");
  await slow.query("set local session_replication_role = replica");
  await slow.query("update payments set status = 'canceled', canceled_at = created_at where payment_id = $1", [
    uuidOf(late),
  ]);
  await slow.query(
    `insert into events (merchant_id, environment, event_id, type, subject_id, created_at, body)
select merchant_id, environment, gen_random_uuid(), 'payment.canceled', payment_id, created_at, '{}' from payments where payment_id = $1`,
    [uuidOf(late)],
  );
  try {
    for (let number = 0; number < 3; number++) {
      await client.post(`/v1/payments/${await create(client)}/cancel`, {});
      await countCommitted(database, log);
    }
    await rebuild(database);
    expect(await counted(merchantId)).toEqual([]); // what is behind it waits for it
    await slow.query("commit");
  } finally {
    await slow.end();
  }
  await allCounted(database);
  expect(await counted(merchantId)).toEqual([expect.stringMatching(/^qris \w+ canceled IDR 4 600000 4200$/)]);
});

test("its age grows while a transaction that stays open holds it back, and not at rest", async () => {
  const grow = "update roll_ups set counted_at = counted_at - interval '90 s'";
  const open = new pg.Client({ connectionString: service.database.ownerUrl });
  await open.connect();
  try {
    await open.query("begin");
    const { rows } = await open.query("select pg_current_xact_id()::text as id");
    // Older transactions of other databases on this server end first: they hold it back as well, and their end would move it.
    const oldest = "select pg_snapshot_xmin(pg_current_snapshot())::text as id";
    await expect.poll(async () => (await open.query(oldest)).rows).toEqual(rows);
    await rebuild(database);
    await countCommitted(database, log); // up to the open transaction
    await asOwner(service.database, (owner) => owner.query(grow));
    await countCommitted(database, log);
    expect(await rollUpAge(database)).toBeGreaterThanOrEqual(90);
  } finally {
    await open.end();
  }
  await vi.waitFor(async () => {
    await countCommitted(database, log);
    expect(await rollUpAge(database)).toBeLessThan(90);
  }, 30_000);
});

test("many workers at once, and one that is killed in the middle, count each once", async () => {
  const { client, merchantId } = await service.merchant();
  const others = [openDatabase(service.database), openDatabase(service.database)];
  const crowd = async (): Promise<void> => {
    await Promise.all([database, ...others].flatMap((one) => [countCommitted(one, log), countCommitted(one, log)]));
  };
  for (let number = 0; number < 5; number++) {
    await Promise.all([client.post(`/v1/payments/${await create(client)}/cancel`, {}), crowd(), crowd()]);
    await database
      .transaction(async (query) => {
        const [progress] = await query(selectProgress);
        await query(countStep(progress?.counted_to as string, progress?.next as string));
        throw new Error("killed");
      })
      .catch(() => undefined);
  }
  await allCounted(database);
  expect(await counted(merchantId)).toEqual([expect.stringMatching(/^qris \w+ canceled IDR 5 750000 5250$/)]);
  await Promise.all(others.map((other) => other.end()));
});

test("made anew it comes to the same, beside traffic too", async () => {
  const { client, merchantId } = await service.merchant();
  const traffic = Promise.all(Array.from({ length: 20 }, () => pay(client)));
  for (let number = 0; number < 5; number++) await rebuild(database);
  await traffic;
  await allCounted(database);
  const [before, totalsBefore] = [await all(), await totals()];
  await rebuild(database);
  await allCounted(database);
  expect(await all()).toEqual(before);
  expect(await totals()).toEqual(totalsBefore);
  expect(await counted(merchantId)).toEqual([expect.stringMatching(/^qris \w+ succeeded IDR 20 3000000 21000$/)]);
});

test("a payment that is refunded later stays where it was paid, also when everything is counted anew", async () => {
  const { client } = await service.merchant();
  const reference = await pay(client);
  await allCounted(database);
  await client.post("/v1/sandbox/clock/advance", { seconds: 3_600 });
  const refund = await client.post("/v1/refunds", { payment_reference: reference, amount_minor: 100_000 });
  expect(refund.status).toBe(201);
  const before = await all();
  await rebuild(database);
  expect(await all()).toEqual(before);
});

test("made anew beside a transaction that goes on, what began or ended since is left to the next step", async () => {
  const { client } = await service.merchant();
  const open = await create(client);
  await allCounted(database);
  const before = [await all(), await totals()];
  await asOwner(service.database, async (owner) => {
    await owner.query("begin");
    await owner.query("select pg_current_xact_id()");
    await create(client);
    await client.post(`/v1/sandbox/payments/${open}/simulate`, { outcome: "succeeded" });
    await rebuild(database);
    expect([await all(), await totals()]).toEqual(before);
    await owner.query("rollback");
  });
  await allCounted(database);
  const after = [await all(), await totals()];
  expect(after).not.toEqual(before);
  await rebuild(database);
  expect([await all(), await totals()]).toEqual(after);
});

test("a process that is to end does not wait for it", async () => {
  const before = await all();
  await asOwner(service.database, async (owner) => {
    await owner.query("begin");
    await owner.query("lock table payment_quarters in share mode");
    const ending = new AbortController();
    const waits = rebuild(database, ending.signal);
    const given = expect(waits).rejects.toMatchObject({ code: "57014" });
    for (let round = 0; round < 500; round++) {
      const { rows } = await owner.query(
        "select from pg_locks where relation = 'payment_quarters'::regclass and not granted",
      );
      if (rows.length > 0) break;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    ending.abort();
    await given;
    await owner.query("rollback");
  });
  expect(await all()).toEqual(before);
});

test("restored elsewhere it is made anew, and numbers of the other database's transactions mean nothing", async () => {
  const { client, merchantId } = await service.merchant();
  const reference = await pay(client);
  await allCounted(database);
  const before = await all();
  await asOwner(service.database, async (owner) => {
    await owner.query("update roll_ups set origin = 'another', counted_to = '9000000000'");
    // As a dump brings it: an event of a transaction that this database will have in a while.
    await owner.query(
      `insert into events (merchant_id, environment, event_id, type, subject_id, created_at, body, xact)
select merchant_id, environment, gen_random_uuid(), 'payment.succeeded', payment_id, created_at, '{}',
  ((pg_current_xact_id()::text)::bigint + 20)::text::xid8 from payments where payment_id = $1`,
      [uuidOf(reference)],
    );
  });
  await countCommitted(database, log);
  for (let number = 0; number < 30; number++)
    await asOwner(service.database, (owner) => owner.query("select pg_current_xact_id()"));
  await allCounted(database);
  expect(await all()).toEqual(before);
  expect(await counted(merchantId)).toHaveLength(1);
});

test("verification finds a roll-up that says more or less than the journals", async () => {
  const { client, merchantId } = await service.merchant();
  const book = { merchantId, environment: "sandbox" } as const;
  await pay(client);
  await allCounted(database);
  await pay(client); // known to the feed alone
  expect((await verifyBook(database, book)).wrong).toBeUndefined();
  await database.query({
    text: "update payment_quarters set amount_minor = amount_minor + 1 where merchant_id = $1::uuid",
    values: [uuidOf(merchantId)],
  });
  expect((await verifyBook(database, book)).wrong).toMatch(
    /^the roll-up says 2 payments of 300001 in .* the journals 2 payments of 300000/,
  );
  await rebuild(database);
  expect((await verifyBook(database, book)).wrong).toBeUndefined();
});
