// Rate limits in fixed windows of a minute: the headers of section 8, and the limit by address for unauthenticated callers.
import { randomBytes } from "node:crypto";
import { addressGroup } from "../ground/address-group.ts";
import { type Clock, SECOND } from "../ground/clock.ts";
import { sha256 } from "../ground/crypto.ts";
import { Fault } from "../ground/fault.ts";

export const WINDOW_SECONDS = 60;

export interface Rate {
  limit: number;
  remaining: number;
  /** Unix seconds at which the window ends. */
  reset: number;
}

export function windowStart(unixSeconds: number): number {
  return unixSeconds - (unixSeconds % WINDOW_SECONDS);
}

/** The headers of section 8. `Retry-After`, in seconds, accompanies a refusal. */
export function rateHeaders(rate: Rate): Record<string, string> {
  return {
    "x-ratelimit-limit": String(rate.limit),
    "x-ratelimit-remaining": String(rate.remaining),
    "x-ratelimit-reset": String(rate.reset),
  };
}

/** The refusal of a window that is used up. */
export function tooMany(reset: number, clock: Clock): Fault {
  return new Fault("RATE_LIMITED", { retryAfterSeconds: Math.max(1, reset - Math.floor(clock.now() / SECOND)) });
}

/** So many addresses have a counter of their own. The others share some, so that nobody goes uncounted. */
const ADDRESSES_MAX = 100_000;
const SHARED_COUNTERS = 65_536;

/** What an address may still send: anything; what claims a key or a session; what claims a key that this process knows already. */
export type Standing = "all" | "claims" | "known";

/**
 * Counts requests of nobody who is known, by address (by /64 of IPv6), answered well or not. Whoever signs correctly is not counted, and is still
 * let in when the neighbours behind the same address have used theirs up.
 */
export class UnauthenticatedCallers {
  private readonly limit: number;
  private readonly clock: Clock;
  /** Nobody can choose an address that shares a counter with somebody else's. */
  private readonly salt = randomBytes(16);
  private start = 0;
  private counts = new Map<string, number>();
  private shared = new Uint32Array(0);

  constructor(limit: number, clock: Clock) {
    this.limit = limit;
    this.clock = clock;
  }

  /** The address's window as it stands. */
  rate(address: string): Rate {
    this.roll();
    return {
      limit: this.limit,
      remaining: Math.max(0, this.limit - this.countOf(addressGroup(address))),
      reset: this.start + WINDOW_SECONDS,
    };
  }

  /** What is let in on arrival, before anything is looked up or read: less once the window is used up, and less again after twice as much. */
  standing(address: string): Standing {
    this.roll();
    const count = this.countOf(addressGroup(address));
    if (count < this.limit) return "all";
    return count < 2 * this.limit ? "claims" : "known";
  }

  /** Counts one; false when the address has used its window up. */
  count(address: string): boolean {
    this.roll();
    const group = addressGroup(address);
    const count = this.countOf(group) + 1;
    if (this.counts.size < ADDRESSES_MAX || this.counts.has(group)) this.counts.set(group, count);
    else {
      if (this.shared.length === 0) this.shared = new Uint32Array(SHARED_COUNTERS);
      this.shared[this.sharedIndex(group)] = count;
    }
    return count <= this.limit;
  }

  private countOf(group: string): number {
    return this.counts.get(group) ?? (this.shared.length === 0 ? 0 : (this.shared[this.sharedIndex(group)] ?? 0));
  }

  private sharedIndex(group: string): number {
    return sha256(Buffer.concat([this.salt, Buffer.from(group)])).readUInt16BE(0);
  }

  private roll(): void {
    const start = windowStart(Math.floor(this.clock.now() / SECOND));
    if (start === this.start) return;
    this.start = start;
    this.counts = new Map();
    this.shared = new Uint32Array(0);
  }
}

/**
 * Counts requests of people that are about nobody but themselves, and so in the window of no merchant: by person, in this process alone. It holds
 * those who were here in this minute.
 */
export class PersonalRequests {
  private readonly limit: number;
  private readonly clock: Clock;
  private start = 0;
  private counts = new Map<string, number>();

  constructor(limit: number, clock: Clock) {
    this.limit = limit;
    this.clock = clock;
  }

  /** Unix seconds at which the window of the last one counted ends. */
  get reset(): number {
    return this.start + WINDOW_SECONDS;
  }

  /** Counts one. Gives the person's window after it, and whether it is within. */
  count(personId: string): { rate: Rate; isWithin: boolean } {
    const start = windowStart(Math.floor(this.clock.now() / SECOND));
    if (start !== this.start) this.counts = new Map();
    this.start = start;
    const count = (this.counts.get(personId) ?? 0) + 1;
    this.counts.set(personId, count);
    const rate = { limit: this.limit, remaining: Math.max(0, this.limit - count), reset: start + WINDOW_SECONDS };
    return { rate, isWithin: count <= this.limit };
  }
}
