// What every room stands on: the database, the clocks, meters, secrets, and how changed settings are learnt of.
import type { Clock } from "./ground/clock.ts";
import type { Config } from "./ground/config.ts";
import { Vault } from "./ground/crypto.ts";
import type { Log } from "./ground/log.ts";
import { type Metrics, createMetrics } from "./ground/metrics.ts";
import { type Tracing, noTracing } from "./ground/tracing.ts";
import { Database } from "./store/database.ts";
import { DatabaseClock } from "./store/database-clock.ts";
import { SettingsWatch } from "./store/settings-watch.ts";
import { WriteHealth } from "./store/write-health.ts";

const CONNECTIONS = 16;

export interface FoundationOptions {
  config: Config;
  databaseUrl: string;
  masterKey: string;
  /** Opens as well, while the master key is being replaced. */
  secondMasterKey?: string | undefined;
  /** The real time. */
  clock: Clock;
  /** False where a clock is to be believed whatever the database's says, as tests need it. */
  watchClock?: boolean;
  log: Log;
  /** Where spans go; nowhere when left out. */
  tracing?: Tracing | undefined;
}

export interface Foundation {
  config: Config;
  log: Log;
  metrics: Metrics;
  tracing: Tracing;
  database: Database;
  /** The real time as this machine has it: signatures are held against it. */
  realClock: Clock;
  /** The time by which the house acts. */
  clock: Clock;
  /** The same time by a clock that runs while the machine sleeps: leases are held against it. */
  leaseClock: Clock;
  /** How far the real clock is ahead of the database's, in milliseconds. */
  skewMs: () => number;
  /** False while the clock is too far from the database's to delete anything or to end anything. */
  maySweep: () => boolean;
  /** False while the clock is too far from the database's to take requests. */
  mayServe: () => boolean;
  /** False when the database has not answered lately. */
  hears: () => boolean;
  writes: WriteHealth;
  vault: Vault;
  watch: SettingsWatch;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Lays the foundation. Nothing is asked of the database before `start`. */
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
  const database = new Database(databaseUrl, CONNECTIONS, log);
  const watched = watchClock === false ? undefined : new DatabaseClock(clock, database, log);
  const watch = new SettingsWatch(database, log);
  return {
    config,
    log,
    metrics: createMetrics(),
    tracing,
    database,
    realClock: clock,
    clock: watched ?? clock,
    leaseClock: watched?.awake ?? clock,
    skewMs: () => watched?.skewMs ?? 0,
    maySweep: () => watched?.maySweep ?? true,
    mayServe: () => watched?.mayServe ?? true,
    hears: () => watched?.hears ?? true,
    writes: new WriteHealth(database),
    vault: new Vault(masterKey, secondMasterKey),
    watch,
    async start() {
      await watched?.start();
      watch.start();
    },
    async stop() {
      watched?.stop();
      watch.stop();
      await database.end();
      await tracing.stop();
    },
  };
}
