// The expiry worker: twice a second it expires the pending payments whose time is over by their book's clock. The rule is in payments.ts.
import { type SweepParts, sweep } from "../commands/sweep.ts";
import { idOf } from "../ground/ids.ts";
import type { Book } from "../merchants/books.ts";
import { selectExpiredPayments } from "./payments.sql.ts";
import { expirePayment } from "./payments.ts";

/** Expires all payments that are due, of one book or of all. Gives their number. */
export function sweepExpiredPayments(parts: SweepParts, book?: Book): Promise<number> {
  return sweep(parts, {
    most: 500,
    due: selectExpiredPayments,
    book,
    work: (owner, row) =>
      parts.lanes.move(owner.book.merchantId, expirePayment(owner, idOf("payment", row.payment_id as string))),
    failure: "a payment could not be expired",
  });
}
