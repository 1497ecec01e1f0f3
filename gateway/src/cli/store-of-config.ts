// Opens the database for the command line: an external one, or the embedded one, running or not.
import { existsSync, readdirSync } from "node:fs";
import { type Config, ConfigError } from "../ground/config.ts";
import { Fault } from "../ground/fault.ts";
import { createLog } from "../ground/log.ts";
import { Database } from "../store/database.ts";
import { hasCluster, startEmbedded } from "../store/embedded.ts";
import { demandSchema } from "../store/migrations.ts";
import { say } from "./say.ts";

export interface Store {
  url: string;
  ownerUrl: string;
  /** Starts the embedded server again if it died. */
  revive(): Promise<boolean>;
  close(): Promise<void>;
}

/** Opens the configured database. `own`: this process is responsible for the embedded server. */
export async function openStore(config: Config, own: boolean): Promise<Store> {
  if (config.databaseUrl !== undefined) {
    return {
      url: config.databaseUrl,
      ownerUrl: config.migrationDatabaseUrl ?? config.databaseUrl,
      revive: () => Promise.resolve(false),
      close: () => Promise.resolve(),
    };
  }
  const embedded = await startEmbedded(config.dataDirectory, own);
  if (!embedded.directory.startsWith(config.dataDirectory))
    say(`PostgreSQL cannot reach ${config.dataDirectory} as an ordinary user; its files are in ${embedded.directory}`);
  return { ...embedded, close: () => embedded.stop() };
}

/**
 * Runs a command on existing data, and gives its exit code: 1 for a `Fault`, whose message is printed. It makes no database and no folder, and
 * changes no schema. Throws `ConfigError` when there is no database yet, or when its schema is of another version.
 */
export async function withDatabase(
  config: Config,
  work: (database: Database) => Promise<number>,
  options: { queryTimeoutMs?: number } = {},
): Promise<number> {
  const store = await openExistingStore(config);
  const database = new Database(store.url, 2, createLog(config.logLevel), options);
  try {
    return await work(database);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    say(error.message);
    return 1;
  } finally {
    await database.end();
    await store.close();
  }
}

async function openExistingStore(config: Config): Promise<Store> {
  // To another user, who may not read this folder, it would seem to have no database.
  if (config.databaseUrl === undefined && existsSync(config.dataDirectory)) readdirSync(config.dataDirectory);
  if (config.databaseUrl === undefined && !hasCluster(config.dataDirectory))
    throw new ConfigError(
      `There is no database under ${config.dataDirectory}. Start the service once (npm start); GERBANG_DATA names another folder, DATABASE_URL another database.`,
    );
  const store = await openStore(config, false);
  await demandSchema(store.url).catch(async (error: unknown) => {
    await store.close();
    throw error;
  });
  return store;
}
