// Replacing the master key: opens every sealed secret with the key that sealed it, and seals it with the vault's first key.
import type { Vault } from "../ground/crypto.ts";
import type { Database } from "./database.ts";
import { type SealedColumn, replaceSeals, selectHeads, selectSealedOtherwise } from "./seals.sql.ts";

const TOGETHER = 200;

/** Numbers of a column's secrets, by the key that sealed them. */
interface SealCount {
  table: string;
  column: string;
  /** Sealed with the first key of the vault. */
  current: number;
  /** Sealed with the vault's second key. */
  other: number;
  /** Sealed with a key that the vault does not have. */
  unknown: number;
}

/** Counts the secrets of each column by the key that sealed them. */
export async function countSeals(
  database: Database,
  vault: Vault,
  columns: readonly SealedColumn[],
): Promise<SealCount[]> {
  const heads = await database.pipeline(columns.map(selectHeads));
  return columns.map(({ table, column }, at) => {
    const count: SealCount = { table, column, current: 0, other: 0, unknown: 0 };
    for (const { head, secrets } of heads[at] ?? []) {
      const sealed = head as Buffer;
      const kind = sealed.equals(vault.head) ? "current" : vault.knows(sealed) ? "other" : "unknown";
      count[kind] += secrets as number;
    }
    return count;
  });
}

/**
 * Seals again the secrets of a column that the vault's first key has not sealed. Gives their number. Throws at a secret that no key of the
 * vault opens; secrets sealed before it stay sealed, and the next call goes on. The service may run meanwhile, with both keys.
 */
export async function sealAgain(database: Database, vault: Vault, column: SealedColumn): Promise<number> {
  let done = 0;
  for (;;) {
    const rows = await database.query(selectSealedOtherwise(column, vault.head, TOGETHER));
    if (rows.length === 0) return done;
    const changes = rows.map((row) => {
      const owner = column.ownerOf(row);
      return { row, sealed: vault.seal(opened(vault, row.sealed as Buffer, owner), owner) };
    });
    done += (await database.query(replaceSeals(column, changes))).length;
  }
}

function opened(vault: Vault, sealed: Buffer, owner: string): string {
  try {
    return vault.open(sealed, owner);
  } catch (cause) {
    throw new Error(`the secret of ${owner} opens with neither master key`, { cause });
  }
}
