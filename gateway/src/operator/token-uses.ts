// Last uses of operators' tokens: noted in memory, at most once a minute for each token, and written seconds later. No request waits for the write.
import { type Clock, type Micros, SECOND } from "../ground/clock.ts";
import type { Log } from "../ground/log.ts";
import type { Database } from "../store/database.ts";
import { type TokenUse, recordTokenUses } from "./tokens.sql.ts";

const WRITE_MS = 2_000;
const EVERY = 60 * SECOND;
/** When more tokens than this are noted, the notes are cleared. Each token then costs one write more than necessary. */
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

  /** Notes a use of a token, unless one was noted within the last minute. */
  note(tokenId: string, address: string): void {
    const at = this.clock.now();
    const before = this.noted.get(tokenId);
    if (before !== undefined && at - before < EVERY) return;
    if (this.noted.size >= NOTED_MAX) this.noted.clear();
    this.noted.set(tokenId, at);
    this.waiting.push({ tokenId, at, address: address.slice(0, ADDRESS_MAX) });
    this.timer ??= setTimeout(() => void this.write(), WRITE_MS).unref();
  }

  /** Writes the noted uses. A failed write is dropped: the next use of the token is written instead. */
  write(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    // The statement may contain each token once, so the latest use of a token wins.
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
