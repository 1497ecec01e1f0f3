// The ledger as commands use it: the rows to load, the balance of an account, and posting a journal. Its SQL is in ledger.sql.ts.
import type { Micros } from "../ground/clock.ts";
import { assert } from "../ground/fault.ts";
import type { Minor } from "../ground/money.ts";
import { type Book, bookKey } from "../merchants/books.ts";
import { type Need, type WorkingSet, need } from "../store/working-set.ts";
import { type Journal, type JournalDraft, assertBalanced, journalHash } from "./journal.ts";
import { bookBalances, heads, journals } from "./ledger.sql.ts";

/** The rows that a command which posts to a book must load. */
export function ledgerNeeds(book: Book): Need[] {
  return [need(heads, book), need(bookBalances, book)];
}

/** The balance of an account: debits minus credits. Money that a merchant owns is a credit balance, so it is negative here. */
export function balanceOf(set: WorkingSet, book: Book, account: string, currency: string): Minor {
  return set.get(bookBalances, book)?.balances.get(`${account} ${currency}`) ?? 0n;
}

/** The parts of a command's context that posting a journal uses. */
interface PostingContext {
  readonly set: WorkingSet;
  readonly book: Book;
  /** The book's time. */
  readonly now: Micros;
  newId(kind: "journal"): string;
}

/** Adds a journal to the book. Throws UNBALANCED_ENTRY, and posts nothing, when the journal is not zero-sum. */
export function post(context: PostingContext, draft: JournalDraft): Journal {
  const { set, book, now } = context;
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
  const unhashed = {
    book,
    seq: head.seq + 1n,
    journalId: draft.journalId ?? context.newId("journal"),
    groupId: draft.groupId,
    kind: draft.kind,
    operationKey: draft.operationKey,
    postedAt: now,
    prevHash: head.hash,
    entries,
  };
  const journal: Journal = { ...unhashed, hash: journalHash(unhashed) };
  set.insert(journals, journal);
  set.update(heads, { book, seq: journal.seq, hash: journal.hash });
  set.upsert(bookBalances, { book, balances });
  return journal;
}
