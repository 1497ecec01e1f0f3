// The embedded PostgreSQL: real server binaries from npm, started under the data directory when no DATABASE_URL is given.
import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { closeSync, constants, existsSync, openSync, readFileSync, renameSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { totalmem } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { stopwatchMs } from "../ground/clock.ts";
import { ConfigError } from "../ground/config.ts";
import { digestOf } from "../ground/crypto.ts";
import { type User, ownFolder, ownPrivateFolder, writePrivateFile } from "../ground/private-folders.ts";
import { APPLICATION_NAME } from "./database.ts";
import { type Binaries, findBinaries, traversable } from "./embedded-binaries.ts";

export interface EmbeddedDatabase {
  /** Address for the service, whose role has the least privileges. */
  url: string;
  /** Address for migrations, as the owner of the schema. */
  ownerUrl: string;
  /** Folder of the files; not the one asked for when the server's user cannot reach that one. */
  directory: string;
  /** Starts the server again if it has stopped; true when this call started it. Does nothing while an earlier call tries. */
  revive(): Promise<boolean>;
  /** Stops the server, unless other processes of the service are connected to it: the last one stops it. */
  stop(): Promise<void>;
}

/** Passwords of the cluster's roles. They are made once, and kept in the cluster's folder. */
interface Passwords {
  owner: string;
  service: string;
}

const MIB = 1024 * 1024;

/**
 * The cache of pages, in MiB, for a machine with this memory: a sixteenth of it, from 128 to 512 MiB. PostgreSQL takes it page by page as it
 * fills. It should hold the payments of the last minute, which the velocities of risk count: 150,000 of them are 270 MiB.
 */
export function sharedBuffersMib(memory: number): number {
  return Math.min(512, Math.max(128, Math.floor(memory / 16 / MIB)));
}

const settings = {
  listen_addresses: "127.0.0.1",
  max_connections: "120",
  // A container may leave less than the machine has; 0 means that it has no limit.
  shared_buffers: `${sharedBuffersMib(Math.min(process.constrainedMemory() || Infinity, totalmem()))}MB`,
  max_wal_size: "2GB",
  wal_buffers: "16MB",
  checkpoint_timeout: "5min",
  // A new table has no statistics, and without them the planner cannot tell indexes on merchant_id apart: analyze new rows soon.
  autovacuum_naptime: "1s",
  timezone: "UTC",
  log_timezone: "UTC",
  log_min_messages: "warning",
};

/** Longest folder of a socket, in characters: the system's limit for a socket's path, less the file name. */
const SOCKET_PATH_MAX = 85;
const START_SECONDS = 60;
/** A stop waits no longer than this: the server goes on shutting down, and the next start waits for it. */
const STOP_SECONDS = 2;

interface Place {
  directory: string;
  cluster: string;
  runAs: User | undefined;
  binaries: Binaries;
}

/** The whole environment of PostgreSQL's programs: PG* variables, secrets and LD_PRELOAD of this process do not reach them. */
const env = { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" };

/**
 * Starts the embedded server of a data directory, or joins the server that runs there. With `own` the server stops with this process; without, only
 * if this process had to start it. Throws `ConfigError`.
 */
export async function startEmbedded(dataDirectory: string, own = true): Promise<EmbeddedDatabase> {
  const place = await prepare(dataDirectory);
  const passwords = createCluster(place);
  const started = await ensureRunning(place, passwords);
  const port = runningServer(place)?.port ?? 0;
  const url = urlOf("gerbang_service", passwords.service, port, "gerbang");
  const ownerUrl = urlOf("postgres", passwords.owner, port, "gerbang");
  // A local socket costs both sides less than TCP. A server without one is reached by TCP.
  const hasSocket = existsSync(join(place.directory, `.s.PGSQL.${port}`));
  let isReviving = false;
  return {
    url: hasSocket ? `${url}?host=${encodeURIComponent(place.directory)}` : url,
    ownerUrl,
    directory: place.directory,
    revive: async () => {
      if (isReviving) return false;
      isReviving = true;
      return ensureRunning(place, passwords, port).finally(() => (isReviving = false));
    },
    stop: async () => {
      if ((own || started) && !(await othersAreConnected(ownerUrl))) await shutDown(place);
    },
  };
}

function urlOf(user: string, password: string, port: number, database: string): string {
  return `postgres://${user}:${password}@127.0.0.1:${port}/${database}`;
}

/** The server's setting for the folder of its socket; "" (no socket) when the setting cannot hold the path. */
function socketDirectory({ directory }: Place): string {
  return directory.length <= SOCKET_PATH_MAX && /^[\w./-]+$/.test(directory) ? directory : "";
}

/** Whether a data directory has a database already. Creates nothing. */
export function hasCluster(dataDirectory: string): boolean {
  return existsSync(join(directoryOf(dataDirectory, runsAs()), "cluster", "PG_VERSION"));
}

function runsAs(): User | undefined {
  return process.getuid?.() === 0 ? unprivileged() : undefined;
}

function directoryOf(dataDirectory: string, runAs: User | undefined): string {
  return runAs && !traversable(dataDirectory)
    ? join("/var/tmp", `gerbang-${digestOf(dataDirectory).toString("hex").slice(0, 12)}`)
    : join(dataDirectory, "postgres");
}

async function prepare(dataDirectory: string): Promise<Place> {
  const runAs = runsAs();
  const directory = directoryOf(dataDirectory, runAs);
  ownFolder(dataDirectory);
  ownPrivateFolder(directory, runAs);
  return {
    directory,
    cluster: join(directory, "cluster"),
    runAs,
    binaries: await findBinaries(runAs),
  };
}

/** Makes the cluster in a draft folder and renames that into place, so that two first starts at once cannot spoil each other's cluster. */
function createCluster({ directory, cluster, runAs, binaries }: Place): Passwords {
  const secrets = join(cluster, "gerbang.json");
  if (!existsSync(join(cluster, "PG_VERSION"))) {
    const passwords: Passwords = { owner: randomBytes(24).toString("hex"), service: randomBytes(24).toString("hex") };
    const draft = join(directory, `cluster.${process.pid}`);
    const passwordFile = join(directory, `password.${process.pid}`);
    // In a container every first start has the same process number: a start that was killed may have left files of these names.
    for (const left of [draft, passwordFile]) rmSync(left, { recursive: true, force: true });
    writePrivateFile(passwordFile, passwords.owner, runAs);
    const made = spawnSync(
      binaries.initdb,
      [
        `--pgdata=${draft}`,
        "--auth=scram-sha-256",
        "--username=postgres",
        `--pwfile=${passwordFile}`,
        "--no-locale",
        // Every commit waits while a new segment of the write-ahead log is filled with zeros: the default of 16 MiB took 45 ms each second.
        "--wal-segsize=4",
        "--encoding=UTF8",
      ],
      { ...runAs, env, stdio: ["ignore", "ignore", "pipe"], encoding: "utf8", cwd: directory },
    );
    rmSync(passwordFile);
    if (made.status !== 0)
      throw new ConfigError(
        `The embedded PostgreSQL could not be made in ${directory}:\n${made.error?.message ?? made.stderr.slice(-500).trim()}`,
      );
    writePrivateFile(join(draft, "gerbang.json"), JSON.stringify(passwords), runAs);
    try {
      renameSync(draft, cluster);
    } catch (error) {
      rmSync(draft, { recursive: true, force: true });
      if (!existsSync(secrets)) throw error; // else another first start was faster, and its cluster is used
    }
  }
  if (!existsSync(secrets))
    throw new ConfigError(`${cluster} holds a database whose passwords (gerbang.json) are missing: restore that file.`);
  return JSON.parse(readFileSync(secrets, "utf8")) as Passwords;
}

/** Starts the server unless it runs; true when this call started it. Waits for a server that is starting or stopping. */
async function ensureRunning(place: Place, passwords: Passwords, wantedPort?: number): Promise<boolean> {
  const maintenanceUrl = (port: number): string => urlOf("postgres", passwords.owner, port, "postgres");
  let lastWords = "";
  for (const end = stopwatchMs() + START_SECONDS * 1000; stopwatchMs() < end;) {
    const port = runningServer(place)?.port;
    if (port === undefined) {
      const chosen = wantedPort ?? (await freePort());
      lastWords = await boot(place, chosen, maintenanceUrl(chosen));
      if (lastWords === "") {
        await furnish(maintenanceUrl(chosen), passwords);
        return true;
      }
    } else if (await answers(urlOf("gerbang_service", passwords.service, port, "gerbang"))) {
      return false;
    } else if (await answers(maintenanceUrl(port))) {
      // The first start is still making roles and database, or was killed half-way: this call makes what is missing.
      lastWords = await furnish(maintenanceUrl(port), passwords).then(() => "", String);
    }
    await pause(200);
  }
  throw new ConfigError(
    `The embedded PostgreSQL did not start; its words are in ${join(place.directory, "server.log")}\n${lastWords}`,
  );
}

/** The server that runs on the cluster, by its `postmaster.pid`. */
function runningServer({ cluster }: Place): { pid: number; port: number } | undefined {
  const file = join(cluster, "postmaster.pid");
  if (!existsSync(file)) return undefined;
  const lines = readFileSync(file, "utf8").split("\n");
  const [pid, port] = [Number(lines[0]), Number(lines[3])];
  return pid > 0 && port > 0 && isPostgres(pid) ? { pid, port } : undefined;
}

/** Starts the server in its own session: Ctrl-C in a terminal must reach the service first. Gives "", or the end of the log on failure. */
async function boot(place: Place, port: number, url: string): Promise<string> {
  const { cluster, directory, runAs, binaries } = place;
  const logFile = join(directory, "server.log");
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;
  const log = openSync(logFile, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
  const all = { ...settings, unix_socket_directories: socketDirectory(place) };
  const flags = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const server = spawn(binaries.postgres, ["-D", cluster, "-p", String(port), ...flags], {
    ...runAs,
    env,
    cwd: directory,
    detached: true,
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  server.unref();
  for (const end = stopwatchMs() + START_SECONDS * 1000; stopwatchMs() < end;) {
    if (server.exitCode !== null || server.signalCode !== null) return readFileSync(logFile, "utf8").slice(-500);
    if (await answers(url)) return "";
    await pause(50);
  }
  return "it did not answer in time";
}

/** Makes the roles and the database that are missing. Safe to repeat, to run in several processes at once, and to kill half-way. */
async function furnish(url: string, passwords: Passwords): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined); // when the server stops meanwhile, the statement fails too
  await client.connect();
  try {
    await client.query("select pg_advisory_lock(hashtext('gerbang furnish'))");
    const known = await client.query<{ name: string }>(
      "select rolname as name from pg_roles union all select datname from pg_database",
    );
    const has = (name: string): boolean => known.rows.some((row) => row.name === name);
    if (!has("gerbang_app")) await client.query("create role gerbang_app nologin");
    if (!has("gerbang_service")) await client.query("create role gerbang_service");
    await client.query(`alter role gerbang_service login password '${passwords.service}'`);
    await client.query("grant gerbang_app to gerbang_service");
    if (!has("gerbang")) await client.query("create database gerbang");
  } finally {
    await client.end();
  }
}

async function shutDown(place: Place): Promise<void> {
  const running = runningServer(place);
  if (!running) return;
  process.kill(running.pid, "SIGINT"); // fast shutdown: sessions end, a checkpoint is written
  for (const end = stopwatchMs() + STOP_SECONDS * 1000; stopwatchMs() < end;) {
    if (!isPostgres(running.pid)) return;
    await pause(20);
  }
}

/** Whether another process of the service is connected. A server that does not answer has nobody. */
function othersAreConnected(url: string): Promise<boolean> {
  const text = "select from pg_stat_activity where usename = 'gerbang_service' and application_name <> $1 limit 1";
  return findsRow(url, text, [APPLICATION_NAME]);
}

function answers(url: string): Promise<boolean> {
  return findsRow(url, "select 1");
}

/** Whether a statement finds a row, on a connection of its own. False when the server is starting or stopping, or hangs. */
async function findsRow(url: string, text: string, values: string[] = []): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000, query_timeout: 2000 });
  client.on("error", () => undefined); // when the connection breaks, the statement fails too
  try {
    await client.connect();
    const { rowCount } = await client.query(text, values);
    return rowCount !== 0;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => false);
  }
}

/** True while process `pid` lives and is a PostgreSQL server, not another program that got the number of a dead server. */
function isPostgres(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  const status = `/proc/${pid}/status`;
  if (!existsSync("/proc/self/status")) return true; // no /proc on this system: the process number alone decides
  if (!existsSync(status)) return false;
  const text = readFileSync(status, "utf8");
  return /^Name:\s+postgres$/m.test(text) && !/^State:\s+Z/m.test(text);
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  await once(probe.close(), "close");
  return port;
}

/** PostgreSQL refuses to run as root, so root runs it as `postgres` where that user exists, else as `nobody`. */
function unprivileged(): User {
  const users = readFileSync("/etc/passwd", "utf8").split("\n");
  for (const name of ["postgres", "nobody"]) {
    const fields = users.find((line) => line.startsWith(`${name}:`))?.split(":");
    if (fields) return { uid: Number(fields[2]), gid: Number(fields[3]) };
  }
  throw new ConfigError(
    "PostgreSQL cannot run as root, and neither `postgres` nor `nobody` exists here: set DATABASE_URL.",
  );
}
