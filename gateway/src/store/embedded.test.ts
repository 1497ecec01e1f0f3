// Goal: a first start that is killed anywhere leaves a folder that the next start makes whole. Method: a cluster of its own,
// brought by hand into each state that a kill can leave, with its server running and stopped.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type EmbeddedDatabase, startEmbedded } from "./embedded.ts";

let folder: string;
let embedded: EmbeddedDatabase;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "gerbang-embedded-"));
  chmodSync(folder, 0o711);
  // What a killed first start of the same process number leaves, as happens in a container.
  mkdirSync(join(folder, "postgres", `cluster.${process.pid}`), { recursive: true });
  writeFileSync(join(folder, "postgres", `cluster.${process.pid}`, "PG_VERSION"), "18\n");
  chmodSync(join(folder, "postgres"), 0o711);
  embedded = await startEmbedded(folder);
});
afterAll(async () => {
  await embedded.stop();
  rmSync(folder, { recursive: true, force: true });
});

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
