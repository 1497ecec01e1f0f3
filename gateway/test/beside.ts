// Runs checks while the tests run: tests wait often, which leaves time for them. `npm test` runs this file.
import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { setPriority } from "node:os";

/** Checks get less priority than tests, some of which measure time. */
const NICENESS = 5;
/** The compiler and the linter are Go programs: on one processor, and collecting garbage seldom, they take two thirds of the work. */
const FRUGAL = { GOMAXPROCS: "1", GOGC: "400" };

/**
 * Runs a command line with this process's input and output, and meanwhile the checks, one after another. The whole output of a check goes to
 * `write` when the check ends. The first command that fails ends all others. Gives 0 when all pass, else the exit code of the failed command (1
 * when a signal ended it).
 */
export async function runBeside(
  line: string,
  checks: readonly string[],
  write: (text: string) => void = (text) => void process.stdout.write(text),
): Promise<number> {
  const running = new Set<ChildProcess>();
  const stopAll = (): void => running.forEach((child) => child.kill("SIGTERM"));
  let exitCode = 0;
  const start = (command: string, stdio: StdioOptions, environment = {}): ChildProcess => {
    // `exec` replaces the shell by the program; a shell in between would not pass signals on.
    const child = spawn("sh", ["-c", `exec ${command}`], { stdio, env: { ...process.env, ...environment } });
    running.add(child);
    return child;
  };
  /** The exit code of a process; undefined when the process was ended because another had failed. */
  const codeOf = (child: ChildProcess): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code) => {
        running.delete(child);
        if (exitCode !== 0) return resolve(undefined);
        if (code !== 0) {
          exitCode = code ?? 1;
          stopAll();
        }
        resolve(code ?? 1);
      });
    });
  const check = async (command: string): Promise<void> => {
    const child = start(command, ["ignore", "pipe", "pipe"], FRUGAL);
    if (child.pid !== undefined) setPriority(child.pid, NICENESS);
    let said = "";
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding("utf8").on("data", (text: string) => void (said += text));
    const code = await codeOf(child);
    if (code !== undefined) write(`\n${command}: ${code === 0 ? "passed" : `failed (${code})`}\n${said}`);
  };
  const checkAll = async (): Promise<void> => {
    for (const command of checks) if (exitCode === 0) await check(command);
  };
  process.once("SIGTERM", stopAll);
  try {
    await Promise.all([codeOf(start(line, "inherit")), checkAll()]);
  } finally {
    process.off("SIGTERM", stopAll);
  }
  return exitCode;
}

if (import.meta.main) {
  const packageFile = new URL("../../package.json", import.meta.url);
  const { scripts } = JSON.parse(readFileSync(packageFile, "utf8")) as { scripts: Record<string, string> };
  const checks = ["format:check", "lint", "types"].flatMap((name) => {
    const script = scripts[name];
    if (script === undefined) throw new Error(`package.json has no script ${name}`);
    return script.split(" && ");
  });
  process.exitCode = await runBeside(["vitest run", ...process.argv.slice(2)].join(" "), checks);
}
