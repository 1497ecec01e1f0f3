// The HTTP server: raw bodies, request identities, the envelope on every error, one log line and one meter a request.
import { Readable, finished } from "node:stream";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { type Clock, stopwatchMs } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { newId } from "../ground/ids.ts";
import type { Log } from "../ground/log.ts";
import type { Metrics } from "../ground/metrics.ts";
import type { Span, Tracing } from "../ground/tracing.ts";
import type { Book } from "../merchants/books.ts";
import type { Client } from "../merchants/directory.ts";
import { isOutOfService } from "../store/database.ts";
import { attachmentHeaders } from "./attachment.ts";
import { readBody } from "./body.ts";
import { watchConnections } from "./closing.ts";
import { boundConnections, ignoreCut } from "./connections.ts";
import { type Edge, setAsideContentType } from "./edge.ts";
import { type Endpoint, methodOf } from "./endpoint.ts";
import { type Reply, faultReply } from "../ground/reply.ts";
import { KnownPaths } from "./known-paths.ts";
import type { LoadShedding } from "./load-shedding.ts";
import { Malformed } from "./malformed.ts";
import { type Readiness, isProbe } from "./readiness.ts";
import { lineOf } from "./request-line.ts";
import { canonicalTarget } from "./request-target.ts";
import { type Rate, type UnauthenticatedCallers, rateHeaders, tooMany } from "../auth/rate.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** On the stopwatch. */
    begunAt: number;
    sentContentType: string;
    /** The merchant's system that the request says it is from, once it is found. */
    sender: Client | undefined;
    /** True when it is from there: its signature was right, and new. */
    isProven: boolean;
    /** Who has proved to ask: a client_id, a person's id, the name of an operator's token. For logs and audits. */
    actor: string | undefined;
    /** What they ask about, where that is one merchant's. */
    book: Book | undefined;
    /** Undefined where nothing is traced. */
    span: Span | undefined;
    /** Of an answer that is an error. */
    errorCode: string | undefined;
  }
  interface FastifyContextConfig {
    /** The handler reads the body itself, as it arrives. */
    streamsBody?: boolean;
    /** Its own bound holds what waits here, for long and for nothing: it takes no room of other requests. */
    boundsItself?: boolean;
  }
  interface FastifyReply {
    /** The window that the answer's rate headers speak of. */
    rate: Rate | undefined;
    /** The sender has proved who they are: nothing of this request is charged to their address, and it has the room of those who are known. */
    proven(): void;
  }
}

const HEALTH = "/v1/health";
const UNREAD_MS = 60_000;

export interface ServerParts {
  clock: Clock;
  log: Log;
  metrics: Metrics;
  unauthenticated: UnauthenticatedCallers;
  load: LoadShedding;
  readiness: Readiness;
  tracing: Tracing;
  /** Proxies in front of the service whose X-Forwarded-For is believed; 0 believes nobody. */
  trustProxy: number;
  /** The status page, named where the service itself is at fault. */
  statusUrl: () => string;
  connectionsPerAddress: number;
  /** Whether what stands behind `Bearer`, a client_id or a token, is one that this process has loaded. */
  isKnown: (bearer: string) => boolean;
  /** Hears of every answer that is given to a request which got as far as a route. Must return at once. */
  onAnswer?: ((request: FastifyRequest, reply: FastifyReply, payload: unknown) => void) | undefined;
}

/** A server without endpoints. Every answer, 404, 413 and malformed HTTP included, has the envelope and the headers. */
export function createServer(parts: ServerParts): FastifyInstance {
  const { clock, unauthenticated, load } = parts;
  const malformed = new Malformed(parts);
  const server = fastify({
    genReqId: () => newId("request", clock.now()),
    exposeHeadRoutes: true,
    // So long for ten megabytes over a bad connection. Heads and bodies that are held come within half a minute: see `readBody`.
    requestTimeout: 300_000,
    keepAliveTimeout: 65_000,
    // Who reads nothing of an answer for so long is cut. A connection that streams something is written to more often.
    connectionTimeout: UNREAD_MS,
    forceCloseConnections: "idle",
    return503OnClosing: false,
    routerOptions: { maxParamLength: 16_384 },
    http: { requireHostHeader: false, headersTimeout: 15_000, connectionsCheckingInterval: 1_000 },
    // From here on `url` is the one form of a target, and `originalUrl` the target as it was sent.
    rewriteUrl: ({ url = "" }) => canonicalTarget(url),
    trustProxy: (_address, hop) => hop < parts.trustProxy,
    clientErrorHandler: (error, socket) => malformed.take(error as NodeJS.ErrnoException, socket),
    frameworkErrors: (error, request, reply) => {
      answerError(error, request, reply, parts);
    },
  });
  const paths = new KnownPaths();
  paths.watch(server);
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("*", async (request: FastifyRequest) =>
    request.routeOptions.config.streamsBody === true ? undefined : readBody(request.raw, load),
  );
  server.decorateRequest("begunAt", 0);
  server.decorateRequest("sentContentType", "");
  server.decorateRequest("sender", undefined);
  server.decorateRequest("isProven", false);
  server.decorateRequest("actor", undefined);
  server.decorateRequest("book", undefined);
  server.decorateRequest("span", undefined);
  server.decorateRequest("errorCode", undefined);
  server.decorateReply("rate", undefined);
  server.decorateReply("proven", function proven(this: FastifyReply) {
    load.prove(this.request.raw);
    this.rate ??= unauthenticated.rate(this.request.ip);
  });
  server.addHook("onRequest", (request, reply, done) => {
    request.begunAt = stopwatchMs();
    // One listener for all that an end means: the framework's own hook for it adds two more to every answer.
    reply.raw.on("close", () => {
      load.close(request.raw);
      endSpan(request, reply);
      if (reply.raw.writableFinished) answered(request, reply, parts);
    });
    // What may be kept says so in its own handler: contracts, static files, logos.
    reply.headers({ "x-request-id": request.id, "cache-control": "no-store" });
    // Probes are answered from memory, in this turn: neither the load nor anybody's limit may hide how the process is.
    if (isProbe(request.url) && !request.is404) return done();
    request.span = parts.tracing.begin(request.method, {
      kind: "server",
      sent: { traceparent: request.headers.traceparent as string | undefined, trusted: parts.trustProxy > 0 },
    });
    setAsideContentType(request);
    refuseOnArrival(request, reply, parts);
    // Before the body is looked at: what does not exist is not too large either.
    if (request.is404) throw paths.faultFor(request.url);
    if (request.routeOptions.config.boundsItself !== true) load.enter(request.raw, request.ip);
    done();
  });
  server.addHook("preHandler", (request, _reply, done) => {
    load.begin(request.raw);
    parts.tracing.within(request.span, done);
  });
  server.addHook("onSend", (request, reply, payload, done) => {
    // Errors have been counted. Whoever is well answered without being known counts as well; probes do not.
    if (reply.rate === undefined && !isAboutHealth(request)) unauthenticated.count(request.ip);
    reply.headers(rateHeaders(reply.rate ?? unauthenticated.rate(request.ip)));
    if (parts.readiness.leaving) reply.header("connection", "close");
    load.end(request.raw);
    parts.onAnswer?.(request, reply, payload);
    done();
  });
  ignoreCut(server.server);
  malformed.watch(server.server);
  watchConnections(server.server);
  // Behind a proxy all are the proxy's, and it has to bound them.
  if (parts.trustProxy === 0) boundConnections(server.server, load, parts.connectionsPerAddress);
  server.setNotFoundHandler((request, reply) => answerError(paths.faultFor(request.url), request, reply, parts));
  server.setErrorHandler((error, request, reply) => answerError(error, request, reply, parts));
  return server;
}

/**
 * Before anything is looked up or read: what an address has used up is refused, but for what proves itself. Throws RATE_LIMITED. Health is always answered.
 */
function refuseOnArrival(request: FastifyRequest, reply: FastifyReply, parts: ServerParts): void {
  const { unauthenticated, clock, isKnown } = parts;
  const standing = unauthenticated.standing(request.ip);
  if (standing === "all" || request.url === HEALTH) return;
  const { authorization, cookie } = request.headers;
  const bearer = /^bearer (\S+)$/i.exec(authorization ?? "")?.[1];
  if (bearer !== undefined && isKnown(bearer)) return;
  const claims = authorization !== undefined || cookie !== undefined || request.url.startsWith("/acquirers/");
  if (standing === "claims" && claims) return;
  // It stays at what it is: who goes on asking is not told later and later.
  reply.rate = unauthenticated.rate(request.ip);
  throw tooMany(reply.rate.reset, clock);
}

/** Asked again and again, by whoever looks after the process. */
function isAboutHealth({ url }: FastifyRequest): boolean {
  return url === HEALTH || isProbe(url);
}

/** Says what a request was: its pattern, not its path, and ids that name nobody. */
function endSpan(
  { span, id, method, routeOptions, book, errorCode }: FastifyRequest,
  { raw, statusCode }: FastifyReply,
): void {
  if (!span) return;
  const { url: route } = routeOptions;
  span.rename(route === undefined ? method : `${method} ${route}`);
  span.set({
    "http.request.method": method,
    "http.route": route,
    "http.response.status_code": raw.headersSent ? statusCode : undefined,
    "gerbang.request_id": id,
    "gerbang.merchant_id": book?.merchantId,
    "gerbang.environment": book?.environment,
    "gerbang.code": errorCode,
  });
  span.end(!raw.writableFinished ? "hung up" : statusCode >= 500 ? (errorCode ?? String(statusCode)) : undefined);
}

/** Meters and logs an answer that was sent. */
function answered(request: FastifyRequest, reply: FastifyReply, { metrics, log }: ServerParts): void {
  const { url: route } = request.routeOptions;
  const ms = stopwatchMs() - request.begunAt;
  metrics.answered(request.method, route ?? "unknown", reply.statusCode, ms / 1000);
  if (!log.isLevelEnabled("info") || isAboutHealth(request)) return;
  log.info(lineOf(request, reply, route, ms), "request");
}

/** Opens an endpoint of the merchants' API. */
export function openEndpoint(server: FastifyInstance, edge: Edge, endpoint: Endpoint): void {
  server.route({
    method: methodOf(endpoint),
    url: endpoint.path.replaceAll(/\{(\w+)\}/g, ":$1"),
    handler(request, reply) {
      edge
        .handle(endpoint, request, reply)
        .then((answer) => sendReply(reply, answer))
        .catch((error: unknown) => reply.send(error));
    },
  });
}

export function sendReply(reply: FastifyReply, answer: Reply): FastifyReply {
  const { status, body, replayed, contentType, file, stream, saveAs } = answer;
  if (status >= 400) reply.request.errorCode = errorCodeOf(body);
  if (replayed) reply.header("x-idempotent-replay", "true");
  if (status === 503 && !reply.hasHeader("retry-after")) reply.header("retry-after", "1");
  if (file) {
    const { bytes, sizeBytes } = file;
    reply.code(status).headers(attachmentHeaders(file));
    if (Buffer.isBuffer(bytes)) return reply.send(bytes);
    return reply.header("content-length", String(sizeBytes)).send(Readable.from(bytes, { highWaterMark: 1 }));
  }
  if (saveAs !== undefined)
    reply.headers({ "content-disposition": `attachment; filename="${saveAs}"`, "x-content-type-options": "nosniff" });
  // The framework ends it with the answer, but not where there is no body: of a HEAD. Whoever asked may have gone before it is there.
  if (stream) {
    finished(reply.raw, () => stream.destroy());
    reply.header("x-accel-buffering", "no"); // a proxy passes each piece on as it comes
  }
  return reply
    .code(status)
    .header("content-type", contentType ?? "application/json; charset=utf-8")
    .send(stream ?? body);
}

/** Of a body in the shape of all errors, stored ones too. */
function errorCodeOf(body: string): string | undefined {
  return /"error":\{"code":"([A-Z_]{1,64})"/.exec(body)?.[1];
}

function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply, parts: ServerParts): FastifyReply {
  const { unauthenticated, clock, log } = parts;
  let fault = faultOf(error);
  if (reply.rate === undefined) {
    // Faults before a client was known are the doing of unauthenticated callers, and count against their address. Our own are not.
    if (fault.status < 500 && !unauthenticated.count(request.ip))
      fault = tooMany(unauthenticated.rate(request.ip).reset, clock);
    reply.rate = unauthenticated.rate(request.ip);
  }
  // Errors of the framework itself come here without passing any hook.
  reply
    .headers({ "x-request-id": request.id, "cache-control": "no-store" })
    .headers(rateHeaders(reply.rate ?? unauthenticated.rate(request.ip)));
  const { retryAfterSeconds, allow, internal } = fault.extras;
  // The rest of the request is not waited for; or the client is to go elsewhere.
  if (fault.status === 408 || parts.readiness.leaving) reply.header("connection", "close");
  if (allow !== undefined) reply.header("allow", allow.join(", "));
  const seconds = retryAfterSeconds ?? (fault.status === 503 ? 1 : undefined);
  if (seconds !== undefined) reply.header("retry-after", String(seconds));
  if (fault.status >= 500) reply.header("link", `<${parts.statusUrl()}>; rel="status"`);
  if (fault.status >= 500 && !request.raw.destroyed) {
    const level = fault.status === 500 ? "error" : "warn";
    log[level]({ request_id: request.id, code: fault.code, err: internal ?? error }, "request failed");
  }
  return sendReply(reply, faultReply(fault, request.id));
}

function faultOf(error: unknown): Fault {
  if (error instanceof Fault) return error;
  const { code, statusCode } = (error ?? {}) as { code?: unknown; statusCode?: unknown };
  if (typeof code === "string" && code.startsWith("FST_ERR_CTP")) return new Fault("MALFORMED_REQUEST");
  if (typeof code === "string" && code.startsWith("FST_") && typeof statusCode === "number" && statusCode < 500) {
    return new Fault("ROUTE_NOT_FOUND");
  }
  if (isOutOfService(error)) return new Fault("SERVICE_UNAVAILABLE", { internal: error });
  return new Fault("INTERNAL_ERROR", { internal: error });
}
