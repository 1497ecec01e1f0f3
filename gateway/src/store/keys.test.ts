// Goal: a merchant's rows lie together, and no key reaches from one merchant to another: merchant_id comes first in each key of their tables.
// Method: the catalogue of a migrated database.
import { beforeAll, expect, test } from "vitest";
import { type TestDatabase, asOwner, cloneDatabase } from "../../test/kit.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
});

async function names(text: string): Promise<string[]> {
  return asOwner(database, async (owner) => (await owner.query<{ name: string }>(text)).rows.map(({ name }) => name));
}

/** The tables whose every row is of a merchant, and the number of the column that says which. */
const owned = `select attrelid as table_id, attnum as merchant_column
from pg_attribute join pg_class on pg_class.oid = attrelid
where attname = 'merchant_id' and attnotnull and not relispartition and relkind in ('r', 'p') and relnamespace = 'public'::regnamespace`;

test("of primary and unique keys", async () => {
  const others = await names(`select i.indexrelid::regclass::text as name
from (${owned}) t join pg_index i on i.indrelid = t.table_id
where i.indisunique and i.indkey[0] <> t.merchant_column
order by 1`);
  expect(others).toEqual([
    "invitations_token", // whoever opens the link names nothing else
    "used_nonces_pkey", // the minute comes first, by which the table is divided
    "used_read_nonces_pkey",
  ]);
});

test("of foreign keys between such tables", async () => {
  const others = await names(`select c.conrelid::regclass || '.' || c.conname as name
from pg_constraint c
join (${owned}) t on t.table_id = c.conrelid
join (${owned}) other on other.table_id = c.confrelid
where c.contype = 'f' and (c.conkey[1] <> t.merchant_column or c.confkey[1] <> other.merchant_column)
order by 1`);
  expect(others).toEqual([]);
});
