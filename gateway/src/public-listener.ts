// The public listener: /v1 for merchants, the portal for their people, pages for payers, notifications of acquirers, the docs and the status page.
import type { FastifyInstance } from "fastify";
import { cookieOf } from "./access/cookie.ts";
import { openNotifications } from "./acquiring/notifications.routes.ts";
import { Admission } from "./auth/admission.ts";
import { UnauthenticatedCallers } from "./auth/rate.ts";
import { publicRootOf } from "./auth/signed-message.ts";
import { openCheckout } from "./checkout/checkout.routes.ts";
import { openLinkPages } from "./checkout/link-pages.routes.ts";
import { merchantContract } from "./contract.ts";
import { RejectedRequests } from "./diagnostics/rejected-requests.ts";
import { openDocs } from "./docs/docs.routes.ts";
import type { Foundation } from "./foundation.ts";
import { version } from "./ground/version.ts";
import { openContract } from "./http/contract-route.ts";
import { Edge } from "./http/edge.ts";
import { Health } from "./http/health.ts";
import { LOAD_LIMITS, LoadShedding } from "./http/load-shedding.ts";
import { openPages } from "./http/pages.ts";
import { openProbes } from "./http/probes.ts";
import type { Readiness } from "./http/readiness.ts";
import { openSecurityTxt } from "./http/security-txt.ts";
import { createServer, openEndpoint, sendReply } from "./http/server.ts";
import { PeopleAudit } from "./people/audit.ts";
import { portalOrigins } from "./people/relying-party.ts";
import { Door } from "./portal/door.ts";
import { openLogos } from "./portal/logos.ts";
import { mountable } from "./portal/mounted.ts";
import { type PortalSurface, portalContract } from "./portal/openapi.ts";
import { openPortalApi } from "./portal/portal.routes.ts";
import { RequestLog } from "./requests/request-log.ts";
import { type RoomOptions, type Rooms, statusParts } from "./rooms.ts";
import { openStatus } from "./status/status.routes.ts";
import { type MerchantSurface, merchantSurface, portalSurface } from "./surfaces.ts";

export interface PublicListenerOptions extends RoomOptions {
  /** Share of a connection's time that the request log may take; a default when absent. */
  requestLogShare?: number;
}

interface PublicListener extends Omit<MerchantSurface, "endpoints"> {
  server: FastifyInstance;
  load: LoadShedding;
  health: Health;
  /** The OpenAPI document of /v1. */
  contract: () => string;
  /** The OpenAPI document of /portal/v1. */
  portalContract: () => string;
  /** What is noted of requests; a stop writes it to the database. */
  notes: readonly { stop(): Promise<void> }[];
}

/** Makes the listener, which does not listen yet. A process with the role worker alone has no endpoints of merchants, and no portal. */
export function createPublicListener(
  foundation: Foundation,
  rooms: Rooms,
  readiness: Readiness,
  options: PublicListenerOptions,
): PublicListener {
  const { config, database, clock, log, metrics, tracing, vault } = foundation;
  const { directory } = rooms;
  const load = new LoadShedding(LOAD_LIMITS);
  const rejected = new RejectedRequests({ database, vault, clock, log });
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
    unauthenticated: new UnauthenticatedCallers(config.unauthenticatedLimitPerMinute, clock),
    trustProxy: config.trustProxy,
    statusUrl: () => rooms.address.statusUrl,
    connectionsPerAddress: config.connectionsPerAddress,
    isKnown: (clientId) => directory.isKnown(clientId),
    onAnswer(request, reply, payload) {
      rooms.measuring.answered(request, reply);
      requestLog?.note(request, reply, payload);
    },
  });
  const { endpoints, ...surface } = merchantSurface(foundation, rooms, options.deliveryTiming);
  const edge = openEdge(foundation, rooms, load, rejected);
  if (options.roles.has("api")) for (const endpoint of endpoints) openEndpoint(server, edge, endpoint);
  const describe = (): string => merchantContract(endpoints, config.webhookHeaderPrefix);
  const portal = openPortal(server, foundation, rooms, { edge, mounted: mountable(endpoints) }, options);
  openProbes(server, readiness);
  openPublicPages(server, foundation, rooms);
  return {
    server,
    load,
    health: openHealth(server, foundation, rooms),
    contract: openContract(server, "/openapi.json", describe),
    portalContract: openContract(server, "/portal/v1/openapi.json", () => portalContract(portal, version)),
    notes: [rejected, ...(requestLog ? [requestLog] : [])],
    ...surface,
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

/** Adds the portal and its documentation, where the process serves them. Gives all that the portal has. */
function openPortal(
  server: FastifyInstance,
  foundation: Foundation,
  rooms: Rooms,
  { edge, mounted }: { edge: Edge } & Pick<PortalSurface, "mounted">,
  { roles }: Pick<RoomOptions, "roles">,
): PortalSurface {
  const { config, clock, databases } = foundation;
  const { baseUrl, mode } = config;
  const audit = new PeopleAudit(databases.portal, clock);
  const surface = { mounted, own: portalSurface({ ...foundation, database: databases.portal }, rooms, audit) };
  if (!roles.has("api")) return surface;
  const door = new Door({
    sessions: rooms.people.sessions,
    directory: rooms.directory,
    edge,
    clock,
    cookie: cookieOf("portal", mode === "production" || baseUrl?.startsWith("https://") === true),
    origins: () => (baseUrl === undefined ? undefined : portalOrigins(baseUrl)),
    ownersNeedSecondFactor: mode === "production",
  });
  openPortalApi(server, { edge, audit, door, clock }, surface);
  openPages(server, "portal", config.serviceName);
  openDocs(server, { root: () => rooms.address.root });
  return surface;
}

/** Adds what anybody may ask for: pages of payers, the status page, logos, and the address that takes acquirers' notifications. */
function openPublicPages(server: FastifyInstance, { config, database, clock }: Foundation, rooms: Rooms): void {
  const { serviceName } = config;
  const root = (): string => rooms.address.root;
  openSecurityTxt(server, { clock, contact: config.securityContact, root });
  openNotifications(server, rooms.acquiringParts);
  openLogos(server, rooms.profiles);
  openStatus(server, statusParts(config, rooms));
  const isSecure = (): boolean => root().startsWith("https://");
  const checkout = { ...rooms, ...rooms.payments, database, clock, serviceName, isSecure };
  openCheckout(server, checkout);
  openLinkPages(server, checkout);
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
