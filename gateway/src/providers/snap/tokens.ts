// SNAP's tokens in both directions: the provider's, which Gerbang asks for and keeps, and Gerbang's own, which are verified without storage.
import { createHmac, randomBytes } from "node:crypto";
import { type Clock, type Micros, SECOND } from "../../ground/clock.ts";
import { sameText } from "../../ground/crypto.ts";

/** A token that ends sooner than this is not used: a request takes time. */
const SPARE: Micros = 60 * SECOND;

export interface GivenToken {
  token: string;
  /** Lifetime from now on. */
  seconds: number;
}

/** Keeps the provider's token. Calls that need one while it is being asked for wait for the same answer. */
export class TokenStore {
  private readonly ask: () => Promise<GivenToken>;
  private readonly clock: Clock;
  private kept: { token: string; until: Micros } | undefined;
  private asking: Promise<string> | undefined;

  /** `ask` must have a deadline of its own. */
  constructor(ask: () => Promise<GivenToken>, clock: Clock) {
    this.ask = ask;
    this.clock = clock;
  }

  /** A valid token. Throws what `ask` throws, and when `signal` ends the waiting. */
  async current(signal: AbortSignal): Promise<string> {
    if (this.kept && this.clock.now() < this.kept.until) return this.kept.token;
    this.asking ??= this.renew();
    return await orAborted(this.asking, signal);
  }

  /** Removes a token that the provider rejected. A newer token stays. */
  forget(token: string): void {
    if (this.kept?.token === token) this.kept = undefined;
  }

  private async renew(): Promise<string> {
    try {
      const asked = this.clock.now();
      const { token, seconds } = await this.ask();
      // A short-lived token is used for half of its lifetime.
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

/** Lifetime of Gerbang's own tokens: the one in the standard's examples. */
export const OWN_TOKEN_SECONDS = 900;

/** Issues a token: its end, random characters, and a MAC by the secret shared with this acquirer. Every process verifies it, none stores it. */
export function issueToken(secret: string, code: string, now: Micros): string {
  const rest = `${Math.floor(now / SECOND) + OWN_TOKEN_SECONDS}.${randomBytes(12).toString("base64url")}`;
  return `${rest}.${macOf(secret, code, rest)}`;
}

/** Whether Gerbang issued this token for this acquirer under one of these secrets, and the token is still valid. */
export function isOwnToken(secrets: readonly string[], code: string, token: string, now: Micros): boolean {
  const parts = /^(([1-9]\d{9,11})\.[\w-]{16})\.([\w-]{43})$/.exec(token);
  if (!parts) return false;
  const [, rest = "", ends = "", mac = ""] = parts;
  // Every secret is compared, even after a match.
  const matches = secrets.map((secret) => sameText(mac, macOf(secret, code, rest)));
  return matches.includes(true) && Number(ends) * SECOND > now;
}

function macOf(secret: string, code: string, rest: string): string {
  return createHmac("sha256", secret).update(`gerbang snap token ${code} ${rest}`).digest("base64url");
}
