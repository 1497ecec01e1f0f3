// The order of commits: numbers of transactions, and what is certain about them.
//
// A transaction's number is taken when it first writes, and it may be committed after others with larger numbers. So whoever remembers the
// last number that it has seen loses rows. But below the oldest number that still runs nothing can appear any more: a reader
// takes what lies from its position up to there, and no row is read twice or left out, whatever the clocks say.

/** A transaction's number, as a text: it has 64 bits. */
export type Position = string;

/** In a statement: the number below which every transaction has ended, as this statement sees it. */
export const HORIZON = "pg_snapshot_xmin(pg_current_snapshot())";

/** In a statement: names the database whose transactions are numbered. A clone or a restored copy has another. */
export const ORIGIN = `(
  select c.system_identifier || ' ' || d.oid
  from pg_control_system() c, pg_database d
  where d.datname = current_database()
)`;

/**
 * In a statement: true where row `e` with its number in `xact` was written by the transaction that it names. Of a row that was restored from a dump the
 * number is another database's, and nobody may take it for one of this database's future: no row is older than its transaction.
 */
export const GENUINE = "age(e.xmin) <= age(e.xact::xid)";
