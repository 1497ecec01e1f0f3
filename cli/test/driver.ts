// Runs one command line after another in one process, for tests: each with an environment of its own, and with waits that are fifty times shorter.
import { syncBuiltinESMExports } from "node:module";
import { createInterface } from "node:readline";
import timers from "node:timers/promises";

const waitFully = timers.setTimeout;
timers.setTimeout = ((ms: number, value: unknown, options: object) => waitFully(ms / 50, value, options)) as never;
syncBuiltinESMExports();

const { runCommandLine } = await import("../../gateway/src/cli/run.ts");
const { explain, isInterrupt } = await import("../src/failures.ts");
const { ownCommands } = await import("../src/table.ts");

/** A command to run. Somebody presses Ctrl-C as soon as it tells them `interruptAt`. */
interface Command {
  args: string[];
  env: Record<string, string>;
  cwd: string;
  terminal?: { columns: number; rows: number };
  interruptAt?: string;
}

/** One line each: a command, or that somebody presses Ctrl-C. */
type Asked = Command | { interrupt: true };

let interruptAt: string | undefined;

const tell = process.stdout.write.bind(process.stdout);
for (const name of ["stdout", "stderr"] as const)
  process[name].write = (text: string | Uint8Array) => {
    const taken = tell(`${JSON.stringify({ [name]: text })}\n`);
    if (interruptAt !== undefined && String(text).includes(interruptAt)) process.emit("SIGINT");
    return taken;
  };

createInterface(process.stdin).on("line", (text) => {
  const asked = JSON.parse(text) as Asked;
  if ("interrupt" in asked) {
    process.emit("SIGINT");
    return;
  }
  process.env = asked.env;
  process.chdir(asked.cwd);
  interruptAt = asked.interruptAt;
  Object.assign(process.stdout, { isTTY: asked.terminal !== undefined, ...asked.terminal });
  const program = { commands: ownCommands(), version: "0.0.0", explain, isInterrupt };
  void runCommandLine(program, asked.args).then((code) => tell(`${JSON.stringify({ code })}\n`));
});
