// Checks that the merchant of a command exists: a mistyped id must not look like a merchant without books, people or money.
import { ConfigError } from "../ground/config.ts";
import { selectBooks } from "../merchants/books.sql.ts";
import type { Database } from "../store/database.ts";

/** Throws `ConfigError` when there is no such merchant. */
export async function demandMerchant(database: Database, merchantId: string): Promise<void> {
  const books = await database.query(selectBooks(merchantId, undefined));
  if (books.length === 0) throw new ConfigError(`There is no merchant ${merchantId} here.`);
}
