// Goal: an installation needs no superuser but for one printed file, which anybody can read: its owner migrates with plain rights, and the service
// works with less. Method: a server of its own of each version at hand, since roles differ between them; an administrator who is no superuser, the file,
// the migrations, and then the whole service.
import { readFileSync } from "node:fs";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { paymentBody, startService } from "../../test/kit.ts";
import { PostgresServer, allServerPrograms } from "../../test/postgres-server.ts";
import { psql } from "../../test/psql.ts";
import { createLog } from "../ground/log.ts";
import { verifyBook } from "../ledger/verify.ts";
import { Database } from "./database.ts";
import { migrate } from "./migrations.ts";
import { roleProblem } from "./role-check.ts";

const roles = readFileSync(new URL("roles.sql", import.meta.url), "utf8");
const passwords = { owner_password: "the owner's", service_password: "the \\service's" };
const url = (role: "owner" | "service", database = "gerbang"): string =>
  server.url(`gerbang_${role}`, encodeURIComponent(passwords[`${role}_password`]), database);

let folder: string;
let server: PostgresServer;
let administrator: string;

async function ask(address: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

describe.each(await allServerPrograms())("of PostgreSQL $major", (programs) => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "gerbang-roles-"));
    chmodSync(folder, 0o711);
    server = await PostgresServer.start(join(folder, "postgres"), { programs, settings: ["log_statement = 'all'"] });
    await psql(server.adminUrl(), "create role administrator login createrole createdb password 'a';\n");
    administrator = server.url("administrator", "a", "postgres");
  });
  afterAll(() => {
    server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test("an owner whose server lacks the service's role is told what to run, and nothing was begun", async () => {
    await ask(server.adminUrl(), "create role lonely login password 'x'");
    await ask(server.adminUrl(), "create database lonely owner lonely");
    const address = server.url("lonely", "x", "lonely");
    await expect(migrate(address)).rejects.toThrow(
      /^The role gerbang_app is missing, and lonely may not make it\..* `gerbang roles --sql` prints\.$/,
    );
    expect(await ask(address, "select relname from pg_class where relnamespace = 'public'::regnamespace")).toEqual([]);
  });

  test("the printed file demands both passwords, and stops without them", async () => {
    await expect(psql(administrator, roles, { owner_password: "x" })).rejects.toMatchObject({ code: "42601" });
  });

  test("an administrator who is no superuser runs the file, twice; the owner migrates; the service takes a payment", async () => {
    await psql(administrator, roles, { owner_password: "before", service_password: "before" });
    await psql(administrator, roles, passwords);
    const whoMay = "the role gerbang_service may not change it. Run `gerbang migrate` as the owner";
    await expect(migrate(url("service"))).rejects.toThrow(`The database is empty, and ${whoMay}`);
    expect(await migrate(url("owner"))).toContain("0001_store.sql");
    expect(await migrate(url("service"))).toEqual([]);
    const newest = "select version, name, digest from schema_migrations order by version desc limit 1";
    const [last] = (await ask(url("owner"), newest)) as [{ version: number; name: string; digest: string }];
    await ask(url("owner"), `delete from schema_migrations where version = ${last.version}`);
    await expect(migrate(url("service"))).rejects.toThrow(
      `older than this program: ${last.name} is missing, and ${whoMay}`,
    );
    await ask(url("owner"), `insert into schema_migrations values (${last.version}, '${last.name}', '${last.digest}')`);

    const service = await startService({ database: { url: url("service"), ownerUrl: url("owner"), name: "gerbang" } });
    const database = new Database(url("service"), 1, createLog("silent"));
    try {
      expect(await roleProblem(database)).toBeUndefined();
      const { client, merchantId } = await service.merchant();
      const created = await client.post("/v1/payments", paymentBody({ amount_minor: 1_000_000 }));
      const { reference } = created.json;
      await client.post(`/v1/sandbox/payments/${reference}/simulate`, { outcome: "succeeded" });
      const refund = await client.post("/v1/refunds", { payment_reference: reference, amount_minor: 1_000 });
      expect(refund.json).toMatchObject({ status: "succeeded" });
      expect(await verifyBook(database, { merchantId, environment: "sandbox" })).toMatchObject({
        journals: 2n,
        wrong: undefined,
      });
    } finally {
      await database.end();
      await service.stop();
    }
  });

  test("nobody but the two gets into the database, and neither is more than it needs to be", async () => {
    await ask(server.adminUrl(), "create role stranger login password 'x'");
    await expect(ask(server.url("stranger", "x", "gerbang"), "select 1")).rejects.toMatchObject({ code: "42501" });
    expect(
      await ask(
        server.adminUrl(),
        `select rolname as role, rolcanlogin as login, rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls as much
from pg_roles where rolname like 'gerbang%' order by rolname`,
      ),
    ).toEqual([
      { role: "gerbang_app", login: false, much: false },
      { role: "gerbang_owner", login: true, much: false },
      { role: "gerbang_service", login: true, much: false },
    ]);
    for (const made of ["temporary table t ()", "table t ()", "schema s", "role r", "database d"])
      await expect(ask(url("service"), `create ${made}`), made).rejects.toMatchObject({ code: "42501" });
  });

  test("a superuser who runs the file leaves no password in a server's log that has every statement", async () => {
    const secrets = { owner_password: "not-for-the-log-1", service_password: "not-for-the-log-2" };
    await psql(server.adminUrl(), roles, secrets);
    const log = readFileSync(join(server.folder, "server.log"), "utf8");
    expect(log).toContain("create role administrator");
    expect(log).not.toContain("not-for-the-log");
  });
});
