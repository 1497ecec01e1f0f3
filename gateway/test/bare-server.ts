// An HTTP server without endpoints and database, for tests of what happens before a request reaches an endpoint.
import type { FastifyInstance } from "fastify";
import { noTracing } from "../src/ground/tracing.ts";
import { UnauthenticatedCallers } from "../src/auth/rate.ts";
import { systemClock } from "../src/ground/clock.ts";
import { createLog } from "../src/ground/log.ts";
import { createMetrics } from "../src/ground/metrics.ts";
import { LOAD_LIMITS, LoadShedding } from "../src/http/load-shedding.ts";
import { Readiness } from "../src/http/readiness.ts";
import { type ServerParts, createServer } from "../src/http/server.ts";

export function bareServer(parts: Partial<ServerParts> = {}): FastifyInstance {
  return createServer({
    clock: systemClock,
    log: createLog("silent"),
    metrics: createMetrics(),
    unauthenticated: new UnauthenticatedCallers(1_000_000, systemClock),
    load: new LoadShedding(LOAD_LIMITS),
    readiness: new Readiness({ hears: () => true, mayServe: () => true }),
    tracing: noTracing,
    trustProxy: 0,
    statusUrl: () => "http://127.0.0.1/status",
    connectionsPerAddress: 1024,
    isKnown: () => false,
    ...parts,
  });
}
