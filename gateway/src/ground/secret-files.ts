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

interface WithFiles {
  /** The variables, including those read from files. */
  given: Record<string, string | undefined>;
  problems: string[];
}

/** Sets each variable to its file's text without the final line break. One that others can read is a problem in production. Problems show no text. */
export function readSecretFiles(variables: Record<string, string | undefined>): WithFiles {
  const given = { ...variables };
  const problems: string[] = [];
  const attempt = (what: string, read: () => void): void => {
    try {
      read();
    } catch (error) {
      problems.push(`${what} cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown"})`);
    }
  };
  for (const name of FROM_FILES) {
    const file = variables[`${name}_FILE`];
    if (file === undefined) continue;
    if (variables[name] !== undefined) {
      problems.push(`${name} and ${name}_FILE: give one of them`);
      continue;
    }
    attempt(`${name}_FILE: ${file}`, () => {
      if (variables.NODE_ENV === "production" && isReadByOthers(statSync(file), process.getuid?.()))
        problems.push(`${name}_FILE: ${file} can be read by others; give it mode 0400`);
      const text = readFileSync(file, "utf8").replace(/\r?\n$/, "");
      if (text === "") problems.push(`${name}_FILE: ${file} is empty`);
      else given[name] = text;
    });
  }
  // Without these authorities Node itself goes on after a warning, and every call that needs one fails later.
  const { NODE_ENV, NODE_EXTRA_CA_CERTS: authorities } = variables;
  if (NODE_ENV === "production" && authorities !== undefined)
    attempt(`NODE_EXTRA_CA_CERTS: ${authorities}`, () => accessSync(authorities, constants.R_OK));
  for (const name of ["DATABASE_URL", "MIGRATION_DATABASE_URL"]) {
    const address = given[name] ?? "";
    for (const [option, file] of URL.canParse(address) ? new URL(address).searchParams : [])
      if (/^ssl(rootcert|cert|key)$/.test(option))
        attempt(`${name}: ${option} ${file}`, () => accessSync(file, constants.R_OK));
  }
  return { given, problems };
}

/**
 * Whether others than the service can read a file. systemd and Kubernetes provide secrets in files of root that the service reads by its group
 * or by an access list. So a file of root may be readable by its group, unless the service itself runs as root.
 */
export function isReadByOthers({ mode, uid }: Pick<Stats, "mode" | "uid">, ownUid: number | undefined): boolean {
  const handedOver = uid === 0 && ownUid !== 0;
  return (mode & (handedOver ? 0o037 : 0o077)) !== 0;
}
