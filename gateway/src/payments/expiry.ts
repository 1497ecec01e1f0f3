// The expiry worker: twice a second it asks which pending payments are over by their book's clock, and expires them.
import type { Clock } from "../ground/clock.ts";
import { idOf } from "../ground/ids.ts";
import { type Book, bookOfRow } from "../merchants/books.ts";
import type { Directory } from "../merchants/directory.ts";
import type { Database } from "../store/database.ts";
import type { Lanes } from "../store/lanes.ts";
import { selectExpired } from "./payments.sql.ts";
import { type PaymentParts, expirePayment } from "./payments.ts";

const SWEEP_MAX = 500;

/** Expires what is due now, in rounds until nothing is left. Gives how many. Any number of processes may sweep. */
export async function sweepExpired(
  database: Database,
  lanes: Lanes,
  directory: Directory,
  parts: PaymentParts,
  clock: Clock,
): Promise<number> {
  let expired = 0;
  for (;;) {
    const rows = await database.query(selectExpired(clock.now(), SWEEP_MAX));
    const results = await Promise.all(
      rows.map((row) => expireOne(lanes, directory, parts, bookOfRow(row), idOf("payment", row.payment_id as string))),
    );
    const done = results.filter(Boolean).length;
    expired += done;
    if (rows.length < SWEEP_MAX || done === 0) return expired;
  }
}

async function expireOne(
  lanes: Lanes,
  directory: Directory,
  parts: PaymentParts,
  book: Book,
  reference: string,
): Promise<boolean> {
  const merchant = await directory.merchant(book.merchantId);
  if (!merchant) return false;
  return lanes.move(book.merchantId, expirePayment(parts, merchant, book, reference));
}
