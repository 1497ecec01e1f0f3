// Announces the start and the stop of the service: sentences to a person at a terminal, otherwise lines of the log.
import { join } from "node:path";
import type { Config } from "../ground/config.ts";
import type { Log } from "../ground/log.ts";
import { version } from "../ground/version.ts";
import type { DemoFile } from "./demo-merchant.ts";
import { explain } from "./failures.ts";
import { type Addresses, docsOf, greeting } from "./greeting.ts";
import { say } from "./say.ts";

export interface Announcer {
  /** `first`: the embedded database does not exist yet. */
  starting(roles: ReadonlySet<string>, first: boolean): void;
  /** The metrics cannot be served: `error` of the listener. */
  metricsOff(error: unknown): void;
  ready(addresses: Addresses, demo: DemoFile | undefined): void;
  stopping(why: string): void;
  /** Work in progress takes longer than a stop may take. */
  stoppingLate(): void;
  /** The start failed. The command line tells a person why. */
  failed(error: unknown): void;
}

const LATE = "some work did not end in time; it is safe in the database and goes on at the next start";

/** Sentences on standard error at a terminal in development; otherwise, and always in production, log lines from the first one on. */
export function announcer(config: Config, log: Log, isTerminal: boolean = process.stderr.isTTY): Announcer {
  return isTerminal && config.mode === "development" ? toPerson(config) : toLog(log, config);
}

function toPerson(config: Config): Announcer {
  return {
    starting(_roles, first) {
      if (config.databaseUrl === undefined)
        say(first ? "First start: preparing PostgreSQL …" : "Starting PostgreSQL …");
    },
    metricsOff: (error) => say(`Metrics are off. ${explain(error) ?? String(error)}`),
    ready: (addresses, demo) => say(greeting(config, addresses, demo)),
    stopping: () => say("Stopping …"),
    stoppingLate: () => say(`${LATE[0]?.toUpperCase()}${LATE.slice(1)}.`),
    failed: () => undefined,
  };
}

/** No log line contains a secret: the demo merchant's secrets are in demo.json only. */
function toLog(log: Log, { dataDirectory }: Config): Announcer {
  return {
    starting: (roles) => log.info({ version, node: process.versions.node, roles: [...roles] }, "starting"),
    metricsOff: (error) => log.warn({ reason: explain(error) ?? String(error) }, "metrics are off"),
    ready({ baseUrl, opsUrl, metrics }, demo) {
      const addresses = { base_url: baseUrl, ops_url: opsUrl, docs_url: docsOf(baseUrl), metrics_url: metrics ?? null };
      log.info(demo ? { ...addresses, demo_file: join(dataDirectory, "demo.json") } : addresses, "ready");
    },
    stopping: (why) => log.info({ why }, "stopping"),
    stoppingLate: () => log.warn(LATE),
    failed(error) {
      const reason = explain(error);
      log.fatal(reason === undefined ? { err: error } : { reason }, "the service could not start");
    },
  };
}
