// Goal: the database refuses each row of the ledger that breaks a rule, whatever the code does. Method: a book with one journal; each rule of its
// tables is broken by a change of those rows, also at the ends of ranges. How journals and entries hang together is tested in ledger.test.ts.
import { beforeAll, test } from "vitest";
import { type TestDatabase, asOwner, cloneDatabase } from "../../test/kit.ts";
import { expectRights, expectRules } from "../../test/table-rules.ts";

const merchant = "01900000-0000-7000-8000-000000000001";
const journal = "01900000-0000-7000-8000-000000000002";
const book = `'${merchant}', 'sandbox'`;
const bytes = (count: number): string => `decode(repeat('00', ${count}), 'hex')`;
let database: TestDatabase;

const journalRow = (seq: number, id: string, operationKey: string): string =>
  `insert into journals (merchant_id, environment, seq, journal_id, group_id, kind, operation_key, posted_at, prev_hash, hash)
values (${book}, ${seq}, ${id}, gen_random_uuid(), 'test', '${operationKey}', now(), ${bytes(32)}, ${bytes(32)})`;
const entryRow = (seq: number): string =>
  `insert into entries (merchant_id, environment, seq, line, account, currency, amount_minor, balance_after_minor)
values (${book}, ${seq}, 1, 'platform:fees', 'IDR', 1, 1)`;
const balanceRow = `insert into balances (merchant_id, environment, account, currency, debit_minor, credit_minor)
values (${book}, 'platform:fees', 'IDR', 1, 0)`;
const headRow = (environment: string): string =>
  `insert into book_heads (merchant_id, environment) values ('${merchant}', '${environment}')`;

beforeAll(async () => {
  database = await cloneDatabase();
  await asOwner(database, async (client) => {
    await client.query(`insert into merchants (merchant_id, name, settings, epoch, created_at) values ('${merchant}', 'x', '{}', 0, now());
insert into books (merchant_id, environment) values (${book});
set session_replication_role = replica;
${journalRow(1, `'${journal}'`, "the-first")};
${entryRow(1)};
${balanceRow}`);
  });
});

test("every rule of a book's head refuses what breaks it", async () => {
  await expectRules(
    database,
    "book_heads",
    [
      ["book_heads_pkey", headRow("sandbox")],
      ["book_heads_merchant_id_environment_fkey", headRow("production")],
      ["book_heads_seq_check", "seq = -1"],
      ["book_heads_hash_check", `hash = ${bytes(31)}`, `hash = ${bytes(33)}`],
    ],
    ["seq = 0"],
  );
  await expectRights(database, "book_heads", { update: "lockable" });
});

test("every rule of journals refuses what breaks it", async () => {
  await expectRules(
    database,
    "journals",
    [
      ["journals_pkey", journalRow(1, "gen_random_uuid()", "another")],
      ["journals_operation_key", journalRow(2, "gen_random_uuid()", "the-first")],
      ["journals_by_identity", journalRow(2, `'${journal}'`, "another")],
      ["journals_seq_check", "seq = 0"],
      ["journals_kind_check", "kind = ''", "kind = 'Capture'", "kind = repeat('x', 41)"],
      ["journals_operation_key_check", "operation_key = ''", "operation_key = repeat('x', 121)"],
      ["journals_prev_hash_check", `prev_hash = ${bytes(31)}`, `prev_hash = ${bytes(33)}`],
      ["journals_hash_check", `hash = ${bytes(31)}`, `hash = ${bytes(33)}`],
    ],
    ["kind = repeat('x', 40), operation_key = repeat('x', 120)", "operation_key = 'x'"],
  );
  await expectRights(database, "journals", { insert: true });
});

test("every rule of entries refuses what breaks it", async () => {
  await expectRules(
    database,
    "entries",
    [
      ["entries_pkey", entryRow(1)],
      ["entries_line_check", "line = 0", "line = 101"],
      [
        "entries_account_check",
        "account = 'fees'",
        "account = 'Platform:fees'",
        "account = 'platform:'",
        "account = 'a:' || repeat('x', 99)",
      ],
      ["entries_currency_check", "currency = 'idr'", "currency = 'ID'", "currency = 'IDRX'"],
      ["entries_amount_minor_check", "amount_minor = 0"],
    ],
    ["line = 100, account = 'a:' || repeat('x', 98), amount_minor = -1"],
  );
  await expectRights(database, "entries", { insert: true });
});

test("every rule of balances refuses what breaks it", async () => {
  await expectRules(
    database,
    "balances",
    [
      ["balances_pkey", balanceRow],
      ["balances_debit_minor_check", "debit_minor = -1"],
      ["balances_credit_minor_check", "credit_minor = -1"],
    ],
    ["debit_minor = 0"],
  );
  await expectRights(database, "balances", {});
});
