// Ledger endpoints of the portal: accounts, journals, entries, the items of a settlement, and the export of a whole book for other programs.
import { z } from "zod";
import { accountEntriesQuery, bookExport, bookSchema, exportFormatField, readBook } from "../balances/book.ts";
import { entriesParams, entriesSchema, listEntries } from "../balances/entries.ts";
import { ownedStatementSchema, periodFields, readStatement } from "../balances/statement.ts";
import { Downloads } from "../ground/downloads.ts";
import { Fault } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import { reply } from "../ground/reply.ts";
import { exampleIds } from "../http/examples.ts";
import { limitOf, page, unknownCursor } from "../http/lists.ts";
import { limitQuery, startingAfter } from "../http/shapes.ts";
import { bookDownload } from "../ledger/download.ts";
import type { Journal } from "../ledger/journal.ts";
import { type JournalRow, journalOfRow } from "../ledger/ledger.sql.ts";
import type { Book } from "../merchants/books.ts";
import { selectJournal, selectJournalPage } from "../search/search.sql.ts";
import { itemListSchema, itemsQuery, listItems } from "../settlements/items.ts";
import { findSettlement } from "../settlements/settlements.routes.ts";
import { settlementParams } from "../settlements/settlements.schema.ts";
import { journalListSchema, journalParams, journalSchema, journalView } from "../story/journals.schema.ts";
import type { Database } from "../store/database.ts";
import { type PortalEndpoint, memberEndpoint } from "./endpoint.ts";

const shared = { tag: "Ledger", action: "balances:read" } as const;

const journalsQuery = z.strictObject({
  group: z
    .string()
    .refine((id) => isId("payment", id) || isId("settlement", id), "is not the identity of a payment or settlement")
    .optional()
    .meta({ description: "Only journals of this payment or settlement.", examples: [exampleIds.payment] }),
  limit: limitQuery,
  starting_after: startingAfter("journal", "is not the id of a journal", "`id` of the last journal received."),
});

const exportQuery = z.strictObject({ format: exportFormatField });

export function bookPagesEndpoints(database: Database): PortalEndpoint[] {
  return [
    ...journalEndpoints(database),
    ...accountEndpoints(database),
    itemsEndpoint(database),
    exportEndpoint(database),
  ];
}

async function findJournal(database: Database, book: Book, id: string): Promise<Journal | undefined> {
  if (!isId("journal", id)) return undefined;
  return database.first(selectJournal(book, id), (row: JournalRow) => journalOfRow(book, row));
}

function journalEndpoints(database: Database): PortalEndpoint[] {
  return [
    memberEndpoint({
      method: "GET",
      path: "/portal/v1/journals",
      operationId: "listJournals",
      summary: "List the journals of the book, newest first",
      ...shared,
      query: journalsQuery,
      success: { description: "A page of journals with their entries.", schema: journalListSchema },
      async handle({ book, query }) {
        const { group, starting_after: after } = query;
        const cursor = after === undefined ? undefined : await findJournal(database, book, after);
        if (after !== undefined && !cursor) throw unknownCursor(after);
        const rows = await database.query<JournalRow>(selectJournalPage(book, group, cursor?.seq, limitOf(query)));
        const journals = rows.map((row) => journalOfRow(book, row));
        return page(journals, query, journalView, ({ journalId }) => journalId);
      },
    }),
    memberEndpoint({
      method: "GET",
      path: "/portal/v1/journals/{journal_id}",
      operationId: "getJournal",
      summary: "Read a journal with its entries",
      ...shared,
      params: journalParams,
      success: { description: "The journal.", schema: journalSchema },
      async handle({ book, params }) {
        const journal = await findJournal(database, book, params.journal_id ?? "");
        if (!journal) throw new Fault("OBJECT_NOT_FOUND", { message: "No such journal." });
        return reply(200, journalView(journal));
      },
    }),
  ];
}

function accountEndpoints(database: Database): PortalEndpoint[] {
  // The statement of a month of a million payments takes seconds of the database.
  const statements = new Downloads({ inAll: 6, each: 2 });
  return [
    memberEndpoint({
      method: "GET",
      path: "/portal/v1/accounts",
      operationId: "listAccounts",
      summary: "Read the totals of every account of the book, and the end of its chain",
      ...shared,
      success: { description: "The book as of one moment.", schema: bookSchema },
      handle: async ({ book, merchant }) => reply(200, await readBook(database, book, merchant.settings.currencies)),
    }),
    memberEndpoint({
      method: "GET",
      path: "/portal/v1/accounts/{currency}/entries",
      operationId: "listAccountEntries",
      summary: "Why this number: the journal entries behind a figure of the balances, or behind any account",
      ...shared,
      params: entriesParams,
      query: accountEntriesQuery,
      success: { description: "A page of entries, newest first.", schema: entriesSchema },
      handle: ({ book, params, query }) => listEntries(database, book, params.currency ?? "", query),
    }),
    memberEndpoint({
      method: "GET",
      path: "/portal/v1/statements/{currency}",
      operationId: "getStatement",
      summary: "Read what came in and went out over a period, and what was yours at both ends",
      ...shared,
      params: entriesParams,
      query: z.strictObject(periodFields),
      success: { description: "The statement; of a period that still runs, so far.", schema: ownedStatementSchema },
      async handle({ book, params, query }) {
        const leave = statements.enter(book.merchantId);
        return reply(200, await readStatement(database, book, params.currency ?? "", query).finally(leave));
      },
    }),
  ];
}

function itemsEndpoint(database: Database): PortalEndpoint {
  return memberEndpoint({
    method: "GET",
    path: "/portal/v1/settlements/{uuid}/items",
    operationId: "listSettlementItems",
    summary: "List what a settlement batch is made of, and the sums that add up to it",
    tag: "Settlements",
    action: "settlements:read",
    params: settlementParams,
    query: itemsQuery,
    success: { description: "A page of items.", schema: itemListSchema },
    errors: ["OBJECT_NOT_FOUND", "ENVIRONMENT_MISMATCH"],
    handle: async (call) => listItems(database, await findSettlement(database, call), call.query),
  });
}

function exportEndpoint(database: Database): PortalEndpoint {
  const downloads = new Downloads({ inAll: 6, each: 2 });
  return memberEndpoint({
    method: "GET",
    path: "/portal/v1/books/export",
    ...bookExport,
    summary: "Download the whole book as text for plain-text accounting",
    ...shared,
    query: exportQuery,
    handle: ({ book, query: { format }, stillAllowed }) =>
      Promise.resolve(downloads.begin(bookDownload(database, book, format), { whose: book.merchantId, stillAllowed })),
  });
}
