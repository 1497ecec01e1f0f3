// Goal: a connection that dies is told of, and harms nobody; one that is being closed is no news. Method: real PostgreSQL that ends the
// sessions, and a log that keeps what it was told.
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import pg from "pg";
import { expect, onTestFinished, test, vi } from "vitest";
import { asOwner, cloneDatabase, makeApp } from "../../test/kit.ts";
import { createLog } from "../ground/log.ts";
import { Database, isConnectionLoss } from "./database.ts";

async function opened(): Promise<{ database: Database; told: string[]; endSessions: () => Promise<void> }> {
  const place = await cloneDatabase();
  const log = createLog("silent");
  const told: string[] = [];
  vi.spyOn(log, "warn").mockImplementation((...given: unknown[]) => void told.push(String(given[1])));
  const database = new Database(place.url, 4, log);
  onTestFinished(() => database.end().catch(() => undefined)); // it may have been ended
  const sessions =
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name ~ '^gerbang \\d+$' and datname = current_database()";
  await Promise.all(Array.from({ length: 4 }, () => database.query({ text: "select pg_sleep(0.05)" })));
  return {
    database,
    told,
    endSessions: async () => void (await asOwner(place, (owner) => owner.query(sessions))),
  };
}

test("idle connections that PostgreSQL ends are told of, and the next statement has another", async () => {
  const { database, told, endSessions } = await opened();
  await endSessions();
  await vi.waitFor(() => expect(told).toEqual(Array(4).fill("an idle database connection was lost")), 30_000);
  expect(await database.query({ text: "select 1 as one" })).toEqual([{ one: 1 }]);
});

test("a server that stops while the connections to it are being closed is no news", async () => {
  const { database, told, endSessions } = await opened();
  const ended = database.end();
  await endSessions();
  await ended;
  database.pool.emit("error", new Error("terminating connection due to administrator command"));
  expect(told).toEqual([]);
});

test("each connection asks the server to find out within half a minute that its peer is gone", async () => {
  const place = await cloneDatabase();
  const overTcp = place.url.replace(/\?.*/, ""); // a Unix socket has no keepalives
  const database = new Database(overTcp, 1, createLog("silent"));
  onTestFinished(() => database.end());
  const settings =
    "select current_setting('tcp_keepalives_idle') as idle, current_setting('tcp_user_timeout') as unheard";
  expect(await database.query({ text: settings })).toEqual([{ idle: "10", unheard: "30000" }]);
});

test("what a role has by default ends no idle connection, and lets no transaction fail that only waits for another", async () => {
  const place = await cloneDatabase();
  const url = new URL(place.url);
  const wanted = { idle_session_timeout: "500ms", lock_timeout: "500ms", idle_in_transaction_session_timeout: "500ms" };
  const flags = Object.entries({ ...wanted, default_transaction_isolation: "serializable" });
  await asOwner(place, async (owner) => {
    for (const [name, value] of flags)
      await owner.query(`alter role ${url.username} in database ${place.name} set ${name} = '${value}'`);
  });
  const database = new Database(place.url, 1, createLog("silent"));
  onTestFinished(() => database.end());
  const text = "select name, setting from pg_settings where name = any($1::text[]) order by name";
  expect(await database.query({ text, values: [flags.map(([name]) => name)] })).toEqual([
    { name: "default_transaction_isolation", setting: "read committed" },
    { name: "idle_in_transaction_session_timeout", setting: "4000" },
    { name: "idle_session_timeout", setting: "0" },
    { name: "lock_timeout", setting: "0" },
  ]);
});

test("connections to another server than the one to which the address leads now are ended, and their outcome is unknown", async () => {
  const place = await cloneDatabase();
  const { username } = new URL(place.url);
  // It stands for an address that leads to a standby from some moment on, while the former primary goes on.
  const leadTo = (server: string): Promise<unknown> =>
    asOwner(place, (owner) =>
      owner.query(`create or replace function pg_postmaster_start_time() returns timestamptz language sql as $$
  select timestamptz '${server}'
$$`),
    );
  await asOwner(place, (owner) =>
    owner.query(`alter role ${username} in database ${place.name} set search_path = public, pg_catalog`),
  );
  await leadTo("2026-11-30 01:00:00.000001+00");
  const database = new Database(place.url, 4, createLog("silent"));
  onTestFinished(() => database.end());
  const former = await database.pool.connect();
  await former.query("select 1"); // with its answer the server of this connection is known
  const inFlight = former.query("select pg_sleep(3)").then(String, (error: unknown) => error);
  await leadTo("2026-11-30 01:00:00.000002+00");
  await database.query({ text: "select 1" });
  const error = await inFlight;
  former.release(true);
  expect(String(error)).toBe("Error: Connection terminated: the database's address leads to another server");
  expect(isConnectionLoss(error)).toBe(true);
  expect(database.pool.totalCount).toBe(1);
});

test("a server that takes a connection and says nothing is a lost connection, whichever of the driver's two clocks is first", async () => {
  const silent = createServer().listen(0, "127.0.0.1");
  await once(silent, "listening");
  onTestFinished(() => void silent.close());
  const { port } = silent.address() as AddressInfo;
  const settings = { host: "127.0.0.1", port, connectionTimeoutMillis: 20 };
  for (const one of [new pg.Client(settings), new pg.Pool(settings)]) {
    const error: unknown = await one.connect().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(isConnectionLoss(error), (error as Error).message).toBe(true);
  }
});

test("no connection is kept for more than a minute, or a process would not follow the address, nor a changed setting", () => {
  const database = new Database("postgres://nobody@127.0.0.1:1/none", 1, createLog("silent"));
  expect(database.pool.options.maxLifetimeSeconds).toBe(60);
});

test("a transaction whose statement is stale since a migration gives up its connection, so that only the first of each connection fails", async () => {
  const place = await cloneDatabase();
  const database = new Database(place.url, 1, createLog("silent"));
  onTestFinished(() => database.end());
  const read = () =>
    database.transaction((query) => query({ name: "all epochs", text: "select * from settings_epoch" }));
  const [{ epoch } = {}] = await read();
  await asOwner(place, (owner) => owner.query("alter table settings_epoch add column added integer"));
  await expect(read()).rejects.toMatchObject({ code: "0A000" });
  expect(await read()).toMatchObject([{ epoch, added: null }]);
});

test("a pooler that keeps no prepared statements for its clients is found at the start", async () => {
  const place = await cloneDatabase();
  const database = new Database(place.url, 3, createLog("silent"));
  onTestFinished(() => database.end());
  await database.demandPrepared();
  // What such a pooler does: statements of two clients reach one session of the server.
  const session = await database.pool.connect();
  onTestFinished(() => session.release());
  const query = ({ name, text }: { name: string; text: string }) => session.query(`prepare "${name}" as ${text}`);
  vi.spyOn(database.pool, "connect").mockResolvedValue({ query, release: () => undefined } as never);
  await expect(database.demandPrepared()).rejects.toMatchObject({ code: "42P05" });

  const found = vi.spyOn(Database.prototype, "demandPrepared").mockRejectedValue(new Error("it is a pooler"));
  const app = makeApp({ database: place });
  await expect(app.start()).rejects.toThrow("it is a pooler");
  await app.stop();
  found.mockRestore();
});

test("a role that may have one connection is refused at the start, which keeps no connection from its end", async () => {
  const place = await cloneDatabase();
  const url = new URL(place.url);
  url.username = `one_${place.name}`.slice(0, 60);
  url.password = "one";
  await asOwner(place, (owner) =>
    owner.query(`create role ${url.username} login connection limit 1 password 'one' in role gerbang_app`),
  );
  const database = new Database(String(url), 3, createLog("silent"));
  await expect(database.demandPrepared()).rejects.toMatchObject({ code: "53300" });
  expect(database.connections.busy).toBe(0);
  await database.end();
  await asOwner(place, (owner) => owner.query(`drop role ${url.username}`));
});

test("the server ends a statement soon after nobody waits for it any more", async () => {
  const clone = await cloneDatabase();
  const impatient = new Database(clone.url, 1, createLog("silent"), { queryTimeoutMs: 200 });
  try {
    await expect(impatient.query({ text: "select pg_sleep(30) as nobody_waits" })).rejects.toThrow("timeout");
    const running =
      "select 1 from pg_stat_activity where query like '%nobody_waits%' and pid <> pg_backend_pid() and state = 'active'";
    await expect
      .poll(() => asOwner(clone, async (owner) => (await owner.query(running)).rowCount), { timeout: 30_000 })
      .toBe(0);
  } finally {
    await impatient.end();
  }
});

test("times and dates are read as they are where the server writes them in another way", async () => {
  const place = await cloneDatabase();
  const name = new URL(place.url).pathname.slice(1);
  await asOwner(place, async (owner) => {
    await owner.query(`alter database ${name} set datestyle = 'SQL, DMY'`);
    await owner.query(`alter database ${name} set timezone = 'Asia/Kolkata'`);
  });
  const database = new Database(place.url, 1, createLog("silent"));
  onTestFinished(() => database.end());
  const text = `select timestamptz '2026-11-30 05:14:28.24213+00' as at, date '2026-11-30' as day,
  date_trunc('hour', timestamptz '2026-11-30 05:14:28+00') as hour`;
  const [second, hour] = [Date.UTC(2026, 10, 30, 5, 14, 28), Date.UTC(2026, 10, 30, 5)];
  expect(await database.query({ text })).toEqual([
    { at: second * 1_000 + 242_130, day: "2026-11-30", hour: hour * 1_000 },
  ]);
});
