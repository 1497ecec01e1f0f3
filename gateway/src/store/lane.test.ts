// Goal: commands commit together, refuse alone, and an unknown outcome is never taken for a failure.
// Method: a lane over a toy table in a real PostgreSQL; connections are cut from outside at chosen moments.
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type TestDatabase, asOwner, cloneDatabase, openDatabase } from "../../test/kit.ts";
import { systemClock } from "../ground/clock.ts";
import { Fault, assert } from "../ground/fault.ts";
import { createLog } from "../ground/log.ts";
import { createMetrics } from "../ground/metrics.ts";
import { type Database, isConnectionLoss } from "./database.ts";
import { type Command, Lane } from "./lane.ts";
import { migrate } from "./migrations.ts";
import { type Table, bulkInsert, bulkUpdate } from "./table.ts";
import { WorkingSet, need } from "./working-set.ts";

interface Counter {
  name: string;
  value: bigint;
}

const columns = { name: ["text", (counter: Counter) => counter.name] } as const;
const changes = { value: ["bigint", (counter: Counter) => counter.value] } as const;

const counters: Table<{ name: string }, Counter> = {
  name: "counters",
  rank: 1,
  keyText: ({ name }) => name,
  keyOf: (counter) => counter,
  load: (keys) => ({
    text: "select name, value from counters where name = any($1::text[]) order by name for update",
    values: [keys.map(({ name }) => name)],
  }),
  parse: (row) => ({ name: row.name as string, value: row.value as bigint }),
  insert: bulkInsert<Counter>("counters", { ...columns, ...changes }),
  update: bulkUpdate<Counter>("counters", columns, changes),
};

let testDatabase: TestDatabase;
let database: Database;
/** How often a connection went back to the pool with its transaction open. */
let leftOpen = 0;

beforeAll(async () => {
  testDatabase = await cloneDatabase();
  database = openDatabase(testDatabase, 6);
  database.pool.on("release", (broken, client) => {
    if (!broken && client.getTransactionStatus() !== "I") leftOpen++;
  });
  await asOwner(testDatabase, async (client) => {
    await client.query("create table counters (name text primary key, value bigint not null check (value <= 1000))");
    await client.query("grant select, insert, update on counters to gerbang_app");
  });
});
beforeEach(() => asOwner(testDatabase, async (client) => void (await client.query("truncate counters"))));
afterEach(() => expect(leftOpen).toBe(0));
afterAll(() => database.end());

const laneOf = (
  options: Partial<{ inFlight: number; batchMax: number; queueMax: number; locks: boolean }> = {},
): Lane =>
  new Lane(
    { name: "test", inFlight: 1, locks: true, batchMax: 64, queueMax: 10_000, ...options },
    database,
    systemClock,
    createMetrics(),
    createLog("silent"),
  );

function add(name: string, amount: bigint, extra: Partial<Command<bigint>> = {}): Command<bigint> {
  return {
    name: "add",
    needs: [need(counters, { name })],
    execute(set) {
      const before = set.get(counters, { name });
      const value = (before?.value ?? 0n) + amount;
      if (before) set.update(counters, { name, value });
      else set.insert(counters, { name, value });
      if (value < 0n) throw new Fault("INSUFFICIENT_FUNDS");
      return value;
    },
    ...extra,
  };
}

async function stored(): Promise<Record<string, number>> {
  const rows = await database.query<{ name: string; value: bigint }>({ text: "select * from counters" });
  return Object.fromEntries(rows.map(({ name, value }) => [name, Number(value)]));
}

test("a thousand additions to a few counters all count, in far fewer transactions", async () => {
  const metrics = createMetrics();
  const lane = new Lane(
    { name: "many", inFlight: 1, locks: true, batchMax: 64, queueMax: 10_000 },
    database,
    systemClock,
    metrics,
    createLog("silent"),
  );
  await Promise.all(Array.from({ length: 1000 }, (_, index) => lane.submit(add(`c${index % 7}`, 1n))));
  const total = Object.values(await stored()).reduce((sum, value) => sum + value, 0);
  expect(total).toBe(1000);
  const { values } = await metrics.laneCommits.get();
  expect(values.reduce((sum, { value }) => sum + value, 0)).toBeLessThan(60);
});

test("a refused command leaves no trace, and its neighbours never notice", async () => {
  const lane = laneOf();
  const results = await Promise.allSettled([
    lane.submit(add("a", 5n)),
    lane.submit(add("a", -9n)),
    lane.submit(add("a", 2n)),
  ]);
  expect(
    results.map((result) => (result.status === "fulfilled" ? result.value : (result.reason as Fault).code)),
  ).toEqual([5n, "INSUFFICIENT_FUNDS", 7n]);
  expect(await stored()).toEqual({ a: 7 });
});

test("a command runs only when its gate has opened; one that stays shut refuses it alone", async () => {
  const lane = laneOf();
  let open = false;
  const gate = new Promise<void>((resolve) => {
    setTimeout(() => {
      open = true;
      resolve();
    }, 100);
  });
  const seen: boolean[] = [];
  const inner = add("behind", 1n);
  const behind: Command<bigint> = { ...inner, gate, execute: (set, now) => (seen.push(open), inner.execute(set, now)) };
  const shut = add("shut", 1n, { gate: Promise.reject(new Fault("SIGNATURE_REPLAYED")) });
  const results = await Promise.allSettled([lane.submit(behind), lane.submit(shut), lane.submit(add("free", 1n))]);
  expect(seen).toEqual([true]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect((results[1] as PromiseRejectedResult).reason).toMatchObject({ code: "SIGNATURE_REPLAYED" });
  expect(await stored()).toEqual({ behind: 1, free: 1 });
});

test("one command that the database refuses fails alone", async () => {
  const lane = laneOf();
  const commands = Array.from({ length: 20 }, (_, index) => lane.submit(add(`n${index}`, index === 7 ? 5000n : 1n)));
  const results = await Promise.allSettled(commands);
  expect(results.filter((result) => result.status === "rejected")).toHaveLength(1);
  expect((results[7] as PromiseRejectedResult).reason).toMatchObject({ code: "INTERNAL_ERROR" });
  expect(Object.keys(await stored())).toHaveLength(19);
});

test("two lanes that race for the same new key both end well: the loser runs again and sees the winner", async () => {
  const lanes = [laneOf(), laneOf(), laneOf()];
  for (let round = 0; round < 20; round++) {
    const values = await Promise.all(lanes.map((lane) => lane.submit(add(`race${round}`, 1n))));
    expect(values.toSorted((a, b) => Number(a - b))).toEqual([1n, 2n, 3n]);
  }
});

test("batches that follow each other share a connection, and one that fails takes nothing from the next", async () => {
  const lane = laneOf({ batchMax: 4 });
  const connects = vi.spyOn(database.pool, "connect");
  const commands = Array.from({ length: 40 }, (_, number) => lane.submit(add("chain", number === 17 ? 5_000n : 1n)));
  const results = await Promise.allSettled(commands);
  expect(results.filter(({ status }) => status === "rejected")).toHaveLength(1);
  expect(results[17]).toMatchObject({ status: "rejected", reason: { code: "INTERNAL_ERROR" } });
  expect(results.at(-1)).toMatchObject({ status: "fulfilled", value: 39n });
  // One until the failure, one for each that ran alone, one for the rest.
  expect(connects.mock.calls.length).toBeLessThanOrEqual(1 + 4 + 1);
  connects.mockRestore();
  expect(await stored()).toEqual({ chain: 39 });
});

test("inserts of tables that join are one statement, written by rank, each with its own parameters", async () => {
  await asOwner(testDatabase, (client) =>
    client.query(`create table lefts (name text primary key, value bigint not null);
create table rights (name text primary key, value bigint not null, at timestamptz not null default clock_timestamp());
alter table lefts add at timestamptz not null default clock_timestamp();
grant select, insert on lefts, rights to gerbang_app`),
  );
  const table = (name: string, rank: number): Table<{ name: string }, Counter> => ({
    name,
    rank,
    joins: true,
    keyText: (key) => key.name,
    keyOf: (counter) => counter,
    insert: bulkInsert<Counter>(name, { ...columns, ...changes }),
  });
  const [left, right] = [table("lefts", 2), table("rights", 3)];
  const both: Command<void> = {
    name: "both",
    needs: [],
    execute(set) {
      set.insert(right, { name: "r", value: 2n });
      set.insert(left, { name: "l1", value: 11n });
      set.insert(left, { name: "l2", value: 12n });
    },
  };
  const set = new WorkingSet();
  both.execute(set, systemClock.now());
  set.keep();
  expect(set.statements()).toHaveLength(1);
  await laneOf().submit(both);
  const rows = await database.query({
    text: "select name, value from (select name, value, at from lefts union all select * from rights) every order by at",
  });
  expect(rows).toEqual([
    { name: "l1", value: 11n },
    { name: "l2", value: 12n },
    { name: "r", value: 2n },
  ]);
});

test("hooks run after the commit, and not for commands that were refused", async () => {
  const lane = laneOf();
  const seen: string[] = [];
  const hooked = (name: string, amount: bigint): Command<bigint> => {
    const inner = add(name, amount);
    return { ...inner, execute: (set, now) => (set.afterCommit(() => seen.push(name)), inner.execute(set, now)) };
  };
  await Promise.allSettled([lane.submit(hooked("kept", 1n)), lane.submit(hooked("refused", -1n))]);
  expect(seen).toEqual(["kept"]);
});

test("what the system says of a broken socket is a lost connection, and what PostgreSQL says of a statement is not", () => {
  const error = (code: string): Error => Object.assign(new Error("?"), { code });
  for (const code of ["EPIPE", "ECONNRESET", "ECONNREFUSED", "ENOENT", "57P01", "08006"])
    expect(isConnectionLoss(error(code)), code).toBe(true);
  for (const code of ["23505", "GB006", "40001", "XX000"]) expect(isConnectionLoss(error(code)), code).toBe(false);
});

test("a full queue refuses at once with Retry-After", async () => {
  const lane = laneOf({ queueMax: 3 });
  const results = await Promise.allSettled(Array.from({ length: 10 }, () => lane.submit(add("full", 1n))));
  const refused = results.filter((result) => result.status === "rejected").map((result) => result.reason as Fault);
  expect(refused).toHaveLength(7);
  for (const fault of refused) {
    expect(fault.code).toBe("SERVICE_UNAVAILABLE");
    expect(fault.extras.retryAfterSeconds).toBe(1);
  }
});

test("an impossible state stops the lane instead of going on", async () => {
  const lane = laneOf();
  const impossible: Command<void> = {
    name: "impossible",
    needs: [],
    execute: () => assert(false, "two and two are five"),
  };
  await expect(lane.submit(impossible)).rejects.toMatchObject({ code: "INTERNAL_ERROR" });
  expect(lane.broken).toMatch(/two and two/);
  await expect(lane.submit(add("after", 1n))).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
});

const OTHERS = "from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()";

/** The backends that are in a slow insert. */
const asleep = (): Promise<number[]> =>
  asOwner(testDatabase, async (client) => {
    const { rows } = await client.query<{ pid: number }>(`select pid ${OTHERS} and wait_event = 'PgSleep'`);
    return rows.map(({ pid }) => pid);
  });

const untilAsleep = (): Promise<void> => vi.waitFor(async () => expect(await asleep()).toHaveLength(1));

/** Cuts every connection of this database but our own, at once, as soon as a batch is in its slow insert. */
const cutConnections = async (): Promise<void> => {
  await untilAsleep();
  await asOwner(testDatabase, (client) => client.query(`select pg_terminate_backend(pid) ${OTHERS}`));
};

/** Waits until the pool has noticed which of its connections are gone: a query may still meet a dead one until then. */
const untilReconnected = (): Promise<unknown> => vi.waitFor(() => Promise.all([1, 2, 3, 4, 5, 6].map(stored)));

/** A table whose insert takes a moment, so that something can happen between COMMIT sent and COMMIT answered. */
const slowly = (seconds: number): typeof counters => ({
  ...counters,
  insert: (values) => {
    const statement = counters.insert?.(values);
    return { text: `${statement?.text} returning pg_sleep(${seconds})`, values: statement?.values ?? [] };
  },
});
const slowCounters = slowly(3);

test("connections cut while a batch runs answer 503, and the lane works on without a restart", async () => {
  const lane = laneOf();
  const slow: Command<bigint> = {
    ...add("cut", 1n),
    execute(set) {
      set.insert(slowCounters, { name: "cut", value: 1n });
      return 1n;
    },
  };
  const running = lane.submit(slow);
  const outcome = running.then(
    () => "committed",
    (error: unknown) => (error as Fault).code,
  );
  await cutConnections();
  expect(await outcome).toBe("SERVICE_UNAVAILABLE");
  await untilReconnected();
  expect(await stored()).toEqual({});
  expect(await lane.submit(add("cut", 4n))).toBe(4n);
});

test("an unknown commit is looked up: what is there is answered, what is not is refused for a retry", async () => {
  const lane = laneOf();
  const asked: string[] = [];
  const hooked: string[] = [];
  const recalled = (name: string, answer: bigint | undefined): Command<bigint> => ({
    ...add(name, 1n),
    execute(set) {
      set.insert(slowCounters, { name, value: 1n });
      set.afterCommit(
        () => hooked.push(`${name} committed`),
        () => hooked.push(`${name} unknown`),
      );
      return 1n;
    },
    recall: () => {
      asked.push(name);
      return Promise.resolve(answer);
    },
  });
  const results = Promise.allSettled([lane.submit(recalled("there", 42n)), lane.submit(recalled("gone", undefined))]);
  await cutConnections();
  const [there, gone] = await results;
  await untilReconnected();
  expect(asked.toSorted()).toEqual(["gone", "there"]);
  // What was found may be somebody else's: nothing that only a commit allows has run.
  expect(hooked).toEqual(["there unknown", "gone unknown"]);
  expect(there).toMatchObject({ status: "fulfilled", value: 42n });
  expect(gone).toMatchObject({ status: "rejected", reason: { code: "SERVICE_UNAVAILABLE" } });
});

describe("a batch that begins while another is written", () => {
  const [writes, fails] = [slowly(0.3), { ...counters, name: "fails", rank: 2 }];
  /** Takes a moment to write, and is refused after that when `value` is too large. */
  const slow = (value: bigint): Command<string> => ({
    name: "slow",
    needs: [],
    execute(set) {
      set.insert(writes, { name: "slow", value: 1n });
      if (value > 1n) set.insert(fails, { name: "refused", value });
      return "written";
    },
  });
  /** What becomes of a slow command, and of one on the counter `name` that begins while it is written; over how many connections. */
  const inTurn = async (
    first: Command<string>,
    name: string,
    between?: () => Promise<unknown>,
  ): Promise<{ results: PromiseSettledResult<unknown>[]; connects: number }> => {
    const metrics = createMetrics();
    const options = { name: "test", inFlight: 1, locks: true, batchMax: 64, queueMax: 100 };
    const lane = new Lane(options, database, systemClock, metrics, createLog("silent"));
    await lane.submit(add("there", 1n));
    const connects = vi.spyOn(database.pool, "connect");
    const writing = Promise.allSettled([lane.submit(first)]);
    await untilAsleep();
    const next = Promise.allSettled([lane.submit(add(name, 1n))]);
    const begun = async (): Promise<number | undefined> =>
      (await metrics.laneBatchSize.get()).values.find(({ metricName }) => metricName?.endsWith("_count"))?.value;
    await vi.waitFor(async () => expect(await begun()).toBe(3), { interval: 2 });
    expect(await asleep()).toHaveLength(1);
    await between?.();
    const results = [...(await writing), ...(await next)];
    const taken = connects.mock.calls.length;
    connects.mockRestore();
    return { results, connects: taken };
  };

  test("sees what that one left, on the same connection", async () => {
    const { results, connects } = await inTurn(slow(1n), "slow");
    expect(results).toMatchObject([{ value: "written" }, { value: 2n }]);
    expect(connects).toBe(1);
    expect(await stored()).toEqual({ slow: 2, there: 1 });
  });

  test("goes back in line when that one is refused, and holds no lock meanwhile", async () => {
    const { results, connects } = await inTurn(slow(5_000n), "there");
    expect(results).toMatchObject([{ reason: { code: "INTERNAL_ERROR" } }, { value: 2n }]);
    expect(connects).toBe(2);
    expect(await stored()).toEqual({ there: 2 });
  });

  test("is not lost with the connection: it wrote nothing yet", async () => {
    const cut = async (): Promise<void> => {
      const pids = await asleep();
      await asOwner(testDatabase, (client) =>
        client.query("select pg_terminate_backend(pid) from unnest($1::int[]) pid", [pids]),
      );
    };
    const { results } = await inTurn(slow(1n), "there", cut);
    expect(results).toMatchObject([{ reason: { code: "SERVICE_UNAVAILABLE" } }, { value: 2n }]);
    expect(await stored()).toEqual({ there: 2 });
  });
});

test("a database that cannot be reached is 503, not 500", async () => {
  const away = openDatabase({ ...testDatabase, url: "postgres://nobody:x@127.0.0.1:1/none" });
  const lane = new Lane(
    { name: "away", inFlight: 1, locks: true, batchMax: 8, queueMax: 8 },
    away,
    systemClock,
    createMetrics(),
    createLog("silent"),
  );
  await expect(lane.submit(add("x", 1n))).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
  await away.end();
});

test("migrations apply once however many start together, and refuse a database newer than the code", async () => {
  const fresh = await cloneDatabase();
  expect((await Promise.all([1, 2, 3].map(() => migrate(fresh.ownerUrl)))).flat()).toEqual([]);
  await asOwner(fresh, (client) =>
    client.query("insert into schema_migrations (version, name, digest) values (9999, '9999_future.sql', 'x')"),
  );
  await expect(migrate(fresh.ownerUrl)).rejects.toThrow(/upgrade first/);
  await asOwner(fresh, (client) => client.query("delete from schema_migrations where version = 9999"));
  await asOwner(fresh, (client) => client.query("update schema_migrations set digest = 'x' where version = 1"));
  await expect(migrate(fresh.ownerUrl)).rejects.toThrow(/changed after it was applied/);
});

describe("a command alone in its batch, where a unique key refuses a second row", () => {
  const once: typeof counters = { ...counters, refusesSecond: true };
  /** Adds to what is there, or begins it; says how often it ran and what it saw. */
  const beginning = (
    name: string,
    seen: (bigint | undefined)[],
    own: Partial<Command<bigint>> = {},
  ): Command<bigint> => ({
    name: "begin",
    needs: [need(once, { name })],
    execute(set) {
      const before = set.get(once, { name });
      seen.push(before?.value);
      const value = (before?.value ?? 0n) + 1n;
      if (before) set.update(once, { name, value });
      else set.insert(once, { name, value });
      return value;
    },
    ...own,
  });

  test("what is not there is not asked for", async () => {
    const lane = laneOf({ locks: false });
    const load = vi.spyOn(once, "load");
    const seen: (bigint | undefined)[] = [];
    expect(await lane.submit(beginning("new", seen))).toBe(1n);
    expect([seen, load.mock.calls.length]).toEqual([[undefined], 0]);
    // With others it is asked for, and where rows are locked, too.
    await Promise.all(["a", "b"].map((name) => lane.submit(beginning(name, seen))));
    expect(load.mock.calls.length).toBe(1);
    await laneOf({ locks: true }).submit(beginning("c", seen));
    expect(load.mock.calls.length).toBe(2);
    load.mockRestore();
    expect(await stored()).toEqual({ new: 1, a: 1, b: 1, c: 1 });
  });

  test("what is there after all is seen the second time, and nothing is lost or doubled", async () => {
    const lane = laneOf({ locks: false });
    const seen: (bigint | undefined)[] = [];
    for (let round = 1n; round <= 3n; round++) expect(await lane.submit(beginning("same", seen))).toBe(round);
    expect(seen).toEqual([undefined, undefined, 1n, undefined, 2n]);
    expect(await stored()).toEqual({ same: 3 });
  });

  test("who is not let in costs no second look", async () => {
    const load = vi.spyOn(once, "load");
    const gate = Promise.reject(new Fault("SIGNATURE_REPLAYED"));
    const refused = laneOf({ locks: false }).submit(beginning("never", [], { gate }));
    await expect(refused).rejects.toMatchObject({ code: "SIGNATURE_REPLAYED" });
    expect(load).not.toHaveBeenCalled();
    load.mockRestore();
    expect(await stored()).toEqual({});
  });

  test("a command that adds no such row looks before it answers, whatever it says", async () => {
    const lane = laneOf({ locks: false });
    await lane.submit(beginning("known", []));
    const read = beginning("known", [], { execute: (set) => set.get(once, { name: "known" })?.value ?? -1n });
    expect(await lane.submit(read)).toBe(1n);
    const refuse = beginning("known", [], {
      execute(set) {
        throw new Fault(set.get(once, { name: "known" }) ? "REFERENCE_ID_DUPLICATE" : "NO_ROUTE_AVAILABLE");
      },
    });
    await expect(lane.submit(refuse)).rejects.toMatchObject({ code: "REFERENCE_ID_DUPLICATE" });
    expect(await stored()).toEqual({ known: 1 });
  });
});

describe("a command alone in its batch, whose rows are taken to be what they were", () => {
  /** What the counter `known` is taken to be; the check is made where it is written. */
  const taking = (value: bigint): typeof counters => ({
    ...counters,
    presume: ({ name }) =>
      name === "known"
        ? {
            value: { name, value },
            check: {
              text: "select presumed_wrongly() from counters where name = $1 and value <> $2::bigint",
              values: [name, value],
            },
          }
        : undefined,
  });
  /** Writes what it saw of `name` down as another counter. */
  const copying = (table: typeof counters, name: string, seen: unknown[] = []): Command<bigint> => ({
    name: "copy",
    needs: [need(table, { name })],
    execute(set) {
      const value = set.get(table, { name })?.value ?? -1n;
      seen.push(value);
      set.insert(counters, { name: `copy of ${name} ${value}`, value });
      return value;
    },
  });

  test("are not asked for, and checked where they are written", async () => {
    const lane = laneOf({ locks: false });
    const known = taking(7n);
    const load = vi.spyOn(known, "load");
    await lane.submit(add("known", 7n));
    expect(await lane.submit(copying(known, "known"))).toBe(7n);
    expect(load).not.toHaveBeenCalled();
    // One that is not known is asked for, and so is everything beside it.
    await lane.submit(add("other", 3n));
    const both = copying(known, "other");
    expect(await lane.submit({ ...both, needs: [...both.needs, need(known, { name: "known" })] })).toBe(3n);
    expect(load).toHaveBeenCalledTimes(1);
    expect(await stored()).toEqual({ known: 7, other: 3, "copy of known 7": 7, "copy of other 3": 3 });
  });

  test("are looked up when they are otherwise, and nothing was written on what was not so", async () => {
    const lane = laneOf({ locks: false });
    await lane.submit(add("known", 8n));
    const seen: unknown[] = [];
    expect(await lane.submit(copying(taking(7n), "known", seen))).toBe(8n);
    expect(seen).toEqual([7n, 8n]);
    expect(await stored()).toEqual({ known: 8, "copy of known 8": 8 });
  });

  test("are looked up before anyone is told something that nothing written would check", async () => {
    const lane = laneOf({ locks: false });
    await lane.submit(add("known", 8n));
    const known = taking(7n);
    const read = (set: WorkingSet): bigint => set.get(known, { name: "known" })?.value ?? -1n;
    expect(await lane.submit({ ...copying(known, "known"), execute: read })).toBe(8n);
    const refuse: Command<bigint> = {
      ...copying(known, "known"),
      execute(set) {
        throw new Fault(read(set) === 8n ? "REFERENCE_ID_DUPLICATE" : "NO_ROUTE_AVAILABLE");
      },
    };
    await expect(lane.submit(refuse)).rejects.toMatchObject({ code: "REFERENCE_ID_DUPLICATE" });
    expect(await stored()).toEqual({ known: 8 });
  });

  test("cost nothing when it is not let in", async () => {
    const queries = vi.spyOn(pg.Client.prototype, "query");
    const gate = Promise.reject(new Fault("SIGNATURE_REPLAYED"));
    const refused = laneOf({ locks: false }).submit({ ...copying(taking(7n), "known"), gate });
    await expect(refused).rejects.toMatchObject({ code: "SIGNATURE_REPLAYED" });
    expect(queries).not.toHaveBeenCalled();
    queries.mockRestore();
    expect(await stored()).toEqual({});
  });

  test("are asked for where commands are together, or lock", async () => {
    const known = taking(7n);
    await laneOf().submit(add("known", 8n));
    const load = vi.spyOn(known, "load");
    const lane = laneOf({ locks: false });
    const others = [lane.submit(copying(known, "known")), lane.submit(add("beside", 1n))];
    expect(await Promise.all(others)).toEqual([8n, 1n]);
    await asOwner(testDatabase, (client) => client.query("delete from counters where name like 'copy%'"));
    expect(await laneOf({ locks: true }).submit(copying(known, "known"))).toBe(8n);
    expect(load).toHaveBeenCalledTimes(2);
  });
});
