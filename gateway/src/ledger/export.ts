// A book as text that other programs read: JSON lines, hledger (which Ledger reads too) and Beancount. Pure: one chunk per journal.
import { type Micros, SECOND, sqlTime, wireTime } from "../ground/clock.ts";
import { assert } from "../ground/fault.ts";
import { type Minor, decimal, exponentOf } from "../ground/money.ts";
import { type Book, bookKey } from "../merchants/books.ts";
import type { Entry, Journal } from "./journal.ts";

export const exportFormats = ["hledger", "beancount", "jsonl"] as const;
export type ExportFormat = (typeof exportFormats)[number];

/**
 * The text of a book, in chunks: a head, one chunk for each journal in the given order, and an end that counts the journals; JSON lines have
 * neither head nor end. Debits are positive. Memory holds accounts and currencies only, never journals, so a book may have any length.
 */
export async function* exportBook(
  format: ExportFormat,
  book: Book,
  journals: AsyncIterable<Journal> | Iterable<Journal>,
): AsyncGenerator<string> {
  if (format === "jsonl") {
    for await (const journal of journals) yield jsonLine(journal);
    return;
  }
  const dialect = dialects[format];
  const seen = new Seen();
  yield dialect.head(book);
  for await (const journal of journals) {
    const isLaterDay = seen.turn(journal.postedAt);
    const day = seen.day();
    yield [
      ...(isLaterDay ? dialect.balances(day, seen.takeMoved()) : []),
      ...addNew(seen.currencies, journal, "currency").map((currency) => dialect.currency(day, currency)),
      ...addNew(seen.accounts, journal, "account").map((account) => dialect.account(day, account)),
      dialect.transaction(day, journal),
    ].join("");
    seen.moved(journal);
  }
  // Balances hold at the beginning of a day: the last ones are stated for the day after the last journal.
  const last = dialect.balances(seen.day(1), seen.takeMoved()).join("");
  yield `${last}\n; end of ${bookKey(book)}: ${seen.journals} journals\n`;
}

/** State of an export between journals. Its date never goes back, or programs that sort by date would see another order. */
class Seen {
  journals = 0n;
  private latest: Micros = 0;
  readonly accounts = new Set<string>();
  readonly currencies = new Set<string>();
  private balances = new Map<string, Entry>();

  /** Moves on to the time of the next journal; true when that journal falls on a later day than the one before. */
  turn(postedAt: Micros): boolean {
    const before = this.day();
    this.latest = Math.max(this.latest, postedAt);
    return this.journals > 0n && this.day() !== before;
  }

  day(later = 0): string {
    return wireTime(this.latest + later * 86_400 * SECOND).slice(0, 10);
  }

  moved(journal: Journal): void {
    this.journals++;
    for (const entry of journal.entries) this.balances.set(`${entry.account} ${entry.currency}`, entry);
  }

  /** The last entry of every account and currency that moved since the previous call. */
  takeMoved(): Entry[] {
    const taken = [...this.balances.values()];
    this.balances = new Map();
    return taken;
  }
}

/** Adds the currencies or accounts of a journal to those that are known. Gives the new ones. */
function addNew(known: Set<string>, { entries }: Journal, field: "currency" | "account"): string[] {
  const added = [...new Set(entries.map((entry) => entry[field]))].filter((name) => !known.has(name));
  for (const name of added) known.add(name);
  return added;
}

interface Dialect {
  head(book: Book): string;
  currency(day: string, currency: string): string;
  account(day: string, account: string): string;
  transaction(day: string, journal: Journal): string;
  balances(day: string, moved: readonly Entry[]): string[];
}

const dialects: Record<Exclude<ExportFormat, "jsonl">, Dialect> = {
  hledger: {
    head: (book) =>
      `; ${bookKey(book)}: debits are positive, days are in UTC, operation keys are percent-encoded\n\n` +
      tagNames.map((name) => `tag ${name}\n`).join(""),
    // The format line says that the point in 1.234 is a decimal point. A currency without decimals needs no such line.
    currency: (_day, currency) =>
      `\ncommodity ${currency}\n` +
      (exponentOf(currency) > 0 ? `  format ${amount(10n ** BigInt(exponentOf(currency) + 3), currency)}\n` : ""),
    account: (_day, account) => `\naccount ${accountName(account)}\n`,
    transaction: (day, journal) => {
      const tags = tagsOf(journal).map(([name, value]) => `  ; ${name}: ${value}\n`);
      const postings = journal.entries.map(
        (entry) => `${postingOf(entry)} = ${amount(entry.balanceAfterMinor, entry.currency)}\n`,
      );
      return `\n${day} * (${journal.seq}) ${safe(journal.kind)}\n${tags.join("")}${postings.join("")}`;
    },
    // Each posting states the balance after it.
    balances: () => [],
  },
  beancount: {
    head: (book) =>
      `; ${bookKey(book)}: debits are positive, days are in UTC, operation keys are percent-encoded\n\n` +
      `option "title" "${bookKey(book)}"\n`,
    currency: (day, currency) => `\n${day} commodity ${currency}\n`,
    // Beancount allows one `open` per account, so the account is opened for every currency.
    account: (day, account) => `\n${day} open ${accountName(account)}\n`,
    transaction: (day, journal) => {
      const tags = tagsOf(journal).map(([name, value]) => `  ${name}: "${value}"\n`);
      const postings = journal.entries.map((entry) => `${postingOf(entry)}\n`);
      const link = `^${safe(journal.groupId)}`;
      return `\n${day} * "${safe(journal.kind)}" ${link}\n${tags.join("")}${postings.join("")}`;
    },
    // `~ 0` sets the tolerance to zero: by default Beancount accepts a difference of one minor unit.
    balances: (day, moved) =>
      moved.map((entry, index) => {
        const number = amount(entry.balanceAfterMinor, entry.currency).replace(" ", " ~ 0 ");
        return `${index === 0 ? "\n" : ""}${day} balance ${accountName(entry.account)}  ${number}\n`;
      }),
  },
};

const tagNames = ["journal", "group", "operation", "seq", "posted_at", "hash"] as const;

function tagsOf(journal: Journal): [name: string, value: string][] {
  const values: Record<(typeof tagNames)[number], string> = {
    journal: safe(journal.journalId),
    group: safe(journal.groupId),
    operation: safe(journal.operationKey),
    seq: String(journal.seq),
    posted_at: sqlTime(journal.postedAt),
    hash: journal.hash.toString("hex"),
  };
  return tagNames.map((name) => [name, values[name]]);
}

/** Percent-encodes all but the colon, so that no program takes the value for syntax and every reader can decode it. */
function safe(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll("%3A", ":");
}

function postingOf(entry: Entry): string {
  return `  ${accountName(entry.account)}  ${amount(entry.amountMinor, entry.currency)}`;
}

/** Minor units as a decimal with all its digits and the currency, without grouping: `-1234567.89 IDR`. */
function amount(minor: Minor, currency: string): string {
  return `${decimal(minor, currency)} ${currency}`;
}

/** Bookkeeping roots, by whole account or by its first part; any other account is equity. */
const roots: Record<string, string> = {
  "platform:bank": "Assets",
  "platform:fees": "Income",
  "platform:unapplied": "Liabilities",
  acquirer: "Assets",
  merchant: "Liabilities",
};

/**
 * An account under the five roots of bookkeeping: `acquirer:bank_a:receivable` is `Assets:Acquirer:Bank-a:Receivable`. No two
 * accounts get one name: they are lower case without digits, so capitals, hyphens and the digit 0 are free to mark everything else.
 */
export function accountName(account: string): string {
  assert(/^[a-z]+:[a-z_:]+$/.test(account), `no name for the account ${account}`);
  const parts = account.split(":");
  return [roots[account] ?? roots[parts[0] ?? ""] ?? "Equity", ...parts.map(component)].join(":");
}

/** A component begins with a capital letter or a digit. */
function component(part: string): string {
  const text = part.replaceAll("_", "-");
  return /^[a-z]/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : `0${text}`;
}

function jsonLine(journal: Journal): string {
  return `${JSON.stringify({
    seq: String(journal.seq),
    journal: journal.journalId,
    group: journal.groupId,
    kind: journal.kind,
    operation_key: journal.operationKey,
    posted_at: sqlTime(journal.postedAt),
    entries: journal.entries.map((entry) => ({
      account: entry.account,
      currency: entry.currency,
      amount_minor: String(entry.amountMinor),
      balance_after_minor: String(entry.balanceAfterMinor),
    })),
    prev_hash: journal.prevHash.toString("hex"),
    hash: journal.hash.toString("hex"),
  })}\n`;
}
