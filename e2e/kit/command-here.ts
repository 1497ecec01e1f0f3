// Runs a `gerbang` command in this process, which saves the second of processor time that Node takes to load the program. Tests of the program
// itself (signals, pipes, terminals, background work) start it with `gerbang` of service.ts.
import { explain } from "../../gateway/src/cli/failures.ts";
import { runCommandLine } from "../../gateway/src/cli/run.ts";
import { commands } from "../../gateway/src/cli/table.ts";
import { version } from "../../gateway/src/ground/version.ts";
import { plainEnvironment } from "./service.ts";

interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

let last: Promise<Ran> | undefined;

/** Takes and gives the same as `gerbang` of service.ts. Commands run one at a time, because they use the process's environment and outputs. */
export function gerbangHere(args: string[], env: Record<string, string>): Promise<Ran> {
  const before = last;
  last = (async () => {
    await before;
    return run(args, { ...plainEnvironment(), LOG_LEVEL: "warn", ...env });
  })();
  return last;
}

async function run(args: string[], env: Record<string, string>): Promise<Ran> {
  const own = process.env;
  const [stdout, stderr] = [listenTo(process.stdout), listenTo(process.stderr)];
  process.env = env;
  try {
    const code = await runCommandLine({ commands, version, explain }, args);
    return { code, stdout: stdout.said(), stderr: stderr.said() };
  } finally {
    process.env = own;
    stdout.end();
    stderr.end();
  }
}

/** Captures text written to a stream, in place of the stream, until `end`. */
function listenTo(stream: NodeJS.WriteStream): { said(): string; end(): void } {
  const own = Object.getOwnPropertyDescriptor(stream, "write");
  let said = "";
  stream.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
    said += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8");
    const done = rest.at(-1);
    if (typeof done === "function") queueMicrotask(() => done());
    return true;
  };
  return {
    said: () => said,
    end() {
      Reflect.deleteProperty(stream, "write");
      if (own) Object.defineProperty(stream, "write", own);
    },
  };
}
