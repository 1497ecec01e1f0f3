// Statements for accounting: of a settlement batch, and of one account over a period with its opening and closing balance.
import { z } from "zod";
import { type EntriesQuery, entriesParams, entriesQuerySchema, entrySchema, entryView } from "../balances/entries.ts";
import { accountField, ofFigureOrAccount } from "../balances/book.ts";
import { accountOf } from "../balances/owned.ts";
import { balanceStatementFields, periodFields, readPeriod } from "../balances/statement.ts";
import { type AccountOfBook, selectBalanceBefore, selectMovements } from "../balances/statement.sql.ts";
import { wireTime } from "../ground/clock.ts";
import { csvLine, notFormula } from "../ground/csv.ts";
import { Downloads } from "../ground/downloads.ts";
import { Fault } from "../ground/fault.ts";
import { decimal, exponentOf, wireMinor } from "../ground/money.ts";
import { reply } from "../ground/reply.ts";
import { limitOf } from "../http/lists.ts";
import { identity, sumMinor, withExample } from "../http/shapes.ts";
import type { EntryRow } from "../ledger/ledger.sql.ts";
import type { Book } from "../merchants/books.ts";
import type { Directory } from "../merchants/directory.ts";
import { type Settlement, settlementView } from "../settlements/settlement.ts";
import { downloadStatement, readSettlement } from "../settlements/settlements.routes.ts";
import { settlementParams, settlementSchema, statementFile } from "../settlements/settlements.schema.ts";
import type { Database } from "../store/database.ts";
import { OF_BOOK, findBook, readerOf } from "./books.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import { bookParams } from "./params.ts";

const accountFields = { figure: entriesQuerySchema.shape.figure, account: accountField, ...periodFields };
const { limit, starting_after } = entriesQuerySchema.shape;
const periodQuery = ofFigureOrAccount(z.strictObject(accountFields));
const pageQuery = ofFigureOrAccount(z.strictObject({ ...accountFields, limit, starting_after }));

const balanceStatementSchema = withExample(
  z.strictObject({
    merchant_id: identity("merchant"),
    account: z.string().meta({ description: "Of the ledger.", examples: ["merchant:available"] }),
    figure: entriesQuerySchema.shape.figure.unwrap().nullable().meta({
      description:
        "The figure of the balances that amounts add to; null where an account was asked for: its debits are positive.",
    }),
    ...balanceStatementFields,
    opening_minor: sumMinor(0, "The figure when the period begins."),
    closing_minor: sumMinor(15_000_000, "The figure when it ends: the opening one and all movements."),
    movements: z.array(entrySchema).meta({ description: "A page of them, oldest first." }),
    has_more: z.boolean(),
    next_cursor: z.string().nullable().meta({ description: "Send it as `starting_after` for the next page." }),
  }),
  {
    id: "BalanceStatement",
    description: "What moved an account over a period.",
  },
  { environment: "production", figure: "available", opening_minor: 0, has_more: false },
);

const csvSchema = z.string().meta({
  id: "BalanceStatementText",
  description:
    "The names of the columns, the opening figure, each movement, and the closing figure. `of` is the figure or the account that was asked for; `amount` and " +
    "`figure_after` are the same amounts with their decimals.",
  examples: ["what,journal,kind,group,posted_at,currency,amount_minor,figure_after_minor,of,amount,figure_after\r\n"],
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
    const found = await readSettlement(database, book.merchantId, params.uuid);
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
      summary: "Download a batch's statement as CSV, as its merchant does, but with no formulas of a spreadsheet",
      success: statementFile,
      errors,
      handle: async ({ params }) => downloadStatement(database, await find(params), notFormula),
    }),
  ];
}

/** An account over a period, with the balances at both ends in minor units. */
interface AccountPeriod extends AccountOfBook, Awaited<ReturnType<typeof readPeriod>> {
  /** -1 for a figure of the merchant's balance, which has the opposite sign of its ledger account. */
  sign: 1 | -1;
  figure: keyof typeof accountOf | null;
  opening: bigint;
  closing: bigint;
}

type PeriodQuery = Pick<EntriesQuery, "figure" | "account"> & { from: string; to: string };

/** Throws VALIDATION_ERROR for an unknown currency and a reversed period. */
async function readAccount(
  database: Database,
  book: Book,
  currency: string,
  query: PeriodQuery,
): Promise<AccountPeriod> {
  const period = await readPeriod(database, book, currency, query);
  const figure = query.account === undefined ? (query.figure ?? "available") : null;
  const of = { book, account: query.account ?? accountOf[figure ?? "available"], currency };
  const [[opening] = [], [closing] = []] = await database.pipeline([
    selectBalanceBefore(of, period.first),
    selectBalanceBefore(of, period.past),
  ]);
  const sign = figure === null ? 1 : -1;
  const minorOf = (row: { balance_after_minor?: unknown } | undefined): bigint =>
    BigInt(sign) * ((row?.balance_after_minor as bigint | undefined) ?? 0n);
  return { ...of, ...period, sign, figure, opening: minorOf(opening), closing: minorOf(closing) };
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
        const period = await readAccount(database, book, params.currency ?? "", query);
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
          figure: period.figure,
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
        const period = await readAccount(database, book, params.currency ?? "", query);
        const name = (period.figure ?? period.account).replaceAll(":", "-");
        const days = [period.from, period.before - 1].map((at) => wireTime(at).slice(0, 10)).join("-");
        const saveAs = `statement-${book.merchantId}-${book.environment}-${name}-${period.currency}-${days}.csv`;
        const statement = { chunks: csvOf(database, period), contentType: "text/csv; charset=utf-8", saveAs };
        return downloads.begin(statement, readerOf(call));
      },
    }),
  ];
}

const beginningOf = ({ first }: AccountPeriod): { seq: bigint; line: number } => ({ seq: first, line: 0 });

async function* csvOf(database: Database, period: AccountPeriod): AsyncGenerator<string> {
  const { currency, sign } = period;
  const names = ["what", "journal", "kind", "group", "posted_at", "currency", "amount_minor", "figure_after_minor"];
  yield csvLine([...names, "of", "amount", "figure_after"]);
  /** Amounts are there in minor units and with their decimals: nobody takes 71 fils for 71 dinars. */
  const written = (begin: string[], added: bigint | undefined, stands: bigint): string => {
    const minors = [added === undefined ? "" : String(added), String(stands)];
    const decimals = [added === undefined ? "" : decimal(added, currency), decimal(stands, currency)];
    return csvLine([...begin, currency, ...minors, period.figure ?? period.account, ...decimals]);
  };
  yield written(["opening", "", "", "", wireTime(period.from)], undefined, period.opening);
  for (let after = beginningOf(period); ;) {
    const rows = await database.query<EntryRow>(selectMovements(period, after, period.past, CSV_PAGE));
    yield rows
      .map((row) => {
        const { journal, kind, group, posted_at } = entryView(row, sign);
        const signed = (minor: bigint): bigint => BigInt(sign) * minor;
        const begin = ["movement", journal, kind, group, posted_at];
        return written(begin, signed(row.amount_minor), signed(row.balance_after_minor));
      })
      .join("");
    const last = rows.at(-1);
    if (rows.length < CSV_PAGE || !last) break;
    after = { seq: last.seq, line: last.line };
  }
  yield written(["closing", "", "", "", wireTime(period.before)], undefined, period.closing);
}
