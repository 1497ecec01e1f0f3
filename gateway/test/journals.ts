// Journals that no command of the service posts: as a lane does it, under the service's own role.
import { newId } from "../src/ground/ids.ts";
import type { JournalDraft } from "../src/ledger/journal.ts";
import { ledgerNeeds, post } from "../src/ledger/ledger.ts";
import type { Book } from "../src/merchants/books.ts";
import type { Database } from "../src/store/database.ts";
import { lanesOn } from "./kit.ts";

/** Posts a journal to a book, and waits until it is committed. */
export async function postJournal(database: Database, book: Book, draft: JournalDraft): Promise<void> {
  await lanesOn(database).move(book.merchantId, {
    name: "post",
    book,
    needs: ledgerNeeds(book),
    execute: (set, { realNow: now }) => post({ set, book, now, newId: (kind) => newId(kind, now) }, draft).seq,
  });
}
