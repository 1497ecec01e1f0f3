// Seals, in the background, the payers' data that earlier versions wrote in clear text, until none is left.
import type { Database } from "../store/database.ts";
import type { PayerData } from "./payer-data.ts";
import { openPayerOfRow, sealOpenPayers, selectOpenPayers } from "./payer-data.sql.ts";

const TOGETHER = 500;

/** Gives the number of payments read and sealed. Any number of processes may run this at once. */
export async function sealEarlierPayers(database: Database, payers: PayerData, ending?: AbortSignal): Promise<number> {
  let sealed = 0;
  for (;;) {
    if (ending?.aborted === true) return sealed;
    const open = (await database.query(selectOpenPayers(TOGETHER))).map(openPayerOfRow);
    if (open.length === 0) return sealed;
    const rows = open.map((one) => ({
      book: one.book,
      reference: one.reference,
      payer: payers.seal(one, one.customer),
    }));
    await database.query(sealOpenPayers(rows));
    sealed += open.length;
  }
}
