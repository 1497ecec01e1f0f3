// The parts that every room uses: the database, the clocks, metrics, the vault of secrets, and the watch for changed settings.
import { type Clock, stopwatchMs } from "./ground/clock.ts";
import type { Config } from "./ground/config.ts";
import { Vault } from "./ground/crypto.ts";
import type { Log } from "./ground/log.ts";
import { type Metrics, createMetrics } from "./ground/metrics.ts";
import { type Tracing, noTracing } from "./ground/tracing.ts";
import { Database } from "./store/database.ts";
import { DatabaseClock } from "./store/database-clock.ts";
import { SettingsWatch } from "./store/settings-watch.ts";
import { WriteHealth } from "./store/write-health.ts";

/**
 * Connections of a process: `main` for merchants' and payers' requests and the worker, others for the portal, and others for operators and the console. However
 * slow the requests of one are, they take none of the others.
 */
const CONNECTIONS = { main: 16, portal: 6, operators: 4 };
/** How long a missing master key counts after a secret could not be opened, and the time between two lines of the log about it. */
const MISSING_MS = 60_000;

export interface FoundationOptions {
  config: Config;
  databaseUrl: string;
  masterKey: string;
  /** A second key that opens sealed secrets while the master key is being replaced. */
  secondMasterKey?: string | undefined;
  /** Real time. */
  clock: Clock;
  /** False where the clock is trusted even when it differs from the database's, as in tests. */
  watchClock?: boolean;
  log: Log;
  /** Receives the spans; tracing is off when absent. */
  tracing?: Tracing | undefined;
}

export interface Foundation {
  config: Config;
  log: Log;
  metrics: Metrics;
  tracing: Tracing;
  database: Database;
  /** The same database, through connections of their own. */
  databases: Record<"portal" | "operators", Database>;
  /** Real time by this machine's clock, with which the timestamps of signatures are compared. */
  realClock: Clock;
  /** Time by which the service acts. */
  clock: Clock;
  /** The same time by a clock that goes on while the machine sleeps, for leases. */
  leaseClock: Clock;
  /** Milliseconds by which the real clock is ahead of the database's. */
  skewMs: () => number;
  /** False while the clock differs too much from the database's to delete or expire anything. */
  maySweep: () => boolean;
  /** False while the clock differs too much from the database's to accept requests. */
  mayServe: () => boolean;
  /** False when the database has not answered lately. */
  hears: () => boolean;
  writes: WriteHealth;
  /** False while secrets are met that another master key has sealed. */
  opensSecrets: () => boolean;
  vault: Vault;
  watch: SettingsWatch;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Makes the foundation. It sends no query before `start`. */
export function layFoundation({
  config,
  databaseUrl,
  masterKey,
  secondMasterKey,
  clock,
  watchClock,
  log,
  tracing = noTracing,
}: FoundationOptions): Foundation {
  const database = new Database(databaseUrl, CONNECTIONS.main, log);
  const portal = new Database(databaseUrl, CONNECTIONS.portal, log);
  const operators = new Database(databaseUrl, CONNECTIONS.operators, log);
  const watched = watchClock === false ? undefined : new DatabaseClock(clock, database, log);
  const watch = new SettingsWatch(database, log);
  const vault = new Vault(masterKey, secondMasterKey);
  let missingAt = -Infinity;
  const opensSecrets = (): boolean => stopwatchMs() - missingAt > MISSING_MS;
  vault.onMissing = (keyId) => {
    if (!opensSecrets()) return;
    missingAt = stopwatchMs();
    log.error({ key_id: keyId }, "a master key is missing here that has sealed secrets");
  };
  return {
    config,
    log,
    metrics: createMetrics(),
    tracing,
    database,
    databases: { portal, operators },
    realClock: clock,
    clock: watched ?? clock,
    leaseClock: watched?.awake ?? clock,
    skewMs: () => watched?.skewMs ?? 0,
    maySweep: () => watched?.maySweep ?? true,
    mayServe: () => watched?.mayServe ?? true,
    hears: () => watched?.hears ?? true,
    writes: new WriteHealth(database),
    opensSecrets,
    vault,
    watch,
    async start() {
      await database.demandPrepared();
      await watched?.start();
      watch.start();
    },
    async stop() {
      watched?.stop();
      await watch.stop();
      await Promise.all([database, portal, operators].map((pool) => pool.end()));
      await tracing.stop();
    },
  };
}
