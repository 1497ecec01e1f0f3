// The command `gerbang listen`: events of a sandbox, handed on to a program on this machine, which no webhook from outside could reach.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Agent } from "undici";
import { z } from "zod";
import { systemClock } from "../ground/clock.ts";
import { type Config, ConfigError, readConfig } from "../ground/config.ts";
import { UsageError } from "./command.ts";
import { Cursor } from "./listener/cursor.ts";
import { Feed } from "./listener/feed.ts";
import { Listener } from "./listener/listener.ts";
import { say } from "./say.ts";

/** After Ctrl-C a delivery that is under way may still be answered. */
const GRACE_MS = 3_000;

interface Identity {
  baseUrl: string;
  clientId: string;
  secret: string;
}

interface Given {
  "forward-to": string;
  "base-url": string | undefined;
  "client-id": string | undefined;
  secret: string | undefined;
}

export async function listenCommand(given: Given): Promise<number> {
  const { "forward-to": forwardTo, "base-url": baseUrl, "client-id": clientId, secret } = given;
  if (!isHttp(forwardTo)) throw new UsageError("--forward-to is an address such as http://localhost:3000/hook");
  if ((clientId === undefined) !== (secret === undefined))
    throw new UsageError("--client-id and --secret belong together: give both, or neither");
  const config = readConfig();
  const identity = identityOf(config, baseUrl, clientId, secret);
  if (!identity.clientId.startsWith("ak_test_"))
    throw new UsageError("only a sandbox can be listened to: use a key that begins with ak_test_");
  const { stop, cut } = signals();
  const cursor = new Cursor(join(config.dataDirectory, "listen"), identity.clientId);
  const agent = new Agent({ keepAliveTimeout: 4_000 });
  try {
    return await new Listener({
      feed: new Feed({ ...identity, clock: systemClock, agent }),
      cursor,
      clock: systemClock,
      agent,
      forwardTo,
      print: (line) => void process.stdout.write(`${line}\n`),
      say,
      color: process.stdout.isTTY && process.stdout.hasColors(),
      stop,
      cut,
    }).run();
  } finally {
    cursor.release();
    await agent.destroy();
  }
}

/** Ctrl-C, and a reader of our lines that has gone. */
function signals(): { stop: AbortSignal; cut: AbortSignal } {
  const stop = new AbortController();
  const cut = new AbortController();
  const end = (): void => {
    if (stop.signal.aborted) return;
    stop.abort();
    void pause(GRACE_MS, undefined, { ref: false }).then(() => cut.abort());
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, end);
  process.stdout.on("error", end);
  return { stop: stop.signal, cut: cut.signal };
}

const demoSchema = z.object({ base_url: z.string(), client_id: z.string(), secret: z.string() });

/** From the options, else the environment, else the demo merchant of a development installation. */
function identityOf(
  config: Config,
  baseUrl: string | undefined,
  clientId: string | undefined,
  secret: string | undefined,
): Identity {
  const given = clientId !== undefined && secret !== undefined ? { clientId, secret } : config.credential;
  const url = baseUrl ?? config.baseUrl;
  if (given && url !== undefined) return { ...given, baseUrl: checked(url) };
  const demo = readDemo(join(config.dataDirectory, "demo.json"));
  return { baseUrl: checked(url ?? demo.base_url), ...(given ?? { clientId: demo.client_id, secret: demo.secret }) };
}

function readDemo(file: string): z.infer<typeof demoSchema> {
  try {
    return demoSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch (cause) {
    throw new ConfigError(
      `Whose events? Give --base-url, --client-id and --secret, or BASE_URL, GERBANG_CLIENT_ID and GERBANG_SECRET.\n` +
        `Without them the demo merchant of ${file} is taken, which is not there: start the service once (npm start).`,
      { cause },
    );
  }
}

function checked(baseUrl: string): string {
  const url = baseUrl.replace(/\/+$/, "");
  if (!isHttp(url) || !url.endsWith("/v1")) {
    throw new ConfigError(`${baseUrl} is not the service's base address: it begins with http and ends in /v1`);
  }
  return url;
}

function isHttp(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
