// Tables as the lanes use them: statements that load rows by key and write many rows at once. Which tables there are is each room's matter.
import type { Micros } from "../ground/clock.ts";
import { sha256 } from "../ground/crypto.ts";
import { binaryArray, isCarried } from "./arrays.ts";
import type { Row, Statement } from "./database.ts";
import type { LockedTable } from "./lock-order.ts";

/** A table in the working set of a lane. Rows are locked and written by table (`lock-order.ts`), then by key, so that no two batches deadlock. */
export interface Table<Key, Value> {
  readonly name: LockedTable;
  /** The key as a text; texts are equal exactly when keys are. */
  keyText(key: Key): string;
  keyOf(value: Value): Key;
  /** Loads the rows of these keys in one statement; `realNow` is for rows that expire. Absent when rows are only appended. */
  load?(keys: readonly Key[], realNow: Micros): Statement;
  /** True when `load` also writes: a batch that loads this table is committed even when its commands write nothing. */
  readonly writesOnLoad?: boolean;
  parse?(row: Row): Value;
  /** Writes the values that commands inserted. May be an UPDATE: what is inserted is then an order to write, not a new row. */
  insert?(values: readonly Value[]): Statement;
  /** Another table whose row, of the key that `keyOf` gives, is part of each loaded row: that row is not loaded by itself. */
  readonly carries?: { table: Table<unknown, unknown>; keyOf(key: Key): unknown };
  update?(values: readonly Value[]): Statement;
}

/** One column of a bulk write: its SQL type, and a function that takes it from a value. */
type Column<Value> = readonly [type: string, get: (value: Value) => unknown];
export type Columns<Value> = Readonly<Record<string, Column<Value>>>;

// Types without a binary form in arrays.ts (the schema's enums, json) are sent as text.
const travelling = (type: string): string => (isCarried(type) ? type : "text");

function unnested<Value>(columns: Columns<Value>): { names: string[]; unnest: string; casts: string } {
  const names = Object.keys(columns);
  const types = names.map((name) => (columns[name] as Column<Value>)[0]);
  return {
    names,
    unnest: types.map((type, index) => `$${index + 1}::${travelling(type)}[]`).join(", "),
    casts: names.map((name, index) => `v.${name}::${types[index]}`).join(", "),
  };
}

/** A name with a digest of the text: PostgreSQL knows a prepared statement by its name alone, and one table may have several. */
function nameOf(words: string, text: string): string {
  return `${words} ${sha256(text).toString("hex").slice(0, 8)}`;
}

/** One array per column, as parameters for `unnest`. */
export function arraysOf<Value>(columns: Columns<Value>, values: readonly Value[]): Buffer[] {
  return Object.values(columns).map(([type, get]) => binaryArray(travelling(type), values.map(get)));
}

/** SQL that turns the arrays of `arraysOf`, the first parameters of the statement, into rows of these columns. */
export function rowsOf<Value>(columns: Columns<Value>): string {
  const { names, unnest, casts } = unnested(columns);
  return `select ${casts}
from unnest(${unnest}) as v(${names.join(", ")})`;
}

/** How rows are locked. No mode locks their keys, so that rows which refer to them can be added meanwhile. */
type RowLock = "" | "for share" | "for no key update";

/**
 * Loads a row for each of these keys, in their order, with one index descent per key, and locks it by `lock`. `key`: a whole unique key, unless any row does.
 *
 * Tried: `(merchant_id, environment, id) in (select * from unnest(…))`, whose generic plan reads every row of the merchant; and this statement
 * with `merchant_id = any($1)` beside the join. Each further condition makes the planner expect fewer rows, none in the end, so that any
 * index that begins with the merchant looks as good as the key's: 2.9 ms per key of a busy merchant beside a thousand others.
 */
export function loadByKey<Key>(
  name: string,
  table: string,
  key: Columns<Key>,
  lock: RowLock = "for no key update",
): (keys: readonly Key[]) => Statement {
  const text = `select t.*
from (
${rowsOf(key)}
) w
cross join lateral (
  select *
  from ${table} t
  where ${Object.keys(key)
    .map((column) => `t.${column} = w.${column}`)
    .join(" and ")}
  limit 1
  ${lock}
) t`;
  return (keys) => ({ name, text, values: arraysOf(key, keys) });
}

/** Builds an `insert into … select … from unnest(…)`: one statement for any number of rows. `rest` is what follows, with the rows as `v`. */
export function bulkInsert<Value>(
  table: string,
  columns: Columns<Value>,
  rest = "",
): (values: readonly Value[]) => Statement {
  const text = `insert into ${table} (${Object.keys(columns).join(", ")})
${rowsOf(columns)}${rest && `\n${rest}`}`;
  const name = nameOf(`insert ${table}`, text);
  return (values) => ({ name, text, values: arraysOf(columns, values) });
}

/** Builds an `update … from unnest(…)`: the columns of `keys` find the rows, those of `changes` are set. */
export function bulkUpdate<Value>(
  table: string,
  keys: Columns<Value>,
  changes: Columns<Value>,
): (values: readonly Value[]) => Statement {
  const all = { ...keys, ...changes };
  const { names, unnest } = unnested(all);
  const cast = (name: string): string => `v.${name}::${(all[name] as Column<Value>)[0]}`;
  const text = `update ${table} as t
set ${Object.keys(changes)
    .map((name) => `${name} = ${cast(name)}`)
    .join(", ")}
from unnest(${unnest}) as v(${names.join(", ")})
where ${Object.keys(keys)
    .map((name) => `t.${name} = ${cast(name)}`)
    .join(" and ")}`;
  const name = nameOf(`update ${table}`, text);
  return (values) => ({ name, text, values: arraysOf(all, values) });
}
