// Dispute expiry: the worker that loses disputes which got no evidence in time, by their book's clock.
import type { Clock } from "../ground/clock.ts";
import { idOf } from "../ground/ids.ts";
import type { Log } from "../ground/log.ts";
import { type Book, bookOfRow } from "../merchants/books.ts";
import type { Directory } from "../merchants/directory.ts";
import type { Database } from "../store/database.ts";
import type { Lanes } from "../store/lanes.ts";
import { selectUnanswered } from "./disputes.sql.ts";
import { loseUnanswered } from "./disputes.ts";

const SWEEP_MAX = 200;

export interface DisputeExpiryParts {
  database: Database;
  lanes: Lanes;
  directory: Directory;
  clock: Clock;
  log: Log;
}

/** Loses all overdue disputes, of one book or of all, in rounds until none is left. Any number of processes may run it. */
export async function loseOverdue(parts: DisputeExpiryParts, book?: Book): Promise<void> {
  while ((await loseSome(parts, book)) === SWEEP_MAX);
}

async function loseSome(parts: DisputeExpiryParts, book?: Book): Promise<number> {
  const rows = await parts.database.query(selectUnanswered(parts.clock.now(), SWEEP_MAX, book));
  const results = await Promise.allSettled(
    rows.map(async (row) => {
      const owner = bookOfRow(row);
      const merchant = await parts.directory.merchant(owner.merchantId);
      const key = {
        uuid: idOf("dispute", row.dispute_id as string),
        paymentReference: idOf("payment", row.payment_id as string),
      };
      return merchant ? parts.lanes.move(owner.merchantId, loseUnanswered({ merchant, book: owner }, key)) : false;
    }),
  );
  for (const result of results) {
    if (result.status === "rejected")
      parts.log.warn({ err: result.reason as unknown }, "a dispute could not be closed");
  }
  return results.filter((result) => result.status === "fulfilled" && result.value).length;
}
