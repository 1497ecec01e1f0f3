// Goal: whoever makes a mistake with the command line is told in a sentence what to do, and never by a stack; a command that only looks leaves nothing behind.
// Method: the program itself, and commands in this process where it is about their sentence alone, against no database, one of another version, one without tables, a wrong password, a taken port, a folder that is closed.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { explain } from "../gateway/src/cli/failures.ts";
import { commands } from "../gateway/src/cli/table.ts";
import { demandSchema, migrate } from "../gateway/src/store/migrations.ts";
import { PostgresServer } from "../gateway/test/postgres-server.ts";
import { gerbangHere } from "./kit/command-here.ts";
import { freePort, gerbang } from "./kit/service.ts";

const merchant = `mer_${"0".repeat(26)}`;
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "gerbang-mistakes-"));
  chmodSync(folder, 0o711);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What a command says that fails: its exit code and its words, of which none is a stack's. */
async function failing(
  args: string[],
  env: Record<string, string>,
  run = gerbang,
): Promise<{ code: number | null; said: string }> {
  const { code, stdout, stderr } = await run(args, { GERBANG_DATA: join(folder, "none"), ...env });
  expect(stderr).not.toMatch(/^\s+at |node:internal|\.ts:\d/m);
  expect(stderr.trim()).not.toBe("");
  return { code, said: `${stderr}${stdout}` };
}

/** Every command that works on the database, but for those that make one, with what it needs to be understood. */
const lookers = commands
  .filter(({ name, environment }) => environment.includes("DATABASE_URL") && !["serve", "migrate"].includes(name))
  .map(({ name, options }) => {
    const needed = Object.entries(options).filter(([, { required }]) => required === true);
    const sample: Record<string, string> = { "mer_…": merchant, ADDRESS: "a@b.example" };
    const given = needed.flatMap(([option, { choices, value = "" }]) => [
      `--${option}`,
      choices?.[0] ?? sample[value] ?? "some",
    ]);
    return [name, ...given].join(" ");
  });

test.each(lookers)("`gerbang %s` makes no database where there is none, and says so", async (line) => {
  const { code, said } = await failing(line.split(" "), {}, gerbangHere);
  expect([code, said]).toEqual([1, expect.stringContaining(`There is no database under ${join(folder, "none")}.`)]);
  expect(existsSync(join(folder, "none"))).toBe(false);
});

test("a command that does not exist is named, with exit code 2, and help has exit code 0", async () => {
  expect(await failing(["verfy"], {})).toEqual({
    code: 2,
    said: 'gerbang has no command "verfy". Did you mean gerbang verify?\nHelp: gerbang --help\n',
  });
  expect(await gerbang(["people", "--help"], {})).toMatchObject({ code: 0, stderr: "" });
  expect(await gerbang(["--version"], {})).toMatchObject({ code: 0, stdout: expect.stringMatching(/^gerbang \d/) });
});

test("a reader of the output that goes away is no mistake", async () => {
  const { execFileSync } = await import("node:child_process");
  const program = join(import.meta.dirname, "..", "gateway", "bin", "gerbang.js");
  const script = `"${process.execPath}" "${program}" openapi 2>&1 | head -c 1; exit "\${PIPESTATUS[0]}"`;
  expect(execFileSync("bash", ["-c", script], { encoding: "utf8" })).toBe("{");
});

test("all mistakes of the configuration are told at once", async () => {
  const { code, said } = await failing(["serve"], { PORT: "http", MASTER_KEY: "short", DATABASE_URL: "mysql://x" });
  expect(code).toBe(1);
  for (const name of ["PORT", "MASTER_KEY", "DATABASE_URL"]) expect(said).toContain(`  - ${name}: `);
});

test("a folder that cannot be made is named", async () => {
  writeFileSync(join(folder, "a-file"), "");
  const { code, said } = await failing(["serve"], {
    GERBANG_DATA: join(folder, "a-file", "data"),
    PORT: String(await freePort()),
  });
  expect([code, said]).toEqual([1, expect.stringMatching(/a-file.*(GERBANG_DATA|folder)/)]);
});

test("a database that is not there is named, with its address", async () => {
  const port = await freePort();
  const { code, said } = await failing(["migrate"], { DATABASE_URL: `postgres://a:b@127.0.0.1:${port}/c` });
  expect([code, said]).toEqual([1, expect.stringContaining(`Nothing answers at 127.0.0.1:${port}`)]);
  for (const [url, words] of [
    ["postgres://a:b@nowhere.invalid/c", "The host nowhere.invalid"],
    [`postgres://a:b@localhost/c?host=${encodeURIComponent(folder)}`, `There is no socket ${folder}`],
  ] as const)
    expect(explain(await demandSchema(url).catch((error: unknown) => error))).toContain(words);
});

describe("with a PostgreSQL of one's own", () => {
  let server: PostgresServer;

  beforeAll(async () => {
    mkdirSync(join(folder, "postgres"));
    server = await PostgresServer.start(join(folder, "postgres"));
    const admin = new pg.Client({ connectionString: server.adminUrl() });
    await admin.connect();
    await admin.query(`create role someone login password 'right'`);
    await admin.query(`create database empty owner someone`);
    await admin.query(`create database whole`);
    await migrate(server.adminUrl("whole"));
    await admin.query(`create database newer template whole`);
    await admin.query(`create database older template whole`);
    await admin.end();
    await changed(
      "newer",
      "insert into schema_migrations (version, name, digest) values (9999, '9999_future.sql', '')",
    );
    await changed(
      "older",
      "delete from schema_migrations where version = (select max(version) from schema_migrations)",
    );
  });
  afterAll(() => server.stop());

  async function changed(database: string, sql: string): Promise<void> {
    const client = new pg.Client({ connectionString: server.adminUrl(database) });
    await client.connect();
    await client.query(sql);
    await client.end();
  }

  test("a wrong password is told by the program itself", async () => {
    const url = `postgres://someone:wrong@127.0.0.1:${server.port}/empty`;
    const { code, said } = await failing(["verify"], { DATABASE_URL: url });
    expect([code, said]).toEqual([
      1,
      expect.stringMatching(/^PostgreSQL says: password authentication failed.*DATABASE_URL/),
    ]);
  });

  test.each([
    ["a wrong password", "postgres://someone:wrong@HOST/empty", "password authentication failed", "Check the password"],
    ["no password", "postgres://someone@HOST/empty", "password", "DATABASE_URL"],
    ["a role that is missing", "postgres://nobody_here:x@HOST/empty", "nobody_here", "DATABASE_URL"],
    [
      "a database that is missing",
      "postgres://someone:right@HOST/nothing",
      'database "nothing" does not exist',
      "gerbang roles --sql",
    ],
    ["a database without tables", "postgres://someone:right@HOST/empty", "The database is empty", "gerbang migrate"],
    ["TLS that is not there", "postgres://someone:right@HOST/empty?sslmode=require", "TLS", "sslmode"],
  ])("%s is told, with what to do", async (_what, address, problem, remedy) => {
    const error: unknown = await demandSchema(address.replace("HOST", `127.0.0.1:${server.port}`)).catch(
      (reason: unknown) => reason,
    );
    expect(explain(error)).toContain(problem);
    expect(explain(error)).toContain(remedy);
  });

  test("a schema that is newer than the program is refused by what reads and what serves; an older one by what reads", async () => {
    const newer = { DATABASE_URL: server.adminUrl("newer"), PORT: String(await freePort()) };
    for (const args of [["verify"], ["serve"]]) {
      const { code, said } = await failing(args, { ...newer, GERBANG_DATA: join(folder, "data") });
      expect([code, said]).toEqual([1, expect.stringContaining("newer than this program: it has 9999_future.sql")]);
    }
    await expect(demandSchema(server.adminUrl("older"))).rejects.toThrow("Run `gerbang migrate`");
  });

  test("a role that may not make tables is told whose work it is", async () => {
    await changed("postgres", "create role lesser login password 'right'");
    const url = `postgres://lesser:right@127.0.0.1:${server.port}/empty`;
    await changed("empty", "revoke create on schema public from public");
    const { code, said } = await failing(["migrate"], { DATABASE_URL: url }, gerbangHere);
    expect([code, said]).toEqual([1, expect.stringContaining("gerbang roles --sql")]);
  });

  test("a merchant that is not there is an error, not an empty answer", async () => {
    const env = {
      DATABASE_URL: server.adminUrl("whole"),
      MASTER_KEY: "5f".repeat(32),
      OPERATOR_TOKEN: "a-token-for-this-test-alone",
    };
    for (const args of [
      ["verify", "--merchant", merchant],
      ["ledger", "export", "--merchant", merchant, "--environment", "sandbox", "--format", "hledger"],
      ["people", "list", "--merchant", merchant],
      ["people", "invite", "--merchant", merchant, "--role", "owner"],
    ]) {
      const { code, stdout, stderr } = await gerbangHere(args, { GERBANG_DATA: join(folder, "none"), ...env });
      expect([args[0], code, stdout, stderr]).toEqual([args[0], 1, "", `There is no merchant ${merchant} here.\n`]);
    }
  });

  test("a master key that is missing is not made anew by what only looks", async () => {
    const env = { DATABASE_URL: server.adminUrl("whole"), GERBANG_DATA: join(folder, "none") };
    const { code, said } = await failing(["people", "sign-in-link"], env, gerbangHere);
    expect([code, said]).toEqual([1, expect.stringContaining("the master key of the database is missing")]);
    expect(existsSync(join(folder, "none"))).toBe(false);
  });

  test.each(["PORT", "OPS_PORT", "METRICS_PORT"])("a %s that is taken is told, with what to set", async (name) => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const address = taken.address();
    const port = typeof address === "object" && address ? String(address.port) : "";
    const env = {
      DATABASE_URL: server.adminUrl("whole"),
      GERBANG_DATA: join(folder, "data"),
      PORT: String(await freePort()),
    };
    const { code, said } = await failing(["serve"], { ...env, [name]: port });
    taken.close();
    expect([code, said]).toEqual([
      1,
      expect.stringMatching(new RegExp(`${port} of 127\\.0\\.0\\.1 is taken.*${name}`, "s")),
    ]);
  });
});

test("nothing was left in the folder of those who looked", () => {
  expect(readdirSync(folder)).not.toContain("none");
});
