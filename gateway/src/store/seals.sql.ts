// SQL over columns of sealed secrets, of any room: which master keys sealed them, and replacing the seals. The procedure is in seals.ts.
import type { Row, Statement } from "./database.ts";

/** A column of sealed secrets, described by the room that owns the table. */
export interface SealedColumn {
  table: string;
  /** The primary key, and the type of each of its columns. */
  key: Readonly<Record<string, "uuid" | "text" | "environment">>;
  column: string;
  /** The owner that a row's secret is sealed for; the row has the columns of `key`. */
  ownerOf(row: Row): string;
}

/** Counts the secrets of a column by the first five bytes of their seals: the version, and the key that sealed them. */
export function selectHeads({ table, column }: SealedColumn): Statement {
  return {
    text: `select substring(${column} from 1 for 5) as head, count(*)::integer as secrets
from ${table}
where ${column} is not null
group by 1`,
  };
}

/** Reads at most `most` secrets whose seals do not begin with `kept`. */
export function selectSealedOtherwise({ table, key, column }: SealedColumn, kept: Buffer, most: number): Statement {
  const names = Object.keys(key).join(", ");
  return {
    text: `select ${names}, ${column} as sealed
from ${table}
where substring(${column} from 1 for ${kept.length}) <> $1::bytea
order by ${names}
limit $2::integer`,
    values: [kept, most],
  };
}

/** Replaces seals, except those that have changed since they were read. Returns a row for each replaced seal. */
export function replaceSeals(
  { table, key, column }: SealedColumn,
  changes: readonly { row: Row; sealed: Buffer }[],
): Statement {
  const names = Object.keys(key);
  const arrays = names.map((_, at) => `$${at + 3}::text[]`);
  return {
    text: `update ${table} t
set ${column} = v.sealed
from unnest($1::bytea[], $2::bytea[], ${arrays.join(", ")}) as v(before, sealed, ${names.join(", ")})
where ${names.map((name) => `t.${name} = v.${name}::${key[name]}`).join(" and ")} and t.${column} = v.before
returning true`,
    values: [
      changes.map(({ row }) => row.sealed),
      changes.map(({ sealed }) => sealed),
      ...names.map((name) => changes.map(({ row }) => row[name])),
    ],
  };
}
