// GET /v1/balances (interface 4.8): a merchant's balances in each enabled currency, read from the ledger.
import { z } from "zod";
import { type Clock, SECOND, wireTime } from "../ground/clock.ts";
import { exponentOf } from "../ground/money.ts";
import { type Endpoint, readEndpoint } from "../http/endpoint.ts";
import { reply } from "../ground/reply.ts";
import { exampleTimes } from "../http/examples.ts";
import { currencyCode, environmentField, exponentField, timestamp, withExample } from "../http/shapes.ts";
import { entriesParams, entriesQuerySchema, entriesSchema, listEntries } from "./entries.ts";
import { creditsOf, ownedFields, ownedView } from "./owned.ts";
import { type BalanceRow, selectBalances } from "../ledger/ledger.sql.ts";
import { selectBookOffset } from "../merchants/books.sql.ts";
import type { Database } from "../store/database.ts";

const balanceSchema = withExample(z.strictObject({ currency: currencyCode, exponent: exponentField, ...ownedFields }), {
  id: "Balance",
  description: "What is yours in one currency.",
});

const balancesSchema = withExample(
  z.strictObject({ environment: environmentField, as_of: timestamp, data: z.array(balanceSchema) }),
  { id: "Balances" },
  { as_of: exampleTimes.paid },
);

export function balanceEndpoints(database: Database, clock: Clock): Endpoint[] {
  return [
    readEndpoint({
      operationId: "listBalanceEntries",
      path: "/v1/balances/{currency}/entries",
      params: entriesParams,
      summary: "List the journal entries behind a figure of the balances",
      tag: "Balances",
      scope: "balances:read",
      success: { description: "A page of entries, newest first.", schema: entriesSchema },
      query: entriesQuerySchema,
      handle: (call) => listEntries(database, call.book, call.params.currency ?? "", call.query),
    }),
    readEndpoint({
      operationId: "getBalances",
      path: "/v1/balances",
      summary: "Read the balances, one entry for each enabled currency",
      tag: "Balances",
      scope: "balances:read",
      success: { description: "The balances as of now.", schema: balancesSchema },
      async handle(call) {
        const rows = await database.query<BalanceRow>(selectBalances(call.book));
        const [offset] = await database.query<{ clock_offset_seconds: bigint }>(selectBookOffset(call.book));
        const credits = creditsOf(rows);
        const currencies = new Set([
          ...call.merchant.settings.currencies,
          ...rows.filter((row) => row.account !== null).map((row) => row.currency),
        ]);
        return reply(200, {
          environment: call.book.environment,
          as_of: wireTime(clock.now() + Number(offset?.clock_offset_seconds ?? 0n) * SECOND),
          data: [...currencies].sort().map((currency) => ({
            currency,
            exponent: exponentOf(currency),
            ...ownedView((account) => credits.get(`${account} ${currency}`)),
          })),
        });
      },
    }),
  ];
}
