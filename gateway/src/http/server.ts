// The HTTP server: raw bodies, request identities, the envelope on every error, one log line and one meter a request.
import type { Socket } from "node:net";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { type Clock, stopwatchMs } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { newId } from "../ground/ids.ts";
import type { Log } from "../ground/log.ts";
import type { Metrics } from "../ground/metrics.ts";
import { isConnectionLoss } from "../store/database.ts";
import { type Edge, rateOf, setRate } from "./edge.ts";
import type { Endpoint } from "./endpoint.ts";
import { type Reply, faultReply } from "./envelope.ts";
import { type Strangers, rateHeaders } from "./rate.ts";

export const BODY_MAX_BYTES = 262_144;

export interface ServerParts {
  clock: Clock;
  log: Log;
  metrics: Metrics;
  strangers: Strangers;
}

/** A server without endpoints. Every answer, 404, 413 and malformed HTTP included, has the envelope and the headers. */
export function createServer(parts: ServerParts): FastifyInstance {
  const { clock, log, metrics, strangers } = parts;
  const server = fastify({
    genReqId: () => newId("request", clock.now()),
    bodyLimit: BODY_MAX_BYTES,
    exposeHeadRoutes: false,
    requestTimeout: 30_000,
    keepAliveTimeout: 65_000,
    forceCloseConnections: "idle",
    return503OnClosing: false,
    routerOptions: { maxParamLength: 300 },
    clientErrorHandler: (error, socket) => refuseMalformed(error as NodeJS.ErrnoException, socket, parts),
    frameworkErrors: (error, request, reply) => {
      answerError(error, request, reply, parts);
    },
  });
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  const begun = new WeakMap<FastifyRequest, number>();
  server.addHook("onRequest", (request, reply, done) => {
    begun.set(request, stopwatchMs());
    reply.header("x-request-id", request.id);
    const rate = strangers.rate(request.ip);
    // An address that used its window up is only heard when it presents a credential.
    if (rate.remaining === 0 && request.headers.authorization === undefined) return done(tooMany(rate.reset, clock));
    done();
  });
  server.addHook("onSend", (request, reply, _payload, done) => {
    reply.headers(rateHeaders(rateOf(reply) ?? strangers.rate(request.ip)));
    done();
  });
  server.addHook("onResponse", (request, reply, done) => {
    const route = request.routeOptions.url ?? "unknown";
    const ms = stopwatchMs() - (begun.get(request) ?? 0);
    metrics.requests.inc({ method: request.method, route, status: reply.statusCode });
    metrics.requestSeconds.observe({ route }, ms / 1000);
    if (log.isLevelEnabled("info")) {
      const path = request.url.split("?")[0];
      log.info(
        {
          request_id: request.id,
          method: request.method,
          path,
          status: reply.statusCode,
          ms: Math.round(ms * 10) / 10,
        },
        "request",
      );
    }
    done();
  });
  server.setNotFoundHandler((request, reply) => answerError(new Fault("ROUTE_NOT_FOUND"), request, reply, parts));
  server.setErrorHandler((error, request, reply) => answerError(error, request, reply, parts));
  return server;
}

/** Opens an endpoint of the merchants' API. */
export function openEndpoint(server: FastifyInstance, edge: Edge, endpoint: Endpoint): void {
  server.route({
    method: endpoint.kind === "read" ? "GET" : "POST",
    url: endpoint.path.replaceAll(/\{(\w+)\}/g, ":$1"),
    handler: async (request, reply) => sendReply(reply, await edge.handle(endpoint, request, reply)),
  });
}

export function sendReply(reply: FastifyReply, { status, body, replayed }: Reply): FastifyReply {
  if (replayed) reply.header("x-idempotent-replay", "true");
  return reply.code(status).header("content-type", "application/json; charset=utf-8").send(body);
}

// Faults before a client was known are the doing of strangers, and count against their address.
const strange = new Set([401, 404, 413, 400]);

function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply, parts: ServerParts): FastifyReply {
  let fault = faultOf(error);
  if (rateOf(reply) === undefined && strange.has(fault.status)) {
    const within = parts.strangers.count(request.ip);
    setRate(reply, parts.strangers.rate(request.ip));
    if (!within) fault = tooMany(parts.strangers.rate(request.ip).reset, parts.clock);
  }
  const { retryAfterSeconds, internal } = fault.extras;
  const seconds = retryAfterSeconds ?? (fault.status === 503 ? 1 : undefined);
  if (seconds !== undefined) reply.header("retry-after", String(seconds));
  if (fault.status >= 500) {
    const level = fault.status === 500 ? "error" : "warn";
    parts.log[level]({ request_id: request.id, code: fault.code, err: internal ?? error }, "request failed");
  }
  return sendReply(reply, faultReply(fault, request.id));
}

function faultOf(error: unknown): Fault {
  if (error instanceof Fault) return error;
  const code = (error as { code?: unknown } | null)?.code;
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE") return new Fault("PAYLOAD_TOO_LARGE");
  if (code === "FST_ERR_BAD_URL" || code === "FST_ERR_MAX_PARAM_LENGTH") return new Fault("ROUTE_NOT_FOUND");
  if (typeof code === "string" && code.startsWith("FST_ERR_CTP")) return new Fault("MALFORMED_REQUEST");
  if (isConnectionLoss(error)) return new Fault("SERVICE_UNAVAILABLE", { internal: error });
  return new Fault("INTERNAL_ERROR", { internal: error });
}

function tooMany(reset: number, clock: Clock): Fault {
  return new Fault("RATE_LIMITED", { retryAfterSeconds: Math.max(1, reset - Math.floor(clock.now() / 1_000_000)) });
}

/** Bytes that are not HTTP never reach a route; their answer is written to the socket by hand. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket, parts: ServerParts): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const requestId = newId("request", parts.clock.now());
  const address = socket.remoteAddress ?? "unknown";
  parts.strangers.count(address);
  const status = error.code === "HPE_HEADER_OVERFLOW" ? 431 : error.code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : 400;
  const { body } = faultReply(new Fault("MALFORMED_REQUEST"), requestId);
  const headers = {
    "content-type": "application/json; charset=utf-8",
    "content-length": String(Buffer.byteLength(body)),
    "x-request-id": requestId,
    ...rateHeaders(parts.strangers.rate(address)),
    connection: "close",
  };
  const head = Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("");
  socket.end(`HTTP/1.1 ${status} ${status === 400 ? "Bad Request" : "Refused"}\r\n${head}\r\n${body}`);
  parts.metrics.requests.inc({ method: "unknown", route: "malformed", status });
  parts.log.info({ request_id: requestId, status, reason: error.code }, "malformed request");
}
