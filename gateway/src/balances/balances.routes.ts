// GET /v1/balances (section 4.8): what the ledger says, for each enabled currency.
import { z } from "zod";
import { type Clock, SECOND, wireTime } from "../ground/clock.ts";
import { exponentOf, wireMinor } from "../ground/money.ts";
import { type Endpoint, readEndpoint } from "../http/endpoint.ts";
import { reply } from "../ground/reply.ts";
import { timestamp } from "../http/shapes.ts";
import { entriesQuerySchema, entriesSchema, listEntries } from "./entries.ts";
import { accounts } from "../ledger/journal.ts";
import { selectBalances } from "../ledger/ledger.sql.ts";
import { selectBookOffset } from "../merchants/books.sql.ts";
import { environments } from "../merchants/books.ts";
import type { Database } from "../store/database.ts";

export /** A sum over a book: JSON cannot carry every one exactly. */
const sum = z.int().nullable();

const balancesSchema = z.strictObject({
  environment: z.enum(environments),
  as_of: timestamp,
  data: z.array(
    z.strictObject({
      currency: z.string(),
      exponent: z.int(),
      available_minor: sum.meta({
        description: "Funds that can be settled. Below zero only through a dispute. Null beyond 2^53 - 1.",
      }),
      held_minor: sum,
      pending_settlement_minor: sum,
    }),
  ),
});

export function balanceEndpoints(database: Database, clock: Clock): Endpoint[] {
  return [
    readEndpoint({
      path: "/v1/balances/{currency}/entries",
      summary: "Why this number: the journal entries behind a figure of the balances",
      tag: "Balances",
      scope: "balances:read",
      errors: ["VALIDATION_ERROR"],
      success: { status: 200, description: "A page of entries, newest first.", schema: entriesSchema },
      query: entriesQuerySchema,
      handle: (call) => listEntries(database, call.book, call.params.currency ?? "", call.query),
    }),
    readEndpoint({
      path: "/v1/balances",
      summary: "Read the balances, one entry for each enabled currency",
      tag: "Balances",
      scope: "balances:read",
      errors: [],
      success: { status: 200, description: "The balances as of now.", schema: balancesSchema },
      query: z.strictObject({}),
      async handle(call) {
        const rows = await database.query<{
          account: string | null;
          currency: string;
          debit_minor: bigint;
          credit_minor: bigint;
        }>(selectBalances(call.book));
        const [offset] = await database.query<{ clock_offset_seconds: bigint }>(selectBookOffset(call.book));
        const kept = new Map(rows.map((row) => [`${row.account} ${row.currency}`, row.credit_minor - row.debit_minor]));
        const currencies = new Set([
          ...call.merchant.settings.currencies,
          ...rows.filter((row) => row.account !== null).map((row) => row.currency),
        ]);
        // What the merchant owns is a credit balance: credits minus debits.
        const owned = (account: string, currency: string): number | null =>
          wireMinor(kept.get(`${account} ${currency}`) ?? 0n);
        return reply(200, {
          environment: call.book.environment,
          as_of: wireTime(clock.now() + Number(offset?.clock_offset_seconds ?? 0n) * SECOND),
          data: [...currencies].sort().map((currency) => ({
            currency,
            exponent: exponentOf(currency),
            available_minor: owned(accounts.available, currency),
            held_minor: owned(accounts.held, currency),
            pending_settlement_minor: owned(accounts.settling, currency),
          })),
        });
      },
    }),
  ];
}
