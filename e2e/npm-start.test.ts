// Goal: whoever stops what they started stops the service, and leaves nothing behind. Method: the real npm, the real older Node and
// a real service as processes; each is signalled or killed, and the service's own process and its PostgreSQL are looked for afterwards.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import pg from "pg";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { PREPARED_CLUSTER, freePort, compiled } from "./kit/service.ts";

const root = join(import.meta.dirname, "..");
/** Far beyond what a stop takes, and what it takes to notice that a parent has gone. */
const SOON = { timeout: 30_000, interval: 50 };

let folder: string;
let child: ChildProcess | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gerbang-start-"));
  chmodSync(folder, 0o711); // PostgreSQL, started by root, runs as another user and has to get in
});

afterEach(async () => {
  if (child && child.exitCode === null && child.signalCode === null) {
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  }
  // After a failure the service may still be there: a test leaves nothing running either.
  for (const service of await services()) if (isAlive(service)) process.kill(service);
  await vi.waitFor(() => expect(existsSync(join(folder, "postgres", "cluster", "postmaster.pid"))).toBe(false), SOON);
  rmSync(folder, { recursive: true, force: true });
});

/** Without the variables that say that we run under npm ourselves. */
async function run(program: string, args: string[]): Promise<ChildProcess> {
  const { PATH = "", HOME = "" } = process.env;
  const env = { PATH, HOME, ...compiled(), GERBANG_DATA: folder, PORT: String(await freePort()), METRICS_PORT: "0" };
  child = spawn(program, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  return child;
}

/** The number of the service's process, once it serves. */
async function serving(): Promise<number> {
  const demo = join(folder, "demo.json");
  await vi.waitFor(() => expect(existsSync(demo)).toBe(true), { timeout: 50_000, interval: 100 });
  const [service, ...others] = await services();
  expect(others).toEqual([]);
  return service ?? 0;
}

/** The numbers of the service's processes that are connected to the database of this folder; none when there is no database. */
async function services(): Promise<number[]> {
  const cluster = join(folder, "postgres", "cluster");
  if (!existsSync(join(cluster, "postmaster.pid"))) return [];
  const { owner } = JSON.parse(readFileSync(join(cluster, "gerbang.json"), "utf8")) as { owner: string };
  const port = Number(readFileSync(join(cluster, "postmaster.pid"), "utf8").split("\n")[3]);
  const database = new pg.Client({ host: "127.0.0.1", port, user: "postgres", password: owner, database: "gerbang" });
  try {
    await database.connect();
    const { rows } = await database.query<{ name: string }>(
      "select distinct application_name as name from pg_stat_activity where application_name ~ '^gerbang \\d+$'",
    );
    return rows.map(({ name }) => Number(name.split(" ")[1]));
  } finally {
    await database.end();
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false; // there is no such process
  }
}

async function startWithNpm(): Promise<{ npm: ChildProcess; service: number }> {
  const prepared = process.env[PREPARED_CLUSTER];
  if (prepared !== undefined) {
    mkdirSync(join(folder, "postgres"), { mode: 0o700 });
    execFileSync("cp", ["-a", prepared, join(folder, "postgres", "cluster")]);
  }
  const npm = await run("npm", ["start"]);
  return { npm, service: await serving() };
}

test.each<NodeJS.Signals>(["SIGTERM", "SIGINT"])("%s to `npm start` stops the service in order", async (signal) => {
  const { npm, service } = await startWithNpm();
  expect(service).not.toBe(npm.pid);
  const exited = once(npm, "exit");
  npm.kill(signal);
  await exited;
  await vi.waitFor(() => expect(isAlive(service)).toBe(false), SOON);
  // A stop does not wait for a database that is busy: it ends by itself.
  await vi.waitFor(() => expect(existsSync(join(folder, "postgres", "cluster", "postmaster.pid"))).toBe(false), SOON);
});

test("an `npm start` that is killed leaves no service behind, whose log says why it stopped", async () => {
  const { npm, service } = await startWithNpm();
  let log = "";
  npm.stdout?.setEncoding("utf8").on("data", (text: string) => void (log += text));
  npm.kill("SIGKILL");
  await vi.waitFor(() => expect(log).toContain('"why":"the program that started it is gone","msg":"stopping"'), SOON);
  await vi.waitFor(() => expect(isAlive(service)).toBe(false), SOON);
  // A stop does not wait for a database that is busy: it ends by itself.
  await vi.waitFor(() => expect(existsSync(join(folder, "postgres", "cluster", "postmaster.pid"))).toBe(false), SOON);
});

/** A Node of this machine that is older than ours: the program looks for ours then. */
const olderNode = (process.env.PATH ?? "")
  .split(delimiter)
  .map((place) => join(place, "node"))
  .find(
    (file) => existsSync(file) && Number(/^v(\d+)/.exec(execFileSync(file, ["-v"], { encoding: "utf8" }))?.[1]) < 26,
  );
const program = join(root, "gateway", "bin", "gerbang.js");

/** The simulated acquirer needs no database. Gives the number of its process, which an older Node started. */
async function startWithOlderNode(): Promise<{ older: ChildProcess; ours: number }> {
  const older = await answering(olderNode ?? "", [program, "acquirer", "--port", String(await freePort())]);
  return { older, ours: childOf(older.pid) };
}

async function answering(command: string, args: string[]): Promise<ChildProcess> {
  const started = await run(command, args);
  let said = "";
  started.stderr?.setEncoding("utf8").on("data", (text: string) => void (said += text));
  await vi.waitFor(() => expect(said).toContain("answers at"), SOON);
  return started;
}

const childOf = (pid: number | undefined): number =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim());

test.skipIf(olderNode === undefined || !existsSync("/proc/self/task"))(
  "an older Node starts ours and hands signals on to it (skipped where there is no older Node)",
  async () => {
    const { older, ours } = await startWithOlderNode();
    expect(readFileSync(`/proc/${ours}/cmdline`, "utf8")).toContain("node_modules");
    const exited = once(older, "exit") as Promise<[number | null]>;
    older.kill("SIGTERM");
    expect((await exited)[0]).toBe(0);
    expect(isAlive(ours)).toBe(false);
  },
);

test.skipIf(olderNode === undefined || !existsSync("/proc/self/task"))(
  "an older Node that is killed leaves nothing behind (skipped where there is no older Node)",
  async () => {
    const { older, ours } = await startWithOlderNode();
    older.kill("SIGKILL");
    await vi.waitFor(() => expect(isAlive(ours)).toBe(false), SOON);
  },
);

test.skipIf(olderNode === undefined || !existsSync("/proc/self/task"))(
  "what started an older Node and is killed leaves nothing behind (skipped where there is no older Node)",
  async () => {
    const words = [olderNode ?? "", program, "acquirer", "--port", String(await freePort())];
    // Ours takes its time to stop. Programs take a second signal for a wish to stop at once.
    const slow = "process.once('SIGTERM',()=>setTimeout(()=>{},1200))";
    const tells = "process.on('SIGTERM',()=>process.stderr.write('told;'))";
    const script = `NODE_OPTIONS="--import data:text/javascript,${slow};${tells}" GERBANG_PARENT=$$ "$0" "$@" & wait`;
    const shell = await answering("/bin/sh", ["-c", script, ...words]);
    let said = "";
    shell.stderr?.on("data", (text: string) => void (said += text));
    const ours = childOf(childOf(shell.pid));
    expect(isAlive(ours)).toBe(true);
    shell.kill("SIGKILL");
    await vi.waitFor(() => expect(isAlive(ours)).toBe(false), SOON);
    expect(said.match(/told/g)).toEqual(["told"]);
  },
);
