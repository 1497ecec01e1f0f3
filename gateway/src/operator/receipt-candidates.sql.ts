// Queries for candidate payments of an unapplied receipt. Other rooms write these tables.
import { bookValues } from "../merchants/books.ts";
import { DAY } from "../ground/clock.ts";
import { leastIdOf } from "../ground/ids.ts";
import type { KeptReceipt } from "../acquiring/receipt.ts";
import type { Statement } from "../store/database.ts";

/** Payments of the book around the receipt's date that are examined at most. */
const LOOKED_AT_MAX = 2_000;
const FOUND_MAX = 20;

/** Payments of the receipt's amount, created from three days before the receipt to a day after it, newest first. */
export function selectSameAmount({ book, amountMinor, currency, receivedAt }: KeptReceipt): Statement {
  return {
    name: "select payments of the amount of a receipt",
    text: `select p.*
from (
  select *
  from payments
  where merchant_id = $1::uuid and environment = $2::environment and payment_id >= $3::uuid and payment_id < $4::uuid
  order by payment_id desc
  limit ${LOOKED_AT_MAX}
) p
where p.amount_minor = $5::bigint and p.currency = $6::text
order by p.payment_id desc
limit ${FOUND_MAX}`,
    values: [...bookValues(book), leastIdOf(receivedAt - 3 * DAY), leastIdOf(receivedAt + DAY), amountMinor, currency],
  };
}
