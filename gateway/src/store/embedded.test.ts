// Goal: a first start that is killed anywhere leaves a folder that the next start makes whole, and nothing of our environment, or of another
// user, reaches it. Method: a cluster of its own, brought by hand into each state that a kill can leave, with its server running and stopped.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { ConfigError } from "../ground/config.ts";
import { type EmbeddedDatabase, sharedBuffersMib, startEmbedded } from "./embedded.ts";
import { slowness, waiting } from "../../test/slowness.ts";

const hostile = {
  PGDATA: "/nonexistent",
  PGPORT: "1",
  PGHOST: "192.0.2.1",
  PGUSER: "mallory",
  LD_PRELOAD: "/nonexistent/evil.so",
  MASTER_KEY: "a master key of the tests",
};

let folder: string;
let embedded: EmbeddedDatabase;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "gerbang-embedded-"));
  chmodSync(folder, 0o711);
  // What a killed first start of the same process number leaves, as happens in a container.
  mkdirSync(join(folder, "postgres", `cluster.${process.pid}`), { recursive: true });
  writeFileSync(join(folder, "postgres", `cluster.${process.pid}`, "PG_VERSION"), "18\n");
  chmodSync(join(folder, "postgres"), 0o711);
  // With these initdb and the server would fail, load foreign code, or show a secret to whoever reads their environment.
  for (const [name, value] of Object.entries(hostile)) vi.stubEnv(name, value);
  embedded = await startEmbedded(folder);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await embedded.stop();
  rmSync(folder, { recursive: true, force: true });
});

const pidFile = (): string => join(folder, "postgres", "cluster", "postmaster.pid");

async function run(url: string, ...statements: string[]): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements.slice(0, -1)) await client.query(statement);
    return (await client.query<Record<string, unknown>>(statements.at(-1) ?? "")).rows;
  } finally {
    await client.end();
  }
}

const noDatabase = "drop database gerbang";
const noService = "drop role gerbang_service";
const noRoles = "drop role gerbang_app";

/** What there was after each step of a first start, undone from the end. */
test.each([
  ["the database is missing", [noDatabase]],
  ["only the first role is there", [noDatabase, noService]],
  [
    "the second role is there without its password and membership",
    [noDatabase, noService, "create role gerbang_service"],
  ],
  ["both roles are missing", [noDatabase, noService, noRoles]],
])("the next start makes whole what a kill left, the server running or not: %s", async (_name, damage) => {
  for (const running of [true, false]) {
    await run(embedded.ownerUrl.replace(/\/gerbang$/, "/postgres"), ...damage);
    if (!running) await embedded.stop();
    embedded = await startEmbedded(folder);
    expect(await run(embedded.url, "select pg_has_role('gerbang_app', 'member') as member")).toEqual([
      { member: true },
    ]);
    expect(await run(embedded.ownerUrl, "select 1 as one")).toEqual([{ one: 1 }]);
  }
});

test("several that start together after a kill all find it whole", async () => {
  await run(embedded.ownerUrl.replace(/\/gerbang$/, "/postgres"), noDatabase, noService, noRoles);
  const all = await Promise.all([startEmbedded(folder), startEmbedded(folder), startEmbedded(folder)]);
  for (const { url } of all) expect(await run(url, "select 1 as one")).toEqual([{ one: 1 }]);
});

test("the last process that uses the server stops it", async () => {
  const another = new pg.Client({ connectionString: embedded.url, application_name: "gerbang 1" });
  await another.connect();
  await embedded.stop();
  expect(await run(embedded.url, "select 1 as one")).toEqual([{ one: 1 }]);
  await another.end();
  await vi.waitFor(() => embedded.stop().then(() => expect(existsSync(pidFile())).toBe(false)), { timeout: 30_000 });
  embedded = await startEmbedded(folder);
});

test("a server that does not start again is tried by one call at a time", async () => {
  const control = join(folder, "postgres", "cluster", "global", "pg_control");
  const [pid] = readFileSync(pidFile(), "utf8").split("\n");
  renameSync(control, `${control}.away`);
  process.kill(Number(pid), "SIGQUIT");
  await vi.waitFor(() => expect(existsSync(pidFile())).toBe(false), { timeout: 30_000 });
  const first = embedded.revive();
  expect(await Promise.race([embedded.revive(), first])).toBe(false);
  renameSync(`${control}.away`, control);
  expect(await first).toBe(true);
  expect(await embedded.revive()).toBe(false);
});

test("a server that lets in and answers no more does not hold a stop up", async () => {
  await run(
    embedded.ownerUrl,
    "create schema slow",
    `create function slow.activity() returns setof pg_catalog.pg_stat_activity language plpgsql
      as 'begin perform pg_sleep(60); end'`,
    "create view slow.pg_stat_activity as select * from slow.activity()",
    "alter role postgres in database gerbang set search_path = slow, pg_catalog",
  );
  expect(await waiting(() => embedded.stop())).toBeLessThan(10_000 * slowness());
  embedded = await startEmbedded(folder);
  await run(embedded.ownerUrl, "drop schema slow cascade", "alter role postgres in database gerbang reset search_path");
});

test.skipIf(!existsSync("/proc/self/environ"))(
  "the server gets three variables, and nothing of our environment",
  () => {
    const [pid] = readFileSync(pidFile(), "utf8").split("\n");
    const names = readFileSync(`/proc/${pid}/environ`, "utf8")
      .split("\0")
      .map((text) => text.split("=")[0] ?? "");
    const own = ["PATH", "LC_ALL", "TZ"];
    expect(names).toEqual(expect.arrayContaining(own));
    expect(names.filter((name) => name in process.env && !own.includes(name))).toEqual([]);
  },
);

test.each([
  ["a small machine", 1, 128],
  ["4 GiB", 4, 256],
  ["24 GiB", 24, 512],
])("its cache is a sixteenth of the memory within bounds: %s", (_name, gib, mib) => {
  expect(sharedBuffersMib(gib * 1024 ** 3)).toBe(mib);
});

test("the server has that cache", async () => {
  const [row] = (await run(embedded.url, "select pg_size_bytes(current_setting('shared_buffers')) as bytes")) as [
    { bytes: string },
  ];
  const limit = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  expect(Number(row.bytes)).toBe(sharedBuffersMib(Math.min(limit, totalmem())) * 1024 ** 2);
});

test("a folder that somebody else could have prepared is refused before anything is put into it", async () => {
  const data = mkdtempSync(join(tmpdir(), "gerbang-prepared-"));
  chmodSync(data, 0o711);
  const elsewhere = mkdtempSync(join(tmpdir(), "gerbang-elsewhere-"));
  symlinkSync(elsewhere, join(data, "postgres"));
  await expect(startEmbedded(data)).rejects.toThrow(ConfigError);
  await expect(startEmbedded(data)).rejects.toThrow("is a symbolic link");
  rmSync(join(data, "postgres"));
  mkdirSync(join(data, "postgres"));
  chmodSync(join(data, "postgres"), 0o777);
  await expect(startEmbedded(data)).rejects.toThrow("can be written by other users of this machine (mode 0777)");
  expect([readdirSync(elsewhere), readdirSync(join(data, "postgres"))]).toEqual([[], []]);
});
