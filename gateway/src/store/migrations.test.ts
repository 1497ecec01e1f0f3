// Goal: no temporary table can stand in for one of our tables where a trigger checks a rule. Method: a session of the owner makes a
// temporary table with the name of ours and fills it so that the rule would be met; the trigger must refuse the change all the same.
import { randomUUID } from "node:crypto";
import { beforeAll, beforeEach, expect, test } from "vitest";
import pg from "pg";
import { type TestDatabase, asOwner, cloneDatabase } from "../../test/kit.ts";
import { ConfigError } from "../ground/config.ts";
import { demandSchema, migrate } from "./migrations.ts";

const merchant = "01900000-0000-7000-8000-000000000001";
let payment: string;
let database: TestDatabase;

/** A database that was migrated and not cloned: a clone does not have the rights that a migration gives on the database. */
async function migratedDatabase(before = "select 1", like = ""): Promise<TestDatabase> {
  const beside = await cloneDatabase();
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  await asOwner(beside, (owner) => owner.query(`create database ${name} ${like}`));
  const made = {
    name,
    url: beside.url.replace(beside.name, name),
    ownerUrl: beside.ownerUrl.replace(beside.name, name),
  };
  await asOwner(made, (owner) => owner.query(before));
  await migrate(made.ownerUrl);
  return made;
}

beforeAll(async () => {
  database = await migratedDatabase();
  await asOwner(database, async (owner) => {
    await owner.query(`insert into merchants (merchant_id, name, settings, epoch, created_at)
values ('${merchant}', 'x', '{}', 0, now())`);
    await owner.query(`insert into books (merchant_id, environment) values ('${merchant}', 'sandbox')`);
  });
});

beforeEach(async () => {
  payment = randomUUID();
  await asOwner(database, (owner) =>
    owner.query(`insert into payments (merchant_id, environment, payment_id, status, amount_minor, fee_minor, created_at, updated_at, expires_at,
  payment_method, risk_score, currency, reference_id, risk_decision, risk_reasons, routing)
values ('${merchant}', 'sandbox', '${payment}', 'pending', 100, 1, now(), now(), now(), 'qris', 0, 'IDR', '${payment}', 'approve', '[]', '{}')`),
  );
});

const book = `'${merchant}', 'sandbox'`;
const hash = (byte: string): string => `decode(repeat('${byte}', 32), 'hex')`;
const journal = (table: string, kind: string): string => `insert into ${table}
  (merchant_id, environment, seq, journal_id, group_id, kind, operation_key, posted_at, prev_hash, hash)
values (${book}, 1, gen_random_uuid(), '${payment}', '${kind}', 'x', now(), ${hash("00")}, ${hash("01")})`;
/** The merchant's available balance goes to -1, which only a new dispute may do. */
const entries = (table: string): string => `insert into ${table}
  (merchant_id, environment, seq, line, account, currency, amount_minor, balance_after_minor)
values (${book}, 1, 1, 'merchant:available', 'IDR', 1, 1), (${book}, 1, 2, 'platform:cash', 'IDR', -1, -1)`;

interface Shadow {
  rule: string;
  /** The table that has a temporary namesake, and what the namesake holds. */
  shadowed: string;
  holds: () => string;
  /** What the rule must refuse, and with which code. */
  statement: () => string;
  code: string;
}

const shadows: Shadow[] = [
  {
    rule: "a payment succeeds with its capture",
    shadowed: "journals",
    holds: () => journal("pg_temp.journals", "capture"),
    statement: () => `update public.payments set status = 'succeeded', paid_at = now() where payment_id = '${payment}'`,
    code: "GB007",
  },
  {
    rule: "a receipt has its journal",
    shadowed: "journals",
    holds: () => journal("pg_temp.journals", "capture"),
    statement: () => `insert into public.receipts
  (merchant_id, environment, receipt_id, gateway_code, transaction_id, payment_id, amount_minor, currency, status, received_at)
values (${book}, gen_random_uuid(), 'x', 'x', '${payment}', 100, 'IDR', 'applied', now())`,
    code: "GB007",
  },
  {
    rule: "only a new dispute takes what is available below zero",
    shadowed: "journals",
    holds: () => journal("pg_temp.journals", "dispute_opened"),
    statement: () => `with j as (${journal("public.journals", "capture")}) ${entries("public.entries")}`,
    code: "GB009",
  },
  {
    rule: "a journal has entries",
    shadowed: "entries",
    holds: () => entries("pg_temp.entries"),
    statement: () => journal("public.journals", "capture"),
    code: "GB001",
  },
  {
    rule: "a payment's totals are the sums of its refunds",
    shadowed: "payments",
    holds: () => `insert into pg_temp.payments select * from public.payments where payment_id = '${payment}';
update pg_temp.payments set refunded_minor = 10`,
    statement: () => `insert into public.refunds
  (merchant_id, environment, refund_id, payment_id, status, amount_minor, currency, created_at, completed_at)
values (${book}, gen_random_uuid(), '${payment}', 'succeeded', 10, 'IDR', now(), now())`,
    code: "GB008",
  },
  {
    rule: "a settlement is the sum of its items",
    shadowed: "settlement_items",
    holds: () => `insert into pg_temp.settlement_items
values (${book}, '${payment}', 'payment', '${payment}', '${payment}', 100, 1, now())`,
    statement: () => `insert into public.settlements
  (merchant_id, environment, settlement_id, status, currency, period_start, period_end, gross_minor, fee_minor, refund_minor, net_minor,
  payment_count, created_at, pay_due_at, payout_date)
values (${book}, '${payment}', 'processing', 'IDR', now(), now(), 100, 1, 0, 99, 1, now(), now(), now())`,
    code: "GB010",
  },
];

test.each(shadows)("$rule, also beside a temporary table $shadowed", async ({ shadowed, holds, statement, code }) => {
  await asOwner(database, async (owner) => {
    await owner.query("begin");
    await owner.query(`create temporary table ${shadowed} (like public.${shadowed} including defaults)`);
    await owner.query(holds());
    const change = owner.query(statement()).then(() => owner.query("set constraints all immediate"));
    await expect(change).rejects.toMatchObject({ code });
    await owner.query("rollback");
  });
});

test("another program's list of migrations, in a schema of its own, is not taken for ours", async () => {
  const shared = await migratedDatabase("create schema shop; create table shop.schema_migrations (version text)");
  expect(await migrate(shared.ownerUrl)).toEqual([]);
  await demandSchema(shared.ownerUrl);
});

test("a limit for statements that the database sets does not end a migration, which may take long", async () => {
  const limited = await migratedDatabase(`create table seen (statement_timeout text);
create function see() returns event_trigger language plpgsql as $$
begin
  insert into public.seen values (current_setting('statement_timeout'));
end
$$;
create event trigger see on ddl_command_end when tag in ('CREATE TRIGGER') execute function see();
do $$ begin
  execute format('alter database %I set statement_timeout = %L', current_database(), '25s');
end $$`);
  await asOwner(limited, async (owner) => {
    const { rows } = await owner.query("select distinct statement_timeout from seen");
    expect(rows).toEqual([{ statement_timeout: "0" }]);
  });
});

test("a role that does not see the tables' schema is told so, and makes no other tables", async () => {
  await asOwner(database, (owner) => owner.query("create schema other"));
  for (const schemas of ["nowhere", "other"]) {
    const url = new URL(database.ownerUrl);
    url.searchParams.set("options", `-c search_path=${schemas}`);
    await expect(migrate(String(url))).rejects.toThrow(/schema public.*alter role \S+ set search_path = public/);
    await expect(demandSchema(String(url))).rejects.toThrow(ConfigError);
  }
});

test("a database that does not keep every text is refused", async () => {
  const ascii = migratedDatabase(undefined, "template template0 encoding 'SQL_ASCII' locale 'C'");
  await expect(ascii).rejects.toThrow(/encoding is SQL_ASCII: make one of UTF8/);
});

test("every trigger's function looks for temporary tables last, or names the schema of each table", async () => {
  await asOwner(database, async (owner) => {
    const { rows } = await owner.query<{ name: string; tables: string[] | null }>(`select proname as name,
  (select array_agg(distinct found[1]) from regexp_matches(prosrc, '\\m(?:from|join|into|update) ([a-z_.]+)', 'g') as found) as tables
from pg_proc
where pronamespace = 'public'::regnamespace and prorettype = 'trigger'::regtype
  and not coalesce('search_path=public, pg_temp' = any (proconfig), false)
order by proname`);
    expect(rows).toEqual([
      { name: "check_payment_captured", tables: ["public.journals"] },
      { name: "check_payment_transition", tables: null },
      { name: "check_receipt_posted", tables: ["public.journals", "public.receipts"] },
    ]);
  });
});

test.each(["temporary table made ()", "table public.made ()"])(
  "the service's role cannot create a %s",
  async (what) => {
    const service = new pg.Client({ connectionString: database.url });
    await service.connect();
    try {
      await expect(service.query(`create ${what}`)).rejects.toMatchObject({ code: "42501" });
    } finally {
      await service.end();
    }
  },
);
