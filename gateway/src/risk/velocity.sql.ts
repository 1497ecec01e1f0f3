// How often a customer and a merchant came lately: counted from the payments through their indexes, up to a bound.
import { type Micros, SECOND } from "../ground/clock.ts";
import { type Book, bookClocks, bookColumns, bookKey, bookOfRow } from "../merchants/books.ts";
import type { LockedTable } from "../store/lock-order.ts";
import { type Columns, type Table, arraysOf, rowsOf } from "../store/table.ts";

export const MERCHANT_WINDOW: Micros = 60 * SECOND;
export const CUSTOMER_WINDOW: Micros = 3600 * SECOND;

export interface VelocityKey {
  book: Book;
  /**
   * 16 bytes in hex that stand for a contact of the customer; null counts all payments of the merchant. A payment is found again by both
   * of its contacts, so one with both needs a second key and an entry in a second index. One key that stands for either contact would save
   * the entry, and let whoever varies the other one pass.
   */
  contactKey: string | null;
  /** Start of the window in real time; the book's own clock is added where it is counted. */
  realSince: Micros;
  /** Counting stops here: at the threshold, beyond which more means nothing. */
  most: number;
}

export interface Velocity {
  key: VelocityKey;
  count: number;
}

const keyColumns: Columns<VelocityKey> = {
  ...bookColumns,
  contact_key: ["text", ({ contactKey }) => contactKey],
  since_ms: ["bigint", ({ realSince }) => Math.floor(realSince / 1000)],
  most: ["integer", ({ most }) => most],
};

// Identities begin with their book's time in milliseconds, so the primary key is in the order of time. Without an order, and with few
// merchants, the planner reads the whole table from its oldest row, and expects to meet enough recent ones soon.
const newest = (whose: string): string => `(select p.payment_id
    from payments p
    where p.merchant_id = k.merchant_id and p.environment = k.environment and p.payment_id >= b.first_id${whose}
    order by p.payment_id
    limit k.most)`;
const ofMerchant = newest("");

// One statement a batch, whatever contacts its customers gave. A telephone is under either key, an address under the first:
// looking for it under the second as well costs less than a statement of its own.
const ofContact = `${newest(" and p.customer_key = decode(k.contact_key, 'hex')")}
    union all
    ${newest(" and p.phone_key = decode(k.contact_key, 'hex')")}`;

function velocityTable(name: LockedTable, payments: string): Table<VelocityKey, Velocity> {
  const text = `select k.merchant_id, k.environment, k.contact_key, k.most, b.clock_offset_seconds, c.payments
from (
${rowsOf(keyColumns)}
) k
-- book by book through the key, however few books there are: a join would read all of them
cross join lateral (
  select b.clock_offset_seconds,
    rpad(lpad(to_hex(k.since_ms + b.clock_offset_seconds * 1000), 12, '0'), 32, '0')::uuid as first_id
  from books b
  where b.merchant_id = k.merchant_id and b.environment = k.environment
  limit 1
) b
cross join lateral (
  select least(count(*), k.most)::integer as payments
  from (
    ${payments}
  ) bounded
) c`;
  return {
    name,
    // With its bound: a change of the settings may fall between two requests of one batch.
    keyText: (key) => `${bookKey(key.book)}/${key.contactKey ?? ""}/${key.most}`,
    keyOf: (velocity) => velocity.key,
    carries: { table: bookClocks, keyOf: ({ book }) => book },
    load: (keys) => ({ name: `count ${name}`, text, values: arraysOf(keyColumns, keys) }),
    parse: (row) => ({
      key: {
        book: bookOfRow(row),
        contactKey: row.contact_key as string | null,
        realSince: 0,
        most: row.most as number,
      },
      count: row.payments as number,
    }),
  };
}

export const merchantVelocity = velocityTable("merchant velocity", ofMerchant);
export const customerVelocity = velocityTable("customer velocity", ofContact);
