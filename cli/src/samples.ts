// The command `samples`: example shops, started in one command with a sandbox's key, and with the events of that sandbox handed on to them.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { say } from "../../gateway/src/cli/say.ts";
import { Trouble } from "./failures.ts";
import { identityOf } from "./identity.ts";
import { type ListenerKey, listenTo, signals, stateFolder } from "./listen.ts";
import { listenerSecret } from "./listener/own-signature.ts";
import { paintOf } from "./output/color.ts";
import { write } from "./output/print.ts";
import { tableOf } from "./output/table.ts";

export interface Sample {
  language: string;
  /** Below the root of the examples. */
  folder: string;
  command: readonly string[];
  env: Readonly<Record<string, string>>;
  port: number;
  /** Where it takes events. */
  webhook: string;
  /** What has to be on the machine, for people. */
  needs: string;
}

/** Beside the sources, in a checkout and in the package alike. */
const root = fileURLToPath(new URL("../..", import.meta.url));

export function readSamples(): Readonly<Record<string, Sample>> {
  const file = join(root, "examples/samples.json");
  if (!existsSync(file)) throw new Trouble("The examples are not here: they come with a checkout of the gateway.");
  return JSON.parse(readFileSync(file, "utf8")) as Record<string, Sample>;
}

export async function samplesCommand({ profile }: { profile: string | undefined }, name?: string): Promise<number> {
  const samples = readSamples();
  if (name === undefined) {
    const columns = [
      { head: "SAMPLE", cell: ([each]: [string, Sample]) => each },
      { head: "LANGUAGE", cell: ([, { language }]: [string, Sample]) => language },
      { head: "NEEDS", cell: ([, { needs }]: [string, Sample]) => needs },
      { head: "SOURCE", cell: ([, { folder }]: [string, Sample]) => folder },
    ];
    write(tableOf(columns, Object.entries(samples), paintOf(process.stdout)));
    return 0;
  }
  const sample = samples[name];
  if (!sample) throw new Trouble(`There is no sample ${JSON.stringify(name)}: gerbang samples lists them.`);
  const { clientId, secret, baseUrl } = identityOf({ profile });
  if (!clientId.startsWith("ak_test_")) throw new Trouble("A sample sells in a sandbox alone: use a key of it.");
  return runSample(name, sample, { clientId, secret, baseUrl }, signals());
}

/** Runs until it is stopped, which is 0, or the shop ends by itself. */
export async function runSample(
  name: string,
  { folder, command, env, port, webhook, needs }: Sample,
  key: ListenerKey,
  { stop, cut }: { stop: AbortSignal; cut: AbortSignal },
): Promise<number> {
  const data = join(stateFolder(), "samples");
  mkdirSync(data, { recursive: true, mode: 0o700 });
  const [program = "", ...args] = command;
  const child = spawn(program === "node" ? process.execPath : program, args, {
    cwd: join(root, folder),
    // What it writes are words here: nobody's data.
    stdio: ["ignore", process.stderr, process.stderr],
    env: {
      ...process.env,
      ...env,
      PORT: String(port),
      DATABASE: join(data, `${name}.sqlite`),
      GERBANG_CLIENT_ID: key.clientId,
      GERBANG_SECRET: key.secret,
      GERBANG_BASE_URL: key.baseUrl,
      GERBANG_WEBHOOK_SECRET: listenerSecret(key.secret),
    },
  });
  const ended = new AbortController();
  const end = ending(child).finally(() => ended.abort());
  stop.addEventListener("abort", () => void child.kill("SIGTERM"), { once: true });
  say(
    `The shop is at http://localhost:${port}. Buy something; gerbang payments simulate pay_… pays for it. Ctrl-C ends both.`,
  );
  const forwardTo = `http://127.0.0.1:${port}${webhook}`;
  const heard = listenTo(key, { forwardTo, asSent: false, stop: AbortSignal.any([stop, ended.signal]), cut });
  const outcome = await end;
  const listened = await heard.catch((error: unknown) => error);
  if (stop.aborted) return 0;
  if (listened instanceof Error) throw listened;
  throw new Trouble(`The shop ended (${outcome}). It needs ${needs}.`);
}

/** How a program ended, in words: a program that is not there never began. */
function ending(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once("error", ({ message }) => resolve(message));
    child.once("exit", (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
}
