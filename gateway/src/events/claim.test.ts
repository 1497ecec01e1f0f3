// Goal: a claim takes what is due and has room, and costs the same however much is owed to hosts that take nothing. Method: a
// real PostgreSQL with a long backlog; the rows that its plans touch are counted, not the time they take.
import { randomUUID } from "node:crypto";
import type pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { asOwner, cloneDatabase, openDatabase } from "../../test/kit.ts";
import { SECOND, sqlTime, systemClock } from "../ground/clock.ts";
import { idOf, uuidOf } from "../ground/ids.ts";
import type { Book } from "../merchants/books.ts";
import type { Database, Statement } from "../store/database.ts";
import { type ClaimedRow, claimDeliveries, queueKey } from "./claim.sql.ts";
import { oldestDue } from "./outbox.sql.ts";

const BACKLOG = 20_000;
const database = await cloneDatabase();
let asService: Database;

beforeAll(async () => {
  asService = openDatabase(database);
});
afterAll(() => asService.end());

/** A book that owes so many deliveries to each host, the ones of the first host before those of the second. */
async function bookWith(owed: Record<string, number>, attempts = 0): Promise<Book> {
  const merchant = randomUUID();
  await asOwner(database, async (owner) => {
    await owner.query(
      "insert into merchants (merchant_id, name, settings, epoch, created_at) values ($1, 'm', '{}', 0, now())",
      [merchant],
    );
    await owner.query("insert into books (merchant_id, environment) values ($1, 'sandbox')", [merchant]);
    for (const [at, [host, count]] of Object.entries(owed).entries()) {
      await owner.query(
        `with e as (
  insert into events (merchant_id, environment, event_id, type, created_at, body)
  select $1, 'sandbox', gen_random_uuid(), 'payment.created', now() - interval '1 hour' + make_interval(secs => $4 + i / 100000.0), repeat(' ', 600)
  from generate_series(1, $3::integer) i
  returning *
)
insert into deliveries (merchant_id, environment, event_id, url, next_attempt_at, attempts)
select merchant_id, environment, event_id, 'https://' || $2::text || '/hook', created_at, $5::smallint
from e`,
        [merchant, host, count, at, attempts],
      );
    }
    await owner.query("analyze events, deliveries");
  });
  return { merchantId: idOf("merchant", merchant), environment: "sandbox" };
}

const claim = (changes: Partial<Parameters<typeof claimDeliveries>[0]>): Statement =>
  claimDeliveries({
    books: undefined,
    realNow: systemClock.now(),
    leaseMs: 12_000,
    token: randomUUID(),
    perBook: 128,
    limit: 128,
    which: "first",
    capacities: new Map(),
    capacityElsewhere: 20,
    ...changes,
  });

/** How many of each host were claimed. */
async function claimed(changes: Partial<Parameters<typeof claimDeliveries>[0]>): Promise<Record<string, number>> {
  const rows = await asService.query<ClaimedRow>(claim(changes));
  return Object.fromEntries([...Map.groupBy(rows, ({ host }) => host)].map(([host, own]) => [host, own.length]));
}

interface Plan {
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  Plans?: Plan[];
}

/** How many rows the parts of a statement's plan looked at, in all. */
async function rowsLookedAt({ text, values = [] }: Statement): Promise<number> {
  const looked = (plan: Plan): number =>
    (plan["Actual Rows"] + (plan["Rows Removed by Filter"] ?? 0)) * plan["Actual Loops"] +
    (plan.Plans ?? []).reduce((sum, part) => sum + looked(part), 0);
  return asOwner(database, async (owner: pg.Client) => {
    const { rows } = await owner.query<{ "QUERY PLAN": { Plan: Plan }[] }>(
      `explain (analyze, format json) ${text}`,
      values,
    );
    const [plan] = rows.flatMap((row) => row["QUERY PLAN"]);
    if (!plan) throw new Error("there is no plan");
    return looked(plan.Plan);
  });
}

for (const [which, attempts] of [
  ["first", 0],
  ["retry", 1],
] as const)
  test(`a long backlog at a host that takes no more is not walked past (${which})`, async () => {
    const book = await bookWith({ "full.example": BACKLOG, "good.example": 3 }, attempts);
    const capacities = new Map([["full.example", 0]]);
    expect(await rowsLookedAt(claim({ books: [book], which, capacities }))).toBeLessThan(1_000);
    expect(await claimed({ books: [book], which, capacities })).toEqual({}); // the look above has leased them
    expect(await claimed({ books: [book], which })).toEqual({ "full.example": 20 });
  });

test("a host gives as many as it has room for, oldest first, and a book what it may", async () => {
  const book = await bookWith({ "a.example": 50, "b.example": 50, "c.example": 50 });
  const capacities = new Map([
    ["a.example", 0],
    ["b.example", 30],
  ]);
  expect(await claimed({ books: [book], capacities })).toEqual({ "b.example": 30, "c.example": 20 });
  const few = await claimed({ books: [book], capacities, perBook: 25 });
  expect(Object.values(few).reduce((sum, count) => sum + count, 0)).toBe(25);
});

test.each(["first", "retry"] as const)(
  "what is not due, or is leased or set aside, is left alone to the microsecond (%s)",
  async (which) => {
    const book = await bookWith({ "a.example": 6 }, which === "first" ? 0 : 1);
    const realNow = systemClock.now();
    const offset = 7 * SECOND; // due times are the book's, leases are real
    const [now, later] = [sqlTime(realNow), sqlTime(realNow + 1)];
    const [due, soon] = [sqlTime(realNow + offset), sqlTime(realNow + offset + 1)];
    const ways: [next: string, token: string | null, until: string | null][] = [
      [due, null, null],
      [soon, null, null],
      [due, randomUUID(), now],
      [due, randomUUID(), later],
      [due, null, now],
      [due, null, later],
    ];
    const ids = await asOwner(database, async (owner) => {
      await owner.query("update books set clock_offset_seconds = 7 where merchant_id = $1", [uuidOf(book.merchantId)]);
      const text = "select event_id as id from deliveries where merchant_id = $1";
      const { rows } = await owner.query<{ id: string }>(text, [uuidOf(book.merchantId)]);
      for (const [at, way] of ways.entries())
        await owner.query(
          "update deliveries set next_attempt_at = $2, lease_token = $3, leased_until = $4 where event_id = $1",
          [rows[at]?.id, ...way],
        );
      return rows.map(({ id }) => id);
    });
    const token = randomUUID();
    const rows = await asService.query<ClaimedRow>(claim({ books: [book], which, realNow, token }));
    expect(new Set(rows.map(({ event_id }) => event_id))).toEqual(new Set([ids[0], ids[2], ids[4]]));
    const leased = await asOwner(database, (owner) =>
      owner.query("select event_id from deliveries where lease_token = $1 and leased_until > $2", [token, later]),
    );
    expect(leased.rowCount).toBe(3);
  },
);

test("what another transaction has locked is left to it, and waited for by nobody", async () => {
  const book = await bookWith({ "a.example": 3 });
  const rows = await asOwner(database, async (owner) => {
    await owner.query("begin");
    await owner.query("select from deliveries where merchant_id = $1 limit 1 for update", [uuidOf(book.merchantId)]);
    const others = await asService.query<ClaimedRow>(claim({ books: [book] }));
    await owner.query("rollback");
    return others;
  });
  expect(rows).toHaveLength(2);
});

test("what a host takes of one merchant is not what it takes of another", async () => {
  const books = await Promise.all([bookWith({ "a.example": 9 }), bookWith({ "a.example": 9 })]);
  const [full, other] = books.map(({ merchantId }) => uuidOf(merchantId)) as [string, string];
  const capacities = new Map([
    ["a.example", 5],
    [queueKey(full, "a.example"), 1],
  ]);
  const rows = await asService.query<ClaimedRow>(claim({ books, capacities }));
  const counts = [full, other].map((uuid) => rows.filter((row) => row.merchant_id === uuid).length);
  expect(counts).toEqual([1, 5]);
  // One that has used up its share is asked for one at any host that nothing is known of.
  const spread = await bookWith({ "a.example": 9, "b.example": 9, "c.example": 9 });
  const uuid = uuidOf(spread.merchantId);
  const known = new Map([
    [uuid, 1],
    [queueKey(uuid, "b.example"), 4],
    ["c.example", 7],
  ]);
  expect(await claimed({ books: [spread], capacities: known })).toEqual({
    "a.example": 1,
    "b.example": 4,
    "c.example": 1,
  });
});

test("among more hosts than are looked at in one claim, each has its turn", async () => {
  const hosts = Array.from({ length: 400 }, (_, number) => `h${number}.example`);
  const book = await bookWith(Object.fromEntries(hosts.map((host) => [host, 1])));
  const seen = new Set<string>();
  for (let tries = 0; seen.size < hosts.length && tries < 100; tries++) {
    const rows = await asService.query<ClaimedRow>(claim({ books: [book] }));
    for (const { host } of rows) {
      expect(seen.has(host)).toBe(false);
      seen.add(host);
    }
  }
  expect(seen.size).toBe(hosts.length);
});

test("what is most overdue is found without looking at the rest", async () => {
  await bookWith({ "a.example": BACKLOG });
  await bookWith({ "a.example": BACKLOG }, 1);
  expect(await rowsLookedAt(oldestDue(systemClock.now()))).toBeLessThan(200);
  const [oldest] = await asService.query<{ seconds: number }>(oldestDue(systemClock.now()));
  expect(oldest?.seconds).toBeGreaterThan(3_500);
});
