// What the service says of itself as it starts and stops: words to a person at a terminal, lines of the log to everybody else.
import type { Config } from "../ground/config.ts";
import type { Log } from "../ground/log.ts";
import { version } from "../ground/version.ts";
import type { DemoFile } from "./demo-merchant.ts";
import { explain } from "./failures.ts";
import { type Addresses, greeting } from "./greeting.ts";
import { say } from "./say.ts";

export interface Announcer {
  /** `first`: a database has to be made. */
  starting(roles: ReadonlySet<string>, first: boolean): void;
  metricsOff(port: number): void;
  ready(addresses: Addresses, demo: DemoFile | undefined): void;
  stopping(): void;
  /** What is under way takes longer than a stop may. */
  stoppingLate(): void;
  /** The start came to nothing; the command line says why to a person. */
  failed(error: unknown): void;
}

const LATE = "some work did not end in time; it is safe in the database and goes on at the next start";

/** Words on standard error at a terminal in development; else, and always in production, the log, from its first line. */
export function announcer(config: Config, log: Log, isTerminal: boolean = process.stderr.isTTY): Announcer {
  return isTerminal && config.mode === "development" ? toPerson(config) : toLog(log);
}

function toPerson(config: Config): Announcer {
  return {
    starting(_roles, first) {
      if (config.databaseUrl === undefined)
        say(first ? "First start: preparing PostgreSQL …" : "Starting PostgreSQL …");
    },
    metricsOff: (port) => say(`Metrics are off: port ${port} is taken. Set METRICS_PORT to another one.`),
    ready: (addresses, demo) => say(greeting(config, addresses, demo)),
    stopping: () => say("Stopping …"),
    stoppingLate: () => say(`${LATE[0]?.toUpperCase()}${LATE.slice(1)}.`),
    failed: () => undefined,
  };
}

/** No line has a secret: those of the demo merchant are in demo.json alone. */
function toLog(log: Log): Announcer {
  return {
    starting: (roles) => log.info({ version, node: process.versions.node, roles: [...roles] }, "starting"),
    metricsOff: (port) => log.warn({ port }, "metrics are off: their port is taken"),
    ready: ({ baseUrl, opsUrl, metrics }) =>
      log.info({ base_url: baseUrl, ops_url: opsUrl, metrics_url: metrics ?? null }, "ready"),
    stopping: () => log.info("stopping"),
    stoppingLate: () => log.warn(LATE),
    failed(error) {
      const reason = explain(error);
      log.fatal(reason === undefined ? { err: error } : { reason }, "the service could not start");
    },
  };
}
