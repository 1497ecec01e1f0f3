// Statements for accounting: of a settlement batch, and of one account over a period with its opening and closing balance.
import { z } from "zod";
import {
  type EntriesQuery,
  accountOfFigure,
  entriesParams,
  entriesQuerySchema,
  entrySchema,
  entryView,
} from "../balances/entries.ts";
import { accountField, ofFigureOrAccount } from "../balances/book.ts";
import { type Micros, wireTime } from "../ground/clock.ts";
import { Downloads } from "../ground/downloads.ts";
import { Fault, validationFault } from "../ground/fault.ts";
import { exponentOf, isCurrency, wireMinor } from "../ground/money.ts";
import { reply } from "../ground/reply.ts";
import { exampleIds, exampleTimes } from "../http/examples.ts";
import { limitOf, rangeBefore, rangeFrom } from "../http/lists.ts";
import {
  currencyCode,
  environmentField,
  exampleOf,
  exponentField,
  identity,
  rangeBound,
  sumMinor,
  timestamp,
} from "../http/shapes.ts";
import type { EntryRow } from "../ledger/ledger.sql.ts";
import type { Book } from "../merchants/books.ts";
import type { Directory } from "../merchants/directory.ts";
import { type Settlement, settlementView } from "../settlements/settlement.ts";
import { downloadStatement, readSettlement } from "../settlements/settlements.routes.ts";
import { settlementParams, settlementSchema, statementSchema } from "../settlements/settlements.schema.ts";
import type { Database } from "../store/database.ts";
import { type AccountOfBook, selectBalanceBefore, selectMovements, selectPeriod } from "./balance-statement.sql.ts";
import { OF_BOOK, findBook, readerOf } from "./books.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import { bookParams } from "./params.ts";

const periodEnd = (description: string, example: string) =>
  rangeBound(description)
    .unwrap()
    .meta({ ...rangeBound(description).meta(), examples: [example] });
const periodFields = {
  figure: entriesQuerySchema.shape.figure,
  account: accountField,
  from: periodEnd("YYYY-MM-DD or a timestamp; inclusive.", "2026-11-01"),
  to: periodEnd("YYYY-MM-DD (the whole day) or a timestamp; inclusive.", "2026-11-30"),
};
const { limit, starting_after } = entriesQuerySchema.shape;
const periodQuery = ofFigureOrAccount(z.strictObject(periodFields));
const pageQuery = ofFigureOrAccount(z.strictObject({ ...periodFields, limit, starting_after }));

const balanceStatementSchema = z
  .strictObject({
    merchant_id: identity("merchant"),
    environment: environmentField,
    account: z.string().meta({ description: "Of the ledger.", examples: ["merchant:available"] }),
    currency: currencyCode,
    exponent: exponentField,
    from: timestamp.meta({ examples: [exampleTimes.dayBegins] }),
    before: timestamp.meta({ description: "Exclusive.", examples: [exampleTimes.dayEnds] }),
    opening_minor: sumMinor(0, "The figure when the period begins."),
    closing_minor: sumMinor(15_000_000, "The figure when it ends: the opening one and all movements."),
    movements: z.array(entrySchema).meta({ description: "A page of them, oldest first." }),
    has_more: z.boolean(),
    next_cursor: z.string().nullable().meta({ description: "Send it as `starting_after` for the next page." }),
  })
  .meta({
    id: "BalanceStatement",
    description: "What moved an account over a period.",
    examples: [
      {
        merchant_id: exampleIds.merchant,
        environment: "production",
        account: "merchant:available",
        currency: "IDR",
        exponent: 2,
        from: exampleTimes.dayBegins,
        before: exampleTimes.dayEnds,
        opening_minor: 0,
        closing_minor: 15_000_000,
        movements: [exampleOf(entrySchema)],
        has_more: false,
        next_cursor: null,
      },
    ],
  });

const csvSchema = z.string().meta({
  id: "BalanceStatementText",
  description: "The names of the columns, the opening figure, each movement, and the closing figure.",
  examples: ["what,journal,kind,group,posted_at,currency,amount_minor,figure_after_minor\r\n"],
});

const tag = "Statements";

export function statementEndpoints(database: Database, directory: Directory): OperatorEndpoint[] {
  return [...batchEndpoints(database, directory), ...balanceEndpoints(database, directory)];
}

function batchEndpoints(database: Database, directory: Directory): OperatorEndpoint[] {
  const path = `${OF_BOOK}/settlements/{uuid}`;
  const shared = { method: "GET", params: { ...bookParams, ...settlementParams }, tag, role: "viewer" } as const;
  const errors = ["OBJECT_NOT_FOUND"] as const;
  const find = async (params: Readonly<Record<string, string>>): Promise<Settlement> => {
    const { book } = await findBook(directory, params);
    const found = await readSettlement(database, book.merchantId, params.uuid ?? "");
    if (found?.book.environment !== book.environment)
      throw new Fault("OBJECT_NOT_FOUND", { message: "No such settlement." });
    return found;
  };
  return [
    operatorEndpoint({
      ...shared,
      operationId: "getMerchantSettlement",
      path,
      summary: "Read a settlement batch",
      success: { description: "The batch.", schema: settlementSchema },
      errors,
      handle: async ({ params }) => reply(200, settlementView(await find(params))),
    }),
    operatorEndpoint({
      ...shared,
      operationId: "getMerchantSettlementStatement",
      path: `${path}/statement`,
      summary: "Download a batch's statement as CSV, as its merchant does",
      success: {
        description: "Comma-separated values, the names of the columns first.",
        schema: statementSchema,
        mediaType: "text/csv",
      },
      errors,
      handle: async ({ params }) => downloadStatement(database, await find(params)),
    }),
  ];
}

/** An account over a period: the numbers of its first journal and of the first one after it, and the balances at both ends in minor units. */
interface Period extends AccountOfBook {
  /** -1 for a figure of the merchant's balance, which has the opposite sign of its ledger account. */
  sign: 1 | -1;
  from: Micros;
  before: Micros;
  first: bigint;
  past: bigint;
  opening: bigint;
  closing: bigint;
}

type PeriodQuery = Pick<EntriesQuery, "figure" | "account"> & { from: string; to: string };

/** Throws VALIDATION_ERROR for an unknown currency and a reversed period. */
async function readPeriod(database: Database, book: Book, currency: string, query: PeriodQuery): Promise<Period> {
  if (!isCurrency(currency)) throw validationFault("currency", currency, "currency must be a currency code like IDR.");
  const [from = 0, before = 0] = [rangeFrom("from", query.from), rangeBefore("to", query.to)];
  if (before <= from) throw validationFault("to", query.to, "to must not be before from.");
  const account = query.account ?? accountOfFigure(query.figure);
  const of = { book, account, currency };
  const [ends] = await database.query(selectPeriod(book, from, before));
  const first = ends?.first as bigint;
  const past = ends?.past as bigint;
  const [[opening] = [], [closing] = []] = await database.pipeline([
    selectBalanceBefore(of, first),
    selectBalanceBefore(of, past),
  ]);
  const sign = query.account === undefined ? -1 : 1;
  const figure = (row: { balance_after_minor?: unknown } | undefined): bigint =>
    BigInt(sign) * ((row?.balance_after_minor as bigint | undefined) ?? 0n);
  return { ...of, sign, from, before, first, past, opening: figure(opening), closing: figure(closing) };
}

const CSV_PAGE = 1_000;

function balanceEndpoints(database: Database, directory: Directory): OperatorEndpoint[] {
  const path = `${OF_BOOK}/balances/{currency}/statement`;
  const shared = { method: "GET", params: { ...bookParams, ...entriesParams }, tag, role: "viewer" } as const;
  const downloads = new Downloads({ inAll: 4, each: 2 });
  return [
    operatorEndpoint({
      ...shared,
      operationId: "getBalanceStatement",
      path,
      summary: "What moved a figure of the balances, or any account, over a period, with the balance at both ends",
      query: pageQuery,
      success: { description: "Both ends, and a page of what moved.", schema: balanceStatementSchema },
      errors: ["OBJECT_NOT_FOUND"],
      async handle({ params, query }) {
        const { book } = await findBook(directory, params);
        const period = await readPeriod(database, book, params.currency ?? "", query);
        const size = limitOf(query);
        const [seq, line] = query.starting_after?.split("-") ?? [];
        const after = seq === undefined ? beginningOf(period) : { seq: BigInt(seq), line: Number(line) };
        const rows = await database.query<EntryRow>(
          selectMovements(period, after.seq < period.first ? beginningOf(period) : after, period.past, size + 1),
        );
        const shown = rows.slice(0, size).map((row) => entryView(row, period.sign));
        return reply(200, {
          merchant_id: book.merchantId,
          environment: book.environment,
          account: period.account,
          currency: period.currency,
          exponent: exponentOf(period.currency),
          from: wireTime(period.from),
          before: wireTime(period.before),
          opening_minor: wireMinor(period.opening),
          closing_minor: wireMinor(period.closing),
          movements: shown,
          has_more: rows.length > size,
          next_cursor: rows.length > size ? (shown.at(-1)?.id ?? null) : null,
        });
      },
    }),
    operatorEndpoint({
      ...shared,
      operationId: "downloadBalanceStatement",
      path: `${path}.csv`,
      summary: "The same as CSV, whole, sent while it is read",
      description:
        "A text that was cut off ends without the line `closing`; it is cut off where whoever asked loses the right to it, and after half an hour.",
      query: periodQuery,
      success: { description: "Comma-separated values.", schema: csvSchema, mediaType: "text/csv" },
      errors: ["OBJECT_NOT_FOUND"],
      async handle({ params, query, ...call }) {
        const { book } = await findBook(directory, params);
        const period = await readPeriod(database, book, params.currency ?? "", query);
        const name = query.account?.replaceAll(":", "-") ?? query.figure ?? "available";
        const days = [period.from, period.before - 1].map((at) => wireTime(at).slice(0, 10)).join("-");
        const saveAs = `statement-${book.merchantId}-${book.environment}-${name}-${period.currency}-${days}.csv`;
        const statement = { chunks: csvOf(database, period), contentType: "text/csv; charset=utf-8", saveAs };
        return downloads.begin(statement, readerOf(call));
      },
    }),
  ];
}

const beginningOf = ({ first }: Period): { seq: bigint; line: number } => ({ seq: first, line: 0 });

/** No field needs quotes: each is an identity, a word, a time or a number. */
async function* csvOf(database: Database, period: Period): AsyncGenerator<string> {
  const { currency, sign } = period;
  const line = (...fields: string[]): string => `${fields.join(",")}\r\n`;
  yield line("what", "journal", "kind", "group", "posted_at", "currency", "amount_minor", "figure_after_minor");
  yield line("opening", "", "", "", wireTime(period.from), currency, "", String(period.opening));
  for (let after = beginningOf(period); ;) {
    const rows = await database.query<EntryRow>(selectMovements(period, after, period.past, CSV_PAGE));
    yield rows
      .map((row) => {
        const { journal, kind, group, posted_at } = entryView(row, sign);
        const [added, stands] = [row.amount_minor, row.balance_after_minor].map((minor) => BigInt(sign) * minor);
        return line("movement", journal, kind, group, posted_at, currency, String(added), String(stands));
      })
      .join("");
    const last = rows.at(-1);
    if (rows.length < CSV_PAGE || !last) break;
    after = { seq: last.seq, line: last.line };
  }
  yield line("closing", "", "", "", wireTime(period.before), currency, "", String(period.closing));
}
