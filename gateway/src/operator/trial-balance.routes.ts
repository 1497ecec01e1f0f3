// Endpoints of the trial balance: the accounts of all merchants' books at both ends of a period, added up, or book by book as CSV.
import { z } from "zod";
import { balanceStatementFields, periodFields, periodOf } from "../balances/statement.ts";
import { type AccountRow, selectAccounts } from "../balances/trial-balance.sql.ts";
import { wireTime } from "../ground/clock.ts";
import { csvLine, notFormula } from "../ground/csv.ts";
import { Downloads } from "../ground/downloads.ts";
import { validationFault } from "../ground/fault.ts";
import { idOf } from "../ground/ids.ts";
import { decimal, exponentOf, wireMinor } from "../ground/money.ts";
import { reply } from "../ground/reply.ts";
import {
  count,
  currencyCode,
  environmentField,
  exampleOf,
  exponentField,
  sumMinor,
  withExample,
} from "../http/shapes.ts";
import type { Database } from "../store/database.ts";
import { readerOf } from "./books.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";

/** Books that are added up while somebody waits for the answer: some seconds. */
const BOOKS_MAX = 5_000;
/** Books that one statement reads. */
const PAGE = 200;

const query = z.strictObject({
  environment: environmentField.default("production").meta({ description: "`production` when absent." }),
  ...periodFields,
});
type Period = ReturnType<typeof periodOf> & Pick<z.infer<typeof query>, "environment">;
/** Throws VALIDATION_ERROR for a reversed period. */
const periodIn = (asked: z.infer<typeof query>): Period => ({ environment: asked.environment, ...periodOf(asked) });

const accountSchema = withExample(
  z.strictObject({
    account: z.string().meta({ examples: ["platform:fees"] }),
    opening_minor: sumMinor(-1_120_000, "Debits minus credits of all books when the period begins."),
    added_minor: sumMinor(-105_000, "What the period added."),
    closing_minor: sumMinor(-1_225_000, "When the period ends: in each currency these sum to zero."),
  }),
  { id: "TrialBalanceAccount" },
);
const currencySchema = withExample(
  z.strictObject({ currency: currencyCode, exponent: exponentField, accounts: z.array(accountSchema) }),
  { id: "TrialBalanceCurrency" },
  { accounts: [exampleOf(accountSchema)] },
);
const trialBalanceSchema = withExample(
  z.strictObject({
    environment: environmentField,
    from: balanceStatementFields.from,
    before: balanceStatementFields.before,
    books: count(12, "Books in which money ever moved."),
    currencies: z.array(currencySchema),
  }),
  { id: "TrialBalance", description: "Every account, added up over all merchants' books. Debits are positive." },
  { environment: "production" },
);

const columns =
  "merchant_id,currency,account,opening_minor,added_minor,closing_minor,opening,added,closing,merchant_name\r\n";
const csvSchema = z.string().meta({
  id: "TrialBalanceText",
  description:
    "The names of the columns, a line for each account of each book, and the line `end`. `opening`, `added` and `closing` are the same amounts with their decimals.",
  examples: [columns],
});

export function trialBalanceEndpoints(database: Database): OperatorEndpoint[] {
  const downloads = new Downloads({ inAll: 4, each: 2 });
  const shared = { method: "GET", path: "/ops/v1/trial-balance", tag: "Books", role: "viewer", query } as const;
  return [
    operatorEndpoint({
      ...shared,
      operationId: "getTrialBalance",
      summary: "Every account at both ends of a period, added up over all merchants' books",
      description: `What is owed to merchants, what acquirers owe, and the fees that were earned. Reads ${BOOKS_MAX} books at most; of more, take the CSV.`,
      success: { description: "The accounts in each currency.", schema: trialBalanceSchema },
      async handle({ query, operator }) {
        const period = periodIn(query);
        const leave = downloads.enter(operator.name);
        return reply(200, await addedUp(database, period).finally(leave));
      },
    }),
    operatorEndpoint({
      ...shared,
      operationId: "downloadTrialBalance",
      path: `${shared.path}.csv`,
      summary: "The same book by book as CSV, whole, sent while it is read",
      description: "A text that was cut off ends without the line `end`.",
      success: { description: "Comma-separated values.", schema: csvSchema, mediaType: "text/csv" },
      async handle({ query, ...call }) {
        const period = periodIn(query);
        const days = [period.from, period.before - 1].map((at) => wireTime(at).slice(0, 10)).join("-");
        const saveAs = `trial-balance-${period.environment}-${days}.csv`;
        const chunks = csvOf(database, period);
        return downloads.begin({ chunks, contentType: "text/csv; charset=utf-8", saveAs }, readerOf(call));
      },
    }),
  ];
}

/** The accounts of all books, some books at a time: those of one book are of one moment. */
async function* pagesOf(database: Database, { environment, ...period }: Period): AsyncGenerator<AccountRow[]> {
  for (let after: string | undefined; ;) {
    const rows = await database.query<AccountRow>(selectAccounts(environment, period, after, PAGE));
    after = rows.at(-1)?.merchant_id;
    if (after === undefined) return;
    yield rows;
  }
}

/** Throws VALIDATION_ERROR when there are more than `BOOKS_MAX` books. */
async function addedUp(database: Database, period: Period): Promise<z.infer<typeof trialBalanceSchema>> {
  const books = new Set<string>();
  const currencies = new Map<string, Map<string, { opening: bigint; closing: bigint }>>();
  for await (const rows of pagesOf(database, period)) {
    for (const { merchant_id: merchant, currency, account, opening_minor, closing_minor } of rows) {
      books.add(merchant);
      const sums = currencies.get(currency) ?? new Map<string, { opening: bigint; closing: bigint }>();
      currencies.set(currency, sums);
      const { opening = 0n, closing = 0n } = sums.get(account) ?? {};
      sums.set(account, { opening: opening + opening_minor, closing: closing + closing_minor });
    }
    if (books.size > BOOKS_MAX)
      throw validationFault("environment", period.environment, `has more than ${BOOKS_MAX} books: take the CSV.`);
  }
  return {
    environment: period.environment,
    from: wireTime(period.from),
    before: wireTime(period.before),
    books: books.size,
    currencies: [...currencies]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([currency, sums]) => ({
        currency,
        exponent: exponentOf(currency),
        accounts: [...sums]
          .toSorted(([one], [other]) => (one < other ? -1 : 1))
          .map(([account, { opening, closing }]) => ({
            account,
            opening_minor: wireMinor(opening),
            added_minor: wireMinor(closing - opening),
            closing_minor: wireMinor(closing),
          })),
      })),
  };
}

async function* csvOf(database: Database, period: Period): AsyncGenerator<string> {
  yield columns;
  for await (const rows of pagesOf(database, period))
    yield rows
      .map(({ merchant_id, merchant_name, currency, account, opening_minor: opening, closing_minor: closing }) => {
        const minors = [opening, closing - opening, closing];
        const amounts = [...minors.map(String), ...minors.map((minor) => decimal(minor, currency))];
        return csvLine([idOf("merchant", merchant_id), currency, account, ...amounts, notFormula(merchant_name)]);
      })
      .join("");
  yield csvLine(["end"]);
}
