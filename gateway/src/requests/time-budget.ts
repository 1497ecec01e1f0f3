// A share of time that work may take, whatever there is to do: what is not used is saved up to a bound, what is used too much is rested for. Pure.

/** Of one connection's time: under full load the log is to cost a creation less than three parts in a hundred. */
export const SHARE = 1 / 160;
/** Saved up while there is little to do, so that a developer's few requests are written at once. */
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

  /** Work took from `beganMs` until now. Gives how long to rest. */
  spend(beganMs: number, nowMs: number): number {
    this.left = Math.min(SAVED_MAX_MS, this.left + (nowMs - this.at) * this.share) - (nowMs - beganMs);
    this.at = nowMs;
    return Math.max(0, -this.left / this.share);
  }
}
