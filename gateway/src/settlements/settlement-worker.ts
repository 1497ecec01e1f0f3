// The settlement worker: forms the batches that are due by each book's clock, and makes the simulated bank pay the batches whose payout is due.
import { type SweepParts, sweep } from "../commands/sweep.ts";
import { Fault } from "../ground/fault.ts";
import { idOf } from "../ground/ids.ts";
import type { Book } from "../merchants/books.ts";
import { selectDueBooks, selectPayable } from "./settlements.sql.ts";
import { paySettlement, runSchedule } from "./settlements.ts";

/** Forms and pays all due batches, of one book or of all. */
export async function settleDue(parts: SweepParts, book?: Book): Promise<void> {
  const shared = { most: 200, book, failure: "a settlement could not go on" };
  await sweep(parts, {
    ...shared,
    due: selectDueBooks,
    // Each run forms batches, or moves the book's clock on. When it leaves items of a cutoff, the next round takes them.
    work: (owner) => parts.lanes.move(owner.book.merchantId, runSchedule(owner)).then(() => true),
  });
  await sweep(parts, {
    ...shared,
    due: selectPayable,
    work(owner, row) {
      const command = paySettlement(owner, idOf("settlement", row.settlement_id as string));
      return parts.lanes.move(owner.book.merchantId, command).then(() => true, falseIfOver);
    },
  });
}

/** False for a batch that was paid or returned since it was read, or whose wallet was frozen. Throws every other error again. */
function falseIfOver(error: unknown): boolean {
  if (error instanceof Fault && ["SETTLEMENT_CLOSED", "WALLET_FROZEN"].includes(error.code)) return false;
  throw error;
}
