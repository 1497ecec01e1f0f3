// Explains the failures that the user of a command can put right: a sentence with what to do, without a stack.
import { ConfigError } from "../ground/config.ts";

interface Failed {
  code?: unknown;
  message?: unknown;
  syscall?: unknown;
  port?: unknown;
  address?: unknown;
  hostname?: unknown;
  path?: unknown;
  cause?: unknown;
  errors?: unknown;
}

const ROLES = "An administrator makes it with what `gerbang roles --sql` prints.";
const RIGHTS =
  "Give the service's role gerbang_app (`gerbang roles --sql`), and migrate as the owner of the tables (MIGRATION_DATABASE_URL).";
const POOLER =
  "Is a pooler between, such as PgBouncer? It needs pool_mode transaction or session, and from version 1.21 on max_prepared_statements above 0; older ones need session.";

/** Advice that PostgreSQL's own message leaves out, by the code of the error. */
const ofDatabase: Readonly<Record<string, string>> = {
  "28P01": "Check the password in DATABASE_URL (or MIGRATION_DATABASE_URL).",
  "28000": `Check the role in DATABASE_URL, and what pg_hba.conf of the server lets in. Is the role missing? ${ROLES}`,
  "3D000": `Check the name at the end of DATABASE_URL. Is the database missing? ${ROLES}`,
  "08P01": POOLER,
  "26000": POOLER,
  "42P05": POOLER,
  "42704": ROLES,
  "42501": RIGHTS,
  "42P01": "The database has no tables of this service, or not all: run `gerbang migrate`.",
  "42703": "The schema of the database is not this version's: run `gerbang migrate`.",
  "53300": "Raise max_connections of the server or the connection limit of the role, or run fewer processes.",
  "53100": "The disk of the server is full.",
  "55P03":
    "Another process migrates the database, or a long transaction holds its tables: try again when it has ended.",
  "57P03": "Try again in a moment.",
  "57P01": "Try again once the server is there again.",
  "25006": "It is a replica, or read-only by a setting: DATABASE_URL has to name a primary that takes writes.",
};

const ofCertificate: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "Give the server another one, and let it read that: `select pg_reload_conf()`.",
  ERR_TLS_CERT_ALTNAME_INVALID: "DATABASE_URL has to name the server as its certificate does.",
};
const CERTIFICATE = /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_.*|CERT_.*|ERR_TLS_CERT_.*)$/;

/** The sentence for an error that is not a fault of the program; undefined for every other error, whose stack is needed. */
export function explain(error: unknown): string | undefined {
  if (error instanceof ConfigError) return error.message;
  if (!(error instanceof Error)) return undefined;
  const failed = error as Failed;
  const own = ofPort(failed) ?? ofConnection(failed) ?? ofServer(failed) ?? ofFile(failed);
  if (own !== undefined) return own;
  // A host with several addresses fails once for each; a connection pool or a start wraps the real error.
  const inner = [...(Array.isArray(failed.errors) ? (failed.errors as unknown[]) : []), failed.cause];
  return inner.map((one) => (one === undefined ? undefined : explain(one))).find((text) => text !== undefined);
}

function ofPort({ code, syscall, port, address }: Failed): string | undefined {
  if (syscall !== "listen") return undefined;
  const where = `${text(address)}:${text(port)}`;
  if (code === "EADDRINUSE")
    return `Port ${text(port)} of ${text(address)} is taken: by another program, or by this service, which runs already. PORT, OPS_PORT and METRICS_PORT choose others.`;
  if (code === "EACCES")
    return `This user may not listen on ${where}. Ports below 1024 belong to root: PORT, OPS_PORT and METRICS_PORT choose others.`;
  if (code === "EADDRNOTAVAIL")
    return `This machine has no address ${text(address)}. HOST, OPS_HOST and METRICS_HOST name one that it has.`;
  return undefined;
}

function ofConnection({ code, syscall, port, address, hostname, message }: Failed): string | undefined {
  const server = "the PostgreSQL of DATABASE_URL";
  if (syscall === "connect" && code === "ECONNREFUSED")
    return `Nothing answers at ${text(address)}${port === undefined ? "" : `:${text(port)}`}, where ${server} should be. Does it run, and are host and port right?`;
  if (syscall === "connect" && code === "ENOENT")
    return `There is no socket ${text(address)} of ${server}. Does it run, and is the path right?`;
  if (syscall === "connect" && typeof code === "string" && /^E(TIMEDOUT|HOSTUNREACH|NETUNREACH|CONNRESET)$/.test(code))
    return `${text(address)} cannot be reached, where ${server} should be (${code}).`;
  if (code === "ENOTFOUND" || code === "EAI_AGAIN")
    return `The host ${text(hostname)} has no address. Is its name right in DATABASE_URL, HOST, OPS_HOST and METRICS_HOST?`;
  if (typeof code === "string" && CERTIFICATE.test(code))
    return `The certificate of ${server} is not trusted: ${text(message)}. ${ofCertificate[code] ?? "Its authority's certificate is named by sslrootcert."}`;
  if (typeof message !== "string") return undefined;
  if (/does not support SSL connections/.test(message))
    return `The PostgreSQL of DATABASE_URL does not offer TLS, which sslmode asks for.`;
  if (/SASL.*password must be a (non-empty )?string/.test(message))
    return `PostgreSQL asks for a password, and DATABASE_URL has none.`;
  if (/timeout (expired|exceeded when trying)|Connection terminated|write EPIPE|read ECONNRESET/.test(message))
    return `The PostgreSQL of DATABASE_URL did not answer in time, or hung up. Does it run, and can it be reached?`;
  return undefined;
}

/** PostgreSQL's errors have a severity, and a code of five letters and digits. */
function ofServer(failed: Failed): string | undefined {
  if (typeof failed.code !== "string" || !("severity" in failed)) return undefined;
  const hint = ofDatabase[failed.code];
  return hint === undefined ? undefined : `PostgreSQL says: ${text(failed.message)}. ${hint}`;
}

function ofFile({ code, path }: Failed): string | undefined {
  if (code === "ENOSPC") return `${text(path ?? "A file of GERBANG_DATA")} cannot be written: the disk is full.`;
  if (typeof path !== "string") return undefined;
  if (code === "EACCES" || code === "EPERM")
    return `${path} cannot be used: this user may not. Start as the user it belongs to; GERBANG_DATA names another folder.`;
  if (code === "EROFS")
    return `${path} cannot be written: its file system is read-only. GERBANG_DATA names another folder.`;
  if (code === "ENOTDIR" || code === "EEXIST")
    return `${path} cannot be made: a file is in its way. GERBANG_DATA names another folder.`;
  return undefined;
}

function text(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "?";
}
