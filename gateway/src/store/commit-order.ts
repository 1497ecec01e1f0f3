// The order of commits: how a reader follows new rows by the numbers of their transactions, and misses none.
//
// A transaction gets its number with its first write, and may be committed after transactions with larger numbers. So a reader that
// continues after the last number it has seen loses rows. Below the oldest number that still runs, no row can appear any more: a reader
// takes the rows from its position up to there, and reads no row twice and misses none, whatever the clocks say.

/** A transaction's number of 64 bits, as a decimal text. */
export type Position = string;

/** SQL: the number below which every transaction has ended, in the statement's snapshot. */
export const WATERMARK = "pg_snapshot_xmin(pg_current_snapshot())";

/** SQL: names the database that numbered the transactions. A clone or a restored copy has another name. */
export const ORIGIN = `(
  select c.system_identifier || ' ' || d.oid
  from pg_control_system() c, pg_database d
  where d.datname = current_database()
)`;

/**
 * SQL: true when row `e` was written by the transaction that its column `xact` names. A row restored from a dump has a number of another
 * database, which may lie in this database's future: such a row is older than the transaction, which is impossible for a genuine row.
 */
export const GENUINE = "age(e.xmin) <= age(e.xact::xid)";
