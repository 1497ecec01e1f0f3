// The operators' listener: /ops/v1 and the console on an address of their own, whose capacity and limits no public caller can use up.
import type { FastifyInstance } from "fastify";
import { openAccess } from "./access/access.routes.ts";
import { cookieOf } from "./access/cookie.ts";
import type { AccessEndpoint } from "./access/endpoint.ts";
import { UnauthenticatedCallers } from "./auth/rate.ts";
import type { Foundation } from "./foundation.ts";
import { version } from "./ground/version.ts";
import { type LoadLimits, LoadShedding } from "./http/load-shedding.ts";
import { openContract } from "./http/contract-route.ts";
import { openPages } from "./http/pages.ts";
import type { Readiness } from "./http/readiness.ts";
import { createServer } from "./http/server.ts";
import { Approvals } from "./operator/approvals.ts";
import { Audit } from "./operator/audit.ts";
import { BookReplays } from "./operator/book-replays.ts";
import { ConsoleDoor } from "./operator/console-door.ts";
import { KnownTokens } from "./operator/known-tokens.ts";
import { operatorContract } from "./operator/openapi.ts";
import { openOperatorApi } from "./operator/operator.routes.ts";
import { Refusals } from "./operator/refusals.ts";
import { recordTokenUses } from "./operator/tokens.sql.ts";
import { LastUses } from "./store/last-uses.ts";
import { SettingsWatch } from "./store/settings-watch.ts";
import { OperatorStreams } from "./operator/stream.ts";
import { OperatorTokens } from "./operator/tokens.ts";
import { PeopleAudit } from "./people/audit.ts";
import { portalOrigins } from "./people/relying-party.ts";
import type { Rooms } from "./rooms.ts";
import { consoleAccess, operatorSurface } from "./surfaces.ts";

/** Divisor of the public listener's limit for unauthenticated requests: operators need few, and guessing tokens becomes slow. */
const UNAUTHENTICATED_PART = 10;
const CONNECTIONS_PER_ADDRESS = 256;

/** Enough for a few people and their scripts: about 16 MiB in all. */
const OPERATOR_LOAD_LIMITS: LoadLimits = {
  known: { requests: 512, bytes: 8 * 2 ** 20 },
  unauthenticated: { requests: 256, bytes: 4 * 2 ** 20 },
  address: { requests: 128, bytes: 2 * 2 ** 20 },
  connection: 32,
};

interface OperatorListener {
  server: FastifyInstance;
  load: LoadShedding;
  /** The OpenAPI document of /ops/v1. */
  contract: () => string;
  /** Number of open streams. */
  listening(): number;
  stopListening(): void;
  /** Runs one round of the workers' tasks for operators: changes that wait too long for a second person, or have no outcome. */
  sweep(): Promise<void>;
  /** Writes pending notes to the database, and ends replays of books. */
  stop(): Promise<void>;
}

/** Makes the listener, which does not listen yet. `token` is the operator token of the process environment. */
export function createOperatorListener(
  foundation: Foundation,
  rooms: Rooms,
  readiness: Readiness,
  token: string,
): OperatorListener {
  const { config, clock, log, metrics, tracing, database } = foundation;
  // A watch of their own: no merchant's request waits until operators' tokens are read, and no operator's for the connections of merchants.
  const watch = new SettingsWatch(database, log);
  foundation.watch.subscribe(async () => void watch.changed());
  const environment = { admin: token, viewer: config.operatorViewerToken };
  const known = new KnownTokens({ database, watch, clock, environment });
  const load = new LoadShedding(OPERATOR_LOAD_LIMITS);
  const limit = Math.ceil(config.unauthenticatedLimitPerMinute / UNAUTHENTICATED_PART);
  const server = createServer({
    load,
    readiness,
    tracing,
    clock,
    log,
    metrics,
    unauthenticated: new UnauthenticatedCallers(limit, clock),
    trustProxy: config.operator.trustProxy,
    statusUrl: () => rooms.address.statusUrl,
    connectionsPerAddress: Math.min(CONNECTIONS_PER_ADDRESS, config.connectionsPerAddress),
    isKnown: (bearer) => known.isKnown(bearer),
  });
  const audit = new Audit(database, clock);
  const tokens = new OperatorTokens({ database, clock, changed: () => watch.changed() });
  const uses = new LastUses({ database, clock, log, record: recordTokenUses });
  const refusals = new Refusals({ database, clock, metrics, log });
  const approvals = new Approvals({ database, audit, clock, log });
  const streams = new OperatorStreams({ database, lanes: rooms.lanes, clock, log });
  const replays = new BookReplays({ database, clock, log });
  const endpoints = operatorSurface(foundation, rooms, { audit, refusals, tokens, approvals, streams, replays });
  approvals.runs.serve(endpoints);
  const access = consoleAccess(foundation, rooms);
  const door = openConsole(server, foundation, rooms, access);
  openOperatorApi(server, { door, tokens: known, uses, refusals, audit, approvals, clock }, endpoints);
  const contract = openContract(server, "/ops/v1/openapi.json", () => operatorContract({ endpoints, access }, version));
  return {
    server,
    load,
    contract,
    sweep: () => approvals.sweep(),
    listening: () => streams.open.size,
    stopListening: () => streams.open.stop(),
    stop: async () => void (await Promise.all([uses.write(), refusals.write(), replays.stop(), watch.stop()])),
  };
}

/** Adds the console's pages and sign-in, and gives its door. In production without CONSOLE_URL there is no console and no sign-in. */
function openConsole(
  server: FastifyInstance,
  { config, clock, database }: Foundation,
  { consolePeople, consoleAddress }: Rooms,
  access: readonly AccessEndpoint[],
): ConsoleDoor | undefined {
  const { mode, consoleUrl } = config;
  if (mode === "production" && consoleUrl === undefined) return undefined;
  const door = new ConsoleDoor({
    sessions: consolePeople.sessions,
    operators: consolePeople.operators,
    clock,
    cookie: cookieOf("console", consoleUrl?.startsWith("https://") === true),
    // Only known origins: a foreign page may have pointed its own host name at this address.
    origins: () => (consoleAddress.root === undefined ? [] : portalOrigins(consoleAddress.root)),
    operatorsNeedSecondFactor: mode === "production",
  });
  openAccess(server, { door, audit: new PeopleAudit(database, clock), clock }, access);
  openPages(server, "console", config.serviceName);
  return door;
}
