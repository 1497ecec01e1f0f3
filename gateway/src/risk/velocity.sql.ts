// Velocity: how many payments a customer and a merchant made lately, counted from the payments through their indexes, up to a cap.
import { type Micros, SECOND } from "../ground/clock.ts";
import { type Book, bookClocks, bookColumns, bookKey, bookOfRow } from "../merchants/books.ts";
import type { LockedTable } from "../store/lock-order.ts";
import { type Columns, type Table, arraysOf, rowsOf } from "../store/table.ts";

export const MERCHANT_WINDOW: Micros = 60 * SECOND;
export const CUSTOMER_WINDOW: Micros = 3600 * SECOND;

export interface VelocityKey {
  book: Book;
  /**
   * 16 bytes in hex that stand for a contact of the customer; null counts all payments of the merchant. A payment is found by either of its
   * contacts, so a payment with two has a second key, in a second index. One key for both contacts would save an index entry, but would miss a
   * fraudster who varies one of the contacts.
   */
  contactKey: string | null;
  /** Start of the velocity window in real time; the query adds the book's clock offset. */
  realSince: Micros;
  /** Cap at which counting stops: the threshold, beyond which the number means nothing more. */
  most: number;
}

interface Velocity {
  key: VelocityKey;
  count: number;
}

const keyColumns: Columns<VelocityKey> = {
  ...bookColumns,
  contact_key: ["text", ({ contactKey }) => contactKey],
  since_ms: ["bigint", ({ realSince }) => Math.floor(realSince / 1000)],
  most: ["integer", ({ most }) => most],
};

// Payment ids begin with their book's time in milliseconds, so the primary key is in order of time. Without `order by`, and with few merchants,
// the planner reads the whole table from its oldest row, and expects to meet enough recent payments soon.
const newest = (whose: string, columns = "p.payment_id", most = "k.most"): string => `(select ${columns}
    from payments p
    where p.merchant_id = k.merchant_id and p.environment = k.environment and p.payment_id >= b.first_id${whose}
    order by p.payment_id desc
    limit ${most})`;
const ofMerchant = newest("");

// Whoever has a link types any contact they like, so a payment begun by a link counts for its customer only once it is paid. Unpaid ones are free to
// begin, so a bounded number is examined, the newest first, lest old ones hide what came after: with 36,000 of one customer the statement takes
// 0.4 ms, and without the bound 12 ms.
const EXAMINED_MAX = 1_000;
const byContact = (column: string): string => `(select
    from ${newest(` and p.${column} = decode(k.contact_key, 'hex')`, "p.link_id, p.paid_at", `k.most + ${EXAMINED_MAX}`)} p
    where p.link_id is null or p.paid_at is not null
    limit k.most)`;

// One statement serves a batch, whatever contacts its customers gave. A telephone number may be under either key, an e-mail address only under
// the first: looking for it under the second as well costs less than a statement of its own.
const ofContact = `${byContact("customer_key")}
    union all
    ${byContact("phone_key")}`;

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
    // The key includes the cap: the settings may change between two requests of one batch.
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
