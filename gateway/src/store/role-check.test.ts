// Goal: a role that no right and no trigger binds, or whose commits may be lost, is told from the service's own. Method: both roles of a real database, and some made for it.
import { afterAll, beforeAll, expect, test } from "vitest";
import { asOwner, cloneDatabase, type TestDatabase } from "../../test/kit.ts";
import { createLog } from "../ground/log.ts";
import { Database } from "./database.ts";
import { roleProblem } from "./role-check.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
});
const open: Database[] = [];
afterAll(() => Promise.all(open.map((one) => one.end())));

async function problemAt(url: string): Promise<string | undefined> {
  const opened = new Database(url, 1, createLog("silent"));
  open.push(opened);
  return roleProblem(opened);
}

test("the service's own role is fine", async () => {
  expect(await problemAt(database.url)).toBeUndefined();
});

test("the owner is refused, with what to do", async () => {
  expect(await problemAt(database.ownerUrl)).toMatch(
    /^DATABASE_URL: the role \S+ (is a superuser|owns the tables).*MIGRATION_DATABASE_URL\.$/,
  );
});

test("a role whose commits a crash may lose is refused", async () => {
  const url = new URL(database.url);
  url.searchParams.set("options", "-c synchronous_commit=off");
  expect(await problemAt(String(url))).toMatch(/synchronous_commit off for the role .*Turn it on/);
});

test.each([
  ["owns through membership", "in role %owner", /owns the tables/],
  ["may make roles", "createrole in role gerbang_app", /may make roles/],
  ["may pass by row security", "bypassrls in role gerbang_app", /may make roles/],
])("a role that %s is refused", async (name, rights, problem) => {
  const role = `role_check_${name.replaceAll(/\W/g, "_")}_${process.pid}`;
  await asOwner(database, async (owner) => {
    const { rows } = await owner.query<{ name: string }>(
      "select r.rolname as name from pg_class c join pg_roles r on r.oid = c.relowner where c.relname = 'merchants'",
    );
    await owner.query(`create role ${role} login password 'x' ${rights.replace("%owner", rows[0]?.name ?? "")}`);
  });
  try {
    const url = new URL(database.url);
    [url.username, url.password] = [role, "x"];
    expect(await problemAt(String(url))).toMatch(problem);
  } finally {
    await Promise.all(open.splice(0).map((one) => one.end()));
    await asOwner(database, (owner) => owner.query(`drop role ${role}`));
  }
});
