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
  /** 16 bytes in hex that stand for a contact of the customer; null counts all payments of the merchant. */
  contactKey: string | null;
  /** Start of the window in real time; the book's own clock is added where it is counted. */
  realSince: Micros;
}

export interface Velocity {
  key: VelocityKey;
  count: number;
}

export const MERCHANT_WINDOW: Micros = 60 * SECOND;
export const CUSTOMER_WINDOW: Micros = 3600 * SECOND;

/** What stands for each contact that was given. A customer with neither cannot be counted. */
export interface ContactKeys {
  /** The e-mail address, else the telephone; null when neither was given. */
  customerKey: string | null;
  /** The telephone where an e-mail address was given too. */
  phoneKey: string | null;
}

/**
 * Each contact is counted for itself: one telephone under ever new addresses is one customer, and so is one address under
 * ever new telephones. A payment is found again by both, so one with both needs a second key and an entry in a second
 * index. One key that stands for either contact would save the entry, and let whoever varies the other one pass.
 */
export function contactKeysOf(customer: Customer | undefined): ContactKeys {
  const email = customer?.email?.toLowerCase();
  const phone = customer?.phone;
  const first = email ?? phone;
  return {
    customerKey: first === undefined ? null : keyOf(first),
    phoneKey: email === undefined || phone === undefined ? null : keyOf(phone),
  };
}

function keyOf(contact: string): string {
  return digestOf("customer", contact).toString("hex").slice(0, 32);
}

/** Payments of the window, told apart by what finds them. Identifiers are in order: they begin with the book's milliseconds. */
function inWindow(finds: string): string {
  return `select 1
    from payments p
    where p.merchant_id = k.merchant_id and p.environment = k.environment
      and p.payment_id >= rpad(lpad(to_hex(k.since_ms + b.clock_offset_seconds * 1000), 12, '0'), 32, '0')::uuid${finds}`;
}

// One statement a batch, whatever contacts its customers gave. A telephone is under either key, an address under the first:
// looking for it under the second as well costs less than a statement of its own.
const ofMerchant = inWindow("");
const ofCustomer = `(${inWindow("\n      and p.customer_key = decode(k.contact_key, 'hex')")})
    union all
    (${inWindow("\n      and p.phone_key = decode(k.contact_key, 'hex')")})`;

function velocityTable(rank: number, name: string, payments: string): Table<VelocityKey, Velocity> {
  return {
    name,
    rank,
    keyText: (key) => `${bookKey(key.book)}/${key.contactKey ?? ""}`,
    keyOf: (velocity) => velocity.key,
    load: (keys) => ({
      name: `count ${name}`,
      text: `select k.merchant_id, k.environment, k.contact_key, c.payments
from unnest($1::uuid[], $2::text[]::environment[], $3::text[], $4::bigint[])
  as k(merchant_id, environment, contact_key, since_ms)
join books b on b.merchant_id = k.merchant_id and b.environment = k.environment
cross join lateral (
  select count(*)::integer as payments
  from (
    ${payments}
    limit ${COUNT_MAX}
  ) bounded
) c`,
      values: [
        ...bookArrays(keys.map((key) => key.book)),
        keys.map((key) => key.contactKey),
        keys.map((key) => Math.floor(key.realSince / 1000)),
      ],
    }),
    parse: (row) => ({
      key: { book: bookOfRow(row), contactKey: row.contact_key as string | null, realSince: 0 },
      count: row.payments as number,
    }),
  };
}

export const merchantVelocity = velocityTable(21, "merchant velocity", ofMerchant);
export const customerVelocity = velocityTable(22, "customer velocity", ofCustomer);
