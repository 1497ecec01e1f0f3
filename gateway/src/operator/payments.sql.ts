// What the operator reads of payments: of all merchants, book by book through the indexes that each book has. Their own room writes them.
import { leastIdOf } from "../events/events.sql.ts";
import { type Micros, sqlTime } from "../ground/clock.ts";
import { uuidOf } from "../ground/ids.ts";
import type { Environment } from "../merchants/books.ts";
import type { PaymentStatus } from "../payments/states.ts";
import type { Statement } from "../store/database.ts";

/** So many payments one search looks at, newest first; the next search goes on. Books that it looks into have equal shares. */
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

/** The identities of the newest payments that indexes find in the books that a search looks into: of each its share, or `part` of that. */
function lookedAt(search: PaymentSearch, place: Place, part: string): string {
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
  return `select p.merchant_id, p.environment, p.payment_id
from books b
cross join (
  select greatest(${LOOKED_AT_LEAST}, ${LOOKED_AT_MAX} / greatest(1, count(*)))::integer as share
  from books b
  where true${books}
) s
cross join lateral (
  select p.merchant_id, p.environment, p.payment_id
  from payments p
  where p.merchant_id = b.merchant_id and p.environment = b.environment${range}
  order by p.payment_id desc
  ${part}
) p
where true${books}`;
}

/** The row of each identity `i`, by the primary key, one after the other. */
const rowOf = `cross join lateral (
  select *
  from payments p
  where p.merchant_id = i.merchant_id and p.environment = i.environment and p.payment_id = i.payment_id
  limit 1
) p`;

function placesIn(values: unknown[]): Place {
  return (value) => `$${values.push(value)}`;
}

/** Whether a search has no filter but those that indexes answer: then no row is looked at in vain. */
export function isIndexed({ status, amountMinor, createdFrom, createdBefore }: PaymentSearch): boolean {
  return [status, amountMinor, createdFrom, createdBefore].every((asked) => asked === undefined);
}

/** A page of what is searched for, newest first, and one more than `limit`; rows as `paymentOfRow` reads them, with `merchant_name`. */
export function selectSearched(search: PaymentSearch, limit: number): Statement {
  const values: unknown[] = [];
  const place = placesIn(values);
  const { status, amountMinor, createdFrom, createdBefore } = search;
  const most = isIndexed(search) ? limit + 1 : LOOKED_AT_MAX;
  const source = lookedAt(search, place, `limit least(s.share, ${most})`);
  const filters = [
    status === undefined ? "" : ` and p.status = ${place(status)}::payment_status`,
    amountMinor === undefined ? "" : ` and p.amount_minor = ${place(amountMinor)}::bigint`,
    createdFrom === undefined ? "" : ` and p.created_at >= ${place(sqlTime(createdFrom))}::timestamptz`,
    createdBefore === undefined ? "" : ` and p.created_at < ${place(sqlTime(createdBefore))}::timestamptz`,
  ].join("");
  // Rows are read in the order of their identities, until the page is full.
  return {
    text: `select p.*, m.name as merchant_name
from (
  ${source}
  order by p.payment_id desc
  limit ${most}
) i
${rowOf}
join merchants m on m.merchant_id = p.merchant_id
where true${filters}
order by i.payment_id desc
limit ${place(limit + 1)}::integer`,
    values,
  };
}

/** The newest payment at which `selectSearched` stopped, in a book or in all, before it had looked at everything: what is newer was looked at. */
export function selectSearchedTo(search: PaymentSearch): Statement {
  const values: unknown[] = [];
  const place = placesIn(values);
  return {
    text: `select p.payment_id, p.created_at
from (
  (
    ${lookedAt(search, place, "offset s.share - 1 limit 1")}
    order by p.payment_id desc
    limit 1
  )
  union all
  (
    ${lookedAt(search, place, "limit s.share")}
    order by p.payment_id desc
    offset ${LOOKED_AT_MAX - 1}
    limit 1
  )
) i
${rowOf}
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
