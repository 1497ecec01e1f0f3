// Connects the rooms into one running service, and does nothing else.
import { setTimeout as pause } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { cookieOf } from "./access/cookie.ts";
import { openNotifications } from "./acquiring/notifications.routes.ts";
import { Admission } from "./auth/admission.ts";
import { UnauthenticatedCallers } from "./auth/rate.ts";
import { publicRootOf } from "./auth/signed-message.ts";
import { merchantContract } from "./contract.ts";
import { RejectedRequests } from "./diagnostics/rejected-requests.ts";
import { openDocs } from "./docs/docs.routes.ts";
import { type Foundation, type FoundationOptions, layFoundation } from "./foundation.ts";
import type { Metrics } from "./ground/metrics.ts";
import { version } from "./ground/version.ts";
import { openContract } from "./http/contract-route.ts";
import { openPages } from "./http/pages.ts";
import { Edge } from "./http/edge.ts";
import { closeServer } from "./http/closing.ts";
import { Health } from "./http/health.ts";
import { openProbes } from "./http/probes.ts";
import { Readiness } from "./http/readiness.ts";
import { openSecurityTxt } from "./http/security-txt.ts";
import { LOAD_LIMITS, LoadShedding } from "./http/load-shedding.ts";
import { createServer, openEndpoint, sendReply } from "./http/server.ts";
import type { Merchants } from "./merchants/merchants.ts";
import { createOperatorListener } from "./operator-listener.ts";
import { meterWaiting } from "./operator/waiting.routes.ts";
import type { People } from "./people/people.ts";
import { PeopleAudit } from "./people/audit.ts";
import { portalOrigins } from "./people/relying-party.ts";
import { Door } from "./portal/door.ts";
import { mountable } from "./portal/mounted.ts";
import { openLogos } from "./portal/logos.ts";
import { type PortalSurface, portalContract } from "./portal/openapi.ts";
import { openPortalApi } from "./portal/portal.routes.ts";
import { RequestLog } from "./requests/request-log.ts";
import { type RoomOptions, type Rooms, openRooms, statusParts } from "./rooms.ts";
import { openCheckout } from "./checkout/checkout.routes.ts";
import { openLinkPages } from "./checkout/link-pages.routes.ts";
import { checkMasterKey } from "./sealed-columns.ts";
import { openStatus } from "./status/status.routes.ts";
import type { Database } from "./store/database.ts";
import { merchantSurface, portalSurface } from "./surfaces.ts";

const APPROVALS_MS = 5_000;
const WAITING_MS = 30_000;

interface AppOptions extends FoundationOptions, RoomOptions {
  /** Share of a connection's time that the request log may take; a default when absent. */
  requestLogShare?: number;
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
  /** The OpenAPI document of /v1. */
  readonly contract: string;
  /** The OpenAPI document of /ops/v1. */
  readonly operatorContract: string;
  /** The OpenAPI document of /portal/v1. */
  readonly portalContract: string;
  /** Makes the three documents now. This takes a second, in which the first request for one would delay all other requests. */
  makeContracts(): void;
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

export function createApp(options: AppOptions): App {
  const foundation = layFoundation(options);
  const { config, database, databases, clock, log, metrics, tracing, vault } = foundation;
  const rooms = openRooms(foundation, options);
  const surface = merchantSurface(foundation, rooms, options.deliveryTiming);
  const unauthenticated = new UnauthenticatedCallers(config.unauthenticatedLimitPerMinute, clock);
  const load = new LoadShedding(LOAD_LIMITS);
  const { trustProxy, connectionsPerAddress } = config;
  const readiness = new Readiness(foundation);
  const isKnown = (clientId: string): boolean => rooms.directory.isKnown(clientId);
  const { directory } = rooms;
  const requestLog = config.requestLog
    ? new RequestLog({ database, directory, metrics, log, share: options.requestLogShare })
    : undefined;
  const server = createServer({
    load,
    readiness,
    tracing,
    clock,
    log,
    metrics,
    unauthenticated,
    trustProxy,
    statusUrl: () => rooms.address.statusUrl,
    connectionsPerAddress,
    isKnown,
    onAnswer(request, reply, payload) {
      rooms.measuring.answered(request, reply);
      requestLog?.note(request, reply, payload);
    },
  });
  const rejected = new RejectedRequests({ database, vault, clock, log });
  // A process with the role worker alone has no merchant endpoints.
  const edge = openEdge(foundation, rooms, load, rejected);
  if (options.roles.has("api")) for (const endpoint of surface.endpoints) openEndpoint(server, edge, endpoint);
  const merchantsContract = () => merchantContract(surface.endpoints, config.webhookHeaderPrefix);
  const contract = openContract(server, "/openapi.json", merchantsContract);
  openProbes(server, readiness);
  const health = openHealth(server, foundation, rooms);
  const forOperators = { ...foundation, database: databases.operators };
  const operator = createOperatorListener(forOperators, rooms, readiness, options.operatorToken);
  rooms.worker.repeat("approvals", APPROVALS_MS, () => operator.sweep());
  rooms.worker.repeat("waiting", WAITING_MS, () => meterWaiting(foundation));
  metrics.inFlight(() => ({
    requests: load.requests + operator.load.requests,
    bytes: load.bytes + operator.load.bytes,
    cut: load.cut + operator.load.cut,
  }));
  metrics.process(() => ({
    ready: readiness.reasons().length === 0,
    draining: readiness.leaving,
    pools: {
      main: database.connections,
      portal: databases.portal.connections,
      operators: databases.operators.connections,
    },
    listeners: { stream: rooms.streams.open.size + operator.listening(), poll: surface.listening() },
  }));
  const peopleAudit = new PeopleAudit(databases.portal, clock);
  const portal = {
    mounted: mountable(surface.endpoints),
    own: portalSurface({ ...foundation, database: databases.portal }, rooms, peopleAudit),
  };
  if (options.roles.has("api")) {
    openPortal(server, foundation, rooms, { edge, audit: peopleAudit }, portal);
    openPages(server, "portal", config.serviceName);
    openDocs(server, { root: () => rooms.address.root });
  }
  const portalsContract = openContract(server, "/portal/v1/openapi.json", () => portalContract(portal, version));
  openSecurityTxt(server, { clock, contact: config.securityContact, root: () => rooms.address.root });
  openNotifications(server, rooms.acquiringParts);
  openLogos(server, rooms.profiles);
  openStatus(server, statusParts(config, rooms));
  const isSecure = (): boolean => rooms.address.root.startsWith("https://");
  const checkout = { ...rooms, ...rooms.payments, database, clock, serviceName: config.serviceName, isSecure };
  openCheckout(server, checkout);
  openLinkPages(server, checkout);
  return {
    server,
    operatorServer: operator.server,
    merchants: rooms.merchants,
    people: rooms.people,
    consolePeople: rooms.consolePeople,
    database,
    databases,
    metrics,
    get contract() {
      return contract();
    },
    get operatorContract() {
      return operator.contract();
    },
    get portalContract() {
      return portalsContract();
    },
    makeContracts() {
      for (const make of [contract, () => operator.contract(), portalsContract]) make();
    },
    sweepOperators: () => operator.sweep(),
    setBaseUrl: (url) => rooms.address.listensOn(url),
    setOperatorRoot: (root) => rooms.consoleAddress.listensOn(root),
    ready() {
      health.open();
      readiness.open();
      rooms.measuring.start({
        probe: options.roles.has("api") ? () => health.isWell() : undefined,
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
    drain() {
      readiness.leave();
    },
    async stop(patienceMs) {
      readiness.leave();
      surface.stopListening();
      operator.stopListening();
      rooms.streams.open.stop();
      rooms.openPages.open.stop();
      const closed = [closeServer(server, load), closeServer(operator.server, operator.load)];
      // A step that fails, as without the database, keeps no other from its end.
      const work = Promise.allSettled([...closed, rooms.worker.stop(), surface.close()]);
      await Promise.race([work, ...(patienceMs === undefined ? [] : [pause(patienceMs, undefined, { ref: false })])]);
      const measured = Promise.allSettled([rooms.measuring.stop(), rooms.sampler.stop()]);
      const ended = [
        await Promise.allSettled([rejected.stop(), requestLog?.stop(), rooms.lastUses.write(), operator.stop()]),
        await measured,
        await work,
        await Promise.allSettled([rooms.lanes.idle()]),
        await Promise.allSettled([foundation.stop()]),
      ].flat();
      for (const step of ended)
        if (step.status === "rejected") log.warn({ err: step.reason as unknown }, "a step of the stop failed");
    },
  };
}

function openEdge(
  foundation: Foundation,
  { directory, lanes, lastUses }: Rooms,
  load: LoadShedding,
  rejected: RejectedRequests,
): Edge {
  const { config, database, realClock, clock, log, writes, mayServe } = foundation;
  const admission = new Admission(database, clock, (cause) =>
    writes.observe({ kind: "rolled_back", cause, failed: undefined }),
  );
  return new Edge({
    directory,
    admission,
    lanes,
    database,
    realClock,
    clock,
    mayServe,
    log,
    onRejected: (request) => rejected.note(request),
    onUsed: ({ clientId, merchant: { merchantId } }, address) =>
      lastUses.note(clientId, { merchantId, clientId }, address),
    load,
    publicRoot: config.baseUrl === undefined ? undefined : publicRootOf(config.baseUrl),
  });
}

function openPortal(
  server: FastifyInstance,
  { config, clock }: Foundation,
  { people, directory }: Rooms,
  parts: { edge: Edge; audit: PeopleAudit },
  surface: PortalSurface,
): void {
  const { baseUrl, mode } = config;
  const secure = mode === "production" || baseUrl?.startsWith("https://") === true;
  const door = new Door({
    sessions: people.sessions,
    directory,
    edge: parts.edge,
    clock,
    cookie: cookieOf("portal", secure),
    origins: () => (baseUrl === undefined ? undefined : portalOrigins(baseUrl)),
    ownersNeedSecondFactor: mode === "production",
  });
  openPortalApi(server, { ...parts, door, clock }, surface);
}

function openHealth(
  server: FastifyInstance,
  { config, database, writes, clock, mayServe, opensSecrets }: Foundation,
  { payments }: Rooms,
): Health {
  const { serviceName } = config;
  const environment = (): "production" | "sandbox" => (payments.isOpen("production") ? "production" : "sandbox");
  const health = new Health({ database, writes, mayServe, opensSecrets, clock, serviceName, version, environment });
  server.get("/v1/health", async (request, reply) => sendReply(reply, await health.answer(request.id)));
  return health;
}
