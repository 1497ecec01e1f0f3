// Environment variables that commands name in their help. docs/guides/settings.md has all variables.

export const variables: Readonly<Record<string, string>> = {
  DATABASE_URL: "the PostgreSQL to use; without it the embedded one under GERBANG_DATA",
  MIGRATION_DATABASE_URL: "the same database as the owner of its tables (default: DATABASE_URL)",
  GERBANG_DATA: "the folder of the embedded database, demo.json and the secrets of development (default: ./.data)",
  NODE_ENV: "production demands its secrets and refuses what is weak or open (default: development)",
  PORT: "where the API listens (default: 8080)",
  HOST: "the address that the API listens on (default: 127.0.0.1)",
  BASE_URL: "the public address of the API; ends in /v1 (default: the address listened on)",
  OPS_PORT: "where the operators' API and the console listen (default: PORT + 2)",
  CONSOLE_URL: "where operators' browsers reach the console, such as https://console.example.com",
  MASTER_KEY: "32 bytes, hex or base64, that seal secrets at rest; MASTER_KEY_FILE names a file that holds it",
  MASTER_KEY_SECOND: "opens what it has sealed, while the master key is being replaced",
  OPERATOR_TOKEN: "the operator's bearer token; OPERATOR_TOKEN_FILE names a file that holds it",
  ACQUIRERS_FILE: "acquirers beyond the simulated ones (default: acquirers.json under GERBANG_DATA)",
  LOG_LEVEL: "trace to silent (default: info)",
  GERBANG_CLIENT_ID:
    "a merchant's key; needs GERBANG_SECRET, and is used in place of any profile; beside --profile it is an error",
  GERBANG_SECRET: "the secret of GERBANG_CLIENT_ID; GERBANG_SECRET_FILE names a file that holds it",
  GERBANG_BASE_URL: "where the service is that a merchant's command calls, such as https://pay.example.com/v1",
  GERBANG_PROFILE: "the profile to use where --profile names none",
  XDG_CONFIG_HOME:
    "the folder for configuration; profiles are in gerbang/profiles.json below it (default: the system's)",
  NO_COLOR: "set to anything: no colours",
};

/** Variables of commands that only read or write the database. */
export const ofDatabase = ["DATABASE_URL", "GERBANG_DATA"] as const;
