// Retention: each room says what of its own has expired, and it is deleted in small steps, so that nobody waits for it.
import { Throttle, inTurns } from "../ground/throttle.ts";
import type { Database, Statement } from "./database.ts";

/** Rows that one step deletes at most. A step that deletes so many is followed by another. */
export const STEP = 500;

/**
 * Runs each statement until it deletes less than a step, one step of each in turn. A statement deletes `STEP` rows at most and returns one
 * row for each. Gives how many rows went; throws what the first statement that failed threw, when the others are done.
 */
export async function deleteExpired(
  database: Database,
  statements: readonly Statement[],
  throttle: Throttle = new Throttle(),
): Promise<number> {
  let deleted = 0;
  await inTurns(
    throttle,
    statements.map((statement) => async () => {
      const { length } = await database.query(statement);
      deleted += length;
      return length >= STEP;
    }),
  );
  return deleted;
}
