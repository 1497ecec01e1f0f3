// Aggregates samples of five seconds into minutes, and minutes into hours: one process at a time, in one small transaction.
import type { Database } from "../store/database.ts";
import { foldAcquirers, foldSamples, takeTurn } from "./telemetry.sql.ts";

/** Gives false when another process is folding. */
export function foldTelemetry(database: Database): Promise<boolean> {
  return database.transaction(async (query) => {
    const [turn] = await query(takeTurn);
    if (turn?.taken !== true) return false;
    for (const [from, to] of [
      [5, 60],
      [60, 3600],
    ] as const) {
      await query(foldSamples(from, to));
      await query(foldAcquirers(from, to));
    }
    return true;
  });
}
