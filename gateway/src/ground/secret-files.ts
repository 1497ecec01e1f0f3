// Files that the configuration names: for each variable below, NAME_FILE may name a file with its value. Addresses of databases name files for TLS.
import { type Stats, accessSync, constants, readFileSync, statSync } from "node:fs";

const FROM_FILES = [
  "MASTER_KEY",
  "MASTER_KEY_SECOND",
  "OPERATOR_TOKEN",
  "OPERATOR_VIEWER_TOKEN",
  "DATABASE_URL",
  "MIGRATION_DATABASE_URL",
  "SMTP_URL",
] as const;

export interface WithFiles {
  /** The variables, including those read from files. */
  given: Record<string, string | undefined>;
  problems: string[];
}

/**
 * Sets each variable to the text of its file, without the final line break. In production a file that others can read is a problem (see
 * `isReadByOthers`). Problems never show the text of a file.
 */
export function readSecretFiles(variables: Record<string, string | undefined>): WithFiles {
  const given = { ...variables };
  const problems: string[] = [];
  for (const name of FROM_FILES) {
    const file = variables[`${name}_FILE`];
    if (file === undefined) continue;
    if (variables[name] !== undefined) {
      problems.push(`${name} and ${name}_FILE: give one of them`);
      continue;
    }
    try {
      if (variables.NODE_ENV === "production" && isReadByOthers(statSync(file), process.getuid?.()))
        problems.push(`${name}_FILE: ${file} can be read by others; give it mode 0400`);
      const text = readFileSync(file, "utf8").replace(/\r?\n$/, "");
      if (text === "") problems.push(`${name}_FILE: ${file} is empty`);
      else given[name] = text;
    } catch (error) {
      problems.push(`${name}_FILE: ${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown"})`);
    }
  }
  for (const name of ["DATABASE_URL", "MIGRATION_DATABASE_URL"])
    problems.push(...unreadableFiles(given[name]).map((problem) => `${name}: ${problem}`));
  return { given, problems };
}

/** Problems of the files for TLS that a database's address names. */
function unreadableFiles(address: string | undefined): string[] {
  if (address === undefined || !URL.canParse(address)) return [];
  return [...new URL(address).searchParams].flatMap(([option, file]) => {
    if (!["sslrootcert", "sslcert", "sslkey"].includes(option)) return [];
    try {
      accessSync(file, constants.R_OK);
      return [];
    } catch (error) {
      return [`${option} ${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown"})`];
    }
  });
}

/**
 * Whether others than the service can read a file. systemd and Kubernetes provide secrets in files of root that the service reads by its group
 * or by an access list. So a file of root may be readable by its group, unless the service itself runs as root.
 */
export function isReadByOthers({ mode, uid }: Pick<Stats, "mode" | "uid">, ownUid: number | undefined): boolean {
  const handedOver = uid === 0 && ownUid !== 0;
  return (mode & (handedOver ? 0o037 : 0o077)) !== 0;
}
