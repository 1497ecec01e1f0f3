// Limits work to a share of time. Unused time is saved up to a bound; after using more than its share, the work has to pause. Pure.

/** Share of one database connection's time: under full load the log should cost creations less than 3 % of their rate. */
export const SHARE = 1 / 160;
/** Most time that is saved up while there is little to do, so that a developer's few requests are written at once. */
export const SAVED_MAX_MS = 500;

/** Times are in milliseconds of a stopwatch. */
export class TimeBudget {
  private left = SAVED_MAX_MS;
  private at: number;
  private readonly share: number;

  constructor(nowMs: number, share: number = SHARE) {
    this.at = nowMs;
    this.share = share;
  }

  /** Charges work that ran from `beganMs` to `nowMs`. Gives the milliseconds to pause before more work. */
  spend(beganMs: number, nowMs: number): number {
    this.left = Math.min(SAVED_MAX_MS, this.left + (nowMs - this.at) * this.share) - (nowMs - beganMs);
    this.at = nowMs;
    return Math.max(0, -this.left / this.share);
  }
}
