// Verification: replays a book from its first journal and believes nothing that it has not recomputed.
import { idOf } from "../ground/ids.ts";
import type { Minor } from "../ground/money.ts";
import type { Book } from "../merchants/books.ts";
import type { Database } from "../store/database.ts";
import { type Entry, type Journal, sealOf } from "./journal.ts";
import { selectBalances, selectCaptureMismatch, selectJournals } from "./ledger.sql.ts";

export interface BookReport {
  book: Book;
  journals: bigint;
  /** The first thing found wrong, in words; undefined when the book is clean. */
  wrong: string | undefined;
}

const PAGE = 1000;

interface JournalRow extends Record<string, unknown> {
  seq: bigint;
  journal_id: string;
  group_id: string;
  kind: string;
  operation_key: string;
  posted_at: number;
  prev_hash: Buffer;
  hash: Buffer;
  entries: string | null;
}

function journalOfRow(book: Book, row: JournalRow): Journal {
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

/** Replays one book: sequence, chain, zero-sum, running balances, totals, one capture for each succeeded payment. */
export async function verifyBook(database: Database, book: Book): Promise<BookReport> {
  const totals = await database.query<{
    seq: bigint;
    account: string | null;
    currency: string;
    debit_minor: bigint;
    credit_minor: bigint;
  }>(selectBalances(book));
  const upTo = totals[0]?.seq ?? 0n;
  const replay = new Replay();
  for (let after = 0n; after < upTo;) {
    const rows = await database.query<JournalRow>(selectJournals(book, after, upTo, PAGE));
    if (rows.length === 0)
      return { book, journals: after, wrong: `the book ends at journal ${after}, its head says ${upTo}` };
    for (const row of rows) {
      const wrong = replay.next(journalOfRow(book, row));
      if (wrong !== undefined) return { book, journals: after, wrong };
      after = row.seq;
    }
  }
  const wrong = replay.compare(totals) ?? (await captureMismatch(database, book));
  return { book, journals: upTo, wrong };
}

/** Every journal of a book in order, page by page, as far as its chain goes now. */
export async function* readJournals(database: Database, book: Book): AsyncGenerator<Journal> {
  const [head] = await database.query<{ seq: bigint }>(selectBalances(book));
  const upTo = head?.seq ?? 0n;
  for (let after = 0n; after < upTo;) {
    const rows = await database.query<JournalRow>(selectJournals(book, after, upTo, PAGE));
    if (rows.length === 0) return;
    for (const row of rows) yield journalOfRow(book, row);
    after = rows.at(-1)?.seq ?? upTo;
  }
}

async function captureMismatch(database: Database, book: Book): Promise<string | undefined> {
  const [row] = await database.query<{ payment_id: string; status: string; captures: bigint }>(
    selectCaptureMismatch(book),
  );
  return row && `payment ${idOf("payment", row.payment_id)} is ${row.status} and has ${row.captures} capture journals`;
}

/** The state of a book as its journals alone tell it. */
class Replay {
  private seq = 0n;
  private hash: Buffer = Buffer.alloc(32);
  private readonly debits = new Map<string, Minor>();
  private readonly credits = new Map<string, Minor>();

  /** Takes the next journal; gives what is wrong with it. */
  next(journal: Journal): string | undefined {
    const name = `journal ${journal.seq} (${journal.journalId})`;
    if (journal.seq !== this.seq + 1n) return `after journal ${this.seq} comes ${name}: the sequence has a gap`;
    if (!journal.prevHash.equals(this.hash)) return `${name} does not continue the chain`;
    if (!sealOf(journal).equals(journal.hash)) return `${name} was changed after it was sealed`;
    if (journal.entries.length < 2) return `${name} has ${journal.entries.length} entries`;
    const sums = new Map<string, Minor>();
    for (const { account, currency, amountMinor, balanceAfterMinor } of journal.entries) {
      sums.set(currency, (sums.get(currency) ?? 0n) + amountMinor);
      const key = `${account} ${currency}`;
      const side = amountMinor > 0n ? this.debits : this.credits;
      side.set(key, (side.get(key) ?? 0n) + (amountMinor > 0n ? amountMinor : -amountMinor));
      const balance = (this.debits.get(key) ?? 0n) - (this.credits.get(key) ?? 0n);
      if (balance !== balanceAfterMinor)
        return `${name} says ${key} is ${balanceAfterMinor} after it; it is ${balance}`;
    }
    for (const [currency, sum] of sums) if (sum !== 0n) return `${name} sums to ${sum} ${currency}`;
    this.seq = journal.seq;
    this.hash = journal.hash;
    return undefined;
  }

  /** Compares with the totals that the database keeps. */
  compare(
    totals: { account: string | null; currency: string; debit_minor: bigint; credit_minor: bigint }[],
  ): string | undefined {
    const kept = new Map(
      totals
        .filter((row) => row.account !== null)
        .map((row): [string, typeof row] => [`${row.account} ${row.currency}`, row]),
    );
    const names = new Set([...kept.keys(), ...this.debits.keys(), ...this.credits.keys()]);
    for (const name of names) {
      const debit = this.debits.get(name) ?? 0n;
      const credit = this.credits.get(name) ?? 0n;
      const row = kept.get(name);
      if (row?.debit_minor !== debit || row.credit_minor !== credit) {
        return `the balance of ${name} is kept as ${row?.debit_minor} - ${row?.credit_minor}; the journals give ${debit} - ${credit}`;
      }
    }
    return undefined;
  }
}
