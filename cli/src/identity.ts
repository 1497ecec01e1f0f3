// Chooses the key of a command: the environment's, else that of a profile, else the demo merchant's of a service that runs from this folder.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Gerbang } from "../../sdk/src/gerbang.ts";
import { remember, rememberAddressFile } from "./answers.ts";
import { Trouble } from "./failures.ts";
import { say } from "./output/print.ts";
import { words } from "./output/text.ts";
import { Profiles } from "./profiles.ts";
import { version } from "./version.ts";

export interface Identity {
  clientId: string;
  secret: string;
  /** Ends in /v1. */
  baseUrl: string;
  /** Where the key comes from, in words for people. */
  from: string;
  /** The key's merchant, if it is known: the portal's addresses contain it. */
  merchantId: string | undefined;
  portalUrl: string | undefined;
}

/** The options that choose the key. */
interface Named {
  profile?: string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Throws `Trouble` when there is no key, or half of one. */
export function identityOf({ profile: named }: Named, environment: Environment = process.env): Identity {
  rememberAddressFile(undefined);
  const set = (name: string): string | undefined => environment[name] || undefined;
  const [clientId, secret] = [set("GERBANG_CLIENT_ID"), secretOf(environment)];
  const baseUrl = set("GERBANG_BASE_URL") ?? set("BASE_URL");
  if ((clientId === undefined) !== (secret === undefined))
    throw new Trouble("GERBANG_CLIENT_ID and GERBANG_SECRET belong together: set both, or neither.");
  if (clientId !== undefined && secret !== undefined) {
    if (named !== undefined)
      throw new Trouble(
        "GERBANG_CLIENT_ID is set, and --profile names another key: unset the one, or leave out the other.",
      );
    // The key of one installation must not be sent to the address of another.
    if (baseUrl === undefined)
      throw new Trouble(
        "GERBANG_CLIENT_ID is set without the address of its service: set GERBANG_BASE_URL too, such as https://pay.example.com/v1.",
      );
    return {
      clientId,
      secret,
      baseUrl: withV1(baseUrl),
      from: "GERBANG_CLIENT_ID",
      merchantId: undefined,
      portalUrl: undefined,
    };
  }
  const found = new Profiles().find(named ?? set("GERBANG_PROFILE"));
  if (found) {
    const { client_id, secret: own, base_url, merchant_id: merchantId, portal_url: portalUrl } = found.profile;
    const identity = { clientId: client_id, secret: own, merchantId, portalUrl };
    return { ...identity, baseUrl: withV1(set("GERBANG_BASE_URL") ?? base_url), from: `profile ${found.name}` };
  }
  const demo = demoIdentity(environment);
  if (demo) {
    if (baseUrl === undefined) rememberAddressFile(demo.file);
    return { ...demo, baseUrl: withV1(baseUrl ?? demo.baseUrl) };
  }
  throw new Trouble(
    "There is no key to use. Sign in with gerbang login --base-url https://…/v1, or set GERBANG_CLIENT_ID, GERBANG_SECRET and GERBANG_BASE_URL. For the demo merchant of a service on this machine, run this in the folder where it was started, or set GERBANG_DATA.",
  );
}

/** The API client of a command. Its deadline is as long as a person waits at a terminal. */
export function clientOf(named: Named): Gerbang {
  const { clientId, secret, baseUrl } = identityOf(named);
  return new Gerbang({
    clientId,
    secret,
    baseUrl,
    deadlineMs: 30_000,
    sleep: (ms, signal) => sleep(ms, undefined, signal ? { signal } : {}),
    hooks: {
      onResponse: ({ requestId }) => remember({ requestId }),
      // Tells the person at the terminal why the command waits.
      onRetry: ({ error, waitMs }) =>
        say(words`${error.code}: trying again${waitMs < 500 ? "" : ` in ${Math.round(waitMs / 1000)} s`} …`),
    },
    fetch: (address, init) =>
      fetch(address, { ...init, headers: { ...(init?.headers as Record<string, string>), "user-agent": userAgent } }),
  });
}

export const userAgent = `gerbang-cli/${version} (${process.platform}; node ${process.versions.node})`;

function secretOf(environment: Environment): string | undefined {
  const { GERBANG_SECRET: own = "", GERBANG_SECRET_FILE: file = "" } = environment;
  if (own !== "" && file !== "")
    throw new Trouble("GERBANG_SECRET and GERBANG_SECRET_FILE are both set: unset one of them.");
  if (file === "") return own || undefined;
  try {
    return readFileSync(file, "utf8").trim();
  } catch (cause) {
    throw new Trouble(`GERBANG_SECRET_FILE names ${file}, which cannot be read.`, { cause });
  }
}

/** The demo merchant of a development installation, whose file the service writes at its start. */
export function demoIdentity(environment: Environment = process.env): (Identity & { file: string }) | undefined {
  const file = join(environment.GERBANG_DATA || ".data", "demo.json");
  let demo: Record<string, unknown>;
  try {
    demo = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new Trouble(`${file} cannot be read as the demo merchant's.`, { cause: error });
  }
  const { client_id: clientId, secret, base_url: baseUrl, merchant_id: merchantId } = demo;
  if (typeof clientId !== "string" || typeof secret !== "string" || typeof baseUrl !== "string") return undefined;
  return {
    file,
    clientId,
    secret,
    baseUrl,
    from: `the demo merchant of ${file}`,
    merchantId: typeof merchantId === "string" ? merchantId : undefined,
    portalUrl: portalOf(baseUrl),
  };
}

/** The part of the address before /v1. Throws `Trouble` for an invalid address. */
export function originOf(baseUrl: string): string {
  if (!URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol))
    throw new Trouble(`${baseUrl} is not the address of a service. One looks like https://pay.example.com/v1.`);
  const { origin, pathname } = new URL(baseUrl);
  return origin + pathname.replace(/\/+$/, "").replace(/\/v1$/, "");
}

const LOOPBACK = new Set(["127.0.0.1", "[::1]", "0.0.0.0", "[::]"]);

/** The portal at a service. On this machine it is signed in to by name, as in the service's own links: a session belongs to one host. */
export function portalOf(baseUrl: string): string {
  const url = new URL(`${originOf(baseUrl)}/portal`);
  if (LOOPBACK.has(url.hostname)) url.hostname = "localhost";
  return url.href;
}

export const withV1 = (baseUrl: string): string => `${originOf(baseUrl)}/v1`;
