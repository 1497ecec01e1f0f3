// What the operator reads of payments: of all merchants, book by book through the indexes that each book has. Their own room writes them.
import { leastIdOf } from "../events/events.sql.ts";
import { type Micros, sqlTime } from "../ground/clock.ts";
import { uuidOf } from "../ground/ids.ts";
import type { Environment } from "../merchants/books.ts";
import type { PaymentStatus } from "../payments/states.ts";
import type { Statement } from "../store/database.ts";

/** So many payments one search looks at, newest first, shared by the books that it looks into; the next search goes on. */
export const LOOKED_AT_MAX = 10_000;
/** So many it looks at of each book at least, so that it gets on where there are many. */
export const LOOKED_AT_LEAST = 50;

export interface PaymentSearch {
  merchantId?: string | undefined;
  environment?: Environment | undefined;
  reference?: string | undefined;
  referenceId?: string | undefined;
  status?: PaymentStatus | undefined;
  amountMinor?: bigint | undefined;
  createdFrom?: Micros | undefined;
  /** Exclusive. */
  createdBefore?: Micros | undefined;
  /** Only payments older than this one. */
  after?: string | undefined;
}

type Place = (value: unknown) => string;

/** The books that a search looks into, the share of each, and its newest payments that indexes find. */
function lookedAt(search: PaymentSearch, place: Place, columns: string, skipped: string): string {
  const { merchantId, environment, reference, referenceId, after, createdFrom, createdBefore } = search;
  const books = [
    merchantId === undefined ? "" : ` and b.merchant_id = ${place(uuidOf(merchantId))}::uuid`,
    environment === undefined ? "" : ` and b.environment = ${place(environment)}::environment`,
  ].join("");
  const range = [
    reference === undefined ? "" : ` and p.payment_id = ${place(uuidOf(reference))}::uuid`,
    referenceId === undefined ? "" : ` and p.reference_id = ${place(referenceId)}::text`,
    after === undefined ? "" : ` and p.payment_id < ${place(uuidOf(after))}::uuid`,
    // identities begin with their payment's time
    createdFrom === undefined ? "" : ` and p.payment_id >= ${place(leastIdOf(createdFrom))}::uuid`,
    createdBefore === undefined ? "" : ` and p.payment_id < ${place(leastIdOf(createdBefore))}::uuid`,
  ].join("");
  // There is no index over all payments, and none is worth what it would cost each creation.
  return `from books b
cross join (
  select greatest(${LOOKED_AT_LEAST}, ${LOOKED_AT_MAX} / greatest(1, count(*)))::integer as share
  from books b
  where true${books}
) s
cross join lateral (
  select ${columns}
  from payments p
  where p.merchant_id = b.merchant_id and p.environment = b.environment${range}
  order by p.payment_id desc
  ${skipped}
) p
where true${books}`;
}

function placesIn(values: unknown[]): Place {
  return (value) => `$${values.push(value)}`;
}

/** A page of what is searched for, newest first, and one more than `limit`; rows as `paymentOfRow` reads them, with `merchant_name`. */
export function selectSearched(search: PaymentSearch, limit: number): Statement {
  const values: unknown[] = [];
  const place = placesIn(values);
  const source = lookedAt(search, place, "p.*", "limit s.share");
  const { status, amountMinor, createdFrom, createdBefore } = search;
  const filters = [
    status === undefined ? "" : ` and p.status = ${place(status)}::payment_status`,
    amountMinor === undefined ? "" : ` and p.amount_minor = ${place(amountMinor)}::bigint`,
    createdFrom === undefined ? "" : ` and p.created_at >= ${place(sqlTime(createdFrom))}::timestamptz`,
    createdBefore === undefined ? "" : ` and p.created_at < ${place(sqlTime(createdBefore))}::timestamptz`,
  ].join("");
  return {
    text: `select p.*, m.name as merchant_name
from (
  select p.*
  ${source}${filters}
  order by p.payment_id desc
  limit ${place(limit + 1)}::integer
) p
join merchants m using (merchant_id)
order by p.payment_id desc`,
    values,
  };
}

/** The newest payment at which `selectSearched` stopped in a book before it had looked at all of it: everything newer was looked at. */
export function selectSearchedTo(search: PaymentSearch): Statement {
  const values: unknown[] = [];
  const source = lookedAt(search, placesIn(values), "p.payment_id, p.created_at", "offset s.share - 1 limit 1");
  return {
    text: `select p.payment_id, p.created_at
${source}
order by p.payment_id desc
limit 1`,
    values,
  };
}

/** One payment by its reference, whoever's it is, with `merchant_name`: a look into each book by its primary key. */
export function selectAnyPayment(reference: string): Statement {
  return {
    name: "select any payment",
    text: `select p.*, m.name as merchant_name, s.status as settlement_status, s.payout_date
from books b
cross join lateral (
  select *
  from payments p
  where p.merchant_id = b.merchant_id and p.environment = b.environment and p.payment_id = $1::uuid
  limit 1
) p
join merchants m on m.merchant_id = p.merchant_id
left join settlements s
  on s.merchant_id = p.merchant_id and s.environment = p.environment and s.settlement_id = p.settlement_id
limit 1`,
    values: [uuidOf(reference)],
  };
}
