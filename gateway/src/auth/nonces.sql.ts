// All SQL of replay protection: which signatures were used. Rows live in slots, a table for each minute of their end, which is emptied as a
// whole: deleting them one by one cost as much as writing them.
import { uuidOf } from "../ground/ids.ts";
import type { Row, Statement } from "../store/database.ts";
import { type Columns, type Table, rowsOf, arraysOf } from "../store/table.ts";

/** What identifies one signed request: it is good once. */
export interface Nonce {
  merchantId: string;
  /** Unix seconds until which it must be remembered. */
  validUntil: number;
  /** 128 bits in hex that identify it. */
  digest: string;
}

/** A nonce in the working set. */
export interface ConsumedNonce extends Nonce {
  /** A command of this batch has consumed it. */
  consumed: boolean;
}

/**
 * Minutes before a slot is used again: more than a signature can be good for (10) and a nonce of RFC 9421 be kept (15), with room for the
 * minutes in which a slot is emptied and for clocks that differ by one.
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

/** A text that is equal exactly for equal nonces, and by which they are put in order. */
export function nonceKey({ validUntil, digest }: Pick<Nonce, "validUntil" | "digest">): string {
  return `${validUntil} ${digest}`;
}

/** What `nonceKey` needs of a row. */
export function nonceOfRow(row: Row): Pick<Nonce, "validUntil" | "digest"> {
  return { validUntil: Number(row.valid_until), digest: (row.digest as string).replaceAll("-", "") };
}

const consumption = `insert into used_nonces (${Object.keys(nonceColumns).join(", ")})
${rowsOf(nonceColumns)}
on conflict do nothing
returning merchant_id, valid_until, digest`;

/**
 * The nonces of writes. To load one is to consume it: the statement adds it, in the transaction of what it allows, and gives only those that
 * were not there. Of two transactions with the same one the second waits for the first.
 */
export const usedNonces: Table<Nonce, ConsumedNonce> = {
  name: "used nonces",
  writesOnLoad: true,
  keyText: nonceKey,
  keyOf: (nonce) => nonce,
  load: (nonces) => ({ name: "consume nonces", text: consumption, values: arraysOf(nonceColumns, nonces) }),
  parse: (row) => ({ merchantId: row.merchant_id as string, ...nonceOfRow(row), consumed: false }),
};

/** Minutes by the database's clock whose slots hold nothing that is still good, and will not be used for a while. */
export function deadSlots(): Statement {
  return {
    name: "dead slots",
    text: `select distinct (((floor(extract(epoch from clock_timestamp()) / 60)::bigint - back) % ${SLOTS})::integer) as slot
from generate_series(3, 7) as back`,
  };
}

const tableOf = (kind: "used_nonces" | "used_read_nonces", slot: number): string =>
  `${kind}_${String(slot).padStart(2, "0")}`;

/** Which of a slot's tables have rows. */
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
