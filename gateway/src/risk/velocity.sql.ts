// How often a customer and a merchant came lately: counted from the payments through their indexes, up to a bound, where it is not known.
import { type Micros, SECOND } from "../ground/clock.ts";
import { digestOf } from "../ground/crypto.ts";
import { uuidOf } from "../ground/ids.ts";
import { type Book, bookClocks, bookColumns, bookKey, bookOfRow } from "../merchants/books.ts";
import type { Row } from "../store/database.ts";
import { type Columns, type Load, type Table, arraysOf, rowsOf } from "../store/table.ts";
import {
  MERCHANT_WINDOW,
  Minutes,
  type OwnMinute,
  type ReadMinute,
  SETTLED,
  WAITED,
  firstSince,
  forgetOwn,
  ownMinute,
} from "./minutes.ts";
import type { Customer } from "./risk.ts";

export interface VelocityKey {
  book: Book;
  /** 16 bytes in hex that stand for a contact of the customer; null counts all payments of the merchant. */
  contactKey: string | null;
  /** Start of the window in real time; the book's own clock is added where it is counted. */
  realSince: Micros;
  /** Counting stops here: at the threshold, beyond which more means nothing. */
  most: number;
  /** In real time: since when no other process makes payments; undefined while others may. Asked when it is counted. */
  aloneSince?(): Micros | undefined;
}

export interface Velocity {
  key: VelocityKey;
  count: number;
}

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

// Under its bound: beyond that nobody counted.
const nameOf = ({ book, most }: VelocityKey): string => `${bookKey(book)}/${most}`;
const known = new Minutes<ReadMinute>();

/** What was read of a merchant's minute. Of customers nothing is kept: they are too many. */
function knownOf(key: VelocityKey): ReadMinute | undefined {
  return key.contactKey === null ? known.get(nameOf(key)) : undefined;
}

/** All that there is to know of a merchant's minute, without asking: what this process made, and what was read before that. */
interface Whole {
  own: OwnMinute;
  read: ReadMinute | undefined;
  /** How many payments it had when it was looked at, if the book's clock was no further ahead than this. (Later the oldest may have gone.) */
  count: number;
  offsetSeconds: number;
}

/** Undefined unless this process alone made whatever was not read. Stays whole when the book's clock turns out to be further. */
function wholeOf(key: VelocityKey): Whole | undefined {
  const { book, contactKey, realSince, most } = key;
  const aloneSince = contactKey === null ? key.aloneSince?.() : undefined;
  const own = aloneSince === undefined ? undefined : ownMinute(book);
  if (aloneSince === undefined || !own) return undefined;
  const { offsetSeconds } = own;
  const sinceMs = windowStart(key, offsetSeconds);
  const whole = (read: ReadMinute | undefined): Whole => ({
    own,
    read,
    offsetSeconds,
    count: countWhole(own, read, sinceMs, most),
  });
  const isOwn = sinceMs >= own.fromMs || countSince(own.moments, sinceMs) >= most;
  if (isOwn && realSince >= aloneSince) return whole(undefined);
  const read = knownOf(key);
  if (!read || sinceMs < read.fromMs || read.untilMs < own.fromMs) return undefined;
  // Whatever others made is older than what was read.
  return windowStart({ realSince: aloneSince }, read.offsetSeconds) <= read.untilMs ? whole(read) : undefined;
}

function countWhole(own: OwnMinute, read: ReadMinute | undefined, sinceMs: number, most: number): number {
  const earlier = read ? countSince(read.moments, sinceMs) : 0;
  return Math.min(most, earlier + countSince(own.moments, Math.max(sinceMs, read?.untilMs ?? 0)));
}

/** Where a window begins by the book's clock, in milliseconds. */
function windowStart({ realSince }: Pick<VelocityKey, "realSince">, offsetSeconds: number): number {
  return Math.floor(realSince / 1000) + offsetSeconds * 1000;
}

/** A key, and what was known when it was asked for. */
interface Asked extends VelocityKey {
  minute: ReadMinute | undefined;
  whole: Whole | undefined;
}

const askedColumns: Columns<Asked> = {
  ...bookColumns,
  contact_key: ["text", ({ contactKey }) => contactKey],
  since_ms: ["bigint", ({ realSince }) => Math.floor(realSince / 1000)],
  most: ["integer", ({ most }) => most],
  known_from_ms: ["bigint", ({ minute }) => minute?.fromMs],
  known_until_ms: ["bigint", ({ minute }) => minute?.untilMs],
  full_since_ms: ["bigint", ({ minute, whole }) => (whole ? Number.MAX_SAFE_INTEGER : minute?.fullSinceMs)],
};
const clockColumns: Columns<VelocityKey> = {
  ...bookColumns,
  contact_key: ["text", ({ contactKey }) => contactKey],
  most: ["integer", ({ most }) => most],
};
const clocksOnly = `select k.*, b.clock_offset_seconds
from (
${rowsOf(clockColumns)}
) k
cross join lateral (
  select b.clock_offset_seconds
  from books b
  where b.merchant_id = k.merchant_id and b.environment = k.environment
  limit 1
) b`;

/** The least identifier that was made at a millisecond: they begin with their book's. */
const idAt = (ms: string): string => `rpad(lpad(to_hex(${ms}), 12, '0'), 32, '0')::uuid`;

/** Payments that are not known yet. */
function notKnown(finds: string): string {
  return `select p.payment_id
    from payments p
    where p.merchant_id = k.merchant_id and p.environment = k.environment and p.payment_id >= ${idAt("w.from_ms")}${finds}`;
}

// One statement a batch, whatever contacts its customers gave. A telephone is under either key, an address under the first:
// looking for it under the second as well costs less than a statement of its own.
const ofMerchant = `${notKnown("")}
    order by p.payment_id desc`;
const ofCustomer = `(${notKnown("\n      and p.customer_key = decode(k.contact_key, 'hex')")})
    union all
    (${notKnown("\n      and p.phone_key = decode(k.contact_key, 'hex')")})`;

function velocityTable(rank: number, name: string, payments: string): Table<VelocityKey, Velocity> {
  // Tried: the number of payments that are known, and from which moment, in place of the payments themselves. It grows untrue as the
  // window moves, so near the threshold everything was counted anew: 2 ms a batch over a thousand merchants by Zipf's law.
  const load = (keys: readonly VelocityKey[]): Load<Velocity> & { values: unknown[] } => {
    const asked = keys.map((key): Asked => ({ ...key, minute: knownOf(key), whole: wholeOf(key) }));
    const byName = new Map(asked.map((one) => [nameOf(one), one]));
    const parse = (row: Row): Velocity => velocityOfRow(row, byName);
    if (asked.every(({ whole }) => whole)) {
      return { parse, name: `clocks for ${name}`, text: clocksOnly, values: arraysOf(clockColumns, asked) };
    }
    return {
      parse,
      name: `count ${name}`,
      text: `select k.merchant_id, k.environment, b.clock_offset_seconds, k.contact_key, k.most, w.since_ms, w.from_ms, w.settled_ms, w.is_full,
  c.payments, c.nth, c.settled
from (
${rowsOf(askedColumns)}
) k
-- book by book through the key, however few books there are: a join would read all of them
cross join lateral (
  select k.since_ms + b.clock_offset_seconds * 1000 as since_ms, b.clock_offset_seconds
  from books b
  where b.merchant_id = k.merchant_id and b.environment = k.environment
  limit 1
) b
cross join lateral (
  select b.since_ms, coalesce(k.full_since_ms >= b.since_ms, false) as is_full,
    case when b.since_ms between k.known_from_ms and k.known_until_ms then k.known_until_ms else b.since_ms end as from_ms,
    b.since_ms + ${(MERCHANT_WINDOW - SETTLED) / 1000} as settled_ms
) w
cross join lateral (
  select count(*)::integer as payments, left(((array_agg(payment_id))[k.most])::text, 13) as nth,
    string_agg(left(payment_id::text, 13), ' ') filter (where payment_id < ${idAt("w.settled_ms")}) as settled
  from (
    ${payments}
    limit case when w.is_full then 0 else k.most end
  ) bounded
) c`,
      values: arraysOf(askedColumns, asked),
    };
  };
  return {
    name,
    rank,
    // With its bound: a change of the settings may fall between two requests of one batch.
    keyText: (key) => `${bookKey(key.book)}/${key.contactKey ?? ""}/${key.most}`,
    keyOf: (velocity) => velocity.key,
    carries: { table: bookClocks, keyOf: ({ book }) => book },
    load,
    presume(key) {
      const { book, most } = key;
      const whole = wholeOf(key);
      if (whole) {
        const { offsetSeconds, count } = whole;
        return {
          value: { key, count },
          carried: { book, offsetSeconds },
          check: {
            name: "check clock",
            text: `select presumed_wrongly() from books
where merchant_id = $1::uuid and environment = $2::environment and clock_offset_seconds <> $3::bigint`,
            values: [uuidOf(book.merchantId), book.environment, offsetSeconds],
          },
        };
      }
      const minute = knownOf(key);
      if (!minute) return undefined;
      const { offsetSeconds, moments, fullSinceMs } = minute;
      const sinceMs = windowStart(key, offsetSeconds);
      const full = fullSinceMs !== undefined;
      if (sinceMs < minute.fromMs || (full && fullSinceMs < sinceMs)) return undefined; // to be counted anew
      const { text, values } = load([key]);
      return {
        value: { key, count: full ? most : 0 },
        carried: { book, offsetSeconds },
        check: {
          name: `check ${name}`,
          text: `select presumed_wrongly() from (${text}) v
where v.clock_offset_seconds <> $9::bigint or (v.is_full or v.payments + $10::integer >= v.most) <> $11::boolean`,
          values: [...values, offsetSeconds, countSince(moments, sinceMs), full],
        },
      };
    },
  };
}

/** Of moments in order those since then. */
function since(moments: readonly number[], ms: number): readonly number[] {
  return moments.slice(firstSince(moments, ms));
}

function countSince(moments: readonly number[], ms: number): number {
  return moments.length - firstSince(moments, ms);
}

function velocityOfRow(row: Row, byName: ReadonlyMap<string, Asked>): Velocity {
  const contactKey = row.contact_key as string | null;
  const key = { book: bookOfRow(row), contactKey, realSince: 0, most: row.most as number };
  if (contactKey !== null) return { key, count: row.payments as number };
  const asked = byName.get(nameOf(key));
  const { whole, minute } = asked ?? {};
  const offsetSeconds = Number(row.clock_offset_seconds);
  // No clock goes back but with its whole database, to an earlier state: then nothing is known.
  if (offsetSeconds < Math.max(whole?.offsetSeconds ?? 0, minute?.offsetSeconds ?? 0)) {
    known.forget(nameOf(key));
    forgetOwn(key.book);
  }
  if (!asked || !whole) return { key, count: learn(key, minute, row) };
  if (offsetSeconds === whole.offsetSeconds) return { key, count: whole.count };
  const { own, read } = whole;
  own.offsetSeconds = Math.max(own.offsetSeconds, offsetSeconds);
  return { key, count: countWhole(own, read, windowStart(asked, offsetSeconds), key.most) };
}

/** Adds what was counted to what was known when it was asked. Gives how many payments the minute has, `most` at most. */
function learn(key: VelocityKey, asked: ReadMinute | undefined, row: Row): number {
  const { most } = key;
  const current = knownOf(key);
  // Clocks go forward: the statement that comes back last may be the older one.
  const offsetSeconds = Math.max(Number(row.clock_offset_seconds), current?.offsetSeconds ?? 0);
  if (row.is_full === true) {
    if (current) known.put(nameOf(key), { ...current, offsetSeconds });
    return most;
  }
  const [sinceMs, fromMs, settledMs] = [Number(row.since_ms), Number(row.from_ms), Number(row.settled_ms)];
  const base = fromMs > sinceMs ? asked : undefined; // what it was counted from
  const counted = row.payments as number;
  const earlier = base ? since(base.moments, sinceMs) : [];
  const payments = Math.min(most, earlier.length + counted);
  const nth = row.nth === null ? earlier.at(counted - most) : millisecondsOf(row.nth)[0];
  const untilMs = Math.max(base?.untilMs ?? 0, settledMs);
  // Another batch may have learned more meanwhile.
  if (untilMs >= (current?.untilMs ?? 0)) {
    const keptMs = sinceMs - WAITED / 1000;
    const all = [...(base ? since(base.moments, keptMs) : []), ...millisecondsOf(row.settled).toReversed()];
    known.put(nameOf(key), {
      offsetSeconds,
      moments: all.slice(-most),
      fromMs: Math.max(base?.fromMs ?? sinceMs, keptMs),
      untilMs,
      fullSinceMs: payments < most ? undefined : nth,
    });
  }
  return payments;
}

/** The milliseconds with which identifiers begin. */
function millisecondsOf(starts: unknown): number[] {
  if (starts === null) return [];
  return (starts as string).split(" ").map((start) => Number.parseInt(start.replace("-", ""), 16));
}

export const merchantVelocity = velocityTable(21, "merchant velocity", ofMerchant);
export const customerVelocity = velocityTable(22, "customer velocity", ofCustomer);
