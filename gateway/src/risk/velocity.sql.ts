// How often a customer and a merchant came lately: counted from the payments through their indexes, up to a bound.
import { type Micros, SECOND } from "../ground/clock.ts";
import { digestOf } from "../ground/crypto.ts";
import { type Book, bookArrays, bookKey, bookOfRow } from "../merchants/books.ts";
import type { Table } from "../store/table.ts";
import type { Customer } from "./risk.ts";

/** Counting stops here: no threshold may be above it, so a busy merchant costs no more than this many index entries. */
const COUNT_MAX = 2000;

export interface VelocityKey {
  book: Book;
  /** 16 bytes in hex that stand for the customer; null counts all payments of the merchant. */
  customerKey: string | null;
  /** Start of the window in real time; the book's own clock is added where it is counted. */
  realSince: Micros;
}

export interface Velocity {
  key: VelocityKey;
  count: number;
}

export const MERCHANT_WINDOW: Micros = 60 * SECOND;
export const CUSTOMER_WINDOW: Micros = 3600 * SECOND;

/** Who the customer is for counting: the e-mail address, else the telephone; null when neither was given. */
export function customerKeyOf(customer: Customer | undefined): string | null {
  const contact = customer?.email?.toLowerCase() ?? customer?.phone;
  return contact === undefined ? null : digestOf("customer", contact).toString("hex").slice(0, 32);
}

function velocityTable(rank: number, name: string, ofCustomer: boolean): Table<VelocityKey, Velocity> {
  return {
    name,
    rank,
    keyText: (key) => `${bookKey(key.book)}/${key.customerKey ?? ""}`,
    keyOf: (velocity) => velocity.key,
    load: (keys) => ({
      name: `count ${name}`,
      // Payments are ordered by identifier, which begins with the book's time in milliseconds.
      text: `select k.merchant_id, k.environment, k.customer_key, c.payments
from unnest($1::uuid[], $2::text[]::environment[], $3::text[], $4::bigint[])
  as k(merchant_id, environment, customer_key, since_ms)
join books b on b.merchant_id = k.merchant_id and b.environment = k.environment
cross join lateral (
  select count(*)::integer as payments
  from (
    select 1
    from payments p
    where p.merchant_id = k.merchant_id and p.environment = k.environment
      and p.payment_id >= rpad(lpad(to_hex(k.since_ms + b.clock_offset_seconds * 1000), 12, '0'), 32, '0')::uuid
      ${ofCustomer ? "and p.customer_key = decode(k.customer_key, 'hex')" : ""}
    limit ${COUNT_MAX}
  ) bounded
) c`,
      values: [
        ...bookArrays(keys.map((key) => key.book)),
        keys.map((key) => key.customerKey),
        keys.map((key) => Math.floor(key.realSince / 1000)),
      ],
    }),
    parse: (row) => ({
      key: { book: bookOfRow(row), customerKey: row.customer_key as string | null, realSince: 0 },
      count: row.payments as number,
    }),
  };
}

export const merchantVelocity = velocityTable(21, "merchant velocity", false);
export const customerVelocity = velocityTable(22, "customer velocity", true);
