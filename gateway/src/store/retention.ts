// Retention: deletes expired rows in small steps, so that no other statement waits long. Each room says which of its rows have expired.
import { type Micros, sqlTime } from "../ground/clock.ts";
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

/** Which rows of a table have expired: those whose `column` is more than `keptSeconds` ago, and that meet `which`. */
interface Expiry {
  column: string;
  keptSeconds: number;
  which?: string;
}

/**
 * Deletes up to `STEP` expired rows, the oldest first, by the earlier of the service's and the database's clock. The time of the statement stands
 * still while it runs: only so can an index be searched by it.
 */
export function deleteOldest(table: string, { column, keptSeconds, which = "" }: Expiry, realNow: Micros): Statement {
  return {
    name: `forget ${table} ${which}`,
    text: `delete from ${table}
where ctid = any(array(
  select ctid
  from ${table}
  where ${column} < least($1::timestamptz, statement_timestamp()) - make_interval(secs => ${keptSeconds})
    ${which && `and ${which}`}
  order by ${column}
  limit ${STEP}
))
returning 1`,
    values: [sqlTime(realNow)],
  };
}
