// The ledger: what a journal is, how it is sealed, and how commands post one. The database holds the same rules.
import { createHash } from "node:crypto";
import type { Micros } from "../ground/clock.ts";
import { Fault, assert } from "../ground/fault.ts";
import { newId } from "../ground/ids.ts";
import type { Minor } from "../ground/money.ts";
import { type Book, bookKey } from "../merchants/books.ts";
import type { Need, WorkingSet } from "../store/working-set.ts";
import { need } from "../store/working-set.ts";
import { bookBalances, heads, journals } from "./ledger.sql.ts";

/** Accounts of a book, in each currency. The platform's own stand in the merchant's book, so no two merchants share a row. */
export const accounts = {
  receivable: (gatewayCode: string) => `acquirer:${gatewayCode}:receivable`,
  available: "merchant:available",
  held: "merchant:held",
  settling: "merchant:settling",
  fees: "platform:fees",
  bank: "platform:bank",
  unapplied: "platform:unapplied",
} as const;

/** One side of a journal. Debits are positive, credits negative. */
export interface Posting {
  account: string;
  currency: string;
  amountMinor: Minor;
}

export interface Entry extends Posting {
  balanceAfterMinor: Minor;
}

export interface Journal {
  book: Book;
  seq: bigint;
  journalId: string;
  /** A payment and all that reverses it share one group: the payment's identity. */
  groupId: string;
  kind: string;
  /** Makes the movement happen once, whatever is retried. */
  operationKey: string;
  postedAt: Micros;
  prevHash: Buffer;
  hash: Buffer;
  entries: readonly Entry[];
}

export interface JournalDraft {
  groupId: string;
  kind: string;
  operationKey: string;
  postings: readonly Posting[];
}

/** What a command that posts to a book needs. */
export function ledgerNeeds(book: Book): Need[] {
  return [need(heads, book), need(bookBalances, book)];
}

/** The balance of an account: debits minus credits. What a merchant owns is a credit balance, so negative here. */
export function balanceOf(set: WorkingSet, book: Book, account: string, currency: string): Minor {
  return set.get(bookBalances, book)?.balances.get(`${account} ${currency}`) ?? 0n;
}

/** Two entries or more, none of zero, and zero in sum for each currency; else UNBALANCED_ENTRY. */
export function assertBalanced(postings: readonly Posting[]): void {
  const sums = new Map<string, Minor>();
  for (const { currency, amountMinor } of postings) sums.set(currency, (sums.get(currency) ?? 0n) + amountMinor);
  const whole = postings.length >= 2 && postings.every((posting) => posting.amountMinor !== 0n);
  if (!whole || [...sums.values()].some((sum) => sum !== 0n))
    throw new Fault("UNBALANCED_ENTRY", { internal: "journal draft" });
}

/** The seal of a journal: SHA-256 over the seal before it and everything the journal says. */
export function sealOf(journal: Omit<Journal, "hash">): Buffer {
  const text = JSON.stringify([
    bookKey(journal.book),
    String(journal.seq),
    journal.journalId,
    journal.groupId,
    journal.kind,
    journal.operationKey,
    journal.postedAt,
    journal.entries.map((entry) => [
      entry.account,
      entry.currency,
      String(entry.amountMinor),
      String(entry.balanceAfterMinor),
    ]),
  ]);
  return createHash("sha256").update(journal.prevHash).update(text).digest();
}

/** Adds a journal to the book. Throws UNBALANCED_ENTRY when it is not zero-sum; nothing is posted then. */
export function post(set: WorkingSet, book: Book, draft: JournalDraft, now: Micros): Journal {
  assertBalanced(draft.postings);
  const head = set.get(heads, book);
  assert(head, `${bookKey(book)} has no ledger`);
  const balances = new Map(set.get(bookBalances, book)?.balances);
  const entries = draft.postings.map((posting) => {
    const name = `${posting.account} ${posting.currency}`;
    const balanceAfterMinor = (balances.get(name) ?? 0n) + posting.amountMinor;
    balances.set(name, balanceAfterMinor);
    return { ...posting, balanceAfterMinor };
  });
  const unsealed = {
    book,
    seq: head.seq + 1n,
    journalId: newId("journal", now),
    groupId: draft.groupId,
    kind: draft.kind,
    operationKey: draft.operationKey,
    postedAt: now,
    prevHash: head.hash,
    entries,
  };
  const journal: Journal = { ...unsealed, hash: sealOf(unsealed) };
  set.insert(journals, journal);
  set.update(heads, { book, seq: journal.seq, hash: journal.hash });
  if (set.get(bookBalances, book)) set.update(bookBalances, { book, balances });
  else set.insert(bookBalances, { book, balances });
  return journal;
}

/** Money has come for a payment: the acquirer owes the amount; the merchant gets it less the fee. */
export function capturePostings(payment: {
  gatewayCode: string;
  currency: string;
  amountMinor: Minor;
  feeMinor: Minor;
}): Posting[] {
  const { currency, amountMinor, feeMinor } = payment;
  return [
    { account: accounts.receivable(payment.gatewayCode), currency, amountMinor },
    { account: accounts.available, currency, amountMinor: feeMinor - amountMinor },
    { account: accounts.fees, currency, amountMinor: -feeMinor },
  ].filter((posting) => posting.amountMinor !== 0n);
}
