// The columns of all rooms whose secrets the master key seals, and the check of the master key against them.
import { ConfigError } from "./ground/config.ts";
import type { Vault } from "./ground/crypto.ts";
import { merchantSeals } from "./merchants/sealed-columns.ts";
import { paymentSeals } from "./payments/sealed-columns.ts";
import { peopleSeals } from "./people/sealed-columns.ts";
import type { Database } from "./store/database.ts";
import { countSeals } from "./store/seals.ts";
import type { SealedColumn } from "./store/seals.sql.ts";

export const sealedColumns: readonly SealedColumn[] = [...merchantSeals, ...peopleSeals, ...paymentSeals];

/** Throws `ConfigError` when secrets in this database were sealed with another key, because nothing could be signed or verified. */
export async function checkMasterKey(database: Database, vault: Vault): Promise<void> {
  const counts = await countSeals(database, vault, sealedColumns);
  const unknown = counts.reduce((sum, count) => sum + count.unknown, 0);
  if (unknown === 0) return;
  throw new ConfigError(
    `MASTER_KEY does not open ${unknown} of the secrets in this database. Use the key they were sealed with; while it is being replaced, as MASTER_KEY_SECOND.`,
  );
}
