// A book as its bookkeeper reads it: the totals of every account in every currency, and the chain head. Single entries are in entries.ts.
import { z } from "zod";
import { assert } from "../ground/fault.ts";
import { exponentOf, wireMinor } from "../ground/money.ts";
import { exampleSignature } from "../http/examples.ts";
import {
  count,
  currencyCode,
  environmentField,
  exponentField,
  identity,
  wholeOrNull,
  withExample,
} from "../http/shapes.ts";
import { exportFormats } from "../ledger/export.ts";
import { accounts, isAccount } from "../ledger/journal.ts";
import { type BalanceRow, selectBalances } from "../ledger/ledger.sql.ts";
import type { Book } from "../merchants/books.ts";
import type { Database } from "../store/database.ts";
import { entriesQuerySchema } from "./entries.ts";

const totalMinor = wholeOrNull(
  14_895_000,
  "Null when it is beyond what JSON numbers carry exactly; the export of the book has it.",
);
const accountSchema = z
  .strictObject({
    account: z.string().meta({ examples: [accounts.available] }),
    debit_minor: totalMinor,
    credit_minor: totalMinor,
    balance_minor: totalMinor.meta({ description: "Debits minus credits; in each currency they sum to zero." }),
  })
  .meta({ id: "AccountTotals" });
export const currencyTotalsSchema = withExample(
  z.strictObject({ currency: currencyCode, exponent: exponentField, accounts: z.array(accountSchema) }),
  { id: "CurrencyTotals", description: "Every account in one currency." },
  { accounts: [{ account: accounts.available, debit_minor: 0, credit_minor: 14_895_000, balance_minor: -14_895_000 }] },
);
export const bookSchema = withExample(
  z.strictObject({
    merchant_id: identity("merchant"),
    environment: environmentField,
    journals: count(1, "Journals in it."),
    head_hash: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .meta({
        description: "Hash of the newest journal, and through it of all before it; zeros while there is none.",
        examples: [exampleSignature],
      }),
    currencies: z.array(currencyTotalsSchema),
  }),
  {
    id: "Book",
    description: "The totals of a merchant's ledger in one environment.",
  },
);

/** Query parameter that names an account of the ledger instead of a figure of the balances. */
export const accountField = z
  .string()
  .refine(isAccount, "is not an account of a book")
  .optional()
  .meta({
    description: "An account instead of a figure, never both; amounts have the ledger's signs then, debits positive.",
    examples: [accounts.available],
  });

type OneOf = { account?: string | undefined; figure?: string | undefined };
const isOneOf = ({ account, figure }: OneOf): boolean => account === undefined || figure === undefined;
const notBoth = { path: ["account"], message: "cannot be asked for together with a figure" };

/** Adds to a query the rule that it may name a figure or an account, but not both. */
export const ofFigureOrAccount = <Shape extends z.ZodType<OneOf>>(query: Shape): Shape =>
  query.refine(isOneOf, notBoth);

export const accountEntriesQuery = ofFigureOrAccount(entriesQuerySchema.extend({ account: accountField }));

/** Accounts that every book shows, even when they have no entries. */
const permanent = Object.values(accounts).filter((account) => typeof account === "string");

/** Reads the totals of a book in every enabled currency, and in every other currency in which money ever moved. */
export async function readBook(
  database: Database,
  book: Book,
  enabled: readonly string[],
): Promise<z.infer<typeof bookSchema>> {
  const rows = await database.query<BalanceRow>(selectBalances(book));
  const [head] = rows;
  assert(head, "a merchant has its books from the beginning");
  const totals = rows.filter((row) => row.account !== null);
  const currencies = new Set([...enabled, ...totals.map((row) => row.currency)]);
  return {
    merchant_id: book.merchantId,
    environment: book.environment,
    journals: Number(head.seq),
    head_hash: head.hash.toString("hex"),
    currencies: [...currencies].sort().map((currency) => ({
      currency,
      exponent: exponentOf(currency),
      accounts: accountsOf(totals.filter((row) => row.currency === currency)),
    })),
  };
}

function accountsOf(rows: readonly BalanceRow[]): z.infer<typeof bookSchema>["currencies"][number]["accounts"] {
  const byName = new Map(rows.map((row) => [row.account, row]));
  const names = new Set([...permanent, ...rows.map((row) => String(row.account))]);
  return [...names].sort().map((account) => {
    const { debit_minor: debit = 0n, credit_minor: credit = 0n } = byName.get(account) ?? {};
    return {
      account,
      debit_minor: wireMinor(debit),
      credit_minor: wireMinor(credit),
      balance_minor: wireMinor(debit - credit),
    };
  });
}

/** Query parameter for the format of an exported book. */
export const exportFormatField = z
  .enum(exportFormats)
  .meta({ description: "`hledger`, which Ledger reads too, `beancount`, or JSON lines." });

const bookExportSchema = z.string().meta({ id: "BookExport", description: "Text.", examples: ["; a book\n"] });

/** What the endpoints that export a book say of it. */
export const bookExport = {
  operationId: "exportBook",
  description:
    "Every journal as far as the chain goes now, sent while it is read. A text that was cut off ends without the comment that counts its journals; it is cut off where whoever asked loses the right to it.",
  success: { description: "The book.", schema: bookExportSchema, mediaType: "text/plain" },
} as const;
