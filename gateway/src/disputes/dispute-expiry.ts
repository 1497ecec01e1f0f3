// Dispute expiry: the worker that loses disputes which got no evidence in time by their book's clock. The rule is in disputes.ts.
import { type SweepParts, sweep } from "../commands/sweep.ts";
import { idOf } from "../ground/ids.ts";
import type { Book } from "../merchants/books.ts";
import { selectExpiredDisputes } from "./disputes.sql.ts";
import { expireDispute } from "./disputes.ts";

/** Loses all disputes that are due, of one book or of all. Gives their number. */
export function sweepExpiredDisputes(parts: SweepParts, book?: Book): Promise<number> {
  return sweep(parts, {
    most: 200,
    due: selectExpiredDisputes,
    book,
    work: (owner, row) => {
      const key = {
        uuid: idOf("dispute", row.dispute_id as string),
        paymentReference: idOf("payment", row.payment_id as string),
      };
      return parts.lanes.move(owner.book.merchantId, expireDispute(owner, key));
    },
    failure: "a dispute could not be closed",
  });
}
