// Runs checks beside the tests: while tests wait, there is time for them. `npm test` is this.
import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { setPriority } from "node:os";

/** Below the tests', which hold some things against the clock. */
const NICENESS = 5;

/**
 * Runs a command line with this process's own input and output, and the checks beside it, one after the other. What a check says goes whole to
 * `write`, when it ends. The first command that fails ends all others. Gives the exit code: 0 when all are well; else that of the one that failed, 1
 * where a signal ended it.
 */
export async function runBeside(
  line: string,
  checks: readonly string[],
  write: (text: string) => void = (text) => void process.stdout.write(text),
): Promise<number> {
  const running = new Set<ChildProcess>();
  const stopAll = (): void => running.forEach((child) => child.kill("SIGTERM"));
  let exitCode = 0;
  const start = (command: string, stdio: StdioOptions): ChildProcess => {
    // `exec` leaves no shell between us and the program, which would keep a signal to itself.
    const child = spawn("sh", ["-c", `exec ${command}`], { stdio });
    running.add(child);
    return child;
  };
  /** Undefined for one that was ended since another one had failed. */
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
    const child = start(command, ["ignore", "pipe", "pipe"]);
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
