// All SQL of misbehaviour on purpose: switched by the lanes, used up by whoever delivers. Only what is switched on has a row.
import { uuidOf } from "../ground/ids.ts";
import { type Book, bookArrays, bookKey } from "../merchants/books.ts";
import type { Statement } from "../store/database.ts";
import type { Table } from "../store/table.ts";

/** What the deliveries of a sandbox can do to a receiver, and `none`. */
export const modes = [
  "none",
  "duplicate",
  "reorder",
  "delay",
  "drop",
  "stale_timestamp",
  "wrong_signature",
  "unknown_type",
  "byte_order",
  "slow_body",
] as const;
export type Mode = (typeof modes)[number];
export type Misbehaviour = Exclude<Mode, "none">;

export interface Switch {
  book: Book;
  mode: Mode;
  /** Tries that are left; undefined: until it is switched off. */
  remaining: number | undefined;
}

/** Written whole, never read before: the newest word counts. */
export const misbehaviourSwitches: Table<Book, Switch> = {
  name: "misbehaviours",
  rank: 52,
  keyText: bookKey,
  keyOf: ({ book }) => book,
  insert: putSwitches,
  update: putSwitches,
};

function putSwitches(switches: readonly Switch[]): Statement {
  return {
    name: "put misbehaviours",
    text: `with v as (
  select *
  from unnest($1::uuid[], $2::text[]::environment[], $3::text[], $4::integer[])
    as v(merchant_id, environment, mode, remaining)
), off as (
  delete from misbehaviours m
  using v
  where m.merchant_id = v.merchant_id and m.environment = v.environment and v.mode = 'none'
)
insert into misbehaviours (merchant_id, environment, mode, remaining)
select merchant_id, environment, mode, remaining
from v
where mode <> 'none'
on conflict (merchant_id, environment) do update
set mode = excluded.mode, remaining = excluded.remaining`,
    values: [
      ...bookArrays(switches.map(({ book }) => book)),
      switches.map(({ mode }) => mode),
      switches.map(({ remaining }) => remaining),
    ],
  };
}

export interface SwitchRow extends Record<string, unknown> {
  mode: Misbehaviour;
  remaining: number | null;
}

/** How a book misbehaves; no row when it does not. */
export function selectMisbehaviour(book: Book): Statement {
  return {
    name: "select misbehaviour",
    text: `select mode, remaining
from misbehaviours
where merchant_id = $1::uuid and environment = $2::environment`,
    values: [uuidOf(book.merchantId), book.environment],
  };
}

/** Every book that misbehaves. There are few at any time: what is used up or switched off is gone. */
export const selectMisbehaving: Statement = {
  name: "select misbehaving books",
  text: "select merchant_id, environment, mode from misbehaviours",
};

/** Takes one try off a book's count, whoever else delivers for it at this moment, and gives the mode of that try. */
export function takeMisbehaviour(book: Book): Statement {
  return {
    name: "take misbehaviour",
    text: `with found as (
  select merchant_id, environment, mode, remaining
  from misbehaviours
  where merchant_id = $1::uuid and environment = $2::environment
  for update
), used_up as (
  delete from misbehaviours m
  using found
  where m.merchant_id = found.merchant_id and m.environment = found.environment and found.remaining = 1
), counted as (
  update misbehaviours m
  set remaining = found.remaining - 1
  from found
  where m.merchant_id = found.merchant_id and m.environment = found.environment and found.remaining > 1
)
select mode
from found`,
    values: [uuidOf(book.merchantId), book.environment],
  };
}
