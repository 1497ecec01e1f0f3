// Goal: exactly the books that have such rows are found. Method: a toy table of random rows in a real PostgreSQL, beside `select distinct`.
import { randomInt } from "node:crypto";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { asOwner, cloneDatabase } from "../../test/kit.ts";
import { booksWith } from "./books-with.sql.ts";

const BOOKS = 40;
let client: pg.Client;

beforeAll(async () => {
  const database = await cloneDatabase();
  await asOwner(database, async (owner) => {
    await owner.query("set session_replication_role = replica"); // books without their merchants
    await owner.query(`insert into books (merchant_id, environment)
select md5(n::text)::uuid, e from generate_series(1, ${BOOKS / 2}) n, unnest(enum_range(null::environment)) e`);
    await owner.query("create table things (merchant_id uuid, environment environment, open boolean)");
    await owner.query("create index on things (merchant_id, environment) where open");
  });
  client = new pg.Client({ connectionString: database.ownerUrl });
  await client.connect();
});
afterAll(() => client.end());

const DISTINCT = "select distinct merchant_id, environment from things where open";

test.each([0, 1, 3, 10, 60])("of %i random rows", async (rows) => {
  await client.query("truncate things");
  for (let row = 0; row < rows; row++) {
    await client.query(
      "insert into things select merchant_id, environment, random() < 0.7 from books order by merchant_id, environment offset $1 limit 1",
      [randomInt(BOOKS)],
    );
  }
  const found = async (source: string, values: unknown[] = []) =>
    (await client.query(`select b.merchant_id, b.environment from ${source} order by 1, 2`, values)).rows;
  const { rows: wanted } = await client.query<Record<string, string>>(`${DISTINCT} order by 1, 2`);
  expect(await found(booksWith("things", "t.open"))).toEqual(wanted);
  const one = { merchant: "$1::uuid", environment: "$2::text::environment" };
  expect(await found(booksWith("things", "t.open", one), [null, null])).toEqual(wanted);
  for (const book of wanted)
    expect(await found(booksWith("things", "t.open", one), [book.merchant_id, book.environment])).toEqual([book]);
});
