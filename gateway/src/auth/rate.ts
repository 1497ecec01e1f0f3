// Rate limits in fixed windows of a minute: the headers of section 8, and the limit by address for unauthenticated callers.
import { type Clock, SECOND } from "../ground/clock.ts";
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

const ADDRESSES_MAX = 100_000;

/**
 * Counts requests that carry no valid signature, by address. Whoever signs correctly is never stopped here, so one bad
 * neighbour behind the same address does not lock the others out.
 */
export class UnauthenticatedCallers {
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
