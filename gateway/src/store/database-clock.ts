// The process's clock, compared with the database's and limited by it: a process whose clock is wrong must not delete or end what other
// processes rely on. The plain clock is in ground/clock.ts.
import { type Clock, type Micros, stopwatchMs } from "../ground/clock.ts";
import { ClockSteps } from "../ground/clock-steps.ts";
import type { Log } from "../ground/log.ts";
import type { Database } from "./database.ts";

/** A larger difference is logged. */
const NOTABLE_MS = 1_000;
/** At a larger difference the process deletes nothing and ends nothing. */
const SWEEP_MAX_MS = 5_000;
/** At a larger difference the process takes no requests. */
const REQUESTS_MAX_MS = 60_000;
/** Smaller differences are ignored: they come from the round trip to the database. */
const NOISE_MS = 50;
const INTERVAL_MS = 1_000;
/** The database counts as silent when its last answer is older than this. */
const SILENT_MAX_MS = 5_000;

interface Anchor {
  /** Stopwatch time of the comparison. */
  takenAtMs: number;
  /** The process's clock, and by how many milliseconds it is ahead of the database's; negative when it is behind. */
  own: Micros;
  aheadMs: number;
}

/**
 * A clock that runs with the stopwatch from the last comparison, and is never ahead of the database's clock: irreversible changes happen by
 * the earlier of the two clocks. It follows a correction of the process's clock, in either direction, within a second.
 */
export class DatabaseClock implements Clock {
  private readonly own: Clock;
  private readonly database: Database;
  private readonly log: Log;
  private readonly steps: ClockSteps;
  private anchor: Anchor | undefined;
  private last: Micros = 0;
  private reported = false;
  private doubtReported = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(own: Clock, database: Database, log: Log, steps = new ClockSteps(own)) {
    this.own = own;
    this.database = database;
    this.log = log;
    this.steps = steps;
  }

  /** The earlier of the process's clock and the database's at the last comparison, plus the time since. */
  now(): Micros {
    const { anchor } = this;
    const since = anchor === undefined ? 0 : Math.floor((stopwatchMs() - anchor.takenAtMs) * 1_000);
    const at = anchor === undefined ? this.own.now() : anchor.own - ahead(anchor) + since;
    // Times of one process only grow, except when a correction exceeds NOTABLE_MS.
    this.last = at > this.last || this.last - at > NOTABLE_MS * 1_000 ? at : this.last + 1;
    return this.last;
  }

  /** The same time by a clock that goes on while the machine sleeps, for permissions that expire, such as leases. Never behind `now`. */
  readonly awake: Clock = {
    now: () => Math.max(this.now(), this.own.now() - (this.anchor === undefined ? 0 : ahead(this.anchor))),
  };

  /** By how many milliseconds the process's clock is ahead of the database's; negative when it is behind; 0 before the first comparison. */
  get skewMs(): number {
    return this.anchor?.aheadMs ?? 0;
  }

  /** False while the clocks differ by more than SWEEP_MAX_MS, or both were just set ahead: the process must not delete or end anything. */
  get maySweep(): boolean {
    return Math.abs(this.skewMs) <= SWEEP_MAX_MS && !this.steps.inDoubt();
  }

  /** False while the clocks differ by more than REQUESTS_MAX_MS: the process must not take requests. */
  get mayServe(): boolean {
    return Math.abs(this.skewMs) <= REQUESTS_MAX_MS;
  }

  /** False when the database has not answered a comparison for SILENT_MAX_MS. */
  get hears(): boolean {
    return this.anchor !== undefined && stopwatchMs() - this.anchor.takenAtMs <= SILENT_MAX_MS;
  }

  /** Compares the clocks now, and from then on once a second. Throws when the database does not answer the first comparison. */
  async start(): Promise<void> {
    await this.compare();
    this.timer = setInterval(() => {
      this.compare().catch((error: unknown) => this.log.debug({ err: error }, "the clock could not be compared"));
    }, INTERVAL_MS);
    this.timer.unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  async compare(): Promise<void> {
    const sentMs = stopwatchMs();
    const [row] = await this.database.query<{ at: Micros }>({
      name: "database's clock",
      text: "select clock_timestamp() as at",
    });
    const takenAtMs = stopwatchMs();
    const own = this.own.now();
    if (row === undefined) return;
    // The database read its clock at some moment between sending and receiving, so the difference is known only as a range.
    const earliest = (own - row.at) / 1_000 - (takenAtMs - sentMs);
    const latest = (own - row.at) / 1_000;
    const aheadMs = earliest > 0 ? earliest : latest < 0 ? latest : 0;
    this.anchor = { takenAtMs, own, aheadMs };
    this.report(aheadMs);
    this.reportDoubt();
  }

  private report(aheadMs: number): void {
    const notable = Math.abs(aheadMs) > NOTABLE_MS;
    if (notable !== this.reported) {
      const what = { skew_ms: Math.round(aheadMs), may_sweep: this.maySweep, may_serve: this.mayServe };
      if (notable) this.log.error(what, "the clock differs from the database's; set it by NTP");
      else this.log.info(what, "the clock agrees with the database's again");
    }
    this.reported = notable;
  }

  private reportDoubt(): void {
    const inDoubt = this.steps.inDoubt();
    if (inDoubt && !this.doubtReported)
      this.log.error("the clock was set ahead: for ten minutes nothing is ended or deleted; set it by NTP");
    if (!inDoubt && this.doubtReported) this.log.info("the clock is believed again");
    this.doubtReported = inDoubt;
  }
}

/** In whole microseconds, as the database keeps times: a journal whose time had a fraction would not have its own hash when it is read again. */
function ahead({ aheadMs }: Anchor): Micros {
  return aheadMs > NOISE_MS ? Math.ceil(aheadMs * 1_000) : 0;
}
