// What is a merchant's in one currency: three figures, each the credit balance of an account of the ledger, and their shape on the wire.
import { z } from "zod";
import { type Minor, wireMinor } from "../ground/money.ts";
import { sumMinor, withExample } from "../http/shapes.ts";
import { accounts } from "../ledger/journal.ts";
import type { BalanceRow } from "../ledger/ledger.sql.ts";

/** The account of each figure. */
export const accountOf = {
  available: accounts.available,
  held: accounts.held,
  pending_settlement: accounts.settling,
} as const;

export const ownedFields = {
  available_minor: sumMinor(14_895_000, "Funds that can be settled. Below zero only through a dispute."),
  held_minor: sumMinor(0, "Funds held for running disputes."),
  pending_settlement_minor: sumMinor(0, "Funds in batches that are not paid out yet."),
};
export const ownedSchema = withExample(z.strictObject(ownedFields), { id: "OwnedFigures" });

/** The figures on the wire. `creditOf`: credits minus debits of an account, since money that the merchant owns is a credit. */
export function ownedView(creditOf: (account: string) => Minor | undefined): z.infer<typeof ownedSchema> {
  return {
    available_minor: wireMinor(creditOf(accountOf.available) ?? 0n),
    held_minor: wireMinor(creditOf(accountOf.held) ?? 0n),
    pending_settlement_minor: wireMinor(creditOf(accountOf.pending_settlement) ?? 0n),
  };
}

/** Credits minus debits of each account of a book, by `account currency`. */
export function creditsOf(rows: readonly BalanceRow[]): Map<string, Minor> {
  return new Map(
    rows
      .filter(({ account }) => account !== null)
      .map((row) => [`${row.account} ${row.currency}`, row.credit_minor - row.debit_minor]),
  );
}
