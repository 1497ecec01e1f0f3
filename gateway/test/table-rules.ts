// Attacks on tables: each rule by which the database refuses a row is broken, and the database must name that rule. A rule that is missing, or that
// no attack names, fails its table's test.
import pg from "pg";
import { expect } from "vitest";
import { type TestDatabase, asOwner } from "./databases.ts";

/** A rule's name, and what breaks it: what follows `set` in an update of the table, or a whole statement that begins with `insert`. */
export type Attack = readonly [rule: string, ...changes: string[]];

/**
 * Expects that each attack on a table is refused by the rule that it names, that no rule of the table is left out, and that `allowed` changes are
 * accepted. The table has one row. Checks are attacked with triggers off, since those would refuse most of the changes first.
 */
export async function expectRules(
  database: TestDatabase,
  table: string,
  attacks: readonly Attack[],
  allowed: readonly string[] = [],
): Promise<void> {
  await asOwner(database, async (client) => {
    const rules = await rulesOf(client, table);
    expect(attacks.map(([rule]) => rule).sort(), `rules of ${table}`).toEqual(rules);
    for (const [rule, ...changes] of attacks)
      for (const change of changes) expect(await refusalOf(client, table, change), change).toBe(rule);
    for (const change of allowed) expect(await refusalOf(client, table, change), change).toBe("accepted");
  });
}

/** Expects that the service's role may read a table, and besides do this alone: insert rows, and update the columns that are named. */
export async function expectRights(
  database: TestDatabase,
  table: string,
  may: { insert?: true; update?: string },
): Promise<void> {
  await asOwner(database, async (client) => {
    const { rows } = await client.query(
      `select has_table_privilege('gerbang_service', c.oid, 'insert') as insert,
  has_table_privilege('gerbang_service', c.oid, 'delete, truncate, references, trigger') as more,
  (select coalesce(string_agg(a.attname, ' ' order by a.attname), '') from pg_attribute a
    where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      and has_column_privilege('gerbang_service', c.oid, a.attnum, 'update')) as update
from pg_class c where c.oid = $1::regclass and has_table_privilege('gerbang_service', c.oid, 'select')`,
      [table],
    );
    const update = (may.update ?? "").split(" ").sort().join(" ");
    expect(rows, `rights on ${table}`).toEqual([{ insert: may.insert ?? false, more: false, update }]);
  });
}

/** Checks, foreign keys, keys and unique indexes of a table. */
async function rulesOf(client: pg.Client, table: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select conname::text as name from pg_constraint where conrelid = $1::regclass and contype in ('c', 'f')
union all
select indexrelid::regclass::text from pg_index where indrelid = $1::regclass and indisunique`,
    [table],
  );
  return rows.map(({ name }) => name).sort();
}

/** The name of the rule that refuses a change, "accepted", or the error's message. Nothing is kept. */
async function refusalOf(client: pg.Client, table: string, change: string): Promise<string> {
  const isStatement = change.startsWith("insert");
  await client.query("begin");
  try {
    if (!isStatement) await client.query("set local session_replication_role = replica");
    const { rowCount } = await client.query(isStatement ? change : `update ${table} set ${change}`);
    return rowCount === 1 ? "accepted" : `${rowCount} rows`;
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    return error.constraint ?? error.message;
  } finally {
    await client.query("rollback");
  }
}
