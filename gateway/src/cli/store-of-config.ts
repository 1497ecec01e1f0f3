// Where the command line finds its database: an outside one, or the embedded one, running or not.
import type { Config } from "../ground/config.ts";
import { startEmbedded } from "../store/embedded.ts";
import { say } from "./say.ts";

export interface Store {
  url: string;
  ownerUrl: string;
  /** Starts the embedded server again if it died. */
  revive(): Promise<boolean>;
  close(): Promise<void>;
}

/** The database of the configuration: an outside one, or the embedded one, running or not. */
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
  if (!embedded.directory.startsWith(config.dataDirectory)) {
    say(`PostgreSQL cannot reach ${config.dataDirectory} as an ordinary user; its files are in ${embedded.directory}`);
  }
  return {
    url: embedded.url,
    ownerUrl: embedded.ownerUrl,
    revive: () => embedded.revive(),
    close: () => embedded.stop(),
  };
}
