// Whether the database can be written to, by the endings of the lanes' transactions: a database with a full disk still answers reads.
import { stopwatchMs } from "../ground/clock.ts";
import { type Database, isConnectionLoss, sqlState } from "./database.ts";
import type { Ending } from "./transaction.ts";

/** How long a write that a full disk refused counts: small writes still find room in pages that there are, and prove nothing. */
const FULL_MS = 3_000;

export class WriteHealth {
  private readonly database: Database;
  private failing = false;
  private fullAt = -Infinity;

  constructor(database: Database) {
    this.database = database;
  }

  /** Takes the ending of a transaction. */
  readonly observe = (ending: Ending): void => {
    if (ending.kind === "committed") this.failing = false;
    // The connection was lost, disk, memory or connections ran out, the system failed, or the server is read-only.
    else if (isConnectionLoss(ending.cause) || /^(53|58)|^25006$/.test(sqlState(ending.cause) ?? ""))
      this.failing = true;
    if (ending.kind !== "committed" && sqlState(ending.cause) === "53100") this.fullAt = stopwatchMs();
  };

  /** True while writes succeed. After a failed write it tries a small one; after one that a full disk refused, not before FULL_MS have passed. */
  async isWritable(): Promise<boolean> {
    if (stopwatchMs() - this.fullAt < FULL_MS) return false;
    if (!this.failing) return true;
    try {
      await this.database.query({
        name: "probe a write",
        text: "update health_probe set probed_at = clock_timestamp()",
      });
      this.failing = false;
    } catch {
      return false; // the error is the answer: the database cannot be written to
    }
    return true;
  }
}
