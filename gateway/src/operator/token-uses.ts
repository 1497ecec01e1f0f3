// Last uses of operators' tokens: noted in memory, at most once a minute of each token, and written down seconds later. No request waits for it.
import { type Clock, type Micros, SECOND } from "../ground/clock.ts";
import type { Log } from "../ground/log.ts";
import type { Database } from "../store/database.ts";
import { type TokenUse, recordTokenUses } from "./tokens.sql.ts";

const WRITE_MS = 2_000;
const EVERY = 60 * SECOND;
/** Beyond it all that was noted is forgotten: each of them is then written once more than it had to be. */
const NOTED_MAX = 1_000;
const ADDRESS_MAX = 60;

export class TokenUses {
  private readonly database: Database;
  private readonly clock: Clock;
  private readonly log: Log;
  private readonly noted = new Map<string, Micros>();
  private waiting: TokenUse[] = [];
  private timer: NodeJS.Timeout | undefined;
  private last: Promise<void> = Promise.resolve();

  constructor(database: Database, clock: Clock, log: Log) {
    this.database = database;
    this.clock = clock;
    this.log = log;
  }

  /** Takes note of a request with this token, unless one was noted within the minute. */
  note(tokenId: string, address: string): void {
    const at = this.clock.now();
    const before = this.noted.get(tokenId);
    if (before !== undefined && at - before < EVERY) return;
    if (this.noted.size >= NOTED_MAX) this.noted.clear();
    this.noted.set(tokenId, at);
    this.waiting.push({ tokenId, at, address: address.slice(0, ADDRESS_MAX) });
    this.timer ??= setTimeout(() => void this.write(), WRITE_MS).unref();
  }

  /** Writes down what is noted. What cannot be written is forgotten: the next use says it again. */
  write(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    // Of one that was noted twice the later one stays: a statement takes each row once.
    const uses = [...new Map(this.waiting.map((use) => [use.tokenId, use])).values()];
    this.waiting = [];
    this.last = this.last.then(() => this.writeAll(uses));
    return this.last;
  }

  private async writeAll(uses: readonly TokenUse[]): Promise<void> {
    if (uses.length === 0) return;
    try {
      await this.database.query(recordTokenUses(uses));
    } catch (error) {
      this.log.warn(
        { err: error, tokens: uses.length },
        "the last uses of operators' tokens could not be written down",
      );
    }
  }
}
