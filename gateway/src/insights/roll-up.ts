// The roll-up: payments counted by hour from the feed of committed events, once each, however many processes work and wherever one ends.
import { assert } from "../ground/fault.ts";
import type { Log } from "../ground/log.ts";
import type { Database } from "../store/database.ts";
import {
  type StandingRow,
  awaitTurn,
  cancelBackend,
  clearCounted,
  countAll,
  countStep,
  movePosition,
  selectAge,
  selectBackend,
  selectStanding,
  takeTurn,
} from "./roll-up.sql.ts";

/** Making it anew reads every payment once. */
export const REBUILD_LIMIT_MS = 1_800_000;

/**
 * Counts what was committed since the last time, in steps. What was counted and how far it reaches are one transaction, so a process
 * that is killed has counted a step or has not. Where nothing was counted yet, or only in a database that this one was restored
 * from, everything is counted. While another process has its turn, this one does nothing. Gives true when it has counted all there is.
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

/** Seconds since the roll-up last moved; undefined where nothing was counted yet. */
export async function rollUpAge(database: Database): Promise<number | undefined> {
  const [row] = await database.query<{ seconds: number }>(selectAge());
  return row?.seconds;
}

function countOnce(database: Database): Promise<"done" | "more" | "busy" | "nothing counted"> {
  return database.transaction(async (query) => {
    const [turn] = await query(takeTurn());
    if (turn?.taken !== true) return "busy";
    // A statement of its own: it sees what whoever had the turn before has committed.
    const [standing] = await query<StandingRow>(selectStanding());
    assert(standing, "the horizon is always there");
    const { counted_to: from, next: to, is_due: isDue, has_more: hasMore } = standing;
    if (from === null) return "nothing counted";
    if (isDue) {
      await query(countStep(from, to));
      const moved = await query(movePosition(from, to));
      assert(moved.length === 1, `the roll-up was moved from ${from} by somebody who had no turn`);
    }
    return hasMore ? "more" : "done";
  });
}

/**
 * Makes the roll-up anew from the payments. Readers see the old one until the new one is whole. It may take minutes: `ending` gives it up, and
 * it throws then.
 */
export async function rebuild(database: Database, ending?: AbortSignal): Promise<void> {
  await database.transaction(
    async (query) => {
      const [own] = await query<{ pid: number }>(selectBackend());
      const giveUp = (): void => {
        database.query(cancelBackend(own?.pid ?? 0)).catch(() => undefined); // without the database it ends by itself
      };
      ending?.addEventListener("abort", giveUp);
      try {
        await query(awaitTurn());
        await query(clearCounted());
        await query(countAll());
      } finally {
        ending?.removeEventListener("abort", giveUp);
      }
    },
    { limitMs: REBUILD_LIMIT_MS },
  );
}
