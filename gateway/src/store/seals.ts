// Replacing the master key: every sealed secret is opened with the key that sealed it, and sealed with the first one.
import type { Vault } from "../ground/crypto.ts";
import type { Database } from "./database.ts";
import { type SealedColumn, replaceSeals, selectHeads, selectSealedOtherwise } from "./seals.sql.ts";

const TOGETHER = 200;

/** Secrets of a column, by how they are sealed. */
export interface SealCount {
  table: string;
  column: string;
  /** With the first key of the vault. */
  current: number;
  /** With its other key, or by an earlier version that did not name the key. */
  other: number;
  /** With a key that the vault does not have. */
  unknown: number;
}

/** Counts secrets by their keys. */
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
 * Seals again what the vault's first key has not sealed. Gives how many secrets. Throws at a secret that no key of the vault opens; what was
 * sealed before it stays so, and the next call goes on. The service may run meanwhile, with both keys.
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

/** True when the first secret of a column that the vault's first key has not sealed can be opened, or there is none. */
export async function opensOther(database: Database, vault: Vault, column: SealedColumn): Promise<boolean> {
  const [row] = await database.query(selectSealedOtherwise(column, vault.head, 1));
  if (!row) return true;
  try {
    vault.open(row.sealed as Buffer, column.ownerOf(row));
    return true;
  } catch {
    return false;
  }
}

function opened(vault: Vault, sealed: Buffer, owner: string): string {
  try {
    return vault.open(sealed, owner);
  } catch (cause) {
    throw new Error(`the secret of ${owner} opens with neither master key`, { cause });
  }
}
