// Migrations: numbered, forward-only SQL files, each applied once even when several processes start together.
import { readFileSync, readdirSync } from "node:fs";
import pg from "pg";
import { ConfigError } from "../ground/config.ts";
import { sha256 } from "../ground/crypto.ts";

const directory = new URL("./migrations/", import.meta.url);

interface Migration {
  version: number;
  name: string;
  sql: string;
  digest: string;
}

function readMigrations(): Migration[] {
  const names = readdirSync(directory)
    .filter((name) => /^\d{4}_[a-z_]+\.sql$/.test(name))
    .sort();
  return names.map((name) => {
    const sql = readFileSync(new URL(name, directory), "utf8");
    return { version: Number(name.slice(0, 4)), name, sql, digest: sha256(sql).toString("hex") };
  });
}

const journalTable = `create table schema_migrations (
  version integer primary key,
  name text not null,
  digest text not null,
  applied_at timestamptz not null default now()
)`;

/** Gives a row if there is the table. Another program may have one of this name in a schema of its own. */
const selectTable = "select where to_regclass('schema_migrations') is not null";

/** Brings the schema to this code's version, as its owner. Gives the names applied. Throws for a newer database, or an applied file that differs. */
export async function migrate(url: string): Promise<string[]> {
  const migrations = readMigrations();
  const client = await connect(url);
  try {
    await client.query("begin");
    await client.query("set local lock_timeout = '10s'");
    await client.query("select pg_advisory_xact_lock(hashtext('gerbang migrations'))");
    // The table is looked up before it is created, so that a role that may only read can start a service whose schema is up to date.
    const known = await client.query(selectTable);
    if (known.rowCount === 0) await client.query(journalTable);
    const { rows } = await client.query<{ version: number; name: string; digest: string }>(
      "select version, name, digest from schema_migrations order by version",
    );
    const applied = new Map(rows.map((row) => [row.version, row]));
    const newest = migrations.at(-1)?.version ?? 0;
    const beyond = rows.find((row) => row.version > newest);
    if (beyond) throw newerSchema(beyond.name);
    await demandRole(client);
    const done: string[] = [];
    for (const migration of migrations) {
      const before = applied.get(migration.version);
      if (before && before.digest !== migration.digest)
        throw new ConfigError(`Migration ${before.name} was changed after it was applied. Restore its file.`);
      if (before) continue;
      await client.query(migration.sql);
      await client.query("insert into schema_migrations (version, name, digest) values ($1, $2, $3)", [
        migration.version,
        migration.name,
        migration.digest,
      ]);
      done.push(migration.name);
    }
    await client.query("commit");
    return done;
  } finally {
    await client.end();
  }
}

/** Opens a connection. The driver reports some failures, such as a missing password, only by its `error` event. */
async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    application_name: "gerbang migrate",
    connectionTimeoutMillis: 10_000,
  });
  const refused = new Promise<never>((_resolve, reject) => {
    client.on("error", reject); // once open, a lost connection fails its statement too
  });
  refused.catch(() => undefined); // `connect` or the statement throws the same failure
  try {
    await Promise.race([client.connect(), refused]);
    return client;
  } catch (error) {
    void client.end().catch(() => undefined); // the connection was never open
    throw error;
  }
}

function newerSchema(name: string): ConfigError {
  return new ConfigError(
    `The schema of the database is newer than this program: it has ${name}. Run the newer version of the program; there is no way back but a backup.`,
  );
}

/** Throws `ConfigError` unless the schema has this program's version. For commands that do not migrate. */
export async function demandSchema(url: string): Promise<void> {
  const newest = readMigrations().at(-1);
  const client = await connect(url);
  try {
    const known = await client.query(selectTable);
    if (known.rowCount === 0)
      throw new ConfigError("The database is empty: run `gerbang migrate`, or start the service once.");
    const { rows } = await client.query<{ version: number; name: string }>(
      "select version, name from schema_migrations order by version desc limit 1",
    );
    const version = rows[0]?.version ?? 0;
    if (newest && version > newest.version) throw newerSchema(rows[0]?.name ?? "");
    if (newest && version < newest.version)
      throw new ConfigError(
        `The schema of the database is older than this program: ${newest.name} is missing. Run \`gerbang migrate\`.`,
      );
  } finally {
    await client.end();
  }
}

/** Throws `ConfigError` when the role gerbang_app is missing and the owner may not create roles: the first migration would fail. */
async function demandRole(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ owner: string }>(`select current_user as owner from pg_roles
where rolname = current_user and not rolsuper and not rolcreaterole
  and not exists (select from pg_roles where rolname = 'gerbang_app')`);
  if (rows[0])
    throw new ConfigError(
      `The role gerbang_app is missing, and ${rows[0].owner} may not make it. Let an administrator run what \`gerbang roles --sql\` prints.`,
    );
}
