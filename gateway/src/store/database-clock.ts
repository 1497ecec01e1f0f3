// The time by which the house acts, held against the database's. One process whose clock is wrong must not end what others rely on.
import { type Clock, type Micros, stopwatchMs } from "../ground/clock.ts";
import type { Log } from "../ground/log.ts";
import type { Database } from "./database.ts";

/** Beyond this the difference is said aloud. */
const NOTABLE_MS = 1_000;
/** Beyond this the process deletes nothing and ends nothing. */
const SWEEP_MAX_MS = 5_000;
/** Beyond this it takes no requests. */
const REQUESTS_MAX_MS = 60_000;
/** Differences below this are the way to the database and back. */
const NOISE_MS = 50;
const INTERVAL_MS = 1_000;
/** A database that was last heard of longer ago does not answer. */
const SILENT_MAX_MS = 5_000;

/** What was found at one moment. */
interface Anchor {
  /** On the stopwatch. */
  takenAtMs: number;
  /** The own clock, and how far it is ahead of the database's; negative when it is behind. */
  own: Micros;
  aheadMs: number;
}

/**
 * A clock that runs with the stopwatch from the last comparison with the database, and is never ahead of the database's: what is
 * irreversible happens by the earlier of the two. It follows a correction of the own clock, in either direction, within a second.
 */
export class DatabaseClock implements Clock {
  private readonly own: Clock;
  private readonly database: Database;
  private readonly log: Log;
  private anchor: Anchor | undefined;
  private last: Micros = 0;
  private told = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(own: Clock, database: Database, log: Log) {
    this.own = own;
    this.database = database;
    this.log = log;
  }

  /** The earlier of the own clock and the database's, as they were compared last and have run since. */
  now(): Micros {
    const { anchor } = this;
    const since = anchor === undefined ? 0 : Math.floor((stopwatchMs() - anchor.takenAtMs) * 1_000);
    const at = anchor === undefined ? this.own.now() : anchor.own - ahead(anchor) * 1_000 + since;
    // Moments of one process are in order, but for a correction that is worth following.
    this.last = at > this.last || this.last - at > NOTABLE_MS * 1_000 ? at : this.last + 1;
    return this.last;
  }

  /**
   * The same time by a clock that runs while the machine sleeps: the stopwatch stands still then, until the next comparison. For what
   * is allowed only for a while. It is never behind `now`.
   */
  readonly awake: Clock = {
    now: () => Math.max(this.now(), this.own.now() - (this.anchor === undefined ? 0 : ahead(this.anchor) * 1_000)),
  };

  /** How far the own clock is ahead of the database's, in milliseconds; negative when it is behind; 0 before it was compared. */
  get skewMs(): number {
    return this.anchor?.aheadMs ?? 0;
  }

  /** False while the clock is too far from the database's to delete anything or to end anything. */
  get maySweep(): boolean {
    return Math.abs(this.skewMs) <= SWEEP_MAX_MS;
  }

  /** False while the clock is too far from the database's to take requests. */
  get mayServe(): boolean {
    return Math.abs(this.skewMs) <= REQUESTS_MAX_MS;
  }

  /** False when the last comparisons had no answer. */
  get hears(): boolean {
    return this.anchor !== undefined && stopwatchMs() - this.anchor.takenAtMs <= SILENT_MAX_MS;
  }

  /** Compares for the first time, and from then on once a second. Throws when the database cannot be asked. */
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

  /** Compares once. */
  async compare(): Promise<void> {
    const sentMs = stopwatchMs();
    const [row] = await this.database.query<{ at: Micros }>({
      name: "database's clock",
      text: "select clock_timestamp() as at",
    });
    const takenAtMs = stopwatchMs();
    const own = this.own.now();
    if (row === undefined) return;
    // It was read somewhere between sending and receiving: the difference is known no better than that.
    const earliest = (own - row.at) / 1_000 - (takenAtMs - sentMs);
    const latest = (own - row.at) / 1_000;
    const aheadMs = earliest > 0 ? earliest : latest < 0 ? latest : 0;
    this.anchor = { takenAtMs, own, aheadMs };
    this.tell(aheadMs);
  }

  private tell(aheadMs: number): void {
    const notable = Math.abs(aheadMs) > NOTABLE_MS;
    if (notable !== this.told) {
      const what = { skew_ms: Math.round(aheadMs), may_sweep: this.maySweep, may_serve: this.mayServe };
      if (notable) this.log.error(what, "the clock differs from the database's; set it by NTP");
      else this.log.info(what, "the clock agrees with the database's again");
    }
    this.told = notable;
  }
}

function ahead({ aheadMs }: Anchor): number {
  return aheadMs > NOISE_MS ? aheadMs : 0;
}
