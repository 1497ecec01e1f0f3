// The command `samples`: starts an example shop with a sandbox's key, and hands the events of that sandbox on to it.
import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Trouble } from "./failures.ts";
import { identityOf, originOf } from "./identity.ts";
import { type ListenerKey, listenTo, signals, stateFolder } from "./listen.ts";
import { listenerSecret } from "./listener/own-signature.ts";
import { printTable, say } from "./output/print.ts";
import { words } from "./output/text.ts";

export interface Sample {
  language: string;
  /** Its folder: in the table a path below `root`. */
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
/** The package holds the client library within its own code, and no package of it. */
const isCheckout = existsSync(join(root, "sdk/package.json"));

export function readSamples(): Readonly<Record<string, Sample>> {
  const file = join(root, "examples/samples.json");
  if (!existsSync(file)) throw new Trouble("The examples are missing: install the command line again.");
  return JSON.parse(readFileSync(file, "utf8")) as Record<string, Sample>;
}

export interface SamplesOptions {
  profile: string | undefined;
  port: string;
}

export async function samplesCommand({ profile, port }: SamplesOptions, name?: string): Promise<number> {
  const samples = readSamples();
  if (name === undefined) {
    const columns = [
      { head: "SAMPLE", cell: ([each]: [string, Sample]) => each },
      { head: "LANGUAGE", cell: ([, { language }]: [string, Sample]) => language },
      { head: "NEEDS", cell: ([, { needs }]: [string, Sample]) => needs },
      { head: "SOURCE", cell: ([, { folder }]: [string, Sample]) => folder },
    ];
    printTable(columns, Object.entries(samples));
    return 0;
  }
  const sample = samples[name];
  if (!sample) throw new Trouble(`There is no sample ${JSON.stringify(name)}: gerbang samples lists them.`);
  const { clientId, secret, baseUrl } = identityOf({ profile });
  if (!clientId.startsWith("ak_test_")) throw new Trouble("A sample runs only in a sandbox: use one of its keys.");
  const folder = isCheckout ? join(root, sample.folder) : await ownCopy(name, sample, originOf(baseUrl));
  return runSample(name, { ...atPort(sample, Number(port)), folder }, { clientId, secret, baseUrl }, signals());
}

/** The sample at another port: programs read it from PORT, or have it in their command. */
export const atPort = (sample: Sample, port: number): Sample => ({
  ...sample,
  port,
  command: sample.command.map((part) => part.replace(`:${sample.port}`, `:${port}`)),
});

/** Clients of one file, as they lie in the package, by the languages of samples. */
const clients: Readonly<Record<string, string>> = {
  Python: "clients/python/gerbang.py",
  PHP: "clients/php/Gerbang.php",
};

/**
 * Makes the shop a folder of its own here, for the developer to keep and change, with the client of its language; gives the folder. One that is there
 * already is used as it is. Throws `Trouble` when the packages of a shop cannot be installed; then nothing is left.
 */
async function ownCopy(name: string, { folder, language }: Sample, origin: string): Promise<string> {
  const own = join(process.cwd(), `shop-with-${name}`);
  if (existsSync(own)) return own;
  const draft = `${own}.${process.pid}`;
  cpSync(join(root, folder), draft, { recursive: true });
  try {
    const client = clients[language];
    if (client !== undefined) cpSync(join(root, client), join(draft, client.slice(client.lastIndexOf("/"))));
    else await install(`${origin}/docs/files/gerbang-sdk.tgz`, draft);
    renameSync(draft, own);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  say(words`The shop is yours, in ${own}: change it as you like, and run this again.`);
  return own;
}

/** Installs a package, and what the folder needs besides. Throws `Trouble` when npm cannot. */
async function install(packed: string, folder: string): Promise<void> {
  // No script of a package runs: the environment may hold keys.
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", packed];
  const shell = process.platform === "win32";
  const outcome = await ending(
    spawn("npm", args, { cwd: folder, stdio: ["ignore", process.stderr, process.stderr], shell }),
  );
  if (outcome !== "exit code 0")
    throw new Trouble(`npm could not install what the shop needs (${outcome}), from ${packed} and npm's registry.`);
}

/** Runs until it is stopped, and returns 0. Throws `Trouble` when the shop ends by itself. */
export async function runSample(
  name: string,
  { folder, command, env, port, webhook, needs }: Sample,
  key: ListenerKey,
  { stop, cut }: { stop: AbortSignal; cut: AbortSignal },
): Promise<number> {
  const data = resolve(stateFolder(), "samples"); // the shop runs in another folder
  mkdirSync(data, { recursive: true, mode: 0o700 });
  const [program = "", ...args] = command;
  const child = spawn(program === "node" ? process.execPath : program, args, {
    cwd: folder,
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
    words`The shop is at http://localhost:${port}. Buy something; gerbang payments simulate pay_… pays for it. Ctrl-C ends both.`,
  );
  const forwardTo = `http://127.0.0.1:${port}${webhook}`;
  // A shop that hears of no payment is of no use: it ends with the listener that failed.
  const heard = listenTo(key, { forwardTo, asSent: false, stop: AbortSignal.any([stop, ended.signal]), cut }).catch(
    (error: unknown) => {
      child.kill("SIGTERM");
      return error;
    },
  );
  const outcome = await end;
  const listened = await heard;
  if (stop.aborted) return 0;
  if (listened instanceof Error) throw listened;
  throw new Trouble(
    `The shop ended (${outcome}). It needs ${needs}. Port ${port} must be free; choose another with --port.`,
  );
}

/** How a program ended, in words. A program that does not exist has an error in place of an exit. */
function ending(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once("error", ({ message }) => resolve(message));
    child.once("exit", (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
}
