// Whether the database can be written to, as far as the lanes have seen: a full disk answers reads as if nothing were wrong.
import { type Database, isConnectionLoss, sqlState } from "./database.ts";
import type { Ending } from "./transaction.ts";

/** A disk, memory or connections that ran out, an error of the system, a server that only reads. */
function isUnwritable(cause: unknown): boolean {
  return isConnectionLoss(cause) || /^(53|58)|^25006$/.test(sqlState(cause) ?? "");
}

export class WriteHealth {
  private readonly database: Database;
  private failing = false;

  constructor(database: Database) {
    this.database = database;
  }

  /** Hears how a transaction ended. */
  readonly observe = (ending: Ending): void => {
    if (ending.kind === "committed") this.failing = false;
    else if (isUnwritable(ending.cause)) this.failing = true;
  };

  /** True while writes go through. After one that did not, a small one is tried. */
  async isWritable(): Promise<boolean> {
    if (!this.failing) return true;
    try {
      await this.database.query({
        name: "probe a write",
        text: "update health_probe set probed_at = clock_timestamp()",
      });
      this.failing = false;
    } catch {
      return false; // that it cannot be written to is the answer
    }
    return true;
  }
}
