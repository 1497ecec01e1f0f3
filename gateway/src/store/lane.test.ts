// Goal: commands commit together, refuse alone, and an unknown outcome is never taken for a failure.
// Method: a lane over a toy table in a real PostgreSQL; connections are cut from outside at chosen moments.
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { failStatements } from "../../test/failing-statements.ts";
import { type TestDatabase, asOwner, cloneDatabase, openDatabase } from "../../test/kit.ts";
import { systemClock } from "../ground/clock.ts";
import { Fault, assert } from "../ground/fault.ts";
import { createLog } from "../ground/log.ts";
import { createMetrics } from "../ground/metrics.ts";
import { type Database, isConnectionLoss, isOutOfService, limits } from "./database.ts";
import type { BatchParts } from "./batch.ts";
import type { Command } from "./command.ts";
import { Lane } from "./lane.ts";
import type { LockedTable } from "./lock-order.ts";
import { migrate } from "./migrations.ts";
import { type Table, bulkInsert, bulkUpdate, loadByKey } from "./table.ts";
import type { Ending } from "./transaction.ts";
import { need } from "./working-set.ts";
import { slowness, waiting } from "../../test/slowness.ts";

interface Counter {
  name: string;
  value: bigint;
}

const columns = { name: ["text", (counter: Counter) => counter.name] } as const;
const changes = { value: ["bigint", (counter: Counter) => counter.value] } as const;

const counters: Table<{ name: string }, Counter> = {
  name: "counters" as LockedTable, // a table of this test alone: it stands outside the lock order
  keyText: ({ name }) => name,
  keyOf: (counter) => counter,
  load: (keys) => ({
    text: "select name, value from counters where name = any($1::text[]) order by name for no key update",
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

const book = { merchantId: "mer_one", environment: "sandbox" };
const otherBook = { merchantId: "mer_two", environment: "sandbox" };

const partsOf = (own: Partial<BatchParts> = {}): BatchParts => ({
  database,
  clock: systemClock,
  metrics: createMetrics(),
  log: createLog("silent"),
  quarantine: new Map(),
  onEnding: () => undefined,
  ...own,
});

const laneOf = (
  options: Partial<{ inFlight: number; batchMax: number; queueMax: number; bookLockMs: number; waitMs: number }> = {},
  parts: Partial<BatchParts> = {},
): Lane => new Lane({ name: "test", inFlight: 1, batchMax: 64, queueMax: 10_000, ...options }, partsOf(parts));

function add(name: string, amount: bigint, extra: Partial<Command<bigint>> = {}): Command<bigint> {
  return {
    name: "add",
    book,
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
  const lane = laneOf({}, { metrics });
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

test("one command that the database refuses fails alone", async () => {
  const lane = laneOf();
  const commands = Array.from({ length: 20 }, (_, index) => lane.submit(add(`n${index}`, index === 7 ? 5000n : 1n)));
  const results = await Promise.allSettled(commands);
  expect(results.filter((result) => result.status === "rejected")).toHaveLength(1);
  expect((results[7] as PromiseRejectedResult).reason).toMatchObject({ code: "INTERNAL_ERROR" });
  expect(Object.keys(await stored())).toHaveLength(19);
});

test.each([0, 63, 127])(
  "one command of 128 that the database refuses, at place %i, costs the others few attempts",
  async (place) => {
    const metrics = createMetrics();
    const lane = laneOf({ batchMax: 128 }, { metrics });
    const commands = Array.from({ length: 128 }, (_, at) => lane.submit(add(`n${at}`, at === place ? 5000n : 1n)));
    const results = await Promise.allSettled(commands);
    expect(results.flatMap(({ status }, at) => (status === "rejected" ? [at] : []))).toEqual([place]);
    expect(Object.keys(await stored())).toHaveLength(127);
    const { values } = await metrics.laneCommits.get();
    expect(values.reduce((sum, { value }) => sum + value, 0)).toBeLessThanOrEqual(16);
  },
);

test("many commands that the database refuses fail, each alone, and in their order", async () => {
  const metrics = createMetrics();
  // Its 96 transactions run one after another: the last command waits for all of them, however slow the database is.
  const lane = laneOf({ waitMs: 240_000 }, { metrics });
  const order: number[] = [];
  const commands = Array.from({ length: 64 }, (_, at) =>
    lane.submit(add(`n${at}`, at % 2 ? 5000n : 1n)).finally(() => order.push(at)),
  );
  const results = await Promise.allSettled(commands);
  expect(results.flatMap(({ status }, at) => (status === "rejected" ? [at] : []))).toEqual(
    Array.from({ length: 32 }, (_, index) => index * 2 + 1),
  );
  expect(order).toEqual(order.toSorted((one, other) => one - other));
  expect(Object.keys(await stored())).toHaveLength(32);
  const { values } = await metrics.laneCommits.get();
  expect(values.reduce((sum, { value }) => sum + value, 0)).toBeLessThanOrEqual(2 * 64);
});

test("two lanes that race for the same new key both end well: the loser runs again and sees the winner", async () => {
  const lanes = [laneOf(), laneOf(), laneOf()];
  for (let round = 0; round < 20; round++) {
    const values = await Promise.all(lanes.map((lane) => lane.submit(add(`race${round}`, 1n))));
    expect(values.toSorted((a, b) => Number(a - b))).toEqual([1n, 2n, 3n]);
  }
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

test("a hook that fails after the commit changes no answer, and keeps no other from running", async () => {
  const lane = laneOf();
  const inner = add("kept", 1n);
  const failing = (): void => assert(false, "this hook fails");
  const following = vi.fn();
  const results = [
    lane.submit({ ...inner, execute: (set, now) => (set.afterCommit(failing), inner.execute(set, now)) }),
    lane.submit({ ...inner, execute: (set, now) => (set.afterCommit(following), inner.execute(set, now)) }),
  ];
  expect(await Promise.all(results)).toEqual([1n, 2n]);
  expect(following).toHaveBeenCalledOnce();
});

test("what the system says of a broken socket is a lost connection, and what PostgreSQL says of a statement is not", () => {
  const error = (code: string): Error => Object.assign(new Error("?"), { code });
  for (const code of ["EPIPE", "ECONNRESET", "ECONNREFUSED", "ENOENT", "57P01", "08006"])
    expect(isConnectionLoss(error(code)), code).toBe(true);
  for (const code of ["23505", "GB006", "40001", "XX000"]) expect(isConnectionLoss(error(code)), code).toBe(false);
  // What PostgreSQL says on a full disk to whom it does not let in: "could not write init file".
  expect(isConnectionLoss(Object.assign(error("XX000"), { severity: "FATAL" }))).toBe(true);
  expect(isConnectionLoss(Object.assign(error("XX000"), { severity: "ERROR" }))).toBe(false);
});

test("a row that cannot be read or written fails its own command alone, and the lane goes on", async () => {
  const unreadable: typeof counters = {
    ...counters,
    parse: (row) => {
      if (row.name === "odd") throw new Error("not a counter");
      return { name: row.name as string, value: row.value as bigint };
    },
  };
  const unwritable: typeof counters = { ...counters, insert: () => expect.unreachable("not writable") };
  const lane = laneOf();
  await Promise.all([lane.submit(add("odd", 1n)), lane.submit(add("even", 1n))]);
  const read = (name: string): Command<bigint> => ({ ...add(name, 1n), needs: [need(unreadable, { name })] });
  const written: Command<bigint> = {
    ...add("new", 1n),
    needs: [],
    execute: (set) => (set.insert(unwritable, { name: "new", value: 1n }), 1n),
  };
  const results = await Promise.allSettled([
    lane.submit({ ...read("odd"), execute: (set) => set.get(unreadable, { name: "odd" })?.value ?? 0n }),
    lane.submit(written),
    lane.submit(add("even", 1n)),
  ]);
  expect(
    results.map((result) => (result.status === "rejected" ? (result.reason as Fault).code : result.value)),
  ).toEqual(["INTERNAL_ERROR", "INTERNAL_ERROR", 2n]);
  expect(await stored()).toEqual({ odd: 1, even: 2 });
});

test("rows that cannot even be asked for fail their own command alone, and the lane goes on", async () => {
  const unaskable: typeof counters = {
    ...counters,
    load: () => {
      throw new RangeError("this key does not fit its column");
    },
  };
  for (const inFlight of [1, 2]) {
    const lane = laneOf({ inFlight });
    const results = await Promise.allSettled([
      lane.submit(add("even", 1n)),
      lane.submit({ ...add("odd", 1n), needs: [need(unaskable, { name: "odd" })] }),
      lane.submit(add("even", 1n)),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(results[1]).toMatchObject({ reason: { code: "INTERNAL_ERROR" } });
  }
  expect(await stored()).toEqual({ even: 4 });
});

test("a table that is altered under a lane costs no command", async () => {
  const lane = laneOf();
  const load = loadByKey<{ name: string }>("load counters by key", "counters", { name: ["text", ({ name }) => name] });
  const loading: typeof counters = { ...counters, load };
  const again = (amount: bigint): Command<bigint> => ({
    ...add("kept", amount),
    needs: [need(loading, { name: "kept" })],
    execute(set) {
      const before = set.get(loading, { name: "kept" });
      const value = (before?.value ?? 0n) + amount;
      if (before) set.update(loading, { name: "kept", value });
      else set.insert(loading, { name: "kept", value });
      return value;
    },
  });
  expect(await lane.submit(again(1n))).toBe(1n);
  expect(await lane.submit(again(1n))).toBe(2n);
  await asOwner(testDatabase, (owner) => owner.query("alter table counters add column note text"));
  expect(await Promise.all([lane.submit(again(1n)), lane.submit(again(1n))])).toEqual([3n, 4n]);
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

const OTHERS = "from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()";

/** The backends that are in a slow insert. */
const asleep = (): Promise<number[]> =>
  asOwner(testDatabase, async (client) => {
    const { rows } = await client.query<{ pid: number }>(`select pid ${OTHERS} and wait_event = 'PgSleep'`);
    return rows.map(({ pid }) => pid);
  });

const untilAsleep = (): Promise<void> => vi.waitFor(async () => expect(await asleep()).toHaveLength(1), 30_000);

/** Cuts every connection of this database but our own, at once, as soon as a batch is in its slow insert. */
const cutConnections = async (): Promise<void> => {
  await untilAsleep();
  await asOwner(testDatabase, (client) => client.query(`select pg_terminate_backend(pid) ${OTHERS}`));
};

/** Waits until the pool has noticed which of its connections are gone: a query may still meet a dead one until then. */
const untilReconnected = (): Promise<unknown> => vi.waitFor(() => Promise.all([1, 2, 3, 4, 5, 6].map(stored)), 30_000);

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
  const refused: Command<bigint> = {
    ...recalled("refused", 42n),
    execute() {
      throw new Fault("IDEMPOTENCY_CONFLICT");
    },
  };
  const commands = [recalled("there", 42n), recalled("gone", undefined), refused];
  const results = Promise.allSettled(commands.map((command) => lane.submit(command)));
  await cutConnections();
  const [there, gone, conflict] = await results;
  await untilReconnected();
  expect(asked.toSorted()).toEqual(["gone", "there"]);
  // What was found may be somebody else's: nothing that only a commit allows has run.
  expect(hooked).toEqual(["there unknown", "gone unknown"]);
  expect(there).toMatchObject({ status: "fulfilled", value: 42n });
  expect(gone).toMatchObject({ status: "rejected", reason: { code: "SERVICE_UNAVAILABLE" } });
  // Whether the nonce of a refused request was consumed is as unknown as the rest: its refusal is not told.
  expect(conflict).toMatchObject({ status: "rejected", reason: { code: "SERVICE_UNAVAILABLE" } });
});

test("a database that cannot be reached is 503, not 500", async () => {
  const away = openDatabase({ ...testDatabase, url: "postgres://nobody:x@127.0.0.1:1/none" });
  const lane = laneOf({}, { database: away });
  await expect(lane.submit(add("x", 1n))).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
  await away.end();
});

test("migrations apply once however many start together, and refuse a database with one that the code does not have", async () => {
  const fresh = await cloneDatabase();
  expect((await Promise.all([1, 2, 3].map(() => migrate(fresh.ownerUrl)))).flat()).toEqual([]);
  for (const version of [9999, 0]) {
    const values = `(${version}, '${version}_future.sql', 'x')`;
    await asOwner(fresh, (client) =>
      client.query(`insert into schema_migrations (version, name, digest) values ${values}`),
    );
    await expect(migrate(fresh.ownerUrl)).rejects.toThrow(`is newer than this program: it has ${version}_future.sql`);
    await asOwner(fresh, (client) => client.query(`delete from schema_migrations where version = ${version}`));
  }
  await asOwner(fresh, (client) => client.query("update schema_migrations set digest = 'x' where version = 1"));
  await expect(migrate(fresh.ownerUrl)).rejects.toThrow(/changed after it was applied/);
});

describe("an impossible state", () => {
  const impossible: Command<void> = {
    name: "impossible",
    book,
    needs: [],
    execute: () => assert(false, "two and two are five"),
  };

  test("quarantines its book, and no other stops", async () => {
    const quarantine = new Map<string, string>();
    const lane = laneOf({}, { quarantine });
    await expect(lane.submit(impossible)).rejects.toMatchObject({ code: "INTERNAL_ERROR" });
    expect([...quarantine]).toEqual([["mer_one/sandbox", expect.stringMatching(/two and two/)]]);
    await expect(lane.submit(add("after", 1n))).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    expect(await lane.submit(add("after", 1n, { book: otherBook }))).toBe(1n);
  });

  test("refuses what stands behind it in the same batch, too", async () => {
    const lane = laneOf();
    const results = await Promise.allSettled([
      lane.submit(impossible),
      lane.submit(add("same", 1n)),
      lane.submit(add("other", 1n, { book: otherBook })),
    ]);
    expect(results.map((result) => (result.status === "rejected" ? (result.reason as Fault).code : "done"))).toEqual([
      "INTERNAL_ERROR",
      "SERVICE_UNAVAILABLE",
      "done",
    ]);
    expect(await stored()).toEqual({ other: 1 });
  });
});

describe("statements that are cancelled", () => {
  /** Fails statements that `fails` picks, as PostgreSQL does when somebody cancels them: they are never run. */
  const cancelling = (fails: (text: string) => boolean): { restore(): void } =>
    failStatements(database.pool, "57014", fails);

  test("without its BEGIN nothing is answered as done, and nothing is written", async () => {
    const lane = laneOf();
    await lane.submit(add("warm", 1n));
    const endings: Ending[] = [];
    const cancelled = cancelling((text) => text === "begin");
    const watched = laneOf({}, { onEnding: (ending) => endings.push(ending) });
    await expect(watched.submit(add("gone", 1n))).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    cancelled.restore();
    expect(endings).toMatchObject([{ kind: "rolled_back" }]);
    expect(await stored()).toEqual({ warm: 1 });
  });

  test("a COMMIT that was cancelled is looked up, and not taken for one that was done", async () => {
    const cancelled = cancelling((text) => text === "commit");
    const recalled = add("maybe", 1n, { recall: () => Promise.resolve(undefined) });
    await expect(laneOf().submit(recalled)).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    cancelled.restore();
    expect(await stored()).toEqual({});
  });

  test("a write that failed keeps its COMMIT from being executed", async () => {
    const endings: Ending[] = [];
    const cancelled = cancelling((text) => text.includes("insert into counters"));
    const lane = laneOf({}, { onEnding: (ending) => endings.push(ending) });
    await expect(lane.submit(add("half", 1n))).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    cancelled.restore();
    expect(endings).toMatchObject([{ kind: "rolled_back", failed: "counters", cause: { code: "57014" } }]);
    expect(await stored()).toEqual({});
    expect(await lane.submit(add("half", 1n))).toBe(1n);
  });

  test("fired at a thousand lone commands, none is answered that is not there, and none is there twice", async () => {
    const lane = laneOf({ inFlight: 2 });
    const firing = new AbortController();
    const fire = asOwner(testDatabase, async (client) => {
      while (!firing.signal.aborted) await client.query(`select pg_cancel_backend(pid) ${OTHERS} and state <> 'idle'`);
    });
    const answered: string[] = [];
    const codes = new Set<string>();
    for (let number = 0; number < 1_000; number++) {
      const name = `lone ${number}`;
      await lane.submit(add(name, 1n)).then(
        () => answered.push(name),
        (error: unknown) => codes.add((error as Fault).code),
      );
    }
    firing.abort();
    await fire;
    const there = await stored();
    expect(answered.filter((name) => there[name] !== 1)).toEqual([]);
    expect(answered.length).toBeGreaterThan(100);
    expect([...codes].filter((code) => code !== "SERVICE_UNAVAILABLE")).toEqual([]);
  });

  test("say that the database is out of service, as a full disk does", () => {
    const error = (code: string): Error => Object.assign(new Error("?"), { code });
    for (const code of ["57014", "53100", "53200", "53300", "58030", "25006"])
      expect(isOutOfService(error(code)), code).toBe(true);
    for (const code of ["23505", "23514", "GB006", "42601"]) expect(isOutOfService(error(code)), code).toBe(false);
  });
});

describe("rows that another process has locked", () => {
  const locked = async (work: () => Promise<void>): Promise<void> =>
    asOwner(testDatabase, async (peer) => {
      await peer.query("begin");
      await peer.query("select from counters where name = 'held' for update");
      await work();
      await peer.query("rollback");
    });
  const inProgress = (table: string): Fault | undefined =>
    table === ("keys" as string) ? new Fault("IDEMPOTENCY_IN_PROGRESS") : undefined;
  const codeOf = (result: Promise<unknown>): Promise<unknown> =>
    result.then(
      () => "done",
      (error: unknown) => (error as Fault).code,
    );

  test("are told as such, and as a key in progress only where they are the key's own", async () => {
    const lane = laneOf({ bookLockMs: 100 });
    await lane.submit(add("held", 1n));
    const keys: typeof counters = { ...counters, name: "keys" as LockedTable };
    const keyed = (table: typeof counters): Command<bigint> => ({
      ...add("held", 1n, { onLocked: inProgress }),
      needs: [need(table, { name: "held" })],
    });
    await locked(async () => {
      const refused = lane.submit(keyed(counters));
      await expect(refused).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE", extras: { retryAfterSeconds: 1 } });
      expect(await codeOf(lane.submit(keyed(keys)))).toBe("IDEMPOTENCY_IN_PROGRESS");
      const together = [keyed(counters), keyed(keys), add("free", 1n)].map((command) => codeOf(lane.submit(command)));
      expect(await Promise.all(together)).toEqual(["SERVICE_UNAVAILABLE", "IDEMPOTENCY_IN_PROGRESS", "done"]);
    });
    expect(await lane.submit(add("held", 1n))).toBe(2n);
  });

  test("keep no command of the same book from its answer that came while they were met", async () => {
    const lane = laneOf({ batchMax: 1 });
    await lane.submit(add("held", 1n));
    let answers: Promise<bigint[]> | undefined;
    await locked(async () => {
      answers = Promise.all([1, 2, 3].map(() => lane.submit(add("held", 1n))));
      expect(await lane.submit(add("free", 1n, { book: otherBook }))).toBe(1n);
    });
    expect(await answers).toEqual([2n, 3n, 4n]);
  });

  test("of more books than are waited for at once hold up no book beside them, and no answer about a key in use", async () => {
    const lane = laneOf({ bookLockMs: 20_000 });
    const held = Array.from({ length: 9 }, (_, n) =>
      add(`held ${n}`, 1n, { book: { ...book, merchantId: `mer_${n}` } }),
    );
    await Promise.all(held.map((command) => lane.submit(command)));
    const keys: typeof counters = { ...counters, name: "keys" as LockedTable };
    const keyed: Command<bigint> = {
      ...add("held 0", 1n, { onLocked: inProgress }),
      needs: [need(keys, { name: "held 0" })],
    };
    const told: unknown[] = [];
    await asOwner(testDatabase, async (peer) => {
      await peer.query("begin");
      await peer.query("select from counters where name like 'held%' for update");
      const answers = [...held, keyed, add("free", 9n, { book: otherBook })].map((command) =>
        lane.submit(command).then(
          (value) => told.push(value),
          (error: unknown) => told.push((error as Fault).code),
        ),
      );
      await expect.poll(() => new Set(told)).toEqual(new Set([9n, "IDEMPOTENCY_IN_PROGRESS"]));
      await peer.query("rollback");
      await Promise.all(answers);
    });
    expect(told.slice(2)).toEqual(Array(9).fill(2n));
    await lane.idle();
  });

  test("keep a new row that another process is writing as well from being waited for as long as they are", async () => {
    const lane = laneOf({ bookLockMs: 20_000 });
    await lane.submit(add("held", 1n));
    await asOwner(testDatabase, async (writer) => {
      await writer.query("begin");
      await writer.query("insert into counters values ('new', 1)");
      let refused: Promise<unknown> | undefined;
      await locked(async () => {
        const command = add("new", 1n, { onLocked: () => new Fault("IDEMPOTENCY_IN_PROGRESS") });
        refused = codeOf(lane.submit({ ...command, needs: [...command.needs, need(counters, { name: "held" })] }));
        expect(await lane.submit(add("free", 1n, { book: otherBook }))).toBe(1n);
      });
      expect(await refused).toBe("IDEMPOTENCY_IN_PROGRESS");
      await writer.query("rollback");
    });
  });

  test("make nobody wait for more than their time, also where commands run one by one", async () => {
    const lane = laneOf({ inFlight: 2, waitMs: 250 });
    await lane.submit(add("held", 1n));
    await locked(async () => {
      const refused = await Promise.all(
        Array.from({ length: 20 }, () => lane.submit(add("held", 1n)).catch((error: unknown) => error as Fault)),
      );
      expect(refused.map((fault) => (fault as Fault).code)).toEqual(Array(20).fill("SERVICE_UNAVAILABLE"));
      // Each waits 90 ms for the row. Without a limit all twenty would.
      const late = refused.filter((fault) => String((fault as Fault).extras.internal).includes("waited too long"));
      expect(late.length).toBeGreaterThan(10);
    });
    expect(await lane.submit(add("held", 1n))).toBe(2n);
  });

  /** A command that the database refuses, once `peer` waits for what its batch has locked: the peer has it then. */
  const refusedBefore = (peer: pg.Client): Command<bigint> => {
    let waits: Promise<unknown> | undefined;
    const waiting = "exists (select from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid)))";
    const refused = (until: string): string => `do $$ begin loop exit when ${until}; end loop; raise 'planted'; end $$`;
    const poison: typeof counters = {
      ...counters,
      name: "poison" as LockedTable,
      insert: () => {
        const text = refused(waits ? "true" : waiting);
        waits ??= peer.query("begin; select from counters where name = 'held' for update");
        return { text };
      },
    };
    return {
      ...add("poison", 1n),
      needs: [],
      execute: (set) => (set.insert(poison, { name: "poison", value: 1n }), 0n),
    };
  };

  test.each(["the lane", "the queue of a locked book"])(
    "are waited for where a refused batch runs again in %s, as long as in a batch",
    async (where) => {
      const lane = laneOf({ bookLockMs: 20_000 });
      await lane.submit(add("held", 1n));
      await asOwner(testDatabase, async (peer) => {
        const told: string[] = [];
        const tell = (name: string, command: Command<bigint>): Promise<unknown> =>
          codeOf(lane.submit(command)).then((code) => told.push(`${name}: ${String(code)}`));
        let answers: Promise<unknown>[] = [];
        const submit = (): void => {
          answers = [
            tell("refused", refusedBefore(peer)),
            tell("held", add("held", 1n)),
            tell("other", add("held", 1n)),
            tell("free", add("free", 1n, { book: otherBook })),
          ];
        };
        if (where === "the lane") submit();
        else
          await locked(async () => {
            submit();
            await answers[3];
          });
        const waiters = `select from pg_stat_activity
where datname = current_database() and wait_event_type = 'Lock' and state_change < clock_timestamp() - interval '500 ms'`;
        await expect.poll(async () => (await peer.query(waiters)).rowCount).toBe(1);
        await peer.query("rollback");
        await Promise.all(answers);
        expect(told[0]).toBe("free: done");
        expect(told.toSorted()).toEqual(["free: done", "held: done", "other: done", "refused: INTERNAL_ERROR"]);
      });
      expect(await stored()).toEqual({ held: 3, free: 1 });
    },
  );

  test("keep no signature from being used up", async () => {
    await asOwner(testDatabase, (client) =>
      client.query(
        "create table if not exists marks (name text primary key); grant select, insert on marks to gerbang_app",
      ),
    );
    const marks: Table<{ name: string }, { name: string }> = {
      name: "marks" as LockedTable,
      writesOnLoad: true,
      keyText: ({ name }) => name,
      keyOf: (mark) => mark,
      load: (names) => ({
        text: "insert into marks select * from unnest($1::text[]) on conflict do nothing returning name",
        values: [names.map(({ name }) => name)],
      }),
      parse: (row) => ({ name: row.name as string }),
    };
    const lane = laneOf({ bookLockMs: 100 });
    await lane.submit(add("held", 1n));
    const marked = add("held", 1n);
    await locked(async () => {
      const refused = lane.submit({ ...marked, needs: [need(marks, { name: "used" }), ...marked.needs] });
      await expect(refused).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
      expect(await database.query({ text: "select name from marks" })).toEqual([{ name: "used" }]);
    });
  });
});

describe("a batch in the queue of a locked book", () => {
  test("does not run again after its connection was lost: whether it was written is not certain", async () => {
    const lane = laneOf({ bookLockMs: 20_000 });
    await lane.submit(add("held", 1n));
    let ran = 0;
    const counted = (): Command<bigint> => {
      const command = add("held", 1n);
      return { ...command, execute: (set, moment) => (ran++, command.execute(set, moment)) };
    };
    await asOwner(testDatabase, async (peer) => {
      await peer.query("begin");
      await peer.query("select from counters where name = 'held' for update");
      const answers = Promise.allSettled([lane.submit(counted()), lane.submit(counted())]);
      // In the lane the batch waits for 90 ms; whoever waits for longer is in the queue of the book.
      const cut = `select pg_terminate_backend(pid) from pg_stat_activity
where datname = current_database() and wait_event_type = 'Lock' and state_change < clock_timestamp() - interval '500 ms'`;
      await expect.poll(async () => (await peer.query(cut)).rowCount).toBe(1);
      await peer.query("rollback");
      const unavailable = { status: "rejected", reason: expect.objectContaining({ code: "SERVICE_UNAVAILABLE" }) };
      expect(await answers).toMatchObject([unavailable, unavailable]);
    });
    await lane.idle();
    expect([ran, await stored()]).toEqual([0, { held: 1 }]);
    expect(await lane.submit(add("held", 1n))).toBe(2n);
  });
});

describe("a peer that vanished while it holds a lock", () => {
  /** Locks a counter and falls silent, inside a transaction with our limits; gives when PostgreSQL has ended it. */
  const freeze = async (name: string): Promise<{ ended: Promise<void> }> => {
    const peer = new pg.Client({ connectionString: testDatabase.url });
    await peer.connect();
    const ended = new Promise<void>((resolve) => peer.on("error", () => resolve()));
    await peer.query("begin");
    await peer.query(limits(90) as pg.QueryConfig);
    await peer.query("select from counters where name = $1 for no key update", [name]);
    return { ended };
  };

  test("costs its book some seconds once, and others next to nothing", async () => {
    const lane = laneOf();
    await lane.submit(add("held", 1n));
    const { ended } = await freeze("held");
    const free = (name: string) => (): Promise<bigint> => lane.submit(add(name, 1n, { book: otherBook }));
    let values: bigint[] = [];
    const held = waiting(async () => {
      values = await Promise.all([lane.submit(add("held", 1n)), lane.submit(add("held", 1n))]);
    });
    const times: number[] = [];
    for (let number = 0; number < 20; number++) times.push(await waiting(free(`free ${number}`)));
    // The first waits with the two for a moment. Of the others some may meet a busy machine, but none the lock, which lasts for longer than any may.
    expect(Math.max(...times)).toBeLessThan(2_000 * slowness());
    expect(times.slice(1).toSorted((one, other) => one - other)[9]).toBeLessThan(500 * slowness());
    expect(await held).toBeLessThan(6_000 * slowness());
    expect(values).toEqual([2n, 3n]);
    await ended;
    const after = await waiting(async () => expect(await lane.submit(add("held", 1n))).toBe(4n));
    expect(after).toBeLessThan(2_000 * slowness());
    await lane.idle();
  });
});
