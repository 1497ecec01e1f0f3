// The settlement worker: forms the batches that are due by each book's clock, and makes the simulated bank pay the batches whose payout is due.
import { type SweepParts, sweep } from "../commands/sweep.ts";
import { idOf } from "../ground/ids.ts";
import type { Book } from "../merchants/books.ts";
import { selectDueBooks, selectPayable } from "./settlements.sql.ts";
import { paySettlement, runSchedule } from "./settlements.ts";

const MOST = 200;
const failure = "a settlement could not go on";

/** Forms and pays all due batches, of one book or of all. */
export async function settleDue(parts: SweepParts, book?: Book): Promise<void> {
  const { lanes } = parts;
  await sweep(parts, {
    most: MOST,
    due: selectDueBooks,
    book,
    // Each run forms batches, or moves the book's clock on. When it leaves items of a cutoff, the next round takes them.
    work: async (owner) => {
      await lanes.move(owner.book.merchantId, runSchedule(owner));
      return true;
    },
    failure,
  });
  await sweep(parts, {
    most: MOST,
    due: selectPayable,
    book,
    work: async (owner, row) => {
      const uuid = idOf("settlement", row.settlement_id as string);
      await lanes.move(owner.book.merchantId, paySettlement(owner, uuid));
      return true;
    },
    failure,
  });
}
