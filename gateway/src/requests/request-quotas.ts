// Quotas of the request log: one busy merchant must leave room for others, and unauthenticated callers must not fill a merchant's log. Pure.

/** Authenticated requests of each book in a second; successful and refused ones are counted separately. */
export const PER_SECOND = 50;
/** Unauthenticated requests of each book in a minute: everybody who knows a client_id can send them. */
export const UNPROVEN_PER_MINUTE = 30;
/** Requests of unknown senders in a minute, for all books together: the look-up of each may cost a query. */
export const UNNAMED_PER_MINUTE = 120;

/** Counters by name that restart from 0 with each span of time. */
class Window {
  private readonly spanMs: number;
  private span = -1;
  private counts = new Map<string, number>();

  constructor(spanMs: number) {
    this.spanMs = spanMs;
  }

  /** Counts one; false when `most` were counted in this span already. */
  takes(name: string, most: number, nowMs: number): boolean {
    const span = Math.floor(nowMs / this.spanMs);
    if (span !== this.span) {
      this.span = span;
      this.counts = new Map();
    }
    const count = (this.counts.get(name) ?? 0) + 1;
    if (count > most) return false;
    this.counts.set(name, count);
    return true;
  }
}

/** Times are in milliseconds of a stopwatch. */
export class RequestQuotas {
  private readonly seconds = new Window(1_000);
  private readonly minutes = new Window(60_000);

  /** `name`: key of the book. */
  takesProven(name: string, refused: boolean, nowMs: number): boolean {
    return this.seconds.takes(refused ? `refused ${name}` : name, PER_SECOND, nowMs);
  }

  takesUnproven(name: string, nowMs: number): boolean {
    return this.minutes.takes(name, UNPROVEN_PER_MINUTE, nowMs);
  }

  /** For a request whose sender must still be looked up. */
  takesUnnamed(nowMs: number): boolean {
    return this.minutes.takes("", UNNAMED_PER_MINUTE, nowMs);
  }
}
