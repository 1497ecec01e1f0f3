// How every process learns of changed settings: it reads the settings epoch, a number that grows with each change, four times a second.
import { type Micros, stopwatchMs } from "../ground/clock.ts";
import type { Log } from "../ground/log.ts";
import type { Database, Query } from "./database.ts";

/** Takes the next epoch inside a transaction that changes settings. Locks the epoch until commit, so that such transactions run one by one. */
export async function nextEpoch(query: Query): Promise<bigint> {
  const [row] = await query<{ epoch: bigint }>({ text: "update settings_epoch set epoch = epoch + 1 returning epoch" });
  if (!row) throw new Error("settings_epoch is empty");
  return row.epoch;
}

const INTERVAL_MS = 250;
/** Maximum age of cached settings. With the interval it ensures that a revocation holds within one second in every process. */
const FRESH_MS = 700;

export class SettingsWatch {
  private readonly database: Database;
  private readonly log: Log;
  private readonly listeners: ((since: bigint) => Promise<void>)[] = [];
  private epoch = -1n;
  /** When the server began of which the epoch is. */
  private server: Micros | undefined;
  private askedAt = -Infinity;
  private asking: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(database: Database, log: Log) {
    this.database = database;
    this.log = log;
  }

  /** Calls `listener` with the last epoch seen whenever there is another one; with -1 when anything may differ from what was seen. */
  subscribe(listener: (since: bigint) => Promise<void>): void {
    this.listeners.push(listener);
  }

  start(): void {
    this.timer = setInterval(() => {
      this.ask().catch((error: unknown) => this.log.debug({ err: error }, "settings could not be asked for"));
    }, INTERVAL_MS);
    this.timer.unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.asking?.catch(() => undefined); // it needs the connections that end next
  }

  /** Gives undefined while the cached settings are younger than FRESH_MS; otherwise a promise that resolves when they are fresh again. */
  fresh(): Promise<void> | undefined {
    return stopwatchMs() - this.askedAt > FRESH_MS ? this.ask() : undefined;
  }

  /** Reads what this process has just committed. The change stands where that fails: it is read with the next epoch. */
  async changed(): Promise<void> {
    await this.ask().catch((error: unknown) =>
      this.log.warn({ err: error }, "a change of settings could not be read back"),
    );
  }

  /** Reads the epoch now. */
  async ask(): Promise<void> {
    // A read under way may have happened before the caller's change: wait for its end, then read again.
    await this.asking?.catch(() => undefined);
    this.asking ??= this.askOnce().finally(() => (this.asking = undefined));
    await this.asking;
  }

  private async askOnce(): Promise<void> {
    const begun = stopwatchMs();
    const [row] = await this.database.query<{ epoch: bigint; server: Micros }>({
      name: "settings epoch",
      text: "select epoch, pg_postmaster_start_time() as server from settings_epoch",
    });
    const { epoch = 0n, server } = row ?? {};
    // A server that began at another time may be a standby which took over without the newest changes, and has made others since; so may a restored database.
    if (server !== this.server || epoch < this.epoch) this.epoch = -1n;
    if (server !== (this.server ?? server)) this.log.warn("the database's server has begun anew, or is another one");
    this.server = server;
    if (epoch !== this.epoch) {
      for (const listener of this.listeners) await listener(this.epoch);
      this.epoch = epoch;
    }
    this.askedAt = begun;
  }
}
