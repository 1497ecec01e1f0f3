// Goal: statements of one round trip are executed in their order up to the first that fails, and nothing behind it is, COMMIT included.
// Method: a real PostgreSQL, one connection of a pool as the service has it, and a second one that looks on or cuts the first.
import type { PoolClient } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type TestDatabase, asOwner, cloneDatabase } from "../../test/kit.ts";
import { createLog } from "../ground/log.ts";
import { Database, type Statement } from "./database.ts";
import { roundTrip } from "./round-trip.ts";

let testDatabase: TestDatabase;
let database: Database;
let client: PoolClient;
beforeAll(async () => {
  testDatabase = await cloneDatabase();
  database = new Database(testDatabase.url, 2, createLog("silent"), { queryTimeoutMs: 1_000 });
  await asOwner(testDatabase, async (owner) => {
    await owner.query("create table notes (id bigint primary key, text text)");
    await owner.query("grant select, insert on notes to gerbang_app");
  });
});
beforeEach(async () => {
  client = await database.pool.connect();
});
afterEach(async () => {
  client.release(client.getTransactionStatus() !== "I");
  await asOwner(testDatabase, (owner) => owner.query("truncate notes"));
});
afterAll(() => database.end());

const begin: Statement = { name: "begin", text: "begin" };
const commit: Statement = { name: "commit", text: "commit" };
const note = (id: number): Statement => ({
  name: "note",
  text: "insert into notes (id, text) values ($1::bigint, $2::text) returning id, text",
  values: [id, `note ${id}`],
});
const divide = (by: number): Statement => ({ name: "divide", text: "select 10 / $1::integer as part", values: [by] });

const stored = async (): Promise<unknown[]> =>
  (await database.query({ text: "select id from notes order by id" })).map(({ id }) => id);

test("each statement gives its rows and its tag, the first time and when it is prepared", async () => {
  const all: Statement[] = [
    begin,
    note(1),
    { text: "select $1::bigint as whole, now() as at, null as nothing, 'x'::bytea as bytes", values: ["7"] },
    { text: "select 1 as one where false" },
    note(2),
    commit,
  ];
  for (const round of [0, 1]) {
    const statements = all.map((statement) =>
      statement.name === "note" ? note(round * 10 + all.indexOf(statement)) : statement,
    );
    const { completed, rejected } = await roundTrip(client, statements);
    expect(rejected).toBeUndefined();
    expect(completed.map(({ tag }) => tag)).toEqual([
      "BEGIN",
      "INSERT 0 1",
      "SELECT 1",
      "SELECT 0",
      "INSERT 0 1",
      "COMMIT",
    ]);
    expect(completed[1]?.rows).toEqual([{ id: BigInt(round * 10 + 1), text: `note ${round * 10 + 1}` }]);
    expect(completed[2]?.rows).toEqual([
      { whole: 7n, at: expect.any(Number) as number, nothing: null, bytes: Buffer.from("x") },
    ]);
    expect(completed[3]?.rows).toEqual([]);
  }
  expect(await stored()).toEqual([1n, 4n, 11n, 14n]);
});

test("the driver's own queries use the same names beside it", async () => {
  await client.query({ ...divide(2), values: [2] });
  expect((await roundTrip(client, [divide(5)])).completed).toEqual([{ rows: [{ part: 2 }], tag: "SELECT 1" }]);
  expect((await client.query({ ...divide(1), values: [1] })).rows).toEqual([{ part: 10 }]);
});

describe("behind a statement that fails nothing is executed", () => {
  test.each<[what: string, statements: Statement[], completed: number]>([
    ["a write of several", [begin, note(1), divide(0), note(2), commit], 2],
    ["the first write", [begin, note(1), note(1), commit], 2],
    ["BEGIN itself", [{ text: "begin isolation level nonsense" }, note(1), commit], 0],
    ["a statement that cannot be parsed", [begin, note(1), { name: "wrong", text: "selec 1" }, commit], 2],
    ["a value that its type does not take", [begin, note(1), { ...note(2), values: ["x", "y"] }, commit], 2],
  ])("%s", async (_, statements, done) => {
    const { completed, rejected } = await roundTrip(client, statements);
    expect(completed).toHaveLength(done);
    expect(rejected?.cause).toMatchObject({ code: expect.stringMatching(/^(22|23|42)/) as string });
    await client.query("rollback");
    expect(await stored()).toEqual([]);
  });

  test("and a statement that was prepared by then, or was not, can be sent again", async () => {
    const fresh = (name: string, text: string): Statement => ({ name, text });
    const statements = [
      begin,
      fresh("fresh and failing", "select 1 / (select count(*) from notes)::integer as part"),
      fresh("fresh and skipped", "select 2 as two"),
    ];
    for (let round = 0; round < 3; round++) {
      expect((await roundTrip(client, statements)).completed).toHaveLength(1);
      await client.query("rollback");
    }
    await roundTrip(client, [note(1)]);
    for (let round = 0; round < 2; round++) {
      const { completed } = await roundTrip(client, [...statements, commit]);
      expect(completed.map(({ rows }) => rows)).toEqual([[], [{ part: 1 }], [{ two: 2 }], []]);
    }
  });
});

test("round trips on one connection follow each other", async () => {
  const results = await Promise.all([roundTrip(client, [divide(1)]), roundTrip(client, [note(1), note(2)])]);
  await client.query("select 1");
  expect(results.map(({ completed }) => completed.length)).toEqual([1, 2]);
});

test("a value that cannot be bound ends the round trip, and the next query gets its own answer", async () => {
  const unbound: Statement = { text: "select $1::jsonb", values: [{ whole: 1n }] };
  expect((await roundTrip(client, [begin, unbound])).rejected?.cause).toBeInstanceOf(TypeError);
  expect((await client.query("select 'mine' as mine")).rows).toEqual([{ mine: "mine" }]);
});

test("a row that cannot be read ends the round trip, and not the process", async () => {
  const infinite: Statement = { text: "select 'infinity'::timestamptz as at" };
  const { completed, rejected } = await roundTrip(client, [begin, infinite, divide(5), { text: "rollback" }]);
  expect(String(rejected?.cause)).toMatch(/not a timestamptz/);
  expect(completed[2]?.rows).toEqual([{ part: 2 }]);
  expect((await roundTrip(client, [divide(1)])).completed).toEqual([{ rows: [{ part: 10 }], tag: "SELECT 1" }]);
});

test("a table that was altered, and statements that PostgreSQL forgot, cost one round trip", async () => {
  const load: Statement = { name: "load notes", text: "select t.* from notes t" };
  await roundTrip(client, [load, divide(1)]);
  await asOwner(testDatabase, (owner) => owner.query("alter table notes add column extra integer"));
  expect((await roundTrip(client, [load])).rejected?.cause).toMatchObject({ code: "0A000" });
  expect((await roundTrip(client, [load, divide(1)])).rejected).toBeUndefined();
  await client.query("discard all");
  expect((await roundTrip(client, [divide(1)])).rejected?.cause).toMatchObject({ code: "26000" });
  expect((await roundTrip(client, [load, divide(1)])).rejected).toBeUndefined();
});

test("a row with other columns than are remembered is not read: another session prepared the statement", async () => {
  await asOwner(testDatabase, async (owner) => {
    await owner.query("create table sums (id bigint, a bigint, b bigint)");
    await owner.query("insert into sums values (1, 10, 20)");
    await owner.query("grant select on sums to gerbang_app");
  });
  const load: Statement = { name: "sums", text: "select t.* from sums t" };
  await roundTrip(client, [load]);
  await asOwner(testDatabase, (owner) => owner.query("alter table sums drop column a"));
  await client.query("deallocate all");
  await client.query(`prepare "round trip: sums" as ${load.text}`);
  const { completed, rejected } = await roundTrip(client, [load]);
  expect([completed[0]?.rows, String(rejected?.cause)]).toEqual([[], expect.stringMatching(/other columns/)]);
});

test("a name stands for one text, and is one that PostgreSQL keeps whole", async () => {
  await roundTrip(client, [divide(1)]);
  const other: Statement = { ...divide(1), text: "select 20 / $1::integer as part" };
  expect(String((await roundTrip(client, [other])).rejected?.cause)).toMatch(/two statements have one name/);
  const long: Statement = { name: "a".repeat(60), text: "select 1 as one" };
  expect(String((await roundTrip(client, [long])).rejected?.cause)).toMatch(/too long/);
});

test("an empty statement moves no result to its neighbour", async () => {
  const empty: Statement = { name: "empty", text: "" };
  for (let round = 0; round < 2; round++) {
    const { completed } = await roundTrip(client, [empty, divide(2), { name: "x", text: "select 'x' as x, 2 as two" }]);
    expect(completed.map(({ rows }) => rows)).toEqual([[], [{ part: 5 }], [{ x: "x", two: 2 }]]);
  }
});

test("the driver's own statements are prepared anew when their table was altered", async () => {
  await asOwner(testDatabase, async (owner) => {
    await owner.query("create table changing (id bigint)");
    await owner.query("grant select on changing to gerbang_app");
  });
  const load: Statement = { name: "load changing", text: "select t.* from changing t" };
  for (const column of ["one", "two", "three"]) {
    expect(await Promise.all([database.query(load), database.query(load)])).toEqual([[], []]);
    await asOwner(testDatabase, (owner) => owner.query(`alter table changing add column ${column} integer`));
  }
});

test("a connection that is cut is told with what was completed before", async () => {
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  const trip = roundTrip(client, [begin, note(1), { text: "select pg_sleep(10)" }, commit]);
  await asOwner(testDatabase, (owner) => owner.query("select pg_terminate_backend($1)", [rows[0]?.pid]));
  const { completed, rejected } = await trip;
  expect(completed.length).toBeLessThan(3);
  expect(rejected).toBeDefined();
  expect((await roundTrip(client, [divide(1)])).rejected).toBeDefined();
  expect(await stored()).toEqual([]);
});

test("one that takes longer than its limit is given up, and the connection with it", async () => {
  const { rejected } = await roundTrip(client, [begin, note(1), { text: "select pg_sleep(3)" }, commit]);
  expect(String(rejected?.cause)).toMatch(/timeout/);
  await expect(client.query("select 1")).rejects.toThrow();
  expect(await stored()).toEqual([]);
});
