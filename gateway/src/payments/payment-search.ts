// Finds a page of one book's payments, newest first, for the API's list and for people's searches.
import type { Micros } from "../ground/clock.ts";
import { idOf } from "../ground/ids.ts";
import { checkCursor } from "../http/lists.ts";
import type { Database } from "../store/database.ts";
import type { Payment } from "./payment.ts";
import { type PaymentSearch, discards, selectFound, selectLookedTo } from "./payment-search.sql.ts";
import { paymentOfRow, selectPayment } from "./payments.sql.ts";

interface FoundPayments {
  /** One more than the requested limit when there are more. */
  payments: Payment[];
  /** The oldest examined payment, when the search stopped before it had examined everything. */
  stoppedAt: { reference: string; createdAt: Micros } | undefined;
}

/** The newest payments that match, and one more than `limit`. Throws VALIDATION_ERROR when `after` is no payment of the book. */
export async function findPayments(database: Database, search: PaymentSearch, limit: number): Promise<FoundPayments> {
  const { book, after } = search;
  await checkCursor(book, after, (id) => database.first(selectPayment(book.merchantId, id), paymentOfRow));
  const payments = (await database.query(selectFound(search, limit))).map(paymentOfRow);
  if (payments.length > limit || !discards(search)) return { payments, stoppedAt: undefined };
  const [stopped] = await database.query(selectLookedTo(search));
  return {
    payments,
    stoppedAt: stopped && {
      reference: idOf("payment", stopped.payment_id as string),
      createdAt: stopped.created_at as Micros,
    },
  };
}
