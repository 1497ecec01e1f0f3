// Payers' data for pure tests, with newly made keys and without a database.
import { systemClock } from "../src/ground/clock.ts";
import { Vault } from "../src/ground/crypto.ts";
import { PayerData } from "../src/payments/payer-data.ts";
import type { Database, Row, Statement } from "../src/store/database.ts";

/** A stand-in for the database that stores only the keys of payers' data. */
function keysOnly(): Database {
  const kept: Row[] = [];
  const query = ({ text, values = [] }: Statement): Promise<Row[]> => {
    if (text.startsWith("insert")) kept.unshift({ key_id: values[0], purpose: values[1], key_sealed: values[2] });
    return Promise.resolve(text.startsWith("select") ? kept : []);
  };
  return { query } as unknown as Database;
}

const parts = { database: keysOnly(), vault: new Vault("5a".repeat(32)), clock: systemClock };

export const payers = new PayerData(parts);
await payers.load();
