// The settlement worker: forms the batches that are due by each book's clock, and makes the simulated bank pay the batches whose payout is due.
import type { Clock } from "../ground/clock.ts";
import { idOf } from "../ground/ids.ts";
import type { Log } from "../ground/log.ts";
import { type Book, bookOfRow } from "../merchants/books.ts";
import type { Directory } from "../merchants/directory.ts";
import type { Database } from "../store/database.ts";
import type { Lanes } from "../store/lanes.ts";
import { selectDueBooks, selectPayable } from "./settlements.sql.ts";
import { paySettlement, runSchedule } from "./settlements.ts";

const SWEEP_MAX = 200;

export interface ScheduleParts {
  database: Database;
  lanes: Lanes;
  directory: Directory;
  clock: Clock;
  log: Log;
}

/** Forms and pays all due batches, of one book or of all, in rounds until none is left. Any number of processes may run it. */
export async function settleDue(parts: ScheduleParts, book?: Book): Promise<void> {
  while ((await formDue(parts, book)) > 0);
  while ((await payDue(parts, book)) === SWEEP_MAX);
}

/** Gives the number of batches formed. When a run leaves items of a cutoff, the next round takes them. */
async function formDue({ database, lanes, directory, clock, log }: ScheduleParts, book?: Book): Promise<number> {
  const due = await database.query(selectDueBooks(clock.now(), SWEEP_MAX, book));
  const runs = await Promise.allSettled(
    due.map(async (row) => {
      const owner = bookOfRow(row);
      const merchant = await directory.merchant(owner.merchantId);
      if (!merchant) return 0;
      return (await lanes.move(owner.merchantId, runSchedule({ merchant, book: owner }))).length;
    }),
  );
  return successes(runs, log).reduce((sum, formed) => sum + formed, 0);
}

/** Makes the simulated bank pay due batches. Gives the number of batches paid. */
async function payDue({ database, lanes, directory, clock, log }: ScheduleParts, book?: Book): Promise<number> {
  const payable = await database.query(selectPayable(clock.now(), SWEEP_MAX, book));
  const payments = await Promise.allSettled(
    payable.map(async (row) => {
      const owner = bookOfRow(row);
      const merchant = await directory.merchant(owner.merchantId);
      const uuid = idOf("settlement", row.settlement_id as string);
      if (merchant) await lanes.move(owner.merchantId, paySettlement({ merchant, book: owner }, uuid));
    }),
  );
  return successes(payments, log).length;
}

function successes<Value>(results: readonly PromiseSettledResult<Value>[], log: Log): Value[] {
  for (const result of results)
    if (result.status === "rejected") log.warn({ err: result.reason as unknown }, "a settlement could not go on");
  return results.filter((result) => result.status === "fulfilled").map(({ value }) => value);
}
