// The command `gerbang serve`: starts the service, and stops it in order.
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import type { FastifyInstance } from "fastify";
import { acquirersFileOf, readConfigAndAcquirers } from "./acquirers-of-config.ts";
import { type App, createApp } from "../app.ts";
import { type Announcer, announcer } from "./announcer.ts";
import { prepareDemo } from "./demo-merchant.ts";
import type { OpenAcquirer } from "../providers/profile.ts";
import { stopwatchMs, systemClock } from "../ground/clock.ts";
import { withDeadline } from "../ground/deadline.ts";
import { type Config, ConfigError } from "../ground/config.ts";
import { type Log, createLog } from "../ground/log.ts";
import { type LogOutput, standardOutput } from "../ground/log-output.ts";
import { whySignalled } from "../ground/parent.ts";
import { openTracing } from "../ground/tracing.ts";
import { version } from "../ground/version.ts";
import { serveMetrics } from "./metrics-listener.ts";
import { type Secrets, readSecrets } from "./secrets.ts";
import { type Store, openStore } from "./store-of-config.ts";
import { hasCluster } from "../store/embedded.ts";
import { roleProblem } from "../store/role-check.ts";
import { migrate } from "../store/migrations.ts";
import { type DeliveryTiming, deliveryTiming } from "../webhooks/timing.ts";

const GUARD_MS = 2_000;
/** Time from the signal to the end of work in progress. With the steps after it, a stop takes less than the ten seconds that it may take. */
const STOP_WITHIN_MS = 9_000;
/** Signals within this time count as one. */
const AGAIN_MS = 1_000;
/** Maximum part of STOP_WITHIN_MS for work in progress. */
const FINISH_WITHIN_MS = 7_000;
/** Part of it that clients, acquirers and webhook calls leave: then deliveries are released, and logs and measurements are written. */
const RELEASE_MS = 500;

// By default the heap grows by half of itself before it is collected: 350 MiB under load where 60 are in use. A quarter costs no throughput that
// could be measured, and keeps the process near 230.
setFlagsFromString("--heap-growing-percent=25");

/** The times of a service. Tests pass shorter ones. */
export interface ServeTiming {
  delivery?: DeliveryTiming;
  /** Interval between two checks that the embedded PostgreSQL still runs. */
  guardMs?: number;
}

export async function serveCommand(
  { role }: { role: "api" | "worker" | undefined },
  timing: ServeTiming = {},
): Promise<number> {
  const { stop, stopAgain } = stopSignals();
  const { config, acquirers } = readOrLog();
  const output = standardOutput();
  const log = createLog(config.logLevel, output);
  output.sayLost(log);
  const announce = announcer(config, log);
  const roles = new Set<"api" | "worker">(role === undefined ? ["api", "worker"] : [role]);
  announce.starting(roles, config.databaseUrl === undefined && !hasCluster(config.dataDirectory));
  try {
    const secrets = readSecrets(config);
    // The embedded server may take long to start, as after a crash. It goes on by itself where the service stops waiting.
    const waited = stop.then(() => Promise.race([pause(FINISH_WITHIN_MS, undefined, { ref: false }), stopAgain]));
    const store = await Promise.race([openStore(config, true), waited]);
    if (!store) return 0;
    try {
      await serve({ config, acquirers, secrets, store, roles, stop, stopAgain, timing, output, log, announce });
    } finally {
      await store.close();
    }
  } catch (error) {
    announce.failed(error);
    throw error;
  } finally {
    // Sockets to slow receivers may still be open, or a connection to a database that does not answer: no work depends on them.
    setTimeout(() => process.exit(), 300).unref();
  }
  return 0;
}

/** Reads the configuration. A mistake in it goes to the log as well, unless a person at a terminal reads the words. */
function readOrLog(): ReturnType<typeof readConfigAndAcquirers> {
  try {
    return readConfigAndAcquirers();
  } catch (error) {
    if (error instanceof ConfigError && !process.stderr.isTTY)
      createLog("info").fatal({ reason: error.message }, "the service could not start");
    throw error;
  }
}

interface ServeParts {
  config: Config;
  acquirers: readonly OpenAcquirer[];
  secrets: Secrets;
  store: Store;
  roles: ReadonlySet<"api" | "worker">;
  /** Resolves with the reason when the service is told to stop. */
  stop: Promise<string>;
  /** Resolves when the service is told to stop a second time: it then stops waiting for clients. */
  stopAgain: Promise<void>;
  timing: ServeTiming;
  output: LogOutput;
  log: Log;
  announce: Announcer;
}

async function serve(parts: ServeParts): Promise<void> {
  const { store, stop, timing, log } = parts;
  // The owner of an external database migrates it. This call succeeds if the owner's address is configured, or if nothing is left to do.
  const stopped = stop.then(() => true);
  if (await Promise.race([migrate(store.ownerUrl).then(() => false), stopped])) return;
  // The check starts here, because a short command that had started the embedded server may stop it just after this process has joined it.
  const guardian = setInterval(() => {
    store.revive().then(
      (revived) => revived && log.warn("the embedded PostgreSQL had died and was started again"),
      (error: unknown) => log.error({ err: error }, "the embedded PostgreSQL is down and does not start"),
    );
  }, timing.guardMs ?? GUARD_MS);
  const relieve = (): void => clearInterval(guardian);
  void stop.then(relieve);
  await run(parts).finally(relieve);
}

async function run(parts: ServeParts): Promise<void> {
  const { config, acquirers, secrets, store, roles, stop, stopAgain, timing, output, log, announce } = parts;
  const tracing = await openTracing(config.tracing && { ...config.tracing, version }, log);
  const drainMs = roles.has("api") ? config.drainSeconds * 1_000 : 0;
  const finishMs = Math.min(FINISH_WITHIN_MS, STOP_WITHIN_MS - drainMs);
  const { delivery = deliveryTiming } = timing;
  const app = createApp({
    config,
    databaseUrl: store.url,
    ...secrets,
    clock: systemClock,
    log,
    tracing,
    roles,
    acquirers,
    deliveryTiming: { ...delivery, stopMs: Math.min(delivery.stopMs, finishMs - RELEASE_MS) },
  });
  output.onLost(() => app.metrics.logLinesLost.inc());
  let metrics: { address: string; close(): void } | undefined;
  try {
    // The start may wait for the database. A signal to stop ends this wait.
    const stopped = stop.then(() => true);
    // Nothing in the database would bind a role that may do more than the service needs.
    const problem = config.mode === "production" ? await roleProblem(app.database) : undefined;
    if (problem !== undefined) throw new ConfigError(problem);
    if (config.mode === "production" && !acquirers.some(({ environment }) => environment === "production"))
      log.warn(
        { acquirers_file: acquirersFileOf(config) },
        "no acquirer takes real payments: list one in this file, and set PRODUCTION_ACTIVE=true",
      );
    // Making the contracts keeps the process busy for seconds: nothing that runs may wait for it. In development the first request for one makes them.
    if (config.mode === "production") for (const make of Object.values(app.contracts)) make();
    if (await Promise.race([app.start().then(() => false), stopped])) return;
    metrics = await serveMetrics(app, config, announce, log);
    await app.server.listen({ port: config.port, host: config.host });
    const baseUrl = config.baseUrl ?? `${rootOf(app.server)}/v1`;
    app.setBaseUrl(baseUrl);
    await app.operatorServer.listen({ port: config.operator.port, host: config.operator.host });
    const operatorRoot = rootOf(app.operatorServer);
    app.setOperatorRoot(operatorRoot);
    const opsUrl = `${operatorRoot}/ops/v1`;
    const demo =
      config.mode === "production"
        ? undefined
        : await prepareDemo(app, config.dataDirectory, { baseUrl, opsUrl }, secrets.operatorToken);
    app.ready();
    announce.ready({ baseUrl, opsUrl, metrics: metrics?.address }, demo);
    announce.stopping(await stop);
    if (roles.has("api")) await drain(app, drainMs, stopAgain);
  } finally {
    metrics?.close();
    await withDeadline(app.stop(finishMs - RELEASE_MS), finishMs, () => announce.stoppingLate());
    await Promise.all(acquirers.map((acquirer) => acquirer.close()));
  }
}

function rootOf({ server }: FastifyInstance): string {
  const { address, port } = server.address() as AddressInfo;
  return `http://${address.includes(":") ? `[${address}]` : address}:${port}`;
}

/**
 * Listens for SIGTERM, SIGINT, and the SIGHUP of a terminal that was closed. A signal right after the first is the same request: a supervisor
 * may signal a whole process group, and the parent passes its signal on.
 */
function stopSignals(): { stop: Promise<string>; stopAgain: Promise<void> } {
  const [first, second] = [Promise.withResolvers<string>(), Promise.withResolvers<void>()];
  let firstAt: number | undefined;
  const onSignal = (signal: string): void => {
    if (firstAt === undefined) first.resolve(whySignalled(signal));
    else if (stopwatchMs() - firstAt > AGAIN_MS) second.resolve();
    firstAt ??= stopwatchMs();
  };
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, onSignal);
  return { stop: first.promise, stopAgain: second.promise };
}

/** Takes requests for a while before the listener closes, so that clients and load balancers learn to send them elsewhere. */
async function drain(app: App, ms: number, stopAgain: Promise<void>): Promise<void> {
  app.drain();
  await Promise.race([pause(ms, undefined, { ref: false }), stopAgain]);
}
