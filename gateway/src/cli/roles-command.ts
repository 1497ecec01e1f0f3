// The command `gerbang roles`: the SQL by which an installation gets its roles and its database, for an administrator to read and to run.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { say } from "./store-of-config.ts";

const rolesFile = new URL("../store/roles.sql", import.meta.url);

/** Prints the SQL. It reads no configuration and asks no database: the administrator's address is none of its business. */
export function rolesCommand(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: { sql: { type: "boolean", default: false } } });
  if (!values.sql) {
    say(
      "Usage: gerbang roles --sql\n  prints the SQL that makes the roles and the database, for psql as an administrator",
    );
    return Promise.resolve(2);
  }
  process.stdout.write(readFileSync(rolesFile, "utf8"));
  return Promise.resolve(0);
}
