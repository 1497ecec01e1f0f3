// Rejected operator calls: counted in memory and written in batches. However many calls are rejected, a process adds a bounded number of rows.
import { type Clock, stopwatchMs } from "../ground/clock.ts";
import { newId } from "../ground/ids.ts";
import type { Log } from "../ground/log.ts";
import type { Metrics } from "../ground/metrics.ts";
import type { Database } from "../store/database.ts";
import {
  type Refusal,
  type RefusalReason,
  insertRefusals,
  refusalOfRow,
  selectRefusal,
  selectRefusals,
} from "./refusals.sql.ts";

/** The first rejection is written after a second, later ones after a minute. */
const SOON_MS = 1_000;
const MINUTE_MS = 60_000;
/** Distinct callers counted between two writes; further ones are counted without address and name. */
export const TOLD_APART_MAX = 100;
const ADDRESS_MAX = 60;

type Counted = Omit<Refusal, "refusalId">;
type RefusalsParts = { database: Database; clock: Clock; metrics: Metrics; log: Log };

export class Refusals {
  private readonly parts: RefusalsParts;
  private counted = new Map<string, Counted>();
  /** Monotonic time, in milliseconds. */
  private writtenAt = -Infinity;
  private timer: NodeJS.Timeout | undefined;
  private last: Promise<void> = Promise.resolve();

  constructor(parts: RefusalsParts) {
    this.parts = parts;
  }

  /** Counts a rejected call, in memory only. */
  note(reason: RefusalReason, address: string, actor?: string): void {
    if (reason !== "role") this.parts.metrics.operatorAuthenticationFailures.inc({ reason });
    const at = this.parts.clock.now();
    this.add({ reason, address: address.slice(0, ADDRESS_MAX), actor, count: 1, firstAt: at, lastAt: at });
    this.schedule();
  }

  /** Writes the counts. After a failed write they are kept for the next one. */
  write(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.last = this.last.then(() => this.writeAll());
    return this.last;
  }

  /** At most `count` rejections before `after`, newest first. */
  async list(after: string | undefined, count: number): Promise<Refusal[]> {
    return (await this.parts.database.query(selectRefusals(after, count))).map(refusalOfRow);
  }

  async has(refusalId: string): Promise<boolean> {
    return (await this.parts.database.query(selectRefusal(refusalId))).length > 0;
  }

  private add(one: Counted): void {
    const { reason, actor, address } = one;
    const name = `${reason} ${actor ?? ""} ${address ?? ""}`;
    const before = this.counted.get(name);
    if (before) {
      before.count += one.count;
      before.lastAt = Math.max(before.lastAt, one.lastAt);
    } else if (this.counted.size < TOLD_APART_MAX || (address === undefined && actor === undefined)) {
      this.counted.set(name, { ...one });
    } else this.add({ ...one, address: undefined, actor: undefined });
  }

  private schedule(): void {
    if (this.timer) return;
    const waitMs = Math.max(SOON_MS, this.writtenAt + MINUTE_MS - stopwatchMs());
    this.timer = setTimeout(() => void this.write(), waitMs).unref();
  }

  private async writeAll(): Promise<void> {
    const { counted } = this;
    if (counted.size === 0) return;
    this.counted = new Map();
    this.writtenAt = stopwatchMs();
    try {
      const rows = [...counted.values()].map((one) => ({ refusalId: newId("refusal", one.lastAt), ...one }));
      await this.parts.database.query(insertRefusals(rows));
    } catch (error) {
      this.parts.log.warn(
        { err: error, refusals: counted.size },
        "refused calls of operators could not be written down yet",
      );
      for (const one of counted.values()) this.add(one);
      this.schedule();
    }
  }
}
