// A book as a download. The text is in export.ts.
import type { Download } from "../ground/downloads.ts";
import type { Book } from "../merchants/books.ts";
import type { Database } from "../store/database.ts";
import { type ExportFormat, exportBook } from "./export.ts";
import { readJournals } from "./verify.ts";

const endings: Record<ExportFormat, string> = { hledger: "journal", beancount: "beancount", jsonl: "jsonl" };

/** The whole book, as far as its chain goes now. */
export function bookDownload(database: Database, book: Book, format: ExportFormat): Download {
  return {
    chunks: exportBook(format, book, readJournals(database, book)),
    contentType: "text/plain; charset=utf-8",
    saveAs: `book-${book.environment}.${endings[format]}`,
  };
}
