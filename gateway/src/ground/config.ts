// Configuration: the only file that reads the service's settings from the environment. Reports all mistakes together, before anything starts.
import { resolve } from "node:path";
import { z } from "zod";
import { inPlainWords } from "./plain-words.ts";
import { readPrivateNetworks } from "./private-networks.ts";
import { exposureProblems, productionProblems } from "./safe-config.ts";
import { readSecretFiles } from "./secret-files.ts";
import { MASTER_KEY_FORM, masterKeyBytes } from "./crypto.ts";

const flag = z.enum(["true", "false"]).transform((text) => text === "true");
const PORT_MAX = 65_535;
const port = z
  .string()
  .regex(/^\d{1,5}$/, "must be a port number")
  .transform(Number)
  .refine((value) => value <= PORT_MAX, "must be a port number");
const count = z
  .string()
  .regex(/^\d{1,9}$/, "must be a whole number")
  .transform(Number);
const oneOrMore = count.refine((most) => most >= 1, "must be 1 or more");
const privateNetworks = z.string().transform((text, context) => {
  const { networks, problems } = readPrivateNetworks(text);
  for (const message of problems) context.addIssue({ code: "custom", message });
  return networks;
});
const oneHost = "must be a postgres:// URL of one host";
const databaseUrl = z
  .url({ protocol: /^postgres(ql)?$/, hostname: /^[^,]*$/, error: oneHost })
  .refine((url) => !/[?&]host=[^&]*(?:,|%2c)/i.test(url), oneHost);
const masterKey = z.string().refine((text) => masterKeyBytes(text) !== undefined, MASTER_KEY_FORM);
const token = z.string().min(24, "must have at least 24 characters");
const httpUrl = z.url({ protocol: /^https?$/, error: "must be an http or https URL", abort: true });

const variables = z.object({
  NODE_ENV: z.enum(["production", "development", "test"]).default("development"),
  PORT: port.default(8080),
  HOST: z.string().min(1).default("127.0.0.1"),
  METRICS_PORT: port.optional(),
  METRICS_HOST: z.string().min(1).default("127.0.0.1"),
  OPS_PORT: port.optional(),
  OPS_HOST: z.string().min(1).default("127.0.0.1"),
  OPS_TRUST_PROXY: count.optional(),
  GERBANG_DATA: z.string().min(1).optional(),
  DATABASE_URL: databaseUrl.optional(),
  MIGRATION_DATABASE_URL: databaseUrl.optional(),
  BASE_URL: httpUrl
    .refine((text) => text.endsWith("/v1"), { error: "must end in /v1", abort: true })
    .refine(
      (text) => /^https?:\/\/[^/?#@\s]+(\/[\w.~-]+)+$/.test(text),
      "must be an address alone, like https://pay.example.com/v1",
    )
    .transform((text) => new URL(text).href)
    .optional(),
  STATUS_URL: httpUrl.transform((text) => new URL(text).href).optional(),
  CONSOLE_URL: httpUrl
    .refine((text) => /^https?:\/\/[^/?#@]+\/?$/.test(text), "must be an origin, like https://console.example.com")
    .transform((text) => new URL(text).origin)
    .optional(),
  SECURITY_CONTACT: z
    .string()
    .max(320)
    .regex(/^(mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/, "must be a mailto: or an https: address")
    .optional(),
  SERVICE_NAME: z
    .string()
    .regex(/^[a-zA-Z0-9][a-zA-Z0-9 ._-]{0,39}$/, "must be 1 to 40 letters, digits, spaces, dots, dashes")
    .default("gerbang"),
  WEBHOOK_HEADER_PREFIX: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9-]{0,30}-$/, "must be a header prefix that ends in a dash, like X-SVC-")
    .default("X-SVC-"),
  MASTER_KEY: masterKey.optional(),
  MASTER_KEY_SECOND: masterKey.optional(),
  OPERATOR_TOKEN: token.optional(),
  OPERATOR_VIEWER_TOKEN: token.optional(),
  ACQUIRERS_FILE: z.string().min(1).optional(),
  PRODUCTION_ACTIVE: flag.default(false),
  WEBHOOK_HISTORY_DAYS: count.refine((days) => days >= 2 && days <= 3650, "must be 2 to 3650 days").default(30),
  REQUEST_LOG: flag.default(true),
  WEBHOOK_ALLOW_HOSTS: z.string().default(""),
  WEBHOOK_ALLOW_NETWORKS: privateNetworks.default([]),
  // Options in the address could switch the check of certificates off, so there are none.
  SMTP_URL: z
    .url({ protocol: /^smtps?$/, hostname: /./, error: "must be an smtp:// or smtps:// URL" })
    .regex(/^([^?#%]|%[\da-f]{2})*$/i, "must end after the host or its port, and % in the password is written %25")
    .optional(),
  SMTP_FROM: z
    .string()
    .max(320)
    .regex(/^[^\r\n]*[^@\s]+@[^@\s]+$/, "must be an e-mail address, or a name and <address>")
    .optional(),
  TRUST_PROXY: count.default(0),
  DRAIN_SECONDS: count.refine((seconds) => seconds <= 5, "must be 0 to 5 seconds").optional(),
  CONNECTIONS_PER_ADDRESS: oneOrMore.default(1024),
  UNAUTHENTICATED_LIMIT_PER_MINUTE: oneOrMore.default(6000),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional(),
  OTEL_SERVICE_NAME: z.string().min(1).max(100).optional(),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(0(\.\d{1,9})?|1(\.0{1,9})?)$/, "must be a number from 0 to 1")
    .transform(Number)
    .default(1),
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
});

export interface Config {
  mode: "production" | "development" | "test";
  port: number;
  host: string;
  metrics: { port: number | undefined; host: string };
  /** Address of the operator API's listener, and the number of proxies in front of it. */
  operator: { port: number; host: string; trustProxy: number };
  dataDirectory: string;
  databaseUrl: string | undefined;
  migrationDatabaseUrl: string | undefined;
  /** Ends in /v1; when undefined, derived from the address of the listener. */
  baseUrl: string | undefined;
  /** Address of the status page, when the service's own is not used. */
  statusUrl: string | undefined;
  /** Origin at which operators' browsers reach the console; undefined: the address of the listener, and none in production. */
  consoleUrl: string | undefined;
  /** Contact for reports of vulnerabilities; when undefined there is no security.txt. */
  securityContact: string | undefined;
  serviceName: string;
  webhookHeaderPrefix: string;
  masterKey: string | undefined;
  /** The other master key while the master key is being replaced: opens the secrets that it has sealed. */
  secondMasterKey: string | undefined;
  operatorToken: string | undefined;
  /** Token that may read everything under /ops/v1 and change nothing; undefined when there is no such token. */
  operatorViewerToken: string | undefined;
  /** File of the acquirers; when undefined, `<data>/acquirers.json` if it exists. */
  acquirersFile: string | undefined;
  productionActive: boolean;
  /** Days for which events and their delivery attempts are kept. */
  webhookHistoryDays: number;
  /** Whether requests of merchants' systems are logged for their developers. */
  requestLog: boolean;
  webhookAllowHosts: ReadonlySet<string>;
  /** Private networks that webhooks may be sent to, in the form of `readPrivateNetworks`. */
  webhookAllowNetworks: readonly string[];
  /** The mail server that sends invitations; when undefined, the inviter hands the link over. */
  mail: { url: string; from: string } | undefined;
  /** Connections that one IPv4 address, or one /64 of IPv6, may hold. No effect behind a proxy. */
  connectionsPerAddress: number;
  unauthenticatedLimitPerMinute: number;
  /** Seconds for which requests are still accepted after the signal to stop, so that proxies notice the stop. */
  drainSeconds: number;
  /** Number of proxies in front of the service. */
  trustProxy: number;
  logLevel: string;
  /** Receiver of traces, by OTLP over HTTP; undefined: traces are off. `ratio`: the part of the traces that is kept, 0 to 1. */
  tracing: { endpoint: string; serviceName: string; ratio: number } | undefined;
}

/** The settings that name files. They are known even when other variables are wrong. */
export type FilesOfConfig = Pick<Config, "dataDirectory" | "acquirersFile"> & { production: boolean };

/** Problems of the ports: the operators' is none, or two listeners have the same one of one address. */
function portProblems(value: z.output<typeof variables>): string[] {
  const { PORT, HOST, METRICS_PORT = PORT + 1, METRICS_HOST, OPS_PORT = PORT + 2, OPS_HOST } = value;
  if (METRICS_PORT > PORT_MAX) return ["METRICS_PORT: give one, PORT + 1 is no port number"];
  if (OPS_PORT > PORT_MAX) return ["OPS_PORT: give one, PORT + 2 is no port number"];
  const listeners = [
    ["PORT", PORT, HOST],
    ["METRICS_PORT (PORT + 1 unless given)", METRICS_PORT, METRICS_HOST],
    ["OPS_PORT (PORT + 2 unless given)", OPS_PORT, OPS_HOST],
  ] as const;
  return listeners.flatMap(([name, port, host], at) =>
    listeners
      .slice(0, at)
      .filter((other) => port !== 0 && other[1] === port && other[2] === host)
      .map(([other]) => `${other} and ${name}: each needs its own, not port ${port} of ${host}`),
  );
}

export class ConfigError extends Error {
  override name = "ConfigError";
}

/**
 * Reads and cross-checks the environment. Throws one `ConfigError` that lists every mistake, including those that `checkFiles` finds in the
 * files that the environment names. `needs`: with "database" the secrets of the service are not required, for commands that only read.
 */
export function readConfig(
  environment: Record<string, string | undefined> = process.env,
  checkFiles: (files: FilesOfConfig) => readonly string[] = () => [],
  needs: "service" | "database" = "service",
): Config {
  const { given, problems: problemsOfFiles } = readSecretFiles(
    Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== "")),
  );
  const parsed = variables.safeParse(given, inPlainWords);
  const wrong = parsed.success ? [] : parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);
  const problems = [...problemsOfFiles, ...wrong, ...exposureProblems(given)];
  if (given.NODE_ENV === "production") problems.push(...productionProblems(given, needs));
  for (const [name, other] of Object.entries({
    OPERATOR_VIEWER_TOKEN: "OPERATOR_TOKEN",
    MASTER_KEY_SECOND: "MASTER_KEY",
  }))
    if (given[name] !== undefined && given[name] === given[other]) problems.push(`${name}: must differ from ${other}`);
  if (parsed.success) problems.push(...portProblems(parsed.data));
  if ((given.SMTP_URL === undefined) !== (given.SMTP_FROM === undefined))
    problems.push("SMTP_URL and SMTP_FROM: belong together, give both or neither");
  const files: FilesOfConfig = {
    dataDirectory: resolve(given.GERBANG_DATA ?? "./.data"),
    acquirersFile: given.ACQUIRERS_FILE === undefined ? undefined : resolve(given.ACQUIRERS_FILE),
    production: given.NODE_ENV === "production",
  };
  problems.push(...checkFiles(files));
  if (problems.length > 0 || !parsed.success) {
    throw new ConfigError(`The configuration has mistakes:\n${problems.map((line) => `  - ${line}`).join("\n")}`);
  }
  const value = parsed.data;
  return {
    mode: value.NODE_ENV,
    port: value.PORT,
    host: value.HOST,
    metrics: { port: value.METRICS_PORT, host: value.METRICS_HOST },
    operator: {
      port: value.OPS_PORT ?? (value.PORT === 0 ? 0 : value.PORT + 2),
      host: value.OPS_HOST,
      trustProxy: value.OPS_TRUST_PROXY ?? value.TRUST_PROXY,
    },
    dataDirectory: files.dataDirectory,
    databaseUrl: value.DATABASE_URL,
    migrationDatabaseUrl: value.MIGRATION_DATABASE_URL,
    baseUrl: value.BASE_URL,
    statusUrl: value.STATUS_URL,
    consoleUrl: value.CONSOLE_URL,
    securityContact: value.SECURITY_CONTACT,
    serviceName: value.SERVICE_NAME,
    webhookHeaderPrefix: value.WEBHOOK_HEADER_PREFIX,
    masterKey: value.MASTER_KEY,
    secondMasterKey: value.MASTER_KEY_SECOND,
    operatorToken: value.OPERATOR_TOKEN,
    operatorViewerToken: value.OPERATOR_VIEWER_TOKEN,
    acquirersFile: files.acquirersFile,
    productionActive: value.PRODUCTION_ACTIVE,
    webhookHistoryDays: value.WEBHOOK_HISTORY_DAYS,
    requestLog: value.REQUEST_LOG,
    webhookAllowHosts: new Set(value.WEBHOOK_ALLOW_HOSTS.toLowerCase().match(/[^\s,]+/g)),
    webhookAllowNetworks: value.WEBHOOK_ALLOW_NETWORKS,
    mail:
      value.SMTP_URL === undefined || value.SMTP_FROM === undefined
        ? undefined
        : { url: value.SMTP_URL, from: value.SMTP_FROM },
    connectionsPerAddress: value.CONNECTIONS_PER_ADDRESS,
    unauthenticatedLimitPerMinute: value.UNAUTHENTICATED_LIMIT_PER_MINUTE,
    drainSeconds: value.DRAIN_SECONDS ?? (value.NODE_ENV === "production" ? 3 : 0),
    trustProxy: value.TRUST_PROXY,
    logLevel: value.LOG_LEVEL,
    tracing:
      value.OTEL_EXPORTER_OTLP_ENDPOINT === undefined
        ? undefined
        : {
            endpoint: value.OTEL_EXPORTER_OTLP_ENDPOINT,
            serviceName: value.OTEL_SERVICE_NAME ?? value.SERVICE_NAME,
            ratio: value.OTEL_TRACES_SAMPLER_ARG,
          },
  };
}
