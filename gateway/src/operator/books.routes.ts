// The HTTP of books for operators: the totals of every account, and the entries behind any of them.
import { accountEntriesQuery, bookSchema, readBook } from "../balances/book.ts";
import { entriesParams, entriesSchema, listEntries } from "../balances/entries.ts";
import { reply } from "../ground/reply.ts";
import type { Directory } from "../merchants/directory.ts";
import type { Database } from "../store/database.ts";
import { OF_BOOK, findBook } from "./books.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import { bookParams } from "./params.ts";

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
      success: { status: 200, description: "The book as of one moment.", schema: bookSchema },
      errors: ["OBJECT_NOT_FOUND"],
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
      success: { status: 200, description: "A page of entries, newest first.", schema: entriesSchema },
      errors: ["OBJECT_NOT_FOUND"],
      handle: async ({ params, query }) =>
        listEntries(database, (await findBook(directory, params)).book, params.currency ?? "", query),
    }),
  ];
}
