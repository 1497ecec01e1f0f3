// Safety rules of a configuration: only production may be reachable from other machines, and production needs safe settings. Pure.
import { masterKeyBytes } from "./crypto.ts";

type Given = Readonly<Record<string, string | undefined>>;

const LOOPBACK = /^(127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1|\[::1\]|localhost)$/i;
const SECRETS = ["OPERATOR_TOKEN", "OPERATOR_VIEWER_TOKEN", "MASTER_KEY", "MASTER_KEY_SECOND"];
const HTTPS = ["BASE_URL", "STATUS_URL"];

/** Problems of a configuration that listens beyond this machine, or takes real money, without the rules of production. */
export function exposureProblems(given: Given): string[] {
  if (given.NODE_ENV === "production") return [];
  const problems = ["HOST", "METRICS_HOST", "OPS_HOST"]
    .filter((name) => given[name] !== undefined && !LOOPBACK.test(given[name]))
    .map((name) => `${name}: listening beyond this machine needs NODE_ENV=production`);
  if (given.PRODUCTION_ACTIVE === "true")
    problems.push("PRODUCTION_ACTIVE: taking real payments needs NODE_ENV=production");
  return problems;
}

/** Problems of a configuration for production. `needs`: with "database" the secrets of the service are not required. */
export function productionProblems(given: Given, needs: "service" | "database"): string[] {
  const required = [...(needs === "service" ? ["MASTER_KEY", "OPERATOR_TOKEN", "BASE_URL"] : []), "DATABASE_URL"];
  const problems = required
    .filter((name) => given[name] === undefined && given[`${name}_FILE`] === undefined)
    .map((name) => `${name}: is required when NODE_ENV=production`);
  if (given.WEBHOOK_ALLOW_HOSTS !== undefined) problems.push("WEBHOOK_ALLOW_HOSTS: is for development only");
  for (const name of HTTPS)
    if (given[name]?.startsWith("http:")) problems.push(`${name}: must be https when NODE_ENV=production`);
  if (given.CONSOLE_URL !== undefined && isPlainBeyondLoopback(given.CONSOLE_URL))
    problems.push("CONSOLE_URL: must be https when NODE_ENV=production, or http://localhost at the end of a tunnel");
  for (const name of SECRETS) {
    const text = given[name] ?? "";
    const secret = name.startsWith("MASTER") ? masterKeyBytes(text)?.toString("latin1") : text;
    if (secret && isWeak(secret)) problems.push(`${name}: is too easy to guess; make one with: openssl rand -hex 32`);
  }
  if (given.NODE_TLS_REJECT_UNAUTHORIZED === "0")
    problems.push(
      "NODE_TLS_REJECT_UNAUTHORIZED: certificates have to be checked; name your own by NODE_EXTRA_CA_CERTS",
    );
  for (const name of ["DATABASE_URL", "MIGRATION_DATABASE_URL"]) {
    const problem = given[name] === undefined ? undefined : databaseTlsProblem(given[name]);
    if (problem !== undefined) problems.push(`${name}: ${problem}`);
  }
  return problems;
}

function isPlainBeyondLoopback(address: string): boolean {
  return URL.canParse(address) && address.startsWith("http:") && !LOOPBACK.test(new URL(address).hostname);
}

/** The problem of a database's TLS settings. For a database on another machine its certificate must be checked, or TLS switched off explicitly. */
function databaseTlsProblem(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined; // the schema in config.ts rejects it
  const { hostname, searchParams } = new URL(address);
  const mode = searchParams.get("sslmode");
  if (mode === "no-verify") return "sslmode=no-verify checks no certificate; use sslmode=verify-full and sslrootcert";
  const host = searchParams.get("host") ?? hostname;
  if (host === "" || host.startsWith("/") || LOOPBACK.test(host)) return undefined;
  if (mode === "verify-full" || mode === "disable") return undefined;
  return `its host ${host} is another machine: use sslmode=verify-full and sslrootcert, or say sslmode=disable where the network itself is safe`;
}

/** True for text with few different characters, and for a repeated shorter text. Random text of 24 characters or 32 bytes is neither. */
function isWeak(text: string): boolean {
  if (new Set(text).size < 8) return true;
  // A text is a repetition exactly when it occurs in its own double at a position other than its start and its end.
  return `${text}${text}`.indexOf(text, 1) < text.length;
}
