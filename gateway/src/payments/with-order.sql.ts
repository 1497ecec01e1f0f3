// The SQL that reads refunds and disputes, each with the merchant's own identity of the order that it is about.
import { type Micros, sqlTime } from "../ground/clock.ts";
import { leastIdOf, uuidOf } from "../ground/ids.ts";
import type { Book } from "../merchants/books.ts";
import type { Statement } from "../store/database.ts";
import { placesIn } from "../store/searches.sql.ts";

type Noun = "refund" | "dispute";

/** Makes the statement that reads one of a merchant by its identity, in either environment. */
export function selectOneWithOrder(noun: Noun): (merchantId: string, uuid: string) => Statement {
  const text = `select t.*, p.reference_id
from ${noun}s t
join payments p using (merchant_id, environment, payment_id)
where t.merchant_id = $1::uuid and t.environment = any('{sandbox,production}'::environment[]) and t.${noun}_id = $2::uuid`;
  return (merchantId, uuid) => ({ name: `select one of ${noun}s`, text, values: [uuidOf(merchantId), uuidOf(uuid)] });
}

export interface PageFilter<Status> {
  book: Book;
  paymentReference: string | undefined;
  status: Status | undefined;
  /** Inclusive and exclusive bounds of the time at which they began. */
  from: Micros | undefined;
  before: Micros | undefined;
  after: string | undefined;
  limit: number;
}

/**
 * A page, newest first, with one row more than `limit`. `begin`: the column of the time at which they began. Identities sort by time, so the bounds are found
 * by the primary key; none of those asked for has an identity from before `earliest`, and none has one of a time after its own.
 */
export function selectPageWithOrder(
  noun: Noun,
  begin: string,
  { book, paymentReference, status, from, before, after, limit }: PageFilter<string>,
  earliest: Micros | undefined,
): Statement {
  const values: unknown[] = [];
  const place = placesIn(values);
  // The statement contains only the conditions that apply, so that the planner finds them by the index that serves them.
  const where = <Value>(condition: string, value: Value | undefined, written: (value: Value) => unknown): string =>
    value === undefined ? "" : `\n    and ${condition.replace("?", place(written(value)))}`;
  const text = `select t.*, p.reference_id
from (
  select *
  from ${noun}s
  where merchant_id = ${place(uuidOf(book.merchantId))}::uuid and environment = ${place(book.environment)}::environment${[
    where("payment_id = ?::uuid", paymentReference, uuidOf),
    where(`status = ?::${noun}_status`, status, String),
    where(`${begin} >= ?::timestamptz`, from, sqlTime),
    where(`${noun}_id >= ?::uuid`, earliest, (at) => leastIdOf(Math.max(at, 0))),
    where(`${begin} < ?::timestamptz`, before, sqlTime),
    where(`${noun}_id < ?::uuid`, before, leastIdOf),
    where(`${noun}_id < ?::uuid`, after, uuidOf),
  ].join("")}
  order by ${noun}_id desc
  limit ${place(limit + 1)}::integer
) t
join payments p using (merchant_id, environment, payment_id)
order by t.${noun}_id desc`;
  return { text, values };
}
