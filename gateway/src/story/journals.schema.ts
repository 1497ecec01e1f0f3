// The shape of a journal with its entries in the API.
import { z } from "zod";
import { wireTime } from "../ground/clock.ts";
import { exponentOf, wireAmount, wireMinor } from "../ground/money.ts";
import { exampleIds, exampleSignature, exampleTimes } from "../http/examples.ts";
import {
  currencyCode,
  exponentField,
  identity,
  inPath,
  listSchema,
  positive,
  timestamp,
  wholeOrNull,
  withExample,
} from "../http/shapes.ts";
import { type Journal, accounts } from "../ledger/journal.ts";

const exampleEntry = (line: number, account: string, amount: number) => ({
  id: `42-${line}`,
  account,
  currency: "IDR",
  exponent: 2,
  amount_minor: amount,
  balance_after_minor: amount,
});
const entrySchema = withExample(
  z.strictObject({
    id: z.string().meta({ description: "The journal's number in its book, and the line.", examples: ["42-1"] }),
    account: z.string().meta({ examples: [accounts.available] }),
    currency: currencyCode,
    exponent: exponentField,
    amount_minor: z.int().meta({ description: "Debits are positive, credits negative.", examples: [-14_895_000] }),
    balance_after_minor: wholeOrNull(
      -14_895_000,
      "Debits minus credits of the account after this entry; null beyond 2^53 - 1.",
    ),
  }),
  { id: "JournalEntry" },
);

const hash = z.string().meta({ pattern: "^[0-9a-f]{64}$", examples: [exampleSignature] });

export const journalSchema = withExample(
  z.strictObject({
    id: identity("journal"),
    seq: positive(42, "Its number in the book; there is no gap."),
    kind: z.string().meta({ description: "What happened.", examples: ["capture"] }),
    group: z.string().meta({ description: "The payment or settlement it belongs to.", examples: [exampleIds.payment] }),
    operation_key: z
      .string()
      .meta({ description: "Makes the movement happen once.", examples: [`capture:${exampleIds.payment}`] }),
    posted_at: timestamp,
    entries: z.array(entrySchema).meta({ description: "They sum to zero in each currency." }),
    prev_hash: hash.meta({ description: "Hash of the journal before it." }),
    hash: hash.meta({ description: "Of everything that it says, and of the hash before it." }),
  }),
  { id: "Journal", description: "One movement of money." },
  {
    posted_at: exampleTimes.paid,
    entries: [
      exampleEntry(1, accounts.receivable("nusantara"), 15_000_000),
      exampleEntry(2, accounts.available, -14_895_000),
      exampleEntry(3, accounts.fees, -105_000),
    ],
  },
);

export const journalListSchema = listSchema(journalSchema, "JournalList");

export const journalParams = { journal_id: inPath("journal", "JournalId", "`id` of the journal.") };

export function journalView(journal: Journal): z.infer<typeof journalSchema> {
  return {
    id: journal.journalId,
    seq: Number(journal.seq),
    kind: journal.kind,
    group: journal.groupId,
    operation_key: journal.operationKey,
    posted_at: wireTime(journal.postedAt),
    entries: journal.entries.map(({ account, currency, amountMinor, balanceAfterMinor }, index) => ({
      id: `${journal.seq}-${index + 1}`,
      account,
      currency,
      exponent: exponentOf(currency),
      amount_minor: wireAmount(amountMinor),
      balance_after_minor: wireMinor(balanceAfterMinor),
    })),
    prev_hash: journal.prevHash.toString("hex"),
    hash: journal.hash.toString("hex"),
  };
}
