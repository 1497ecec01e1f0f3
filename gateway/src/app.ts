// Connects the rooms into one running service, and does nothing else.
import { setTimeout as pause } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { type Foundation, type FoundationOptions, layFoundation } from "./foundation.ts";
import type { Metrics } from "./ground/metrics.ts";
import { closeServer } from "./http/closing.ts";
import { Readiness } from "./http/readiness.ts";
import type { Merchants } from "./merchants/merchants.ts";
import { createOperatorListener } from "./operator-listener.ts";
import { meterWaiting } from "./operator/waiting.routes.ts";
import type { People } from "./people/people.ts";
import { type PublicListenerOptions, createPublicListener } from "./public-listener.ts";
import { type Rooms, openRooms } from "./rooms.ts";
import { checkMasterKey } from "./sealed-columns.ts";
import type { Database } from "./store/database.ts";

const APPROVALS_MS = 5_000;
const WAITING_MS = 30_000;

interface AppOptions extends FoundationOptions, PublicListenerOptions {
  operatorToken: string;
}

export interface App {
  /** The listener for merchants, their people and payers. */
  server: FastifyInstance;
  operatorServer: FastifyInstance;
  merchants: Merchants;
  people: People;
  consolePeople: People;
  database: Database;
  /** The same database, through the connections for the portal, and for operators. */
  databases: Foundation["databases"];
  metrics: Metrics;
  /** The OpenAPI documents of /v1, /ops/v1 and /portal/v1. The first request for one makes it, which takes a part of a second. */
  contracts: Record<"merchant" | "operator" | "portal", () => string>;
  /** Runs one round of the workers' tasks for operators now. */
  sweepOperators(): Promise<void>;
  /** Loads settings and starts the workers. */
  start(): Promise<void>;
  /** Lets health and readiness answer 200 from now on. */
  ready(): void;
  /** Sets the address at which merchants reach the service, once the service listens. */
  setBaseUrl(url: string): void;
  /** Sets the origin of the operators' listener. */
  setOperatorRoot(root: string): void;
  /** Lets readiness answer 503 and every answer close its connection from now on. Requests are still accepted. */
  drain(): void;
  /** Stops accepting requests, finishes those in flight, and closes everything. Logs and measurements wait `patienceMs` for that at most. */
  stop(patienceMs?: number): Promise<void>;
}

/** The service in its parts. */
interface Parts {
  foundation: Foundation;
  rooms: Rooms;
  readiness: Readiness;
  publicListener: ReturnType<typeof createPublicListener>;
  operatorListener: ReturnType<typeof createOperatorListener>;
}

export function createApp(options: AppOptions): App {
  const foundation = layFoundation(options);
  const { database, databases, metrics, vault } = foundation;
  const rooms = openRooms(foundation, options);
  const readiness = new Readiness(foundation);
  const publicListener = createPublicListener(foundation, rooms, readiness, options);
  const forOperators = { ...foundation, database: databases.operators };
  const operatorListener = createOperatorListener(forOperators, rooms, readiness, options.operatorToken);
  const parts = { foundation, rooms, readiness, publicListener, operatorListener };
  rooms.worker.repeat("approvals", APPROVALS_MS, () => operatorListener.sweep());
  rooms.worker.repeat("waiting", WAITING_MS, () => meterWaiting(foundation));
  measureProcess(parts);
  return {
    server: publicListener.server,
    operatorServer: operatorListener.server,
    merchants: rooms.merchants,
    people: rooms.people,
    consolePeople: rooms.consolePeople,
    database,
    databases,
    metrics,
    contracts: {
      merchant: publicListener.contract,
      operator: operatorListener.contract,
      portal: publicListener.portalContract,
    },
    sweepOperators: () => operatorListener.sweep(),
    setBaseUrl: (url) => rooms.address.listensOn(url),
    setOperatorRoot: (root) => rooms.consoleAddress.listensOn(root),
    ready() {
      publicListener.health.open();
      readiness.open();
      rooms.measuring.start({
        probe: options.roles.has("api") ? () => publicListener.health.isWell() : undefined,
        refresh: () => rooms.board.refresh(),
      });
    },
    async start() {
      await foundation.start();
      await checkMasterKey(database, vault);
      await rooms.payers.load();
      await rooms.router.seed();
      if (options.roles.has("worker")) rooms.worker.start();
      await rooms.sampler.start();
    },
    drain: () => readiness.leave(),
    stop: (patienceMs) => stop(parts, patienceMs),
  };
}

function measureProcess({ foundation, rooms, readiness, publicListener, operatorListener }: Parts): void {
  const { database, databases, metrics } = foundation;
  metrics.inFlight(() => ({
    requests: publicListener.load.requests + operatorListener.load.requests,
    bytes: publicListener.load.bytes + operatorListener.load.bytes,
    cut: publicListener.load.cut + operatorListener.load.cut,
  }));
  metrics.process(() => ({
    ready: readiness.reasons().length === 0,
    draining: readiness.leaving,
    pools: {
      main: database.connections,
      portal: databases.portal.connections,
      operators: databases.operators.connections,
    },
    listeners: { stream: rooms.streams.open.size + operatorListener.listening(), poll: publicListener.listening() },
  }));
}

/** Closes everything, in the order in which one part needs another. A step that fails, as without the database, keeps no other from its end. */
async function stop(
  { foundation, rooms, readiness, publicListener, operatorListener }: Parts,
  patienceMs?: number,
): Promise<void> {
  readiness.leave();
  publicListener.stopListening();
  operatorListener.stopListening();
  rooms.streams.open.stop();
  rooms.openPages.open.stop();
  const closed = [publicListener, operatorListener].map(({ server, load }) => closeServer(server, load));
  const work = Promise.allSettled([...closed, rooms.worker.stop(), publicListener.close()]);
  await Promise.race([work, ...(patienceMs === undefined ? [] : [pause(patienceMs, undefined, { ref: false })])]);
  const measured = Promise.allSettled([rooms.measuring.stop(), rooms.sampler.stop()]);
  const ended = [
    await Promise.allSettled([
      ...publicListener.notes.map((one) => one.stop()),
      rooms.lastUses.write(),
      operatorListener.stop(),
    ]),
    await measured,
    await work,
    await Promise.allSettled([rooms.lanes.idle()]),
    await Promise.allSettled([foundation.stop()]),
  ].flat();
  for (const step of ended)
    if (step.status === "rejected") foundation.log.warn({ err: step.reason as unknown }, "a step of the stop failed");
}
