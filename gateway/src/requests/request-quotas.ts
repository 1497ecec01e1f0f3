// How much of each book may be logged in a second or a minute: one busy merchant leaves room for the others, and who proves nothing fills no log. Pure.

/** Of each book, of successes and of refusals by themselves. */
export const PER_SECOND = 50;
/** Of each book: whoever knows a client_id can send such requests. */
export const UNPROVEN_PER_MINUTE = 30;
/** Of all together: each may cost a question to the database. */
export const UNNAMED_PER_MINUTE = 120;

/** Counts by name that begin anew with each span of time. */
class Window {
  private readonly spanMs: number;
  private span = -1;
  private counts = new Map<string, number>();

  constructor(spanMs: number) {
    this.spanMs = spanMs;
  }

  /** Counts one; false when there were so many in this span already. */
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

  /** `name`: the book's. */
  takesProven(name: string, refused: boolean, nowMs: number): boolean {
    return this.seconds.takes(refused ? `refused ${name}` : name, PER_SECOND, nowMs);
  }

  takesUnproven(name: string, nowMs: number): boolean {
    return this.minutes.takes(name, UNPROVEN_PER_MINUTE, nowMs);
  }

  /** A request whose sender is still to be looked up. */
  takesUnnamed(nowMs: number): boolean {
    return this.minutes.takes("", UNNAMED_PER_MINUTE, nowMs);
  }
}
