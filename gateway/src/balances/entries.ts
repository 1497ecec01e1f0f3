// Explains a figure of the balances, or an account: lists the journal entries behind it, newest first, each with the figure after it.
import { isCurrency, wireAmount, wireMinor } from "../ground/money.ts";
import { z } from "zod";
import { type Micros, SECOND, wireTime } from "../ground/clock.ts";
import { validationFault } from "../ground/fault.ts";
import { idOf } from "../ground/ids.ts";
import type { Reply } from "../ground/reply.ts";
import { exampleIds, exampleTimes } from "../http/examples.ts";
import { limitOf, page, rangeBefore, rangeFrom, unknownCursor } from "../http/lists.ts";
import {
  currencyCode,
  identity,
  limitQuery,
  listSchema,
  parameterNames,
  rangeBound,
  timestamp,
  wholeOrNull,
  withExample,
} from "../http/shapes.ts";
import { type EntryRow, selectEntries } from "../ledger/ledger.sql.ts";
import type { Book } from "../merchants/books.ts";
import type { Database, Row } from "../store/database.ts";
import { accountOf } from "./owned.ts";
import { selectPeriod } from "./statement.sql.ts";

const balanceFigure = z.enum(Object.keys(accountOf) as (keyof typeof accountOf)[]).meta({ id: "BalanceFigure" });

/** Path parameter of the currency whose figure is explained. */
export const entriesParams = {
  currency: currencyCode.meta({ description: "ISO 4217 code." }).register(parameterNames, { name: "Currency" }),
};

export const entriesQuerySchema = z.strictObject({
  figure: balanceFigure.optional().meta({ description: "Which figure to explain; `available` when absent." }),
  posted_from: rangeBound("YYYY-MM-DD in UTC or a timestamp; inclusive."),
  posted_to: rangeBound("YYYY-MM-DD (the whole day, in UTC) or a timestamp; inclusive."),
  limit: limitQuery,
  starting_after: z
    .string()
    .regex(/^\d{1,18}-\d{1,3}$/, "is not the identity of an entry")
    .optional()
    .meta({
      description: "`id` of the last entry received. Send `next_cursor` of the page before.",
      examples: ["42-1"],
    }),
});
/** Query for the entries of a figure, or of an account of the ledger. */
export type EntriesQuery = z.infer<typeof entriesQuerySchema> & { account?: string | undefined };

export const entrySchema = withExample(
  z.strictObject({
    id: z.string().meta({ examples: ["42-1"] }),
    journal: identity("journal"),
    kind: z.string().meta({
      description:
        "What happened. `capture`: a payment was paid. `refund`: a refund was made, `refund_returned`: it failed after all. `dispute_opened`, then `dispute_won`, " +
        "`dispute_withdrawn` or `dispute_lost`. `settlement_formed`, then `settlement_paid`, or `settlement_returned` by the bank. `receipt_credited`: late money was " +
        "given to you. More may follow.",
      examples: ["capture"],
    }),
    group: z.string().meta({ description: "The payment or settlement it belongs to.", examples: [exampleIds.payment] }),
    object: z.string().meta({
      description: "The payment, refund, dispute, settlement or receipt whose money it is.",
      examples: [exampleIds.payment],
    }),
    amount_minor: z
      .int()
      .meta({ description: "What it added to the figure; negative when it took away.", examples: [14_895_000] }),
    figure_after_minor: wholeOrNull(
      14_895_000,
      "The figure after this entry; null beyond 2^53 - 1, which JSON cannot carry.",
    ),
    posted_at: timestamp,
  }),
  { id: "BalanceEntry", description: "One line of a journal." },
  { posted_at: exampleTimes.paid },
);

export const entriesSchema = listSchema(entrySchema, "BalanceEntryList");

/**
 * Gives a page of entries. Money that a merchant owns is a credit balance, so entries of a figure have the opposite signs: added money is
 * positive. Entries of an account keep the ledger's signs. Throws VALIDATION_ERROR for what is no currency or no time, and a cursor that is no entry of the list.
 */
export async function listEntries(
  database: Database,
  book: Book,
  currency: string,
  query: EntriesQuery,
): Promise<Reply> {
  if (!isCurrency(currency)) throw validationFault("currency", currency, "currency must be a currency code like IDR.");
  const limit = limitOf(query);
  const cursor = query.starting_after;
  const [seq, line] = cursor?.split("-") ?? [];
  const range = await readRange(database, book, query);
  if (cursor !== undefined && BigInt(seq ?? 0) >= range.past) throw unknownCursor(cursor);
  // The entry of the cursor is read too: it must be one of this list.
  const before = seq === undefined ? { seq: range.past, line: 0 } : { seq: BigInt(seq), line: Number(line) + 1 };
  const account = query.account ?? accountOf[query.figure ?? "available"];
  const sign = query.account === undefined ? -1 : 1;
  const found = await database.query<EntryRow>(
    selectEntries(
      { book, account, currency },
      { first: range.first, before },
      cursor === undefined ? limit : limit + 1,
    ),
  );
  const [first, ...others] = found;
  if (cursor !== undefined && (first === undefined || idOfEntry(first) !== cursor)) throw unknownCursor(cursor);
  return page(cursor === undefined ? found : others, query, (row) => entryView(row, sign), idOfEntry);
}

/** Journals of every time; a book's numbers never come near the end. */
const ALL: Range = { first: 1n, past: 2n ** 62n };
const END_OF_TIME: Micros = 253_402_300_800 * SECOND;

interface Range {
  /** The number of the first journal, and of the first one after the last. */
  first: bigint;
  past: bigint;
}

async function readRange(database: Database, book: Book, query: EntriesQuery): Promise<Range> {
  const from = rangeFrom("posted_from", query.posted_from);
  const before = rangeBefore("posted_to", query.posted_to);
  if (from === undefined && before === undefined) return ALL;
  const [ends] = await database.query<Range & Row>(selectPeriod(book, from ?? 0, before ?? END_OF_TIME));
  return ends ?? ALL;
}

const idOfEntry = ({ seq, line }: EntryRow): string => `${seq}-${line}`;

/** An entry as the API shows it. `sign` is -1 for a merchant's figure, and 1 for an account with the ledger's signs. */
export function entryView(row: EntryRow, sign: 1 | -1): z.infer<typeof entrySchema> {
  return {
    id: idOfEntry(row),
    journal: idOf("journal", row.journal_id),
    kind: row.kind,
    group: idOf(row.kind.startsWith("settlement_") ? "settlement" : "payment", row.group_id),
    // The operation key is the kind and the identity of what moved the money.
    object: row.operation_key.slice(row.kind.length + 1),
    amount_minor: sign * wireAmount(row.amount_minor),
    figure_after_minor: wireMinor(BigInt(sign) * row.balance_after_minor),
    posted_at: wireTime(row.posted_at),
  };
}
