// Goal: no journal that breaks a rule exists, by code or by hand, and tampering is found and named.
// Method: properties over random journals in a real book; then the rules are attacked as the service's role and as owner.
import fc from "fast-check";
import type pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestDatabase, asOwner, cloneDatabase, lanesOn, openDatabase } from "../../test/kit.ts";
import { systemClock } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { newId, uuidOf } from "../ground/ids.ts";
import { type Book, otherBook } from "../merchants/books.ts";
import type { Database } from "../store/database.ts";
import type { Lanes } from "../store/lanes.ts";
import { type Posting, accounts, assertBalanced, capturePostings } from "./journal.ts";
import { balanceOf, ledgerNeeds, post } from "./ledger.ts";
import { verifyBook } from "./verify.ts";

let testDatabase: TestDatabase;
let database: Database;
let lanes: Lanes;

beforeAll(async () => {
  testDatabase = await cloneDatabase();
  database = openDatabase(testDatabase, 6);
  lanes = lanesOn(database);
});
afterAll(() => database.end());

async function newBook(): Promise<Book> {
  const book: Book = { merchantId: newId("merchant", systemClock.now()), environment: "sandbox" };
  await asOwner(testDatabase, async (client) => {
    const merchant = uuidOf(book.merchantId);
    await client.query(
      "insert into merchants (merchant_id, name, settings, epoch, created_at) values ($1, 'x', '{}', 0, now())",
      [merchant],
    );
    await client.query("insert into books (merchant_id, environment) values ($1, 'sandbox')", [merchant]);
  });
  return book;
}

function posting(
  book: Book,
  postings: readonly Posting[],
  operationKey = newId("journal", systemClock.now()),
  kind = "test",
): Promise<unknown> {
  return lanes.move(book.merchantId, {
    name: "post",
    book,
    needs: ledgerNeeds(book),
    execute: (set, { realNow: now }) =>
      post(
        { set, book, now, newId: (kind) => newId(kind, now) },
        { groupId: newId("payment", now), kind, operationKey, postings },
      ).entries.map((entry) => balanceOf(set, book, entry.account, entry.currency)),
  });
}

const transfer = (from: string, to: string, amountMinor: bigint, currency = "IDR"): Posting[] => [
  { account: from, currency, amountMinor },
  { account: to, currency, amountMinor: -amountMinor },
];

// Accounts that may stand on either side; what protects the merchant's is attacked further down.
const account = fc.constantFrom(
  accounts.bank,
  accounts.fees,
  accounts.receivable("nusantara"),
  accounts.receivable("merapi"),
);
const journal = fc
  .array(
    fc.record({
      from: account,
      to: account,
      amount: fc.bigInt({ min: 1n, max: 10n ** 12n }),
      currency: fc.constantFrom("IDR", "USD"),
    }),
    {
      minLength: 1,
      maxLength: 4,
    },
  )
  .map((legs) => legs.flatMap(({ from, to, amount, currency }) => transfer(from, to, amount, currency)));

test("any balanced journals, posted concurrently, leave a book that verifies and whose balances are their sums", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(journal, { minLength: 1, maxLength: 30 }), async (list) => {
      const book = await newBook();
      await Promise.all(list.map((postings) => posting(book, postings)));
      const report = await verifyBook(database, book);
      // They belong to no row, which is said where nothing else is wrong.
      expect(report.wrong).toMatch(/^journal 1 .* which no row asks for$/);
      expect(report.journals).toBe(BigInt(list.length));
      const expected = new Map<string, bigint>();
      for (const { account: name, currency, amountMinor } of list.flat()) {
        expected.set(`${name} ${currency}`, (expected.get(`${name} ${currency}`) ?? 0n) + amountMinor);
      }
      const rows = await asOwner(testDatabase, (client) =>
        client.query<{ name: string; balance: string }>(
          "select account || ' ' || currency as name, (debit_minor - credit_minor)::text as balance from balances where merchant_id = $1",
          [uuidOf(book.merchantId)],
        ),
      );
      for (const { name, balance } of rows.rows) expect(BigInt(balance)).toBe(expected.get(name));
      expect(rows.rows.reduce((sum, { balance }) => sum + BigInt(balance), 0n)).toBe(0n);
    }),
    { numRuns: 15 },
  );
});

test("a journal that does not balance is never posted", async () => {
  const book = await newBook();
  const bad: Posting[][] = [
    [],
    [{ account: accounts.available, currency: "IDR", amountMinor: 5n }],
    transfer(accounts.bank, accounts.fees, 5n).slice(0, 1),
    [...transfer(accounts.bank, accounts.fees, 5n), { account: accounts.fees, currency: "IDR", amountMinor: 1n }],
    [
      { account: accounts.available, currency: "IDR", amountMinor: 5n },
      { account: accounts.available, currency: "USD", amountMinor: -5n },
    ],
    transfer(accounts.bank, accounts.fees, 0n),
  ];
  for (const postings of bad) {
    expect(() => assertBalanced(postings)).toThrow(Fault);
    await expect(posting(book, postings)).rejects.toMatchObject({ code: "UNBALANCED_ENTRY" });
  }
  expect((await verifyBook(database, book)).journals).toBe(0n);
});

test("one operation key moves money once, even through two processes", async () => {
  const book = await newBook();
  const other = lanesOn(database);
  const postings = transfer(accounts.bank, accounts.fees, 100n);
  const key = "capture:the-same";
  const twice = [lanes, other].map((through) =>
    through.move(book.merchantId, {
      name: "post",
      book,
      needs: ledgerNeeds(book),
      execute: (set, { realNow: now }) =>
        post(
          { set, book, now, newId: (kind) => newId(kind, now) },
          { groupId: newId("payment", now), kind: "test", operationKey: key, postings },
        ).seq,
    }),
  );
  const results = await Promise.allSettled(twice);
  expect(results.filter((result) => result.status === "fulfilled")).toHaveLength(1);
  expect((await verifyBook(database, book)).journals).toBe(1n);
});

test("a capture splits the amount between merchant and platform, and a fee of nothing or everything still balances", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 10n ** 15n }), fc.bigInt({ min: 0n, max: 100n }), (amountMinor, share) => {
      const feeMinor = (amountMinor * share) / 100n;
      const postings = capturePostings({ gatewayCode: "nusantara", currency: "IDR", amountMinor, feeMinor });
      expect(() => assertBalanced(postings)).not.toThrow();
      expect(postings.find((entry) => entry.account === accounts.receivable("nusantara"))?.amountMinor).toBe(
        amountMinor,
      );
    }),
  );
});

const insertJournal = (
  merchant: string,
  seq: number,
  prev: string,
  entries: [string, number, number][],
): [string, unknown[]] => [
  `with j as (
  insert into journals (merchant_id, environment, seq, journal_id, group_id, kind, operation_key, posted_at, prev_hash, hash)
  values ($1, 'sandbox', $2, gen_random_uuid(), gen_random_uuid(), 'test', gen_random_uuid()::text, now(), $3, sha256('x'))
)
insert into entries (merchant_id, environment, seq, line, account, currency, amount_minor, balance_after_minor)
select $1, 'sandbox', $2, ordinality, account, 'IDR', amount, after
from unnest($4::text[], $5::bigint[], $6::bigint[]) with ordinality as v(account, amount, after, ordinality)`,
  [
    merchant,
    seq,
    Buffer.from(prev, "hex"),
    entries.map(([name]) => name),
    entries.map(([, amount]) => amount),
    entries.map(([, , after]) => after),
  ],
];
const zero = "00".repeat(32);
const pair: [string, number, number][] = [
  ["platform:bank", 5, 5],
  ["platform:fees", -5, -5],
];

interface Sketch {
  merchant: string;
  seq: number;
  prev: string;
  hash: string;
  entries: { seq: number; account: string; currency: string; amount: number }[];
}

/** Journals of several books, in order, each with two entries in each of two currencies. */
function sketches(merchants: readonly string[], from: number, count: number): Sketch[] {
  const hash = (seq: number): string => String(seq).padStart(64, "0");
  return merchants.flatMap((merchant) =>
    Array.from({ length: count }, (_, index): Sketch => {
      const seq = from + index;
      const entries = ["IDR", "USD"].flatMap((currency) => [
        { seq, account: "platform:bank", currency, amount: 5 },
        { seq, account: "platform:fees", currency, amount: -5 },
      ]);
      return { merchant, seq, prev: hash(seq - 1), hash: hash(seq), entries };
    }),
  );
}

/** One statement, like a batch of the lanes; each entry states the balance that it leaves, and one of them `falseBy` more. */
const insertAll = (journals: readonly Sketch[], falseBy = 0): [string, unknown[]] => [
  `with j as (
  insert into journals (merchant_id, environment, seq, journal_id, group_id, kind, operation_key, posted_at, prev_hash, hash)
  select merchant, 'sandbox', seq, gen_random_uuid(), gen_random_uuid(), 'test', gen_random_uuid()::text, now(), decode(prev, 'hex'), decode(hash, 'hex')
  from jsonb_to_recordset($1::jsonb) as v(merchant uuid, seq bigint, prev text, hash text)
)
insert into entries (merchant_id, environment, seq, line, account, currency, amount_minor, balance_after_minor)
select v.merchant, 'sandbox', e.seq, row_number() over (partition by v.merchant, e.seq) + 10 * (e.seq <> v.seq)::integer, e.account, e.currency,
  e.amount, sum(e.amount) over (partition by v.merchant, e.account, e.currency order by e.seq)
    + coalesce((select debit_minor - credit_minor from balances b where b.merchant_id = v.merchant and (b.account, b.currency) = (e.account, e.currency)), 0)
    + case when row_number() over (order by v.merchant, e.seq desc) = 1 then $2::integer else 0 end
from jsonb_to_recordset($1::jsonb) as v(merchant uuid, seq bigint, entries jsonb)
cross join lateral jsonb_to_recordset(v.entries) as e(seq bigint, account text, currency text, amount bigint)`,
  [JSON.stringify(journals), falseBy],
];

test("one spoiled journal in a batch of several books refuses the batch, wherever it stands and whatever it is", async () => {
  const merchants = (await Promise.all([newBook(), newBook()])).map(({ merchantId }) => uuidOf(merchantId));
  const batch = (): Sketch[] => sketches(merchants, 3, 3);
  const move = ({ entries }: Sketch, from: number, seq: number): void => {
    for (const entry of entries.slice(from)) entry.seq = seq;
  };
  const spoils: Record<string, [spoil: (journal: Sketch) => unknown, error: RegExp]> = {
    "more on one side": [({ entries }) => entries.forEach((entry) => (entry.amount += Number(entry.amount > 0))), /does not balance/],
    "a currency that another one makes up for": [({ entries }) => entries.forEach((entry) => (entry.amount += entry.currency === "IDR" ? 1 : -1)), /does not balance/],
    "an entry less": [({ entries }) => entries.splice(1, 1), /does not balance/],
    "an entry that nothing stands against": [({ entries, seq }) => entries.push({ seq, account: "platform:bank", currency: "SGD", amount: 1 }), /does not balance/],
    "no entries": [({ entries }) => entries.splice(0), /does not balance|missing or complete/],
    "another chain": [(journal) => (journal.prev = "f".repeat(64)), /does not continue/],
    "entries of a journal that is complete": [(journal) => move(journal, 2, 1), /missing or complete/],
    "all entries of a journal that is complete": [(journal) => move(journal, 0, 1), /missing or complete/],
    "entries of a journal that is not there": [(journal) => move(journal, 2, 99), /missing or complete/],
    "all entries of a journal that is not there": [(journal) => move(journal, 0, 99), /missing or complete/],
  }; // prettier-ignore
  await asOwner(testDatabase, async (client) => {
    await client.query(...insertAll(sketches(merchants, 1, 2)));
    for (const [name, [spoil, error]] of Object.entries(spoils)) {
      for (const place of batch().keys()) {
        const spoiled = batch();
        spoil(spoiled[place] as Sketch);
        await expect(client.query(...insertAll(spoiled)), `${name} at ${place}`).rejects.toThrow(error);
      }
    }
    await expect(client.query(...insertAll(batch().filter(({ seq }) => seq !== 4)))).rejects.toThrow(
      /does not continue|missing or complete/,
    );
    await expect(client.query(...insertAll(batch(), 1))).rejects.toThrow(/wrong balance/);
    for (const seqs of [[1], [2], [1, 2]]) {
      const later = insertAll(sketches(merchants, 1, 2).filter(({ seq }) => seqs.includes(seq)));
      const entriesAlone = later[0]
        .slice(later[0].indexOf("insert into entries"))
        .replace("row_number()", "10 + row_number()");
      await expect(client.query(entriesAlone, later[1]), `later, to ${seqs.join()}`).rejects.toThrow(
        /complete already/,
      );
    }
    await expect(client.query(...insertAll(batch()))).resolves.toMatchObject({ rowCount: 24 });
  });
});

test("a merchant's two environments are two books, and a journal moves the head of its own alone", async () => {
  const [book, another] = [await newBook(), await newBook()];
  const live = otherBook(book);
  const merchant = uuidOf(book.merchantId);
  await asOwner(testDatabase, (client) =>
    client.query("insert into books (merchant_id, environment) values ($1, 'production')", [merchant]),
  );
  await posting(book, transfer(accounts.bank, accounts.fees, 5n));
  await posting(book, transfer(accounts.bank, accounts.fees, 6n));
  await posting(live, transfer(accounts.bank, accounts.fees, 7n));
  await posting(book, transfer(accounts.bank, accounts.fees, 8n));
  await asOwner(testDatabase, async (client) => {
    const { rows } = await client.query<{ head: string; hash: Buffer }>(
      "select merchant_id || ' ' || environment || ' ' || seq as head, hash from book_heads where merchant_id = any($1)",
      [[merchant, uuidOf(another.merchantId)]],
    );
    expect(rows.map(({ head }) => head).sort()).toEqual(
      [`${merchant} production 1`, `${merchant} sandbox 3`, `${uuidOf(another.merchantId)} sandbox 0`].sort(),
    );
    const hash = rows.find(({ head }) => head.includes("production"))?.hash.toString("hex") ?? "";
    // Numbers that the sandbox has: its journals and entries stand for nothing in production.
    const [text, values] = insertJournal(merchant, 2, hash, []);
    await expect(client.query(text.replaceAll("'sandbox'", "'production'"), values)).rejects.toThrow(
      /does not balance|missing or complete/,
    );
    const entriesAlone = `insert into entries (merchant_id, environment, seq, line, account, currency, amount_minor, balance_after_minor)
values ($1, 'production', 3, 1, 'platform:bank', 'IDR', 5, 12), ($1, 'production', 3, 2, 'platform:fees', 'IDR', -5, -12)`;
    await expect(client.query(entriesAlone, [merchant])).rejects.toThrow(/missing or complete/);
  });
  expect((await verifyBook(database, book)).journals).toBe(3n);
  expect((await verifyBook(database, live)).journals).toBe(1n);
});

test("no journal stands in a book without a head", async () => {
  const { merchantId } = await newBook();
  const merchant = uuidOf(merchantId);
  await asOwner(testDatabase, async (client) => {
    for (const statement of ["delete from book_heads", "truncate book_heads"]) {
      await expect(client.query(statement), statement).rejects.toThrow(/append-only/);
    }
    await client.query("set session_replication_role = replica");
    await client.query("delete from book_heads where merchant_id = $1", [merchant]);
    await client.query("set session_replication_role = origin");
    await expect(client.query(...insertAll(sketches([merchant], 1, 1)))).rejects.toThrow(/does not continue/);
  });
  expect((await verifyBook(database, { merchantId, environment: "sandbox" })).wrong).toBe("the book has no head");
});

test("the database itself refuses what the code would never write, from the service's role and from the owner", async () => {
  const book = await newBook();
  const merchant = uuidOf(book.merchantId);
  const attacks: [name: string, statement: [string, unknown[]], error: RegExp][] = [
    ["unbalanced", insertJournal(merchant, 1, zero, [["platform:bank", 5, 5], ["platform:fees", -4, -4]]), /does not balance/],
    ["one entry", insertJournal(merchant, 1, zero, [["platform:bank", 5, 5]]), /does not balance/],
    ["no entry", insertJournal(merchant, 1, zero, []), /does not balance/],
    ["a gap", insertJournal(merchant, 2, zero, pair), /does not continue/],
    ["another chain", insertJournal(merchant, 1, "11".repeat(32), pair), /does not continue/],
    ["a false balance", insertJournal(merchant, 1, zero, [["platform:bank", 5, 6], ["platform:fees", -5, -5]]), /wrong balance/],
    ["a loose entry", ["insert into entries (merchant_id, environment, seq, line, account, currency, amount_minor, balance_after_minor) values ($1, 'sandbox', 1, 1, 'platform:fees', 'IDR', 1, 1)", [merchant]], /missing or complete/],
    ["a changed balance", ["update balances set credit_minor = credit_minor + 1 where merchant_id = $1 and false", [merchant]], /permission denied/],
    ["a moved head", ["update book_heads set seq = 7 where merchant_id = $1", [merchant]], /permission denied/],
  ]; // prettier-ignore
  const attempt = async (client: pg.Client, [text, values]: [string, unknown[]]): Promise<string> => {
    try {
      await client.query(text, values);
      return "accepted";
    } catch (error) {
      return (error as Error).message;
    }
  };
  for (const [name, statement, error] of attacks) {
    await asOwner({ ...testDatabase, ownerUrl: testDatabase.url }, async (client) => {
      expect(await attempt(client, statement), name).toMatch(error);
    });
    if (error.source.includes("permission")) continue;
    await asOwner(testDatabase, async (client) =>
      expect(await attempt(client, statement), `${name}, as owner`).toMatch(error),
    );
  }
  await posting(book, transfer(accounts.bank, accounts.fees, 5n));
  for (const statement of [
    "update journals set kind = 'x'",
    "delete from journals",
    "truncate journals cascade",
    "update entries set amount_minor = 1",
    "delete from entries",
    "truncate entries",
    "truncate balances",
  ]) {
    await asOwner(testDatabase, async (client) =>
      expect(await attempt(client, [statement, []]), statement).toMatch(/append-only/),
    );
    await asOwner({ ...testDatabase, ownerUrl: testDatabase.url }, async (client) =>
      expect(await attempt(client, [statement, []]), statement).toMatch(/permission denied|append-only/),
    );
  }
});

test("what a merchant has available goes below zero only by a dispute; held, settling and unapplied never", async () => {
  const book = await newBook();
  await posting(book, transfer(accounts.bank, accounts.available, 100n));
  await posting(book, transfer(accounts.available, accounts.held, 60n));
  for (const [from, to, amount] of [
    [accounts.available, accounts.bank, 41n],
    [accounts.held, accounts.bank, 61n],
    [accounts.settling, accounts.bank, 1n],
    [accounts.unapplied, accounts.bank, 1n],
  ] as const) {
    await expect(posting(book, transfer(from, to, amount)), from).rejects.toMatchObject({ code: "INTERNAL_ERROR" });
  }
  await expect(
    posting(book, transfer(accounts.held, accounts.bank, 61n), undefined, "dispute_opened"),
    "held, by a dispute",
  ).rejects.toMatchObject({ code: "INTERNAL_ERROR" });
  // To nothing is not below it.
  await posting(book, transfer(accounts.available, accounts.bank, 40n));
  await posting(book, transfer(accounts.held, accounts.bank, 60n));
  await posting(book, transfer(accounts.available, accounts.held, 1000n), undefined, "dispute_opened");
  // What comes in is taken, also where it does not make up for the dispute.
  await posting(book, transfer(accounts.bank, accounts.available, 10n));
  // It stands in the ledger; that no dispute stands behind it is for verify to say.
  expect((await verifyBook(database, book)).wrong).toMatch(/^journal 5 /);
});

test("the service's role cannot borrow the ledger's functions to write a balance", async () => {
  await asOwner(testDatabase, async (client) => {
    const borrowed =
      "select proname from pg_proc where prosecdef and has_function_privilege('gerbang_service', oid, 'execute')";
    expect((await client.query(borrowed)).rows, "functions with their owner's rights that it may execute").toEqual([]);
  });
  await asOwner({ ...testDatabase, ownerUrl: testDatabase.url }, async (client) => {
    await expect(
      client.query(
        "create temp table fake (like entries); create trigger t after insert on fake referencing new table as inserted for each statement execute function public.apply_new_entries()",
      ),
    ).rejects.toThrow(/permission denied/);
  });
});

test("whoever goes around the triggers is found, and the first wrong row is named", async () => {
  const tamper = async (text: string): Promise<string | undefined> => {
    const book = await newBook();
    for (let count = 0; count < 5; count++) await posting(book, transfer(accounts.bank, accounts.fees, 10n));
    await asOwner(testDatabase, async (client) => {
      await client.query("set session_replication_role = replica"); // what only a superuser can do: triggers off
      await client.query(text.replaceAll("$1", `'${uuidOf(book.merchantId)}'`));
    });
    return (await verifyBook(database, book)).wrong;
  };
  expect(await tamper("update entries set amount_minor = 11 where merchant_id = $1 and seq = 3 and line = 1")).toMatch(
    /^journal 3 .*changed/,
  );
  expect(await tamper("update journals set kind = 'gift' where merchant_id = $1 and seq = 2")).toMatch(
    /^journal 2 .*changed/,
  );
  expect(await tamper("delete from journals where merchant_id = $1 and seq = 4")).toMatch(/after journal 3 .*gap/);
  expect(await tamper("delete from journals where merchant_id = $1 and seq = 5")).toMatch(/ends at journal 4/);
  expect(await tamper("delete from entries where merchant_id = $1 and seq = 5 and line = 2")).toMatch(/^journal 5/);
  expect(
    await tamper(
      "update balances set credit_minor = credit_minor + 1 where merchant_id = $1 and account = 'platform:fees'",
    ),
  ).toMatch(/platform:fees IDR is kept as/);
  expect(await tamper("update journals set hash = sha256('y') where merchant_id = $1 and seq = 5")).toMatch(
    /^journal 5 .*changed/,
  );
});
