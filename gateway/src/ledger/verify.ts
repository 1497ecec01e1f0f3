// Verification of a book: recomputes the chain, the sums and the balances from the first journal on, then compares every payment, refund,
// dispute, settlement batch and event with the journals, page by page. Its SQL is in verify.sql.ts, verify-rows.sql.ts and verify-events.sql.ts.
import { HOUR, wireTime } from "../ground/clock.ts";
import { type IdKind, idOf, isId } from "../ground/ids.ts";
import type { Minor } from "../ground/money.ts";
import type { Book } from "../merchants/books.ts";
import type { Database, Statement } from "../store/database.ts";
import { type Journal, journalHash } from "./journal.ts";
import { type BalanceRow, type JournalRow, journalOfRow, selectBalances, selectJournals } from "./ledger.sql.ts";
import { eventsMissing, eventsUnfounded } from "./verify-events.sql.ts";
import { batchesWrong, itemsContested, itemsWrong, marksWrong, paymentsWrong } from "./verify-rows.sql.ts";
import {
  type Claim,
  type CountedRow,
  type PagedTable,
  journalsMissing,
  journalsUnfounded,
  owners,
  selectCounted,
  selectHeadMismatch,
  selectKeys,
  selectProtectedMismatch,
} from "./verify.sql.ts";

export interface BookReport {
  book: Book;
  journals: bigint;
  /** The first thing found wrong, in words; undefined when the book is clean. */
  wrong: string | undefined;
  /** The hash of the newest journal, in hex; zeros while there is none. Present only when the chain was replayed to its end. */
  head?: string;
}

/** Progress of a replay, which reads the journals first and then the rows whose money they move. */
export interface ReplayProgress {
  /** Journals replayed so far, and journals in the book when the replay began. */
  journals: bigint;
  journalsInAll: bigint;
  /** Checks of rows that are done, and the number of all such checks. */
  checks: number;
  checksInAll: number;
  /** Rows, or settlement batches, compared so far; a row counts once in each check. */
  rows: bigint;
}

/** Observes a replay and may end it. */
interface ReplayWatch {
  /** Called at the start and after every page. Must return at once. */
  progress?: ((progress: ReplayProgress) => void) | undefined;
  /** Ends the replay between two pages: `verifyBook` throws the signal's reason. */
  signal?: AbortSignal | undefined;
}

const PAGE = 1000;

/** Checks of rows, in the order in which they run: those that name a wrong row most exactly come first. `page`: rows, or batches, at a time. */
const checks: readonly {
  table: PagedTable;
  page: number;
  statement: (book: Book, ids: readonly string[]) => Statement;
}[] = [
  ...owners.map((owner) => ({ table: `${owner}s` as const, page: PAGE, statement: journalsMissing(owner) })),
  { table: "payments", page: PAGE, statement: paymentsWrong },
  // Pages of batches are small: a batch may have thousands of items.
  { table: "settlements", page: 20, statement: batchesWrong },
  { table: "settlement_items", page: 20, statement: itemsWrong },
  { table: "settlement_items", page: 20, statement: itemsContested },
  { table: "payments", page: PAGE, statement: marksWrong("payment") },
  { table: "receipts", page: PAGE, statement: marksWrong("receipt") },
  { table: "refunds", page: PAGE, statement: marksWrong("refund") },
  { table: "disputes", page: PAGE, statement: marksWrong("dispute") },
  { table: "payments", page: PAGE, statement: eventsMissing("payments") },
  { table: "refunds", page: PAGE, statement: eventsMissing("refunds") },
  { table: "disputes", page: PAGE, statement: eventsMissing("disputes") },
  { table: "settlements", page: PAGE, statement: eventsMissing("settlements") },
  { table: "events", page: 5 * PAGE, statement: eventsUnfounded },
];

/**
 * Replays one book: checks its sequence, chain, zero sums, running balances and totals. Then proves that the journals and the rows that
 * merchants see agree: every capture, refund, dispute and settlement batch has its journals and no other row has any, totals and marks match
 * the rows that they sum up, every movement of a payment, refund, dispute or batch has one event of its amount, and the roll-up has counted every paid payment. May run
 * beside any traffic: no transaction is open for longer than a page. Throws the reason of `watch.signal`.
 */
export async function verifyBook(database: Database, book: Book, watch: ReplayWatch = {}): Promise<BookReport> {
  const captures = new Captures(await database.query<CountedRow>(selectCounted(book)));
  const totals = await database.query<BalanceRow>(selectBalances(book));
  const upTo = totals[0]?.seq;
  if (upTo === undefined) return { book, journals: 0n, wrong: "the book has no head" };
  const pages = new Pages(upTo, watch);
  const replay = new Replay();
  /** A journal that adds up and belongs to no row: named only where no row is wrong. */
  let strange: string | undefined;
  for (let after = 0n; after < upTo;) {
    const rows = await database.query<JournalRow>(selectJournals(book, after, upTo, PAGE));
    if (rows.length === 0)
      return { book, journals: after, wrong: `the book ends at journal ${after}, its head says ${upTo}` };
    const claims: Claim[] = [];
    for (const row of rows) {
      const journal = journalOfRow(book, row);
      captures.take(journal);
      const claim = claimOf(journal);
      const wrong = replay.next(journal) ?? (typeof claim === "string" ? claim : undefined);
      if (wrong !== undefined) return { book, journals: after, wrong };
      if (typeof claim === "object") claims.push(claim);
      else
        strange ??= `journal ${journal.seq} (${journal.journalId}) is of the kind ${journal.kind}, which no row asks for`;
      after = row.seq;
    }
    const wrong = await firstWrong(database, journalsUnfounded(book, claims));
    if (wrong !== undefined) return { book, journals: after, wrong };
    pages.turn({ journals: after });
  }
  // The roll-up is compared last: it can name only an hour, while the other checks name a row.
  const wrong = replay.compare(totals) ?? (await rowsWrong(database, book, pages)) ?? strange ?? captures.compare();
  return { book, journals: upTo, wrong, head: replay.head };
}

/** The row whose money a journal moves; undefined for a kind that no row asks for; a message when the operation key names no such row. */
function claimOf({ seq, journalId, kind, groupId, operationKey }: Journal): Claim | string | undefined {
  const [, noun] = /^(capture|refund|dispute|settlement|receipt)(?:_[a-z]+)?$/.exec(kind) ?? [];
  if (noun === undefined) return undefined;
  const owner = noun === "capture" ? "payment" : (noun as Claim["owner"]);
  const ownerId = operationKey.slice(kind.length + 1);
  if (operationKey !== `${kind}:${ownerId}` || !isId(owner, ownerId))
    return `journal ${seq} (${journalId}) is a ${kind} and its operation key ${operationKey} names no ${owner}`;
  return { seq, kind, groupId, owner, ownerId };
}

async function rowsWrong(database: Database, book: Book, pages: Pages): Promise<string | undefined> {
  for (const [number, { table, page, statement }] of checks.entries()) {
    for (let after = ""; ;) {
      const ids = (await database.query<{ id: string }>(selectKeys(table, book, after, page))).map(({ id }) => id);
      const last = ids.at(-1);
      if (last === undefined) break;
      const wrong = await firstWrong(database, statement(book, ids));
      if (wrong !== undefined) return wrong;
      after = last;
      pages.turn({ checks: number, rows: ids.length });
    }
    pages.turn({ checks: number + 1 });
  }
  return (await firstWrong(database, selectHeadMismatch(book))) ?? firstWrong(database, selectProtectedMismatch(book));
}

/** The message of a statement that found a wrong row, with UUIDs turned into identities as the API shows them. */
async function firstWrong(database: Database, statement: Statement): Promise<string | undefined> {
  const [row] = await database.query<{ wrong: string | null }>(statement);
  return row?.wrong?.replaceAll(
    /\b(payment|refund|dispute|settlement|receipt|event) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b/g,
    (_, kind: IdKind, uuid: string) => `${kind} ${idOf(kind, uuid)}`,
  );
}

/** Every journal of a book in order, read page by page, up to the head that the chain has at the start. Throws when the book ends before it, or has none. */
export async function* readJournals(database: Database, book: Book): AsyncGenerator<Journal> {
  const [head] = await database.query<{ seq: bigint }>(selectBalances(book));
  if (!head) throw new Error("the book has no head");
  for (let after = 0n; after < head.seq;) {
    const rows = await database.query<JournalRow>(selectJournals(book, after, head.seq, PAGE));
    if (rows.length === 0) throw new Error(`the book ends at journal ${after}, its head says ${head.seq}`);
    for (const row of rows) yield journalOfRow(book, row);
    after = rows.at(-1)?.seq ?? head.seq;
  }
}

/** Reports the progress of a replay after each page, and ends the replay between two pages once its signal is aborted. */
class Pages {
  private readonly watch: ReplayWatch;
  private soFar: ReplayProgress;

  constructor(journalsInAll: bigint, watch: ReplayWatch) {
    this.watch = watch;
    this.soFar = { journals: 0n, journalsInAll, checks: 0, checksInAll: checks.length, rows: 0n };
    this.turn({});
  }

  /** Records that a page is done. `rows`: rows of this page, added to the count. Throws the reason of the signal. */
  turn({ rows = 0, ...reached }: { journals?: bigint; checks?: number; rows?: number }): void {
    this.soFar = { ...this.soFar, ...reached, rows: this.soFar.rows + BigInt(rows) };
    this.watch.progress?.(this.soFar);
    this.watch.signal?.throwIfAborted();
  }
}

/** Captured payments by hour, acquirer and currency: sums of the journals, compared with the roll-up of payments. */
class Captures {
  private readonly upTo: bigint;
  private readonly counted: Map<string, string>;
  private readonly posted = new Map<string, { payments: bigint; amountMinor: Minor }>();

  constructor(rows: readonly CountedRow[]) {
    this.upTo = rows[0]?.seq ?? 0n; // without a roll-up no journal is taken
    this.counted = new Map(
      rows.flatMap(({ hour, acquirer, currency, payments, amount_minor: amount }) =>
        hour === null ? [] : [[`${wireTime(hour)} ${acquirer} ${currency}`, `${payments} payments of ${amount}`]],
      ),
    );
  }

  take({ kind, seq, postedAt, entries }: Journal): void {
    if (kind !== "capture" || seq > this.upTo) return;
    for (const { account, currency, amountMinor } of entries) {
      const [, acquirer] = /^acquirer:(.+):receivable$/.exec(account) ?? [];
      if (acquirer === undefined) continue;
      const name = `${wireTime(postedAt - (postedAt % HOUR))} ${acquirer} ${currency}`;
      const { payments, amountMinor: sum } = this.posted.get(name) ?? { payments: 0n, amountMinor: 0n };
      this.posted.set(name, { payments: payments + 1n, amountMinor: sum + amountMinor });
    }
  }

  compare(): string | undefined {
    const posted = new Map(
      [...this.posted].map(([name, sum]) => [name, `${sum.payments} payments of ${sum.amountMinor}`]),
    );
    for (const name of new Set([...posted.keys(), ...this.counted.keys()])) {
      const [counted = "nothing", truth = "nothing"] = [this.counted.get(name), posted.get(name)];
      if (counted !== truth)
        return `the roll-up says ${counted} in ${name}, the journals ${truth}: gerbang insights rebuild`;
    }
    return undefined;
  }
}

/** The state of a book, computed from its journals alone. */
class Replay {
  private seq = 0n;
  private hash: Buffer = Buffer.alloc(32);
  private readonly debits = new Map<string, Minor>();
  private readonly credits = new Map<string, Minor>();

  get head(): string {
    return this.hash.toString("hex");
  }

  /** Takes the next journal; gives a message when the journal is wrong. */
  next(journal: Journal): string | undefined {
    const name = `journal ${journal.seq} (${journal.journalId})`;
    if (journal.seq !== this.seq + 1n) return `after journal ${this.seq} comes ${name}: the sequence has a gap`;
    if (!journal.prevHash.equals(this.hash)) return `${name} does not continue the chain`;
    if (!journalHash(journal).equals(journal.hash)) return `${name} was changed after it was written`;
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

  /** Compares the computed totals with those that the database keeps; gives a message for the first difference. */
  compare(totals: readonly BalanceRow[]): string | undefined {
    const moved = totals.filter(({ account }) => account !== null);
    const kept = new Map(moved.map((row) => [`${row.account} ${row.currency}`, row]));
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
