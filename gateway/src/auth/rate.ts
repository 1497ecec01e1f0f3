// Rate limits in fixed windows of a minute: the headers of section 8, and the limits of unauthenticated callers (by address) and of people.
import { randomBytes } from "node:crypto";
import { addressGroup } from "../ground/address-group.ts";
import { type Clock, SECOND } from "../ground/clock.ts";
import { sha256 } from "../ground/crypto.ts";
import { Fault } from "../ground/fault.ts";
import { FixedWindow } from "../ground/fixed-window.ts";

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

/** The rate after `count` requests in the window that began at `start`. */
export function rateOf(limit: number, count: number, start: number): Rate {
  return { limit, remaining: Math.max(0, limit - count), reset: start + WINDOW_SECONDS };
}

/** The headers of section 8, without `Retry-After`, which belongs to a refusal. */
export function rateHeaders(rate: Rate): Record<string, string> {
  return {
    "x-ratelimit-limit": String(rate.limit),
    "x-ratelimit-remaining": String(rate.remaining),
    "x-ratelimit-reset": String(rate.reset),
  };
}

/** The fault for a window that is used up: RATE_LIMITED, with the seconds until `reset`. */
export function tooMany(reset: number, clock: Clock): Fault {
  return new Fault("RATE_LIMITED", { retryAfterSeconds: Math.max(1, reset - Math.floor(clock.now() / SECOND)) });
}

/** Number of addresses with a counter of their own. Further addresses share the counters of SHARED_COUNTERS, so that all are counted. */
const ADDRESSES_MAX = 100_000;
const SHARED_COUNTERS = 65_536;

/** Requests that an address may still send: all; those that claim a key or a session; only those that claim a key known to this process. */
type AllowedRequests = "all" | "claims" | "known";

/**
 * Counts the requests of unauthenticated callers by address (by /64 of IPv6), successful ones included. Correctly signed requests are not
 * counted, and are accepted even when other callers at the same address have used the window up.
 */
export class UnauthenticatedCallers {
  private readonly limit: number;
  private readonly clock: Clock;
  /** Keeps callers from choosing an address that shares a counter with a given other address. */
  private readonly salt = randomBytes(16);
  private start = 0;
  private counts = new Map<string, number>();
  private shared = new Uint32Array(0);

  constructor(limit: number, clock: Clock) {
    this.limit = limit;
    this.clock = clock;
  }

  /** The present window of an address. */
  rate(address: string): Rate {
    this.roll();
    return rateOf(this.limit, this.countOf(addressGroup(address)), this.start);
  }

  /** Decides on arrival, before any look-up, which requests are accepted: fewer beyond the limit, fewest beyond twice the limit. */
  allowed(address: string): AllowedRequests {
    this.roll();
    const count = this.countOf(addressGroup(address));
    if (count < this.limit) return "all";
    return count < 2 * this.limit ? "claims" : "known";
  }

  /** Counts a request. False when the address has used its window up. */
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

/** Counts the requests of people about themselves, which belong to no merchant: by person, in this process alone, for the present minute. */
export class PersonalRequests {
  private readonly limit: number;
  private readonly clock: Clock;
  private readonly window = new FixedWindow(WINDOW_SECONDS);

  constructor(limit: number, clock: Clock) {
    this.limit = limit;
    this.clock = clock;
  }

  /** Counts a request. Gives the person's window afterwards, and whether the request is within the limit. */
  count(personId: string): { rate: Rate; isWithin: boolean } {
    const now = Math.floor(this.clock.now() / SECOND);
    const count = this.window.count(personId, now);
    return { rate: rateOf(this.limit, count, windowStart(now)), isWithin: count <= this.limit };
  }
}
