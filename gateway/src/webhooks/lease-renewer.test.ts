// Goal: a process keeps the leases of what it holds, and nobody else's; what a dead process held is free within 15 seconds. Method: the
// renewer on a real PostgreSQL with a clock of the test, and claims made at moments of that clock.
import { randomUUID } from "node:crypto";
import { afterAll, beforeEach, expect, test } from "vitest";
import { asOwner, cloneDatabase, openDatabase } from "../../test/kit.ts";
import { claimDeliveries } from "../events/claim.sql.ts";
import { type HeldLease, parkDeliveries, readdressDeliveries, readdressPending } from "../events/outbox.sql.ts";
import { type Micros, SECOND, systemClock } from "../ground/clock.ts";
import { newId, uuidOf } from "../ground/ids.ts";
import { createLog } from "../ground/log.ts";
import type { Book } from "../merchants/books.ts";
import { LeaseRenewer } from "./lease-renewer.ts";
import { deliveryTiming } from "./timing.ts";

const name = await cloneDatabase();
const database = openDatabase(name);
const start = systemClock.now();
const clock = { at: start, now: (): Micros => clock.at };
let asked = 0;
const counting = {
  query: (...given: Parameters<typeof database.query>) => {
    asked++;
    return database.query(...given);
  },
} as Pick<typeof database, "query">;

beforeEach(async () => {
  clock.at = start;
  asked = 0;
  await asOwner(name, (owner) => owner.query("delete from deliveries"));
});
afterAll(() => database.end());

/** A book with so many deliveries that are due. */
async function due(count: number): Promise<Book> {
  const id = newId("merchant", start);
  const merchantId = uuidOf(id);
  const ids = Array.from({ length: count }, () => uuidOf(newId("event", start)));
  await asOwner(name, async (owner) => {
    await owner.query(
      "insert into merchants (merchant_id, name, settings, epoch, created_at) values ($1, 'm', '{}', 0, now())",
      [merchantId],
    );
    await owner.query("insert into books (merchant_id, environment) values ($1, 'sandbox')", [merchantId]);
    await owner.query(
      `insert into events (merchant_id, environment, event_id, type, created_at, body)
select $1::uuid, 'sandbox', event_id, 'payment.created', now(), '{}' from unnest($2::uuid[]) as v(event_id)`,
      [merchantId, ids],
    );
    await owner.query(
      `insert into deliveries (merchant_id, environment, event_id, url, next_attempt_at)
select $1::uuid, 'sandbox', event_id, 'https://shop.example/hook', now() - interval '1 hour' from unnest($2::uuid[]) as v(event_id)`,
      [merchantId, ids],
    );
  });
  return { merchantId: id, environment: "sandbox" };
}

/** What a process claims at this moment of the clock. */
async function claim(): Promise<(HeldLease & { claimedAt: Micros })[]> {
  const token = randomUUID();
  const lease = { realNow: clock.at, leaseMs: deliveryTiming.leaseMs, token };
  const rows = await database.query(
    claimDeliveries({
      ...lease,
      books: undefined,
      perBook: 100,
      limit: 100,
      which: "first",
      capacities: new Map(),
      capacityElsewhere: 100,
    }),
  );
  return rows.map((row) => ({ row: row as HeldLease["row"] & typeof row, token, claimedAt: clock.at }));
}

const renewerOf = (held: () => (HeldLease & { claimedAt: Micros })[]): LeaseRenewer =>
  new LeaseRenewer({ database: counting, clock, log: createLog("silent"), timing: deliveryTiming, held });

test("what is held long stays leased, and is free within 15 seconds of the last sign of life", async () => {
  await due(3);
  const held = await claim();
  expect(held).toHaveLength(3);
  const renewer = renewerOf(() => held);
  for (let tick = 1; tick <= 10; tick++) {
    clock.at = start + (tick * deliveryTiming.renewMs + 1) * 1_000;
    await renewer.renew();
  }
  expect(asked).toBe(10);
  const died = clock.at;
  clock.at = died + deliveryTiming.leaseMs * 1_000 - 1;
  expect(await claim()).toEqual([]);
  clock.at = died + 15 * SECOND - deliveryTiming.pollMs * 1_000;
  expect(await claim()).toHaveLength(3);
});

test("what was claimed just now is not renewed, and costs nothing", async () => {
  await due(1);
  const held = await claim();
  clock.at = start + (deliveryTiming.renewMs - 1) * 1_000;
  await renewerOf(() => held).renew();
  await renewerOf(() => []).renew();
  expect(asked).toBe(0);
});

test("a lease that was lost is not taken back: another process has it, or it was given back", async () => {
  await due(2);
  const held = await claim();
  clock.at = start + 13 * SECOND;
  const others = await claim();
  expect(others).toHaveLength(2);
  await database.query(parkDeliveries(others.slice(0, 1), undefined));
  const before = await leases();
  clock.at += SECOND;
  await renewerOf(() => held).renew();
  expect(asked).toBe(1);
  expect(await leases()).toEqual(before);
});

test("who lost a lease neither parks the delivery nor moves it, and a change of the address leaves it to its holder", async () => {
  const book = await due(3);
  await asOwner(name, async (owner) => {
    await owner.query(
      "update deliveries set own_url = true where event_id = (select min(event_id::text)::uuid from deliveries)",
    );
    await owner.query(
      `insert into webhook_endpoints (merchant_id, environment, url, secret_sealed, updated_at)
values ($1, 'sandbox', 'https://new.example/hook', sha256('x'), now())`,
      [uuidOf(book.merchantId)],
    );
  });
  const held = await claim();
  clock.at = start + 13 * SECOND;
  const others = await claim();
  const before = await leases();
  for (const statement of [parkDeliveries(held, undefined), readdressDeliveries(held), readdressPending(book)])
    await database.query(statement);
  expect(await leases()).toEqual(before);
  // Its holder moves what follows the registered address, and no payment's own.
  await database.query(readdressDeliveries(others));
  const after = await leases();
  expect(after.filter((lease) => lease.endsWith("new.example"))).toHaveLength(2);
  expect(after.filter((lease) => before.includes(lease))).toHaveLength(1);
  await database.query(parkDeliveries(others, undefined));
  const parked = await leases();
  await asOwner(name, (owner) => owner.query("update webhook_endpoints set url = 'https://newest.example/hook'"));
  await database.query(readdressPending(book));
  expect((await leases()).filter((lease) => lease.endsWith("newest.example"))).toHaveLength(2);
  expect((await leases()).filter((lease) => parked.includes(lease))).toHaveLength(1);
  // Without an address it stays where it is.
  await asOwner(name, (owner) => owner.query("update webhook_endpoints set url = null"));
  const again = await claim();
  const addressed = await leases();
  await database.query(readdressDeliveries(again));
  expect(await leases()).toEqual(addressed);
});

test("a delivery that another statement has locked is left out, and waits for nobody", async () => {
  await due(2);
  const held = await claim();
  const before = await leases();
  clock.at = start + 4 * SECOND;
  const client = await database.pool.connect();
  try {
    await client.query("begin");
    await client.query("select from deliveries where event_id = $1 for update", [held[0]?.row.event_id]);
    await renewerOf(() => held).renew();
    await client.query("rollback");
  } finally {
    client.release();
  }
  const after = await leases();
  expect(after.filter((lease) => before.includes(lease))).toHaveLength(1);
});

/** Who has each delivery, until when, and where it goes. */
async function leases(): Promise<string[]> {
  const rows = await database.query<{ lease: string }>({
    name: "leases",
    text: "select concat_ws(' ', event_id, lease_token, leased_until, host) as lease from deliveries order by 1",
  });
  return rows.map(({ lease }) => lease);
}
