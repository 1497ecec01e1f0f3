// The SQL over columns of sealed secrets, whichever room's they are: which keys sealed them, and sealing them again.
import type { Row, Statement } from "./database.ts";

/** A column of sealed secrets. Its room says whose each one is. */
export interface SealedColumn {
  table: string;
  /** The primary key, and the type of each of its columns. */
  key: Readonly<Record<string, "uuid" | "text" | "environment">>;
  column: string;
  /** What a row's secret is sealed for; the row has the key's columns. */
  ownerOf(row: Row): string;
}

// Seals of the first version say nothing of their key: behind the version byte comes what differs in each.
const head = (column: string): string =>
  `case get_byte(${column}, 0) when 1 then substring(${column} from 1 for 1) else substring(${column} from 1 for 5) end`;

/** How many secrets of a column each key has sealed. */
export function selectHeads({ table, column }: SealedColumn): Statement {
  return {
    text: `select ${head(column)} as head, count(*)::integer as secrets
from ${table}
where ${column} is not null
group by 1`,
    values: [],
  };
}

/** Secrets that do not begin with `kept`, at most `most`. */
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

/** Writes seals in the place of others, where those still stand. Gives a row for each. */
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
