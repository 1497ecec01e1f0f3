// Rate limits in fixed windows of a minute: the headers of section 8, and the limit for addresses that are strangers.
import { type Clock, SECOND } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import type { Client } from "../merchants/directory.ts";
import type { Requests } from "./admission.sql.ts";

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

interface Count {
  /** As far as the database knows them, from all processes. */
  written: number;
  unwritten: number;
}

/** Counts that are on their way to the database. */
export interface CountsTaken {
  start: number;
  requests: Requests[];
}

/** Requests of each client in the running window, and how many of them the database does not know of yet. */
export class RequestCounts {
  private start = 0;
  private counts = new Map<string, Count>();
  private dirty = new Map<string, { count: Count; merchantId: string }>();

  /** Counts one. Gives how many there are in the window that began at `start`. */
  count({ clientId, merchant }: Client, start: number): number {
    const count = this.of(clientId, start);
    if (count.unwritten++ === 0) this.dirty.set(clientId, { count, merchantId: merchant.merchantId });
    return count.written + count.unwritten;
  }

  /** The database says how many it knows of. Gives how many there are in all. */
  learn(clientId: string, start: number, total: number): number {
    if (start < this.start) return total; // the window has ended meanwhile
    const count = this.of(clientId, start);
    count.written = Math.max(count.written, total);
    return count.written + count.unwritten;
  }

  /** Takes what is unwritten, of so many clients at most: it counts as written. */
  take(max: number): CountsTaken {
    const requests: CountsTaken["requests"] = [];
    for (const [clientId, { count, merchantId }] of this.dirty) {
      if (requests.length >= max) break;
      this.dirty.delete(clientId);
      requests.push({ clientId, merchantId, requests: count.unwritten });
      count.written += count.unwritten;
      count.unwritten = 0;
    }
    return { start: this.start, requests };
  }

  /** They could not be written. */
  giveBack({ start, requests }: CountsTaken): void {
    if (start !== this.start) return;
    for (const { clientId, merchantId, requests: taken } of requests) {
      const count = this.of(clientId, start);
      count.written -= taken;
      count.unwritten += taken;
      this.dirty.set(clientId, { count, merchantId });
    }
  }

  private of(clientId: string, start: number): Count {
    if (start !== this.start) {
      this.start = start;
      this.counts = new Map();
      this.dirty = new Map();
    }
    let count = this.counts.get(clientId);
    if (!count) this.counts.set(clientId, (count = { written: 0, unwritten: 0 }));
    return count;
  }
}

const ADDRESSES_MAX = 100_000;

/**
 * Counts requests that carry no valid signature, by address. Whoever signs correctly is never stopped here, so one bad
 * neighbour behind the same address does not lock the others out.
 */
export class Strangers {
  private readonly limit: number;
  private readonly clock: Clock;
  private start = 0;
  private counts = new Map<string, number>();

  constructor(limit: number, clock: Clock) {
    this.limit = limit;
    this.clock = clock;
  }

  /** The address's window as it stands. */
  rate(address: string): Rate {
    this.roll();
    return {
      limit: this.limit,
      remaining: Math.max(0, this.limit - (this.counts.get(address) ?? 0)),
      reset: this.start + WINDOW_SECONDS,
    };
  }

  /** Counts one; false when the address has used its window up. */
  count(address: string): boolean {
    this.roll();
    const count = (this.counts.get(address) ?? 0) + 1;
    if (this.counts.size < ADDRESSES_MAX || this.counts.has(address)) this.counts.set(address, count);
    return count <= this.limit;
  }

  private roll(): void {
    const start = windowStart(Math.floor(this.clock.now() / SECOND));
    if (start === this.start) return;
    this.start = start;
    this.counts = new Map();
  }
}
