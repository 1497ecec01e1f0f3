// The command `gerbang roles`: the SQL by which an installation gets its roles and its database, for an administrator to read and to run.
import { readFileSync } from "node:fs";

const rolesFile = new URL("../store/roles.sql", import.meta.url);

/** Prints the SQL. It reads no configuration and asks no database: the administrator's address is none of its business. */
export function rolesCommand(): Promise<number> {
  process.stdout.write(readFileSync(rolesFile, "utf8"));
  return Promise.resolve(0);
}
