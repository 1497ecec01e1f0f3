// The commands `login`, `logout` and `profiles`: a person confirms a code in the portal (RFC 8628), and the key is stored on this machine.
import { hostname } from "node:os";
import { openInBrowser } from "./browser.ts";
import { UnexpectedAnswer, remember } from "./answers.ts";
import { Interrupted, Trouble } from "./failures.ts";
import { demoIdentity, originOf, userAgent } from "./identity.ts";
import { paintOf } from "./output/color.ts";
import { printTable, say, stopped, write } from "./output/print.ts";
import { joined, jsonOf, words } from "./output/text.ts";
import { pause } from "./pause.ts";
import { CLIENT_ID, PROFILE_NAME, type Profile, Profiles } from "./profiles.ts";

const ANSWER_MS = 15_000;
const ANSWER_MAX = 100_000; // characters
/** Requests without a response in a row before login gives up: a network may be gone for a moment. */
const LOST_MAX = 5;
/** Seconds between two requests. */
const INTERVAL_MIN = 1;
const INTERVAL_MAX = 60;
/** Seconds for which a code is asked about, whatever the service says. */
const LASTS_MAX = 3_600;

/** What the portal calls the key. */
const KEY_NAME = `gerbang CLI on ${hostname()}`.slice(0, 60);

interface Login {
  "base-url": string | undefined;
  profile: string | undefined;
  production: boolean;
  "no-browser": boolean;
}

interface Begun {
  device_code: string;
  user_code: string;
  verification_uri_complete: string;
  expires_in: number;
  interval: number;
}

export async function loginCommand(given: Login): Promise<number> {
  const profiles = new Profiles();
  const name = given.profile ?? (process.env.GERBANG_PROFILE || "default");
  if (!PROFILE_NAME.test(name)) throw new Trouble(`${JSON.stringify(name)} is not a valid profile name.`);
  const { profiles: known } = profiles.read();
  const before = Object.hasOwn(known, name) ? known[name] : undefined;
  const origin = originOf(given["base-url"] ?? baseUrlOf(profiles, name));
  const environment = given.production ? "production" : "sandbox";
  const begun = begunOf(await ask(origin, "", { name: KEY_NAME, environment }));
  const page = pageOf(begun.verification_uri_complete);
  say(words`Open ${page}\nand compare the code there: ${paintOf(process.stderr)("bold", begun.user_code)}`);
  if (!given["no-browser"] && process.stderr.isTTY) void openInBrowser(page);
  say(words`Waiting for you to confirm … (Ctrl-C ends it)`);
  const granted = await answered(origin, begun);
  if (granted === undefined) return 1;
  profiles.keep(name, granted);
  say(
    words`Signed in: ${granted.merchant_name}, ${granted.environment}. The key is kept as profile ${name} in ${profiles.file}, and used from now on where no other is named.`,
  );
  // Somebody else who saw the code could have confirmed it for a merchant of their own, who would then get this profile's payments.
  if (before !== undefined && before.merchant_id !== granted.merchant_id)
    say(
      words`Check this: profile ${name} was for ${before.merchant_name} (${before.merchant_id}) until now, and is for ${granted.merchant_name} (${granted.merchant_id}) from now on. If you did not choose that, run gerbang logout and sign in again.`,
    );
  return 0;
}

/** Throws `UnexpectedAnswer` when the response has a format that this version does not know. */
function begunOf(answer: Record<string, unknown>): Begun {
  const { device_code, user_code, verification_uri_complete, expires_in, interval } = answer;
  if (
    typeof device_code === "string" &&
    typeof user_code === "string" &&
    typeof verification_uri_complete === "string" &&
    isWhole(expires_in) &&
    isWhole(interval)
  )
    return { device_code, user_code, verification_uri_complete, expires_in, interval };
  throw new UnexpectedAnswer("it begins no login");
}

const isWhole = (value: unknown): value is number => Number.isInteger(value);

/** The service to sign in to when none is named: that of the environment, else the one of the profile before, else the one that runs from this folder. */
function baseUrlOf(profiles: Profiles, name: string): string {
  const own = process.env.GERBANG_BASE_URL || process.env.BASE_URL;
  if (own) return own;
  const { current, profiles: known } = profiles.read();
  const before = Object.hasOwn(known, name) ? known[name] : current === undefined ? undefined : known[current];
  const address = before?.base_url ?? demoIdentity()?.baseUrl;
  if (address !== undefined) return address;
  throw new Trouble("The service's address is missing. Name it: gerbang login --base-url https://pay.example.com/v1");
}

/**
 * Polls until somebody has answered. Undefined when there is no key; the reason is printed. The service gives the key to one poll alone: when its
 * answer is lost, the next poll is told that the code is over.
 */
async function answered(origin: string, { device_code, interval, expires_in }: Begun): Promise<Profile | undefined> {
  const stop = stopped();
  let waitSeconds = paceOf(interval);
  let lost = 0;
  let isUnsure = false;
  for (let left = Math.min(LASTS_MAX, expires_in) + 30; left > 0; left -= waitSeconds) {
    await pause(waitSeconds * 1000, stop);
    if (stop.aborted) throw new Interrupted("Stopped. Nothing was kept; the code expires in a few minutes.");
    let answer: Record<string, unknown>;
    try {
      answer = await ask(origin, "/token", { device_code });
      lost = 0;
    } catch (error) {
      if (!(error instanceof Lost) || ++lost > LOST_MAX) throw error;
      isUnsure = true;
      continue;
    }
    if (answer.status === "granted") return profileOf(origin, answer);
    if (answer.status === "access_denied") {
      say(words`The request was refused in the portal, so there is no key.`);
      return undefined;
    }
    if (answer.status === "expired_token") break;
    if (typeof answer.interval === "number") waitSeconds = paceOf(answer.interval);
  }
  say(
    isUnsure
      ? words`The code is over, and an answer about it was lost. If it was confirmed, its key ${KEY_NAME} was made and never came here: revoke it in the portal, under Developers, Keys. Then start again with gerbang login.`
      : words`The code has expired: nobody confirmed it in time. Start again with gerbang login.`,
  );
  return undefined;
}

/** Seconds until the next request, as the service wants it within reason. */
const paceOf = (interval: number): number => Math.min(INTERVAL_MAX, Math.max(INTERVAL_MIN, interval));

/** The key is used at the address that was asked for it, whatever address the response names. Throws `UnexpectedAnswer` for a response without a key. */
function profileOf(origin: string, answer: Record<string, unknown>): Profile {
  const text = (name: string): string => {
    const value = answer[name];
    if (typeof value !== "string")
      throw new UnexpectedAnswer(`it has no ${name}. Is this command older than the service?`);
    return value;
  };
  const clientId = text("client_id");
  if (!CLIENT_ID.test(clientId)) throw new UnexpectedAnswer("its client_id is no identifier of a key");
  return {
    client_id: clientId,
    secret: text("secret"),
    base_url: `${origin}/v1`,
    environment: text("environment") === "production" ? "production" : "sandbox",
    merchant_id: text("merchant_id"),
    merchant_name: text("merchant_name"),
    portal_url: text("portal_url"),
  };
}

/** No response, or one that is not the service's: the next request may succeed. */
class Lost extends Trouble {}

async function ask(origin: string, path: string, body: object): Promise<Record<string, unknown>> {
  const url = `${origin}/portal/v1/device-codes${path}`;
  let status: number;
  let text: string;
  try {
    const answer = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json", "user-agent": userAgent },
      body: JSON.stringify(body),
      // The body contains a secret, which must not follow a redirect.
      redirect: "error",
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    status = answer.status;
    remember({ requestId: answer.headers.get("x-request-id") ?? undefined });
    text = await bounded(answer);
  } catch (error) {
    const cause = (error as { cause?: { message?: string } }).cause?.message ?? (error as Error).message;
    throw new Lost(`${url} does not answer: ${cause}. Is the address right, and does the service run?`);
  }
  const value = parsed(text);
  if (status < 300 && value) return value;
  const failure = value?.error as { code?: unknown; message?: unknown } | undefined;
  if (typeof failure?.code !== "string" || typeof failure.message !== "string")
    throw new Lost(`${url} answered ${status}, but not as this service would. Is the address right?`);
  if (failure.code === "ROUTE_NOT_FOUND")
    throw new Trouble(`${origin} is not the service's address. It ends in /v1: https://pay.example.com/v1`);
  const sentence = `${failure.code}: ${failure.message}`;
  throw status >= 500 || status === 429 ? new Lost(sentence) : new Trouble(sentence);
}

async function bounded(answer: Response): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const part of answer.body ?? []) {
    text += decoder.decode(part, { stream: true });
    if (text.length > ANSWER_MAX) throw new Error("the answer is too long");
  }
  return text;
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined; // a page of a proxy: the error names its status
  }
}

/** Returns an address that is safe to open in a browser. Throws `Trouble` for any other. */
function pageOf(address: string): string {
  if (URL.canParse(address) && /^https?:$/.test(new URL(address).protocol)) return new URL(address).href;
  throw new Trouble("The service named a page that is not a web address.");
}

export function logoutCommand({ profile }: { profile: string | undefined }): Promise<number> {
  const profiles = new Profiles();
  const found = profiles.find(profile ?? (process.env.GERBANG_PROFILE || undefined));
  if (!found) throw new Trouble("There is no profile to forget.");
  const { current } = profiles.read();
  profiles.forget(found.name);
  const { client_id: id, portal_url: portal, merchant_id: merchant, environment } = found.profile;
  say(
    words`Forgot profile ${found.name}. Its key ${id} stays valid until you revoke it: ${portal}/${merchant}/${environment}/developers/keys`,
  );
  // The next one may be of production.
  const next = found.name === current ? profiles.find() : undefined;
  if (next) say(words`Commands use profile ${next.name} (${next.profile.environment}) from now on.`);
  return Promise.resolve(0);
}

export function profilesCommand({ json }: { json: boolean }): Promise<number> {
  const { current, profiles } = new Profiles().read();
  const rows = Object.entries(profiles).map(([name, profile]) => {
    const { client_id, base_url, environment, merchant_id, merchant_name } = profile;
    return { name, in_use: name === current, client_id, base_url, environment, merchant_id, merchant_name };
  });
  if (json) write(joined(rows.map(jsonOf), ""));
  else if (rows.length === 0) say(words`There is no profile yet. Create one with gerbang login.`);
  else {
    const columns = [
      { head: "", cell: (row: (typeof rows)[number]) => (row.in_use ? "*" : "") },
      { head: "PROFILE", cell: (row: (typeof rows)[number]) => row.name },
      { head: "MERCHANT", cell: (row: (typeof rows)[number]) => row.merchant_name },
      { head: "ENVIRONMENT", cell: (row: (typeof rows)[number]) => row.environment },
      { head: "KEY", cell: (row: (typeof rows)[number]) => row.client_id },
      { head: "SERVICE", cell: (row: (typeof rows)[number]) => row.base_url },
    ];
    printTable(columns, rows);
  }
  return Promise.resolve(0);
}

export function useCommand(name: string): Promise<number> {
  new Profiles().use(name);
  say(words`Profile ${name} is used from now on.`);
  return Promise.resolve(0);
}
