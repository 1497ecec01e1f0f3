// The command `gerbang roles`: prints the SQL that makes an installation's roles and database, for an administrator to read and to run.
import { readFileSync } from "node:fs";

const rolesFile = new URL("../store/roles.sql", import.meta.url);

/** Prints the SQL. Reads no configuration and connects to no database, so it needs no address of the administrator's server. */
export function rolesCommand(): Promise<number> {
  process.stdout.write(readFileSync(rolesFile, "utf8"));
  return Promise.resolve(0);
}
