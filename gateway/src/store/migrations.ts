// Migrations: numbered, forward-only SQL files, each applied once even when several processes start together.
import { readFileSync, readdirSync } from "node:fs";
import pg from "pg";
import { ConfigError } from "../ground/config.ts";
import { sha256 } from "../ground/crypto.ts";
import { withDeadline } from "../ground/deadline.ts";

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

const RECORD = "insert into schema_migrations (version, name, digest) values ($1, $2, $3)";

const READ_WITHIN_MS = 10_000;
const GOODBYE_MS = 2_000;
/** PostgreSQL notices within half a minute that whoever migrates is gone. */
const LIMITS = `select set_config('lock_timeout', '10s', true), set_config('idle_in_transaction_session_timeout', '30s', true),
  set_config('tcp_keepalives_idle', '10', true), set_config('tcp_keepalives_interval', '5', true),
  set_config('tcp_keepalives_count', '4', true), set_config('tcp_user_timeout', '30000', true),
  set_config('statement_timeout', '0', true)`;

/** Brings the schema to this code's version, as its owner. Gives the names applied. Throws for a newer database, or an applied file that differs. */
export async function migrate(url: string): Promise<string[]> {
  // Without a lock: where nothing is missing, a process starts while another one migrates to a newer version, which may take an hour.
  const lacking = await withClient(url, missing, READ_WITHIN_MS);
  if (lacking.length === 0) return [];
  return withClient(url, async (client) => {
    await demandOwner(client, lacking);
    await client.query("begin");
    await client.query(LIMITS);
    await client.query("select pg_advisory_xact_lock(hashtext('gerbang migrations'))");
    if (!(await isBegun(client))) await client.query(journalTable);
    const left = await missing(client);
    for (const { version, name, sql, digest } of left) {
      await client.query(sql);
      await client.query(RECORD, [version, name, digest]);
    }
    await client.query("commit");
    return left.map(({ name }) => name);
  });
}

/** The migrations that the database lacks. Throws `ConfigError` for an applied one that this program does not have, or whose file differs. */
async function missing(client: pg.Client): Promise<Migration[]> {
  const migrations = readMigrations();
  if (!(await isBegun(client))) return migrations;
  const { rows } = await client.query<{ version: number; name: string; digest: string }>(
    "select version, name, digest from schema_migrations order by version",
  );
  const unknown = rows.find((row) => migrations.every(({ version }) => version !== row.version));
  if (unknown)
    throw new ConfigError(
      `The schema of the database is newer than this program: it has ${unknown.name}. Run the newer version of the program; there is no way back but a backup.`,
    );
  const applied = new Map(rows.map((row) => [row.version, row]));
  return migrations.filter(({ version, digest }) => {
    const before = applied.get(version);
    if (before && before.digest !== digest)
      throw new ConfigError(`Migration ${before.name} was changed after it was applied. Restore its file.`);
    return before === undefined;
  });
}

/**
 * Whether there is a journal of migrations; another program may have a table of this name in a schema of its own. Throws `ConfigError` for a database that
 * does not keep every text, and for a role that does not see the schema which the functions of the migrations name.
 */
async function isBegun(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ known: boolean; schema: string | null; role: string; encoding: string }>(
    `select to_regclass('schema_migrations') is not null as known, current_schema() as schema, quote_ident(current_user) as role,
  current_setting('server_encoding') as encoding`,
  );
  const [{ known, schema, role, encoding }] = rows as [(typeof rows)[0]];
  if (encoding !== "UTF8")
    throw new ConfigError(`The database's encoding is ${encoding}: make one of UTF8, as \`gerbang roles --sql\` does.`);
  if (!known && schema !== "public")
    throw new ConfigError(
      `The tables belong into the schema public, which the role ${role} does not see. Run \`alter role ${role} set search_path = public\` and \`grant usage on schema public to ${role}\`.`,
    );
  return known;
}

/** Does work on a connection of its own; `withinMs` for each statement. The driver tells some failures, as of a missing password, by `error` alone. */
async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>, withinMs?: number): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    application_name: "gerbang migrate",
    connectionTimeoutMillis: 10_000,
    ...(withinMs === undefined ? {} : { query_timeout: withinMs }),
  });
  const refused = new Promise<never>((_resolve, reject) => {
    client.on("error", reject); // once open, a lost connection fails its statement too
  });
  refused.catch(() => undefined); // `connect` or the statement throws the same failure
  try {
    await Promise.race([client.connect(), refused]);
    const done = await work(client);
    await withDeadline(client.end(), GOODBYE_MS, () => undefined);
    return done;
  } catch (error) {
    void client.end().catch(() => undefined); // it was never open, or the server does not answer any more
    throw error;
  }
}

/** Throws `ConfigError` unless the schema has this program's version. For commands that do not migrate. */
export async function demandSchema(url: string): Promise<void> {
  const lacking = await withClient(url, missing, READ_WITHIN_MS);
  if (lacking.length > 0) throw new ConfigError(`${stateOf(lacking)}. Run \`gerbang migrate\`.`);
}

function stateOf([first]: readonly Migration[]): string {
  if (first?.version === 1) return "The database is empty";
  return `The schema of the database is older than this program: ${first?.name} is missing`;
}

/** Throws `ConfigError` for a role that may not make tables, or may not make the role gerbang_app which is missing: a migration would fail. */
async function demandOwner(client: pg.Client, lacking: readonly Migration[]): Promise<void> {
  const { rows } = await client.query<{ role: string; creates: boolean }>(`select current_user as role,
  has_schema_privilege(current_schema(), 'create') as creates from pg_roles
where rolname = current_user and not rolsuper and (not has_schema_privilege(current_schema(), 'create')
  or not rolcreaterole and not exists (select from pg_roles where rolname = 'gerbang_app'))`);
  const [found] = rows;
  if (found)
    throw new ConfigError(
      found.creates
        ? `The role gerbang_app is missing, and ${found.role} may not make it. Let an administrator run what \`gerbang roles --sql\` prints.`
        : `${stateOf(lacking)}, and the role ${found.role} may not change it. Run \`gerbang migrate\` as the owner, whom \`gerbang roles --sql\` makes.`,
    );
}
