// Tokens of SNAP in both directions: theirs, which we ask for and keep, and ours, which they ask for and we can check without having kept.
import { createHmac, randomBytes } from "node:crypto";
import { type Clock, type Micros, SECOND } from "../../ground/clock.ts";
import { sameText } from "../../ground/crypto.ts";

/** A token is not used when it ends sooner than this: a request takes its time. */
const SPARE: Micros = 60 * SECOND;

export interface GivenToken {
  token: string;
  /** How long it is good from now on, in seconds. */
  seconds: number;
}

/** Their token. Whoever needs it while it is being asked for waits for the same answer. */
export class TokenStore {
  private readonly ask: () => Promise<GivenToken>;
  private readonly clock: Clock;
  private kept: { token: string; until: Micros } | undefined;
  private asking: Promise<string> | undefined;

  /** `ask` must end by itself. */
  constructor(ask: () => Promise<GivenToken>, clock: Clock) {
    this.ask = ask;
    this.clock = clock;
  }

  /** A token that is good for a while. Throws what `ask` throws, and when `signal` ends the waiting. */
  async current(signal: AbortSignal): Promise<string> {
    if (this.kept && this.clock.now() < this.kept.until) return this.kept.token;
    this.asking ??= this.renew();
    return await orAborted(this.asking, signal);
  }

  /** They will not take this one any more. One that came meanwhile stays. */
  forget(token: string): void {
    if (this.kept?.token === token) this.kept = undefined;
  }

  private async renew(): Promise<string> {
    try {
      const asked = this.clock.now();
      const { token, seconds } = await this.ask();
      // Short ones keep half of their time.
      const length = seconds * SECOND;
      this.kept = { token, until: asked + Math.max(length - SPARE, length / 2) };
      return token;
    } finally {
      this.asking = undefined;
    }
  }
}

function orAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(new Error("the call was ended while it waited for a token"));
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** How long a token of ours is good: what the standard's examples show. */
export const OWN_TOKEN_SECONDS = 900;

/**
 * A token of ours: when it ends, some random characters, and a MAC of both under the secret that we share with this acquirer. Every process
 * can check it, and none keeps it.
 */
export function issueToken(secret: string, code: string, now: Micros): string {
  const rest = `${Math.floor(now / SECOND) + OWN_TOKEN_SECONDS}.${randomBytes(12).toString("base64url")}`;
  return `${rest}.${macOf(secret, code, rest)}`;
}

/** Whether this token is one of ours, made for this acquirer under one of these secrets, and still good. */
export function isOwnToken(secrets: readonly string[], code: string, token: string, now: Micros): boolean {
  const parts = /^(([1-9]\d{9,11})\.[\w-]{16})\.([\w-]{43})$/.exec(token);
  if (!parts) return false;
  const [, rest = "", ends = "", mac = ""] = parts;
  // Each is compared, whatever the others were.
  const matches = secrets.map((secret) => sameText(mac, macOf(secret, code, rest)));
  return matches.includes(true) && Number(ends) * SECOND > now;
}

function macOf(secret: string, code: string, rest: string): string {
  return createHmac("sha256", secret).update(`gerbang snap token ${code} ${rest}`).digest("base64url");
}
