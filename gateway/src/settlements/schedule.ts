// The worker of settlements: forms the batches that are due by each book's clock, and lets the bank pay those that are.
import type { Outbox } from "../events/outbox.ts";
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
  outbox: Outbox;
  clock: Clock;
  log: Log;
}

/** Forms and pays what is due, of one book or of all. Any number of processes may do it. */
export async function settleDue(parts: ScheduleParts, book?: Book): Promise<void> {
  const { database, lanes, directory, outbox, clock, log } = parts;
  const due = await database.query(selectDueBooks(clock.now(), SWEEP_MAX, book));
  const formed = await Promise.allSettled(
    due.map(async (row) => {
      const owner = bookOfRow(row);
      const merchant = await directory.merchant(owner.merchantId);
      if (merchant) await lanes.move(owner.merchantId, runSchedule(outbox, merchant, owner));
    }),
  );
  // The simulated bank pays what it was given; in production an operator or a bank's word does.
  const payable = await database.query(selectPayable(clock.now(), SWEEP_MAX, book));
  const paid = await Promise.allSettled(
    payable.map(async (row) => {
      const owner = bookOfRow(row);
      const merchant = await directory.merchant(owner.merchantId);
      if (owner.environment !== "sandbox" || !merchant) return;
      await lanes.move(
        owner.merchantId,
        paySettlement(outbox, merchant, owner, idOf("settlement", row.settlement_id as string)),
      );
    }),
  );
  for (const result of [...formed, ...paid]) {
    if (result.status === "rejected") log.warn({ err: result.reason as unknown }, "a settlement could not go on");
  }
}
