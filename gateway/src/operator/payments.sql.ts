// Queries of operators over the payments of all merchants, book by book through the indexes of each book. The payments room writes the table.
import { sqlTime } from "../ground/clock.ts";
import { leastIdOf, uuidOf } from "../ground/ids.ts";
import type { Environment } from "../merchants/books.ts";
import type { PaymentSearch as SearchOfBook } from "../payments/payment-search.sql.ts";
import type { Statement } from "../store/database.ts";
import { LOOKED_AT_MAX, type Place, placesIn } from "../store/searches.sql.ts";

/** The smallest share of a book in what a search looks at, in which all books share alike, so that a search over many books still advances. */
export const LOOKED_AT_LEAST = 50;

type Shared = "reference" | "referenceId" | "status" | "createdFrom" | "createdBefore" | "after";

export interface PaymentSearch extends Pick<SearchOfBook, Shared> {
  merchantId?: string | undefined;
  environment?: Environment | undefined;
  amountMinor?: bigint | undefined;
}

/** Selects identities of the newest payments, by indexes, in each book of the search. `part` limits a book's rows, in terms of its `share`. */
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
    // A payment's identity begins with its creation time.
    createdFrom === undefined ? "" : ` and p.payment_id >= ${place(leastIdOf(createdFrom))}::uuid`,
    createdBefore === undefined ? "" : ` and p.payment_id < ${place(leastIdOf(createdBefore))}::uuid`,
  ].join("");
  // An index over the payments of all books would cost every creation more than it is worth here.
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

/** The row of each identity `i`, looked up by the primary key one after the other. */
const rowOf = `cross join lateral (
  select *
  from payments p
  where p.merchant_id = i.merchant_id and p.environment = i.environment and p.payment_id = i.payment_id
  limit 1
) p`;

/** True when indexes answer all filters of a search, so that no examined row is discarded. */
export function isIndexed({ status, amountMinor, createdFrom, createdBefore }: PaymentSearch): boolean {
  return [status, amountMinor, createdFrom, createdBefore].every((asked) => asked === undefined);
}

/** A page of the search's payments, newest first, and one more than `limit`; rows for `paymentOfRow`, with `merchant_name`. */
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
  // Rows are read in the order of their identities until the page is full.
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

/** The payment at which `selectSearched` stopped early, in a book or over all books; the newest if several. All newer payments were examined. */
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

/** One payment of any merchant by its reference, with `merchant_name`. Looks into each book by the primary key. */
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
