// The part of systemctl that docs/guides/production.md uses, for tests of that guide: starts the programs of units with their environment, folder
// and credentials. It ignores users and hardening, which need systemd itself.
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

interface Folders {
  /** Folder of the unit files. */
  units: string;
  /** Folder for process numbers, output, credentials and state. */
  run: string;
}

interface Unit {
  name: string;
  /** The values of a key of [Service], in order, with specifiers replaced. */
  values(key: string): string[];
}

function readUnit({ units, run }: Folders, given: string): Unit {
  const name = given.replace(/\.service$/, "");
  const [template = "", instance] = name.split("@");
  const file = join(units, instance === undefined ? `${name}.service` : `${template}@.service`);
  const [, service = ""] = readFileSync(file, "utf8").split(/^\[Service\]$/m);
  const [section = ""] = service.split(/^\[/m);
  const lines = section.split("\n").filter((line) => /^[A-Za-z]+=/.test(line));
  const specifiers: Record<string, string> = {
    "%i": instance ?? "",
    "%S": join(run, "state"),
    "%d": join(run, "credentials", name),
  };
  const put = (text: string): string => text.replaceAll(/%[a-zA-Z]/g, (one) => specifiers[one] ?? one);
  return {
    name,
    values: (key) => lines.flatMap((line) => (line.startsWith(`${key}=`) ? [put(line.slice(key.length + 1))] : [])),
  };
}

/** The environment of a unit's process. As under systemd it has nothing of this process's own. Secrets are files that only the unit can read. */
function environmentOf(unit: Unit, { run }: Folders): Record<string, string> {
  const credentials = join(run, "credentials", unit.name);
  rmSync(credentials, { recursive: true, force: true });
  mkdirSync(credentials, { recursive: true, mode: 0o700 });
  for (const credential of unit.values("LoadCredential")) {
    const [id = "", source = ""] = credential.split(":");
    cpSync(source, join(credentials, id));
    chmodSync(join(credentials, id), 0o400);
  }
  for (const folder of unit.values("StateDirectory"))
    mkdirSync(join(run, "state", folder), { recursive: true, mode: 0o700 });
  const files = unit.values("EnvironmentFile").flatMap((file) => readFileSync(file, "utf8").split("\n"));
  const pairs = [...files.filter((line) => line !== "" && !line.startsWith("#")), ...unit.values("Environment")];
  return Object.fromEntries([
    ["PATH", "/usr/local/bin:/usr/bin:/bin"],
    // The only variable of this process: the cache of compiled code makes tests faster and changes nothing else.
    ["NODE_COMPILE_CACHE", process.env.NODE_COMPILE_CACHE ?? ""],
    ...pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]),
  ]) as Record<string, string>;
}

/** The words of a command as systemd takes them: quoted ones may hold spaces, and `$` and `%` stand there twice. */
function wordsOf(command: string): string[] {
  return [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain = ""]) =>
    (quoted ?? plain).replaceAll("$$", () => "$").replaceAll("%%", "%"),
  );
}

/** Starts a unit; waits for the end of a unit whose program ends. Gives the exit code. */
function start(unit: Unit, folders: Folders): number {
  const [program = "", ...args] = wordsOf(unit.values("ExecStart")[0] ?? "");
  const output = openSync(join(folders.run, `${unit.name}.log`), "a");
  const options = {
    cwd: unit.values("WorkingDirectory")[0],
    env: environmentOf(unit, folders),
    stdio: ["ignore", output, output] as ["ignore", number, number],
  };
  if (unit.values("Type")[0] === "oneshot") return spawnSync(program, args, options).status ?? 1;
  const child = spawn(program, args, { ...options, detached: true });
  writeFileSync(pidFile(unit, folders), String(child.pid));
  child.unref();
  return 0;
}

const pidFile = (unit: Unit, { run }: Folders): string => join(run, `${unit.name}.pid`);

/** Stops a unit and waits, at most for its TimeoutStopSec. Throws when the unit must be killed. */
async function stop(unit: Unit, folders: Folders): Promise<void> {
  const file = pidFile(unit, folders);
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, "utf8"));
  rmSync(file);
  if (!runs(pid)) throw new Error(`${unit.name} had ended by itself`);
  process.kill(pid, "SIGTERM");
  const end = performance.now() + Number(unit.values("TimeoutStopSec")[0]) * 1000;
  while (runs(pid)) {
    if (performance.now() > end) {
      process.kill(pid, "SIGKILL");
      throw new Error(`${unit.name} did not stop in time`);
    }
    await pause(20);
  }
}

/** True while a process runs. A zombie has ended: nobody has asked for its exit code yet. */
function runs(pid: number): boolean {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
  return stdout.trim() !== "" && !stdout.startsWith("Z");
}

/** Runs a command with the arguments of systemctl. Timers are not run. Gives the exit code. */
export async function systemctl(args: readonly string[], folders: Folders): Promise<number> {
  const [verb = "", ...names] = args.filter((word) => !word.startsWith("--"));
  if (verb === "daemon-reload") return 0;
  for (const name of names.filter((one) => !one.endsWith(".timer"))) {
    const unit = readUnit(folders, name);
    if (verb === "restart" || verb === "stop") await stop(unit, folders);
    const code = verb === "stop" ? 0 : start(unit, folders);
    if (code !== 0) return code;
  }
  return 0;
}

if (import.meta.main) {
  const [units = "", run = "", ...args] = process.argv.slice(2);
  process.exitCode = await systemctl(args, { units, run });
}
