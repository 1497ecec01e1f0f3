// Last uses of keys and tokens: each request notes its use in memory, and every few seconds all are written together. No request waits for that.
import type { Clock, Micros } from "../ground/clock.ts";
import type { Log } from "../ground/log.ts";
import type { Database, Statement } from "./database.ts";

const WRITE_MS = 5_000;
/** Uses that may wait to be written. Further ones are dropped: the next use is noted again. */
const WAITING_MAX = 20_000;
const BATCH_MAX = 1_000;
const ADDRESS_MAX = 60;

/** A use of what `Named` identifies, and the address that it came from. */
type Use<Named> = Named & { at: Micros; address: string };

interface LastUsesParts<Named> {
  database: Pick<Database, "query">;
  clock: Pick<Clock, "now">;
  log: Log;
  /** The statement that keeps the later use of each. It writes its rows in one order, so that two processes cannot deadlock. */
  record: (uses: readonly Use<Named>[]) => Statement;
}

export class LastUses<Named> {
  private readonly parts: LastUsesParts<Named>;
  /** By the id of what was used. */
  private waiting = new Map<string, Use<Named>>();
  private timer: NodeJS.Timeout | undefined;
  private last: Promise<void> = Promise.resolve();

  constructor(parts: LastUsesParts<Named>) {
    this.parts = parts;
  }

  /** Notes the use of a key or token. */
  note(id: string, named: Named, address: string): void {
    if (this.waiting.size >= WAITING_MAX && !this.waiting.has(id)) return;
    this.waiting.set(id, { ...named, at: this.parts.clock.now(), address: address.slice(0, ADDRESS_MAX) });
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

  private async writeAll(uses: readonly Use<Named>[]): Promise<void> {
    const { database, log, record } = this.parts;
    try {
      for (let from = 0; from < uses.length; from += BATCH_MAX)
        await database.query(record(uses.slice(from, from + BATCH_MAX)));
    } catch (error) {
      log.warn({ err: error, uses: uses.length }, "last uses could not be written down");
    }
  }
}
