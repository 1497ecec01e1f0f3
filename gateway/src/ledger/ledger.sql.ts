// The SQL of the ledger: heads, balances and the one statement that appends journals with their entries. Verification has its own.
import { idOf, uuidBytes, uuidOf } from "../ground/ids.ts";
import type { Minor } from "../ground/money.ts";
import { type Book, bookArrays, bookKey, bookKeyColumns, bookOfRow, bookValues } from "../merchants/books.ts";
import type { Statement } from "../store/database.ts";
import { type Columns, type Table, arraysOf, loadByKey } from "../store/table.ts";
import type { Entry, Journal } from "./journal.ts";

interface Head {
  book: Book;
  seq: bigint;
  hash: Buffer;
}

/** The head of each book's chain. Loading a head locks the book against others who post. A trigger moves the head when journals are appended. */
export const heads: Table<Book, Head> = {
  name: "book heads",
  keyText: bookKey,
  keyOf: (head) => head.book,
  load: loadByKey("lock book heads", "book_heads", bookKeyColumns),
  parse: (row) => ({ book: bookOfRow(row), seq: row.seq as bigint, hash: row.hash as Buffer }),
};

/** Every balance of a book (`account currency` to debits minus credits), read after the book's head is locked. A trigger writes balances. */
interface BookBalances {
  book: Book;
  balances: ReadonlyMap<string, Minor>;
}

export const bookBalances: Table<Book, BookBalances> = {
  name: "balances",
  keyText: bookKey,
  keyOf: (row) => row.book,
  load: (books) => ({
    name: "load balances",
    text: `select w.merchant_id, w.environment, b.balances
from unnest($1::uuid[], $2::text[]::environment[]) as w(merchant_id, environment)
cross join lateral (
  select json_object_agg(account || ' ' || currency, (debit_minor - credit_minor)::text) as balances
  from balances b
  where b.merchant_id = w.merchant_id and b.environment = w.environment
) b
where b.balances is not null`,
    values: bookArrays(books),
  }),
  parse: (row) => ({
    book: bookOfRow(row),
    balances: new Map(
      Object.entries(JSON.parse(row.balances as string) as Record<string, string>).map(([name, text]) => [
        name,
        BigInt(text),
      ]),
    ),
  }),
};

export const journals: Table<{ book: Book; seq: bigint }, Journal> = {
  name: "journals",
  keyText: ({ book, seq }) => `${bookKey(book)}/${String(seq).padStart(20, "0")}`,
  keyOf: (journal) => journal,
  insert: appendJournals,
};

interface Line {
  journal: Journal;
  entry: Journal["entries"][number];
  line: number;
}

const journalColumns: Columns<Journal> = {
  merchant_id: ["uuid", (journal) => uuidOf(journal.book.merchantId)],
  environment: ["text", (journal) => journal.book.environment],
  seq: ["bigint", (journal) => journal.seq],
  journal_id: ["uuid", (journal) => uuidBytes(journal.journalId)],
  group_id: ["uuid", (journal) => uuidBytes(journal.groupId)],
  kind: ["text", (journal) => journal.kind],
  operation_key: ["text", (journal) => journal.operationKey],
  posted_at: ["timestamptz", (journal) => journal.postedAt],
  prev_hash: ["bytea", (journal) => journal.prevHash],
  hash: ["bytea", (journal) => journal.hash],
};

const entryColumns: Columns<Line> = {
  merchant_id: ["uuid", ({ journal }) => uuidOf(journal.book.merchantId)],
  environment: ["text", ({ journal }) => journal.book.environment],
  seq: ["bigint", ({ journal }) => journal.seq],
  line: ["smallint", ({ line }) => line],
  account: ["text", ({ entry }) => entry.account],
  currency: ["text", ({ entry }) => entry.currency],
  amount_minor: ["bigint", ({ entry }) => entry.amountMinor],
  balance_after_minor: ["bigint", ({ entry }) => entry.balanceAfterMinor],
};

// One statement inserts journals and entries: the triggers at its end see both, so no journal can be written without its entries.
function appendJournals(journals: readonly Journal[]): Statement {
  const entries = journals.flatMap((journal): Line[] =>
    journal.entries.map((entry, index) => ({ journal, entry, line: index + 1 })),
  );
  return {
    name: "append journals",
    text: `with journal as (
  insert into journals (merchant_id, environment, seq, journal_id, group_id, kind, operation_key, posted_at, prev_hash, hash)
  select merchant_id, environment::environment, seq, journal_id, group_id, kind, operation_key, posted_at, prev_hash, hash
  from unnest($1::uuid[], $2::text[], $3::bigint[], $4::uuid[], $5::uuid[], $6::text[], $7::text[], $8::timestamptz[],
    $9::bytea[], $10::bytea[])
    as v(merchant_id, environment, seq, journal_id, group_id, kind, operation_key, posted_at, prev_hash, hash)
)
insert into entries (merchant_id, environment, seq, line, account, currency, amount_minor, balance_after_minor)
select merchant_id, environment::environment, seq, line, account, currency, amount_minor, balance_after_minor
from unnest($11::uuid[], $12::text[], $13::bigint[], $14::smallint[], $15::text[], $16::text[], $17::bigint[], $18::bigint[])
  as v(merchant_id, environment, seq, line, account, currency, amount_minor, balance_after_minor)`,
    values: [...arraysOf(journalColumns, journals), ...arraysOf(entryColumns, entries)],
  };
}

/** A balance, with the number and the hash of the newest journal. A book without balances has one row, without an account. */
export interface BalanceRow extends Record<string, unknown> {
  seq: bigint;
  hash: Buffer;
  account: string | null;
  currency: string;
  debit_minor: bigint;
  credit_minor: bigint;
}

/** Every balance of one book, in one snapshot, as `BalanceRow`. */
export function selectBalances(book: Book): Statement {
  return {
    name: "select balances",
    text: `select h.seq, h.hash, b.account, b.currency, b.debit_minor, b.credit_minor
from book_heads h
left join balances b using (merchant_id, environment)
where h.merchant_id = $1::uuid and h.environment = $2::environment
order by b.account, b.currency`,
    values: [...bookValues(book)],
  };
}

/** The entries `e` of a journal `j`, as `journalOfRow` reads them. */
export const entriesOfJournal = `left join lateral (
  select json_agg(json_build_array(e.account, e.currency, e.amount_minor::text, e.balance_after_minor::text) order by e.line)
    as entries
  from entries e
  where e.merchant_id = j.merchant_id and e.environment = j.environment and e.seq = j.seq
) e on true`;

/** A page of journals with their entries, in order, from `after` (exclusive) to `upTo` (inclusive). */
export function selectJournals(book: Book, after: bigint, upTo: bigint, limit: number): Statement {
  return {
    name: "select journals",
    text: `select j.*, e.entries
from (
  select *
  from journals
  where merchant_id = $1::uuid and environment = $2::environment and seq > $3::bigint and seq <= $4::bigint
  order by seq
  limit $5::integer
) j
${entriesOfJournal}
order by j.seq`,
    values: [...bookValues(book), after, upTo, limit],
  };
}

interface JournalHead extends Record<string, unknown> {
  seq: bigint;
  journal_id: string;
  group_id: string;
  kind: string;
  operation_key: string;
  posted_at: number;
}

export interface JournalRow extends JournalHead {
  prev_hash: Buffer;
  hash: Buffer;
  entries: string | null;
}

export function journalOfRow(book: Book, row: JournalRow): Journal {
  const lines = JSON.parse(row.entries ?? "[]") as [string, string, string, string][];
  return {
    book,
    seq: row.seq,
    journalId: idOf("journal", row.journal_id),
    groupId: idOf(row.kind.startsWith("settlement_") ? "settlement" : "payment", row.group_id),
    kind: row.kind,
    operationKey: row.operation_key,
    postedAt: row.posted_at,
    prevHash: row.prev_hash,
    hash: row.hash,
    entries: lines.map(([account, currency, amount, after]): Entry => ({
      account,
      currency,
      amountMinor: BigInt(amount),
      balanceAfterMinor: BigInt(after),
    })),
  };
}

/** An entry of an account, with its journal. */
export interface EntryRow extends JournalHead {
  line: number;
  amount_minor: bigint;
  balance_after_minor: bigint;
}

/** A page of one account's entries as `EntryRow`, newest first, older than `before`, from the journal `first` on. Reads one entry more than `limit`. */
export function selectEntries(
  { book, account, currency }: { book: Book; account: string; currency: string },
  { first, before }: { first: bigint; before: { seq: bigint; line: number } },
  limit: number,
): Statement {
  return {
    name: "select entries",
    text: `select e.seq, e.line, e.amount_minor, e.balance_after_minor, j.journal_id, j.group_id, j.kind, j.operation_key, j.posted_at
from (
  select *
  from entries e
  -- as rows of the account's index: by the primary key a page of a rare account would walk the whole book
  where e.merchant_id = $1::uuid and e.environment = $2::environment and e.account = $3::text and e.currency = $4::text
    and (e.account, e.currency, e.seq) >= ($3::text, $4::text, $5::bigint)
    and (e.account, e.currency, e.seq) <= ($3::text, $4::text, $6::bigint)
    and (e.seq < $6::bigint or e.line < $7::smallint)
  order by e.seq desc, e.line desc
  limit $8::integer
) e
cross join lateral (
  select *
  from journals j
  where j.merchant_id = $1::uuid and j.environment = $2::environment and j.seq = e.seq
  limit 1
) j
order by e.seq desc, e.line desc`,
    values: [...bookValues(book), account, currency, first, before.seq, before.line, limit + 1],
  };
}
