// The roll-up: counts payments by quarters of an hour from committed events, each once, also with several processes and after a kill.
import { assert } from "../ground/fault.ts";
import type { Log } from "../ground/log.ts";
import type { Database } from "../store/database.ts";
import {
  type ProgressRow,
  awaitTurn,
  cancelBackend,
  clearCounted,
  countAll,
  countStep,
  movePosition,
  selectAge,
  selectBackend,
  selectProgress,
  takeTurn,
} from "./roll-up.sql.ts";

/** Time limit of a rebuild, which reads every payment once. */
const REBUILD_LIMIT_MS = 1_800_000;

/**
 * Counts events committed since the last run, in steps. Each step saves its counts and its position in one transaction, so a killed process has
 * counted a step in full or not at all. Rebuilds the roll-up when nothing was counted yet, or only in the database that this one was restored
 * from. Does nothing while another process has the lock. Gives true when everything is counted.
 */
export async function countCommitted(database: Database, log: Log, ending?: AbortSignal): Promise<boolean> {
  for (;;) {
    if (ending?.aborted === true) return false;
    const outcome = await countOnce(database);
    if (outcome === "nothing counted") {
      log.info("the roll-up is made from all payments");
      await rebuild(database, ending);
    } else if (outcome !== "more") return outcome === "done";
  }
}

/** Seconds since the roll-up's position was last saved; undefined when nothing was counted yet. */
export function rollUpAge(database: Database): Promise<number | undefined> {
  return database.first<{ seconds: number }, number>(selectAge, ({ seconds }) => seconds);
}

function countOnce(database: Database): Promise<"done" | "more" | "busy" | "nothing counted"> {
  return database.transaction(async (query) => {
    const [turn] = await query(takeTurn);
    if (turn?.taken !== true) return "busy";
    // A separate statement after the lock sees what the previous holder of the lock has committed.
    const [progress] = await query<ProgressRow>(selectProgress);
    assert(progress, "the watermark is always there");
    const { counted_to: from, next: to, is_due: isDue, has_more: hasMore } = progress;
    if (from === null) return "nothing counted";
    if (isDue) {
      await query(countStep(from, to));
      const moved = await query(movePosition(from, to));
      assert(moved.length === 1, `the roll-up was moved from ${from} by somebody who had no turn`);
    }
    return hasMore ? "more" : "done";
  });
}

/** Rebuilds the roll-up from all payments, which may take minutes. Readers see the old figures until then. Throws when `ending` aborts. */
export async function rebuild(database: Database, ending?: AbortSignal): Promise<void> {
  await database.transaction(
    async (query) => {
      const [own] = await query<{ pid: number }>(selectBackend);
      const giveUp = (): void => {
        database.query(cancelBackend(own?.pid ?? 0)).catch(() => undefined); // fails only without the database, where the rebuild fails too
      };
      ending?.addEventListener("abort", giveUp);
      try {
        await query(awaitTurn);
        await query(clearCounted);
        await query(countAll);
      } finally {
        ending?.removeEventListener("abort", giveUp);
      }
    },
    { limitMs: REBUILD_LIMIT_MS },
  );
}
