// All SQL of replay protection: the consumed nonces. They are stored in slots, one table for each minute in which nonces expire. A slot is
// truncated as a whole, because deleting single rows cost as much as writing them.
import { type Micros, SECOND } from "../ground/clock.ts";
import { uuidOf } from "../ground/ids.ts";
import type { Row, Statement } from "../store/database.ts";
import { type Columns, type Table, bulkInsert } from "../store/table.ts";

/** Identifies one signed request, which is good once. */
export interface Nonce {
  merchantId: string;
  /** Unix seconds until which the nonce must be remembered. */
  validUntil: number;
  /** 128 bits in hex. */
  digest: string;
}

/** A nonce in the working set. */
interface ConsumedNonce extends Nonce {
  /** True once a command of this batch has consumed the nonce. */
  consumed: boolean;
}

/**
 * Number of slots, which is the number of minutes until a slot is used again. It is more than the minutes in which a signature is good (10)
 * or a nonce of RFC 9421 is kept (15), plus the minutes in which a slot is emptied, plus one for clocks that differ.
 */
export const SLOTS = 24;

export function slotOf({ validUntil }: Pick<Nonce, "validUntil">): number {
  return Math.floor(validUntil / 60) % SLOTS;
}

export const nonceColumns: Columns<Nonce> = {
  slot: ["smallint", slotOf],
  merchant_id: ["uuid", ({ merchantId }) => uuidOf(merchantId)],
  valid_until: ["bigint", ({ validUntil }) => validUntil],
  digest: ["uuid", ({ digest }) => digest],
};

/** A text that is equal exactly for equal nonces, and by which nonces are sorted. */
export function nonceKey({ validUntil, digest }: Pick<Nonce, "validUntil" | "digest">): string {
  return `${validUntil} ${digest}`;
}

/** Reads the fields that `nonceKey` needs from a row. */
export function nonceOfRow(row: Row): Pick<Nonce, "validUntil" | "digest"> {
  return { validUntil: Number(row.valid_until), digest: (row.digest as string).replaceAll("-", "") };
}

/**
 * The nonces of writes. Loading a nonce consumes it: the statement inserts it in the transaction of the write, and gives only nonces that
 * were new. When two transactions insert the same nonce, the second waits for the first.
 */
export const usedNonces: Table<Nonce, ConsumedNonce> = {
  name: "used nonces",
  writesOnLoad: true,
  keyText: nonceKey,
  keyOf: (nonce) => nonce,
  load: bulkInsert("used_nonces", nonceColumns, "on conflict do nothing\nreturning merchant_id, valid_until, digest"),
  parse: (row) => ({ merchantId: row.merchant_id as string, ...nonceOfRow(row), consumed: false }),
};

/**
 * Selects slots whose nonces have all expired, 3 to 7 minutes ago, and that are not used again soon; by the database's clock and by the process's,
 * `now`. Slots are used in turn, so a clock that is an hour off takes slots in use for dead ones.
 */
export function deadSlots(now: Micros): Statement {
  return {
    name: "dead slots",
    text: `select ((minute - back) % ${SLOTS})::integer as slot
from (select floor(extract(epoch from clock_timestamp()) / 60)::bigint as minute) as of_the_database, generate_series(3, 7) as back
intersect
select (($1::bigint - back) % ${SLOTS})::integer
from generate_series(3, 7) as back`,
    values: [Math.floor(now / (60 * SECOND))],
  };
}

const tableOf = (kind: "used_nonces" | "used_read_nonces", slot: number): string =>
  `${kind}_${String(slot).padStart(2, "0")}`;

/** Selects those tables of a slot that have rows. */
export function filledSlot(slot: number): Statement {
  const kinds = ["used_nonces", "used_read_nonces"] as const;
  return {
    text: kinds
      .map((kind) => `select '${kind}' as kind where exists (select from ${tableOf(kind, slot)})`)
      .join("\nunion all\n"),
  };
}

export function emptySlot(kind: "used_nonces" | "used_read_nonces", slot: number): Statement {
  return { text: `truncate ${tableOf(kind, slot)}` };
}
