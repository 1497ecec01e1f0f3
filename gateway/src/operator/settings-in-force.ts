// The configuration with which this process runs, for operators: each setting under its environment variable. Of a secret, only whether it is set.
import type { Config } from "../ground/config.ts";

interface SettingInForce {
  name: string;
  /** The value as text; null when it is not set. */
  value: string | null;
  /** True when the value is hidden and reads `set`. */
  secret: boolean;
}

type Shown = string | number | boolean | undefined;
const shown = (name: string, value: Shown): SettingInForce => ({
  name,
  value: value === undefined || value === "" ? null : String(value),
  secret: false,
});
/** Shows only whether a value is set: addresses of databases and mail servers contain passwords. */
const hidden = (name: string, value: unknown): SettingInForce => ({
  name,
  value: value === undefined ? null : "set",
  secret: true,
});

/** The settings of each part of the configuration. A part that is missing here does not compile. */
const parts: { [Part in keyof Config]-?: (value: Config[Part]) => SettingInForce[] } = {
  mode: (mode) => [shown("NODE_ENV", mode)],
  host: (host) => [shown("HOST", host)],
  port: (port) => [shown("PORT", port)],
  baseUrl: (url) => [shown("BASE_URL", url)],
  statusUrl: (url) => [shown("STATUS_URL", url)],
  consoleUrl: (url) => [shown("CONSOLE_URL", url)],
  operator: ({ host, port, trustProxy }) => [
    shown("OPS_HOST", host),
    shown("OPS_PORT", port),
    shown("OPS_TRUST_PROXY", trustProxy),
  ],
  metrics: ({ host, port }) => [shown("METRICS_HOST", host), shown("METRICS_PORT", port)],
  serviceName: (name) => [shown("SERVICE_NAME", name)],
  productionActive: (active) => [shown("PRODUCTION_ACTIVE", active)],
  dataDirectory: (folder) => [shown("GERBANG_DATA", folder)],
  databaseUrl: (url) => [hidden("DATABASE_URL", url)],
  migrationDatabaseUrl: (url) => [hidden("MIGRATION_DATABASE_URL", url)],
  masterKey: (key) => [hidden("MASTER_KEY", key)],
  secondMasterKey: (key) => [hidden("MASTER_KEY_SECOND", key)],
  operatorToken: (token) => [hidden("OPERATOR_TOKEN", token)],
  operatorViewerToken: (token) => [hidden("OPERATOR_VIEWER_TOKEN", token)],
  acquirersFile: (file) => [shown("ACQUIRERS_FILE", file)],
  webhookHeaderPrefix: (prefix) => [shown("WEBHOOK_HEADER_PREFIX", prefix)],
  webhookHistoryDays: (days) => [shown("WEBHOOK_HISTORY_DAYS", days)],
  webhookAllowHosts: (hosts) => [shown("WEBHOOK_ALLOW_HOSTS", [...hosts].join(","))],
  webhookAllowNetworks: (networks) => [shown("WEBHOOK_ALLOW_NETWORKS", networks.join(","))],
  mail: (mail) => [hidden("SMTP_URL", mail?.url), shown("SMTP_FROM", mail?.from)],
  requestLog: (kept) => [shown("REQUEST_LOG", kept)],
  trustProxy: (proxies) => [shown("TRUST_PROXY", proxies)],
  connectionsPerAddress: (most) => [shown("CONNECTIONS_PER_ADDRESS", most)],
  unauthenticatedLimitPerMinute: (most) => [shown("UNAUTHENTICATED_LIMIT_PER_MINUTE", most)],
  drainSeconds: (seconds) => [shown("DRAIN_SECONDS", seconds)],
  securityContact: (contact) => [shown("SECURITY_CONTACT", contact)],
  logLevel: (level) => [shown("LOG_LEVEL", level)],
  // A collector's address may name the account that pays for it.
  tracing: (tracing) => [
    hidden("OTEL_EXPORTER_OTLP_ENDPOINT", tracing?.endpoint),
    shown("OTEL_SERVICE_NAME", tracing?.serviceName),
    shown("OTEL_TRACES_SAMPLER_ARG", tracing?.ratio),
  ],
};

/** Every setting, in the order of the guide, without secret values. */
export function settingsInForce(config: Config): SettingInForce[] {
  return (Object.keys(parts) as (keyof Config)[]).flatMap((part) =>
    (parts[part] as (value: unknown) => SettingInForce[])(config[part]),
  );
}
