// The command `samples`: starts an example shop with a sandbox's key, and hands the events of that sandbox on to it.
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
  /** Path below `root`. */
  folder: string;
  command: readonly string[];
  env: Readonly<Record<string, string>>;
  port: number;
  /** Path at which the shop takes events. */
  webhook: string;
  /** Software that the machine must have, in words for people. */
  needs: string;
}

/** The folder above the sources, in a checkout and in the package alike. */
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

/** Runs until it is stopped, and returns 0. Throws `Trouble` when the shop ends by itself. */
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
    // The shop's output is not data of this command, so it goes to standard error.
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

/** How a program ended, in words. A program that does not exist has an error in place of an exit. */
function ending(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once("error", ({ message }) => resolve(message));
    child.once("exit", (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
}
