// Last uses of credentials: each request notes its use in memory, and every few seconds all are written together. No request waits for that.
import type { Clock } from "../ground/clock.ts";
import type { Log } from "../ground/log.ts";
import type { Database } from "../store/database.ts";
import type { Client } from "./directory.ts";
import { type Use, recordUses } from "./last-uses.sql.ts";

const WRITE_MS = 5_000;
/** Credentials that may wait to be written. Further ones are dropped: their next use is noted again. */
const WAITING_MAX = 20_000;
const BATCH_MAX = 1_000;
const ADDRESS_MAX = 60;

export class LastUses {
  private readonly database: Database;
  private readonly clock: Clock;
  private readonly log: Log;
  private waiting = new Map<string, Use>();
  private timer: NodeJS.Timeout | undefined;
  private last: Promise<void> = Promise.resolve();

  constructor(database: Database, clock: Clock, log: Log) {
    this.database = database;
    this.clock = clock;
    this.log = log;
  }

  /** Notes a request that this credential signed. */
  note({ clientId, merchant }: Client, address: string): void {
    if (this.waiting.size >= WAITING_MAX && !this.waiting.has(clientId)) return;
    const { merchantId } = merchant;
    this.waiting.set(clientId, {
      merchantId,
      clientId,
      at: this.clock.now(),
      address: address.slice(0, ADDRESS_MAX),
    });
    this.timer ??= setTimeout(() => void this.write(), WRITE_MS).unref();
  }

  /** Writes the noted uses. Uses that cannot be written are dropped: the next use is noted again, and nothing else relies on them. */
  write(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const uses = [...this.waiting.values()];
    this.waiting = new Map();
    this.last = this.last.then(() => this.writeAll(uses));
    return this.last;
  }

  private async writeAll(uses: readonly Use[]): Promise<void> {
    try {
      for (let from = 0; from < uses.length; from += BATCH_MAX)
        await this.database.query(recordUses(uses.slice(from, from + BATCH_MAX)));
    } catch (error) {
      this.log.warn({ err: error, credentials: uses.length }, "the last uses of credentials could not be written down");
    }
  }
}
