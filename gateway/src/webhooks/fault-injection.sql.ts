// All SQL of fault injection. The lanes switch a fault on and off, and attempts count it down. A book without a fault has no row.
import { type Book, bookArrays, bookKey, bookValues } from "../merchants/books.ts";
import type { Statement } from "../store/database.ts";
import type { Table } from "../store/table.ts";

/** The faults of a sandbox's deliveries, and `none`. */
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
export type InjectedFault = Exclude<Mode, "none">;

interface Switch {
  book: Book;
  mode: Mode;
  /** Number of attempts that still have the fault; undefined: until it is switched off. */
  remaining: number | undefined;
}

/** Each setting replaces the whole row, so it needs no read. */
export const faultSwitches: Table<Book, Switch> = {
  name: "injected faults",
  keyText: bookKey,
  keyOf: ({ book }) => book,
  insert: putSwitches,
  update: putSwitches,
};

function putSwitches(switches: readonly Switch[]): Statement {
  return {
    name: "put faults",
    text: `with v as (
  select *
  from unnest($1::uuid[], $2::text[]::environment[], $3::text[], $4::integer[])
    as v(merchant_id, environment, mode, remaining)
), off as (
  delete from injected_faults f
  using v
  where f.merchant_id = v.merchant_id and f.environment = v.environment and v.mode = 'none'
)
insert into injected_faults (merchant_id, environment, mode, remaining)
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
  mode: InjectedFault;
  remaining: number | null;
}

/** Selects the fault that is switched on for a book, if any. */
export function selectFault(book: Book): Statement {
  return {
    name: "select fault",
    text: `select mode, remaining
from injected_faults
where merchant_id = $1::uuid and environment = $2::environment`,
    values: [...bookValues(book)],
  };
}

/** Selects all books with a fault switched on. They are few, because a row is deleted when its fault is used up or switched off. */
export const selectActiveFaults: Statement = {
  name: "select active faults",
  text: "select merchant_id, environment, mode from injected_faults",
};

/** Takes one attempt off a book's count and gives the fault of that attempt. The row lock makes this safe between processes. */
export function takeFault(book: Book): Statement {
  return {
    name: "take fault",
    text: `with found as (
  select merchant_id, environment, mode, remaining
  from injected_faults
  where merchant_id = $1::uuid and environment = $2::environment
  for update
), used_up as (
  delete from injected_faults f
  using found
  where f.merchant_id = found.merchant_id and f.environment = found.environment and found.remaining = 1
), counted as (
  update injected_faults f
  set remaining = found.remaining - 1
  from found
  where f.merchant_id = found.merchant_id and f.environment = found.environment and found.remaining > 1
)
select mode
from found`,
    values: [...bookValues(book)],
  };
}
