// Retention: deletes expired rows in small steps, so that no other statement waits long. Each room says which of its rows have expired.
import { Throttle, inTurns } from "../ground/throttle.ts";
import type { Database, Statement } from "./database.ts";

/** Rows that one step deletes at most. A step that deletes this many is followed by another. */
export const STEP = 500;

/**
 * Runs each statement, in turns, until it deletes fewer than `STEP` rows. A statement must delete at most `STEP` rows and return a row for
 * each. Gives the number of deleted rows. Throws the error of the first statement that failed, after the others are done.
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
