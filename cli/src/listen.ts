// The command `listen`: hands the events of a sandbox on to a program on this machine, which no webhook from outside could reach.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { UsageError } from "../../gateway/src/cli/command.ts";
import { Trouble } from "./failures.ts";
import { type Identity, identityOf, withV1 } from "./identity.ts";
import { Cursor } from "./listener/cursor.ts";
import { Feed } from "./listener/feed.ts";
import { isEventId } from "./listener/ids.ts";
import { Listener } from "./listener/listener.ts";
import { listenerSecret } from "./listener/own-signature.ts";
import { paintOf } from "./output/color.ts";
import { say, write } from "./output/print.ts";
import { words } from "./output/text.ts";
import { configFolder } from "./profiles.ts";

/** After Ctrl-C a delivery in flight may still be answered for this long. */
const GRACE_MS = 3_000;

export type ListenerKey = Pick<Identity, "clientId" | "secret" | "baseUrl">;

interface Given {
  "forward-to": string | undefined;
  profile: string | undefined;
  "base-url": string | undefined;
  "client-id": string | undefined;
  secret: string | undefined;
  "as-sent": boolean;
  "print-secret": boolean;
  from: string | undefined;
}

export async function listenCommand(given: Given): Promise<number> {
  const forwardTo = given["forward-to"];
  const key = keyOf(given);
  if (!key.clientId.startsWith("ak_test_"))
    throw new UsageError("listening works only in a sandbox: use a key that begins with ak_test_");
  if (given["print-secret"]) {
    write(words`${listenerSecret(key.secret)}\n`);
    return 0;
  }
  if (forwardTo === undefined || !URL.canParse(forwardTo))
    throw new UsageError("--forward-to is needed: an address such as http://localhost:3000/hook");
  const { username, password } = new URL(forwardTo);
  if (username !== "" || password !== "")
    throw new UsageError("--forward-to takes no name and no password before the host of its address");
  const { from } = given;
  if (from !== undefined && !isEventId(from))
    throw new UsageError("--from takes the id of an event, which begins with evt_");
  return listenTo(key, { forwardTo, asSent: given["as-sent"], from, ...signals() });
}

interface Wanted {
  forwardTo: string;
  asSent: boolean;
  /** An event that was handed on before: it is handed on again, with all that came after it. */
  from?: string | undefined;
  stop: AbortSignal;
  cut: AbortSignal;
}

/** Hands events on until `stop` aborts. Throws `Trouble` when another process listens with this key. */
export async function listenTo(
  { clientId, secret, baseUrl }: ListenerKey,
  { forwardTo, asSent, from, stop, cut }: Wanted,
): Promise<number> {
  const cursor = new Cursor(join(stateFolder(), "listen"), clientId);
  const own = asSent ? undefined : listenerSecret(secret);
  say(
    own === undefined
      ? words`Deliveries keep the service's signatures, made with the secret of your sandbox's webhooks.`
      : words`Deliveries are signed with ${own}`,
  );
  try {
    if (from !== undefined) cursor.goBackTo(from);
    return await new Listener({
      feed: new Feed({ clientId, secret, baseUrl, now: Date.now }),
      cursor,
      now: Date.now,
      forwardTo,
      secret: own,
      print: (line) => write(words`${line}\n`),
      say,
      paint: paintOf(process.stdout),
      stop,
      cut,
    }).run();
  } finally {
    cursor.release();
  }
}

function keyOf(given: Given): ListenerKey {
  const { "base-url": baseUrl, "client-id": clientId, secret } = given;
  if (clientId === undefined && secret === undefined) {
    const known = identityOf(given);
    return baseUrl === undefined ? known : { ...known, baseUrl: withV1(baseUrl) };
  }
  if (clientId === undefined || secret === undefined)
    throw new UsageError("--client-id and --secret belong together: give both, or neither");
  if (!clientId.startsWith("ak_test_")) return { clientId, secret, baseUrl: "" };
  const { GERBANG_BASE_URL: own, BASE_URL: ofService } = process.env;
  const address = baseUrl ?? (own || ofService);
  if (address === undefined || address === "")
    throw new Trouble("The address of this key's service is missing. Give --base-url, or set GERBANG_BASE_URL.");
  return { clientId, secret, baseUrl: withV1(address) };
}

/** Folder for the listeners' positions: beside the data of a service that runs from here, else with the profiles. */
export function stateFolder(): string {
  const data = process.env.GERBANG_DATA || ".data";
  return process.env.GERBANG_DATA || existsSync(data) ? data : configFolder();
}

/** `stop` aborts at Ctrl-C, and when the reader of standard output is gone; `cut` aborts GRACE_MS later. */
export function signals(): { stop: AbortSignal; cut: AbortSignal } {
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
