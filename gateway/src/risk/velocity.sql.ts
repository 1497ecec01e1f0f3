// How often a customer and a merchant came lately: counted from the payments through their indexes, up to a bound.
import { type Micros, SECOND } from "../ground/clock.ts";
import { digestOf } from "../ground/crypto.ts";
import { type Book, bookArrays, bookClocks, bookKey, bookOfRow } from "../merchants/books.ts";
import type { Row, Statement } from "../store/database.ts";
import { BATCH_MAX } from "../store/lanes.ts";
import type { Table } from "../store/table.ts";
import type { Customer } from "./risk.ts";

export interface VelocityKey {
  book: Book;
  /** 16 bytes in hex that stand for a contact of the customer; null counts all payments of the merchant. */
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

export const MERCHANT_WINDOW: Micros = 60 * SECOND;
export const CUSTOMER_WINDOW: Micros = 3600 * SECOND;
/** Younger payments may still be on their way to their commit. One that takes longer is not counted for a minute at most. */
const SETTLED: Micros = 2 * SECOND;

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

/** What the last count of a merchant's payments said of its book. */
interface Known {
  /** The clock's. */
  offsetSeconds: number;
  /** Counted up to here. */
  most: number;
  /**
   * So many payments since that millisecond of its clock, which stays true, since payments stay: while the window begins before it there is
   * nothing to count. Counting each batch anew cost a sixth of what its rows cost. Undefined when there were fewer.
   */
  fullSinceMs: number | undefined;
  /**
   * Or so many from one millisecond of its clock until another, all of which are there: what came later is counted, and no more, as long as
   * both together are so far from the threshold that a batch, each payment of which counts for the next, cannot reach it. Counting the whole minute of each of a thousand merchants cost as much as half of what their rows cost.
   */
  few: { payments: number; sinceMs: number; untilMs: number } | undefined;
}
const KNOWN_MAX = 10_000;
const known = new Map<string, Known>();

function remember(book: Book, fact: Known): void {
  const name = bookKey(book);
  known.delete(name);
  known.set(name, fact);
  const [oldest] = known.keys();
  if (known.size > KNOWN_MAX && oldest !== undefined) known.delete(oldest);
}

/** The millisecond since which a book is known to have had as many payments as are counted; null when it is not. */
function knownSince({ book, contactKey, most }: VelocityKey): number | null {
  const fact = contactKey === null ? known.get(bookKey(book)) : undefined;
  return fact?.fullSinceMs !== undefined && fact.most >= most ? fact.fullSinceMs : null;
}

/** What is known of a book that is far from its threshold. */
function knownFew({ book, contactKey }: VelocityKey): Known["few"] {
  return contactKey === null ? known.get(bookKey(book))?.few : undefined;
}

/** Payments of the window, told apart by what finds them. Identifiers are in order: they begin with the book's milliseconds. */
function inWindow(finds: string): string {
  return `select p.payment_id
    from payments p
    where p.merchant_id = k.merchant_id and p.environment = k.environment
      and p.payment_id >= ${idAt("w.since_ms")}${finds}`;
}

/** The least identifier that was made at a millisecond. */
function idAt(ms: string): string {
  return `rpad(lpad(to_hex(${ms}), 12, '0'), 32, '0')::uuid`;
}

// One statement a batch, whatever contacts its customers gave. A telephone is under either key, an address under the first:
// looking for it under the second as well costs less than a statement of its own.
const ofMerchant = `${inWindow("")}
    order by p.payment_id desc`;
const ofCustomer = `(${inWindow("\n      and p.customer_key = decode(k.contact_key, 'hex')")})
    union all
    (${inWindow("\n      and p.phone_key = decode(k.contact_key, 'hex')")})`;

function velocityTable(rank: number, name: string, payments: string): Table<VelocityKey, Velocity> {
  const counted = (
    keys: readonly VelocityKey[],
    few: (key: VelocityKey) => Known["few"],
  ): Statement & { values: unknown[] } => {
    const fews = keys.map(few);
    return {
      name: `count ${name}`,
      text: `select k.merchant_id, k.environment, b.clock_offset_seconds, k.contact_key, k.most, c.nth,
  case when f.holds then k.most when u.holds then k.few + r.payments else c.payments end as payments,
  case when u.holds then k.few + r.settled else c.settled end as few,
  case when u.holds then k.few_since_ms else w.since_ms end as few_since_ms,
  w.settled_ms as few_until_ms
from unnest($1::uuid[], $2::text[]::environment[], $3::text[], $4::bigint[], $5::integer[], $6::bigint[], $7::integer[], $8::bigint[], $9::bigint[])
  as k(merchant_id, environment, contact_key, since_ms, most, known_ms, few, few_since_ms, few_until_ms)
-- book by book through the key, however few books there are: a join would read all of them
cross join lateral (
  select b.clock_offset_seconds
  from books b
  where b.merchant_id = k.merchant_id and b.environment = k.environment
  limit 1
) b
-- all by the book's clock
cross join lateral (
  select k.since_ms + b.clock_offset_seconds * 1000 as since_ms,
    greatest(k.since_ms + b.clock_offset_seconds * 1000 + ${(MERCHANT_WINDOW - SETTLED) / 1000}, k.few_until_ms) as settled_ms
) w
cross join lateral (
  select k.known_ms >= w.since_ms as holds,
    case when w.since_ms between k.few_since_ms and k.few_until_ms then greatest(k.most - ${BATCH_MAX} - k.few, 0) else 0 end as room
) f
cross join lateral (
  select count(*)::integer as payments, count(*) filter (where payment_id < ${idAt("w.settled_ms")})::integer as settled
  from (
    select p.payment_id
    from payments p
    where p.merchant_id = k.merchant_id and p.environment = k.environment and p.payment_id >= ${idAt("k.few_until_ms")}
    order by p.payment_id desc
    limit f.room
  ) later
) r
cross join lateral (select r.payments < f.room as holds) u
cross join lateral (
  select count(*)::integer as payments, (array_agg(payment_id))[k.most] as nth,
    count(*) filter (where payment_id < ${idAt("w.settled_ms")})::integer as settled
  from (
    ${payments}
    limit case when f.holds or u.holds then 0 else k.most end
  ) bounded
) c`,
      values: [
        ...bookArrays(keys.map((key) => key.book)),
        keys.map((key) => key.contactKey),
        keys.map(({ realSince }) => Math.floor(realSince / 1000)),
        keys.map((key) => key.most),
        keys.map(knownSince),
        fews.map((fact) => fact?.payments),
        fews.map((fact) => fact?.sinceMs),
        fews.map((fact) => fact?.untilMs),
      ],
    };
  };
  return {
    name,
    rank,
    // With its bound: a change of the settings may fall between two requests of one batch.
    keyText: (key) => `${bookKey(key.book)}/${key.contactKey ?? ""}/${key.most}`,
    keyOf: (velocity) => velocity.key,
    carries: { table: bookClocks, keyOf: ({ book }) => book },
    load: (keys) => counted(keys, knownFew),
    parse: velocityOfRow,
    presume(key) {
      const { book, contactKey, most, realSince } = key;
      const fact = contactKey === null ? known.get(bookKey(book)) : undefined;
      if (fact?.most !== most) return undefined;
      const { offsetSeconds, fullSinceMs } = fact;
      const full = fullSinceMs !== undefined;
      if (full && fullSinceMs < realSince / 1000 + offsetSeconds * 1000) return undefined; // to be counted anew
      // The whole minute: nothing that a lone payment counts is noted.
      const { text, values } = counted([key], () => undefined);
      return {
        value: { key, count: full ? most : 0 },
        carried: { book, offsetSeconds },
        check: {
          name: `check ${name}`,
          text: `select presumed_wrongly() from (${text}) v
where (v.payments >= v.most) <> $10::boolean or v.clock_offset_seconds <> $11::bigint`,
          values: [...values, full, offsetSeconds],
        },
      };
    },
  };
}

function velocityOfRow(row: Row): Velocity {
  const book = bookOfRow(row);
  const contactKey = row.contact_key as string | null;
  const most = row.most as number;
  const count = row.payments as number;
  if (contactKey === null) {
    const nth = row.nth as string | null; // the payment with which the count was full; none when it was known to be
    const since = nth === null ? known.get(bookKey(book))?.fullSinceMs : millisecondOf(nth);
    const isFull = count >= most;
    remember(book, {
      offsetSeconds: Number(row.clock_offset_seconds),
      most,
      fullSinceMs: isFull ? since : undefined,
      few: isFull
        ? undefined
        : { payments: row.few as number, sinceMs: Number(row.few_since_ms), untilMs: Number(row.few_until_ms) },
    });
  }
  return { key: { book, contactKey, realSince: 0, most }, count };
}

/** Identifiers begin with the milliseconds of their book. */
function millisecondOf(paymentId: string): number {
  return Number.parseInt(paymentId.replace("-", "").slice(0, 12), 16);
}

export const merchantVelocity = velocityTable(21, "merchant velocity", ofMerchant);
export const customerVelocity = velocityTable(22, "customer velocity", ofCustomer);
