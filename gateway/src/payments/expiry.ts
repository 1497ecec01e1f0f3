// The expiry worker: twice a second it finds the pending payments whose time is over by their book's clock, and expires them.
import type { Clock } from "../ground/clock.ts";
import { idOf } from "../ground/ids.ts";
import type { Log } from "../ground/log.ts";
import { type Book, bookOfRow } from "../merchants/books.ts";
import type { Directory } from "../merchants/directory.ts";
import type { Database } from "../store/database.ts";
import type { Lanes } from "../store/lanes.ts";
import { selectExpired } from "./payments.sql.ts";
import { expirePayment } from "./payments.ts";

const SWEEP_MAX = 500;

export interface ExpiryParts {
  database: Database;
  lanes: Lanes;
  directory: Directory;
  clock: Clock;
  log: Log;
}

/**
 * Expires all payments that are due, of one book or of all. Gives their number. Any number of processes may sweep at once. A payment that
 * cannot be expired is logged and does not stop the others.
 */
export async function sweepExpired(parts: ExpiryParts, book?: Book): Promise<number> {
  let expired = 0;
  for (;;) {
    const rows = await parts.database.query(selectExpired(parts.clock.now(), SWEEP_MAX, book));
    const results = await Promise.allSettled(
      rows.map((row) => expireOne(parts, bookOfRow(row), idOf("payment", row.payment_id as string))),
    );
    for (const result of results) {
      if (result.status === "rejected")
        parts.log.warn({ err: result.reason as unknown }, "a payment could not be expired");
    }
    const done = results.filter((result) => result.status === "fulfilled" && result.value).length;
    expired += done;
    if (rows.length < SWEEP_MAX || done === 0) return expired;
  }
}

async function expireOne(parts: ExpiryParts, book: Book, reference: string): Promise<boolean> {
  const merchant = await parts.directory.merchant(book.merchantId);
  if (!merchant) return false;
  return parts.lanes.move(book.merchantId, expirePayment({ merchant, book }, reference));
}
