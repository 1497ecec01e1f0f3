// Endpoints of books for operators: the totals of each account, the entries of an account, and the whole book as text.
import { z } from "zod";
import { accountEntriesQuery, bookExport, bookSchema, exportFormatField, readBook } from "../balances/book.ts";
import { entriesParams, entriesSchema, listEntries } from "../balances/entries.ts";
import { Downloads } from "../ground/downloads.ts";
import { reply } from "../ground/reply.ts";
import { bookDownload } from "../ledger/download.ts";
import type { Directory } from "../merchants/directory.ts";
import type { Database } from "../store/database.ts";
import { OF_BOOK, findBook, readerOf } from "./books.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import { bookParams } from "./params.ts";

const exportSchema = z
  .strictObject({ format: exportFormatField })
  .meta({ id: "ExportBook", examples: [{ format: "hledger" }] });

export function bookEndpoints(database: Database, directory: Directory): OperatorEndpoint[] {
  return [
    operatorEndpoint({
      method: "GET",
      operationId: "getBook",
      path: OF_BOOK,
      params: bookParams,
      summary: "Read a book: the totals of every account in every currency, and the end of its chain",
      tag: "Books",
      role: "viewer",
      success: { description: "The book as of one moment.", schema: bookSchema },
      async handle({ params }) {
        const { book, merchant } = await findBook(directory, params);
        return reply(200, await readBook(database, book, merchant.settings.currencies));
      },
    }),
    operatorEndpoint({
      method: "GET",
      operationId: "listBookEntries",
      path: `${OF_BOOK}/balances/{currency}/entries`,
      params: { ...bookParams, ...entriesParams },
      summary: "Why this number: the journal entries behind a figure of the balances, or behind any account",
      tag: "Books",
      role: "viewer",
      query: accountEntriesQuery,
      success: { description: "A page of entries, newest first.", schema: entriesSchema },
      handle: async ({ params, query }) =>
        listEntries(database, (await findBook(directory, params)).book, params.currency ?? "", query),
    }),
    exportEndpoint(database, directory),
  ];
}

/** A POST although it changes nothing, so that the audit records who exported a whole book. */
function exportEndpoint(database: Database, directory: Directory): OperatorEndpoint {
  const downloads = new Downloads({ inAll: 4, each: 2 });
  return operatorEndpoint({
    method: "POST",
    ...bookExport,
    path: `${OF_BOOK}/export`,
    params: bookParams,
    summary: "Take a whole book along as text for plain-text accounting; the audit says who did",
    tag: "Books",
    role: "support",
    body: exportSchema,
    async handle({ params, body: { format }, operator, mayStill }) {
      const { book } = await findBook(directory, params);
      return downloads.begin(bookDownload(database, book, format), readerOf({ operator, mayStill }));
    },
  });
}
