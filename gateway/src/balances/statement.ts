// The statement of a period: what was the merchant's when it began, what each kind of journal added, and what is theirs when it ends.
import { z } from "zod";
import { type Micros, wireTime } from "../ground/clock.ts";
import { assert, validationFault } from "../ground/fault.ts";
import { type Minor, exponentOf, isCurrency, wireMinor } from "../ground/money.ts";
import { exampleTimes } from "../http/examples.ts";
import { rangeBefore, rangeFrom } from "../http/lists.ts";
import {
  count,
  currencyCode,
  environmentField,
  exponentField,
  rangeBound,
  sumMinor,
  timestamp,
  withExample,
} from "../http/shapes.ts";
import { accounts } from "../ledger/journal.ts";
import type { Book } from "../merchants/books.ts";
import type { Database } from "../store/database.ts";
import { accountOf, ownedSchema, ownedView } from "./owned.ts";
import { type SumRow, selectBalanceBefore, selectPeriod, selectSums } from "./statement.sql.ts";

const bound = (description: string, example: string) =>
  rangeBound(description)
    .unwrap()
    .meta({ ...rangeBound(description).meta(), examples: [example] });
export const periodFields = {
  from: bound("YYYY-MM-DD in UTC or a timestamp; inclusive.", "2026-11-01"),
  to: bound("YYYY-MM-DD (the whole day, in UTC) or a timestamp; inclusive.", "2026-11-30"),
};

const movementSchema = withExample(
  z.strictObject({
    kind: z.string().meta({ description: "What happened, as in the entries of the balances.", examples: ["capture"] }),
    journals: count(1, "How often."),
    added: ownedSchema.meta({ description: "What they added to each figure; negative where they took away." }),
    fee_minor: sumMinor(105_000, "Fees that were kept of it: with what was added they are the payers' amounts."),
  }),
  { id: "StatementMovement" },
);

export const balanceStatementFields = {
  environment: environmentField,
  currency: currencyCode,
  exponent: exponentField,
  from: timestamp.meta({ examples: [exampleTimes.dayBegins] }),
  before: timestamp.meta({ description: "Exclusive.", examples: [exampleTimes.dayEnds] }),
};
export const ownedStatementSchema = withExample(
  z.strictObject({
    ...balanceStatementFields,
    opening: ownedSchema.meta({ description: "The figures when the period begins." }),
    closing: ownedSchema.meta({ description: "When it ends: the opening ones and all movements." }),
    movements: z.array(movementSchema),
  }),
  {
    id: "OwnedStatement",
    description: "How the figures of the balances came from one end of a period to the other.",
  },
  { environment: "production" },
);

type PeriodQuery = Record<keyof typeof periodFields, string>;

interface Period {
  from: Micros;
  /** Exclusive. */
  before: Micros;
  /** The number of the first journal in it, and of the first one after it. */
  first: bigint;
  past: bigint;
}

/** Throws VALIDATION_ERROR for an unknown currency and a reversed period. */
export async function readPeriod(
  database: Database,
  book: Book,
  currency: string,
  query: PeriodQuery,
): Promise<Period> {
  if (!isCurrency(currency)) throw validationFault("currency", currency, "currency must be a currency code like IDR.");
  const { from, before } = periodOf(query);
  const [ends] = await database.query(selectPeriod(book, from, before));
  return { from, before, ...(ends as Pick<Period, "first" | "past">) };
}

/** The times of a period; `before` is exclusive. Throws VALIDATION_ERROR for a reversed one. */
export function periodOf({ from: begin, to: end }: PeriodQuery): Pick<Period, "from" | "before"> {
  const [from = 0, before = 0] = [rangeFrom("from", begin), rangeBefore("to", end)];
  if (before <= from) throw validationFault("to", end, "to must not be before from.");
  return { from, before };
}

/** Journals that one query sums up. */
const SLICE = 50_000n;

/** Throws what `readPeriod` throws. */
export async function readStatement(
  database: Database,
  book: Book,
  currency: string,
  query: { from: string; to: string },
): Promise<z.infer<typeof ownedStatementSchema>> {
  const { from, before, first, past } = await readPeriod(database, book, currency, query);
  const owned = Object.values(accountOf);
  const creditsBefore = async (seq: bigint): Promise<Map<string, Minor>> => {
    const rows = await database.pipeline(owned.map((account) => selectBalanceBefore({ book, account, currency }, seq)));
    return new Map(owned.map((account, at) => [account, -((rows[at]?.[0]?.balance_after_minor as Minor) ?? 0n)]));
  };
  const [opening, closing] = [await creditsBefore(first), await creditsBefore(past)];
  const kinds = new Map<string, { journals: bigint; credits: Map<string, Minor> }>();
  for (let at = first; at < past; at += SLICE) {
    const until = at + SLICE < past ? at + SLICE : past;
    for (const row of await database.query<SumRow>(selectSums({ book, currency }, at, until))) {
      const { journals, credits } = kinds.get(row.kind) ?? { journals: 0n, credits: new Map<string, Minor>() };
      credits.set(row.account, (credits.get(row.account) ?? 0n) - BigInt(row.minor));
      kinds.set(row.kind, { journals: journals + row.journals, credits });
    }
  }
  for (const account of owned) {
    const moved = kinds.values().reduce((sum, { credits }) => sum + (credits.get(account) ?? 0n), 0n);
    assert((opening.get(account) ?? 0n) + moved === closing.get(account), `the movements of ${account} add up`);
  }
  const isOwn = ({ credits }: { credits: Map<string, Minor> }): boolean =>
    [...owned, accounts.fees].some((account) => credits.has(account));
  return {
    environment: book.environment,
    currency,
    exponent: exponentOf(currency),
    from: wireTime(from),
    before: wireTime(before),
    opening: ownedView((account) => opening.get(account)),
    closing: ownedView((account) => closing.get(account)),
    movements: [...kinds]
      .filter(([, sums]) => isOwn(sums))
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([kind, { journals, credits }]) => ({
        kind,
        journals: Number(journals),
        added: ownedView((account) => credits.get(account)),
        fee_minor: wireMinor(credits.get(accounts.fees) ?? 0n),
      })),
  };
}
