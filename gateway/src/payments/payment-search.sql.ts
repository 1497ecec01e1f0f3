// The SQL that finds the payments of one book, for lists and searches. Each statement limits the rows that it examines.
import { type Micros, sqlTime } from "../ground/clock.ts";
import { leastIdOf, uuidOf } from "../ground/ids.ts";
import type { Book } from "../merchants/books.ts";
import type { PaymentMethod } from "../merchants/settings.ts";
import type { Statement } from "../store/database.ts";
import { LOOKED_AT_MAX, type Place, placesIn } from "../store/searches.sql.ts";
import type { PaymentStatus } from "./states.ts";

export interface PaymentSearch {
  book: Book;
  reference?: string | undefined;
  referenceId?: string | undefined;
  /** Only payments that came by this link. */
  link?: string | undefined;
  /** The contact key of an e-mail address or a telephone, in hex. */
  contactKey?: string | undefined;
  status?: PaymentStatus | undefined;
  method?: PaymentMethod | undefined;
  /** A payment matches with any of these amounts. */
  amounts?: readonly { currency: string; amountMinor: bigint }[] | undefined;
  metadata?: { name: string; value: string } | undefined;
  createdFrom?: Micros | undefined;
  /** Exclusive bound. */
  createdBefore?: Micros | undefined;
  /** Only payments older than this one. */
  after?: string | undefined;
}

/** Whether a search discards payments that it examined. One that does not is answered by indexes alone, and examines no more than it gives. */
export const discards = ({ status, method, amounts, metadata, createdFrom, createdBefore }: PaymentSearch): boolean =>
  [status, method, amounts, metadata, createdFrom, createdBefore].some((filter) => filter !== undefined);

/** Selects the payments that indexes find: the newest, at most `most`, with all columns. */
function lookedAt(search: PaymentSearch, place: Place, most: number): string {
  const { book, after, createdFrom, createdBefore } = search;
  const add = (condition: string, value: unknown): string => ` and ${condition.replace("?", place(value))}`;
  const own = `p.merchant_id = ${place(uuidOf(book.merchantId))}::uuid and p.environment = ${place(book.environment)}::environment`;
  const range = [
    search.reference === undefined ? "" : add("p.payment_id = ?::uuid", uuidOf(search.reference)),
    search.referenceId === undefined ? "" : add("p.reference_id = ?::text", search.referenceId),
    search.link === undefined ? "" : add("p.link_id = ?::uuid", uuidOf(search.link)),
    after === undefined ? "" : add("p.payment_id < ?::uuid", uuidOf(after)),
    // A payment's identity begins with its creation time.
    createdFrom === undefined ? "" : add("p.payment_id >= ?::uuid", leastIdOf(createdFrom)),
    createdBefore === undefined ? "" : add("p.payment_id < ?::uuid", leastIdOf(createdBefore)),
  ].join("");
  const branch = (more: string): string => `select p.*
    from payments p
    where ${own}${range}${more}
    order by p.payment_id desc
    limit ${most}`;
  if (search.contactKey === undefined) return branch("");
  const key = place(Buffer.from(search.contactKey, "hex"));
  return `select *
    from ((
    ${branch(` and p.customer_key = ${key}::bytea`)}
    ) union all (
    ${branch(` and p.phone_key = ${key}::bytea`)}
    )) p
    order by p.payment_id desc
    limit ${most}`;
}

/** A page of the search's payments, newest first, and one more than `limit`; rows for `paymentOfRow`. */
export function selectFound(search: PaymentSearch, limit: number): Statement {
  const values: unknown[] = [];
  const place = placesIn(values);
  const source = lookedAt(search, place, discards(search) ? LOOKED_AT_MAX : limit + 1);
  const { status, method, amounts, metadata, createdFrom, createdBefore } = search;
  const filters = [
    status && `p.status = ${place(status)}::payment_status`,
    method && `p.payment_method = ${place(method)}::payment_method`,
    createdFrom !== undefined && `p.created_at >= ${place(sqlTime(createdFrom))}::timestamptz`,
    createdBefore !== undefined && `p.created_at < ${place(sqlTime(createdBefore))}::timestamptz`,
    amounts &&
      `(p.currency, p.amount_minor) in (select * from unnest(${place(amounts.map(({ currency }) => currency))}::text[], ${place(amounts.map(({ amountMinor }) => amountMinor))}::bigint[]))`,
    metadata && `p.metadata ->> ${place(metadata.name)}::text = ${place(metadata.value)}::text`,
  ].filter((filter) => typeof filter === "string" && filter !== "");
  return {
    text: `select p.*, s.status as settlement_status, s.payout_date
from (
    ${source}
) p
left join settlements s using (merchant_id, environment, settlement_id)
${filters.length === 0 ? "" : `where ${filters.join("\n  and ")}\n`}order by p.payment_id desc
limit ${place(limit + 1)}::integer`,
    values,
  };
}

/** The oldest payment that `selectFound` examines. Gives no row when it examines all of them. */
export function selectLookedTo(search: PaymentSearch): Statement {
  const values: unknown[] = [];
  const place = placesIn(values);
  const source = lookedAt(search, place, LOOKED_AT_MAX);
  return {
    text: `select payment_id, created_at
from (
    ${source}
) p
order by payment_id desc
offset ${LOOKED_AT_MAX - 1}
limit 1`,
    values,
  };
}
