// Secrets that come from files: for each variable that may, NAME_FILE names one.
import { type Stats, readFileSync, statSync } from "node:fs";

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
  /** The variables, those from files among them. */
  given: Record<string, string | undefined>;
  problems: string[];
}

/**
 * Puts what the files hold, without the line's end, in the place of their names. In production a file that others than its owner can read is a
 * problem. Problems never show what a file holds.
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
  return { given, problems };
}

/**
 * Whether a file is open to more than the service. systemd and Kubernetes hand secrets over in files of root that one group, or an entry of an
 * access list, lets the service read: so root's file may have the group's right to read, where the service itself is not root.
 */
export function isReadByOthers({ mode, uid }: Pick<Stats, "mode" | "uid">, ownUid: number | undefined): boolean {
  const handedOver = uid === 0 && ownUid !== 0;
  return (mode & (handedOver ? 0o037 : 0o077)) !== 0;
}
