// The HTTP server: raw bodies, request identities, the envelope of every error, and a log line and a metric for each request.
import { Readable, finished } from "node:stream";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { stopwatchMs } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { newId } from "../ground/ids.ts";
import type { Span, Tracing } from "../ground/tracing.ts";
import type { Book } from "../merchants/books.ts";
import type { Client } from "../merchants/directory.ts";
import { isOutOfService } from "../store/database.ts";
import { attachmentHeaders } from "./attachment.ts";
import { readBody } from "./body.ts";
import { watchConnections } from "./closing.ts";
import { boundConnections, boundPipelines } from "./connections.ts";
import type { Edge } from "./edge.ts";
import { setAsideContentType } from "./json-body.ts";
import { type Endpoint, methodOf } from "./endpoint.ts";
import { type Reply, faultReply } from "../ground/reply.ts";
import { KnownPaths } from "./known-paths.ts";
import type { LoadShedding } from "./load-shedding.ts";
import { Malformed, type MalformedParts } from "./malformed.ts";
import { type Readiness, isProbe } from "./readiness.ts";
import { lineOf } from "./request-line.ts";
import { canonicalTarget } from "./request-target.ts";
import { type Rate, rateHeaders, tooMany } from "../auth/rate.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Stopwatch time in milliseconds. */
    begunAt: number;
    sentContentType: string;
    /** The credential that the request claims, once it is found. */
    sender: Client | undefined;
    /** True when the signature of `sender` was valid and new. */
    isProven: boolean;
    /** The authenticated sender, for logs and audits: a client_id, a person's id or the name of an operator's token. */
    actor: string | undefined;
    /** The book that the request is about, if any. */
    book: Book | undefined;
    /** Undefined when tracing is off. */
    span: Span | undefined;
    errorCode: string | undefined;
  }
  interface FastifyContextConfig {
    /** True when the handler reads the body as a stream. */
    streamsBody?: boolean;
    /** True for long polls and the like, which have a limit of their own and take no capacity of the load shedding. */
    boundsItself?: boolean;
    /** The page that people see in place of an error's JSON; undefined where that is sent all the same. */
    errorPage?: (
      fault: Fault,
      request: FastifyRequest,
    ) => { headers: Readonly<Record<string, string>>; body: string } | undefined;
  }
  interface FastifyReply {
    /** The window for the rate headers of the answer. */
    rate: Rate | undefined;
    /** Marks the sender as authenticated: the request does not count against its address, and uses the capacity of known senders. */
    proven(): void;
  }
}

const HEALTH = "/v1/health";
const UNREAD_MS = 60_000;

export interface ServerParts extends MalformedParts {
  load: LoadShedding;
  readiness: Readiness;
  tracing: Tracing;
  /** Number of proxies in front of the service whose X-Forwarded-For is trusted. */
  trustProxy: number;
  /** Address of the status page, for the `Link` header of 5xx answers. */
  statusUrl: () => string;
  connectionsPerAddress: number;
  /** True when this process has loaded the client_id or token that stands after `Bearer`. */
  isKnown: (bearer: string) => boolean;
  /** Called with every answer to a request that matched a route. Must return at once. */
  onAnswer?: ((request: FastifyRequest, reply: FastifyReply, payload: unknown) => void) | undefined;
}

/** Makes a server without endpoints. All its answers, also to unknown paths and malformed HTTP, have the error envelope and the headers. */
export function createServer(parts: ServerParts): FastifyInstance {
  const { clock, unauthenticated, load } = parts;
  const malformed = new Malformed(parts);
  const server = fastify({
    genReqId: () => newId("request", clock.now()),
    exposeHeadRoutes: true,
    // Long enough for an upload of ten megabytes over a bad connection. `readBody` has a shorter limit for bodies that are held.
    requestTimeout: 300_000,
    keepAliveTimeout: 65_000,
    // Cuts a client that reads nothing of its answer for this time. Streams write to their connections more often.
    connectionTimeout: UNREAD_MS,
    forceCloseConnections: "idle",
    return503OnClosing: false,
    routerOptions: { maxParamLength: 16_384 },
    http: {
      requireHostHeader: false,
      headersTimeout: 15_000,
      connectionsCheckingInterval: 1_000,
      // Of two lines of one header, such as Authorization, the first would count, and a proxy may have looked at the other. Joined they are neither.
      joinDuplicateHeaders: true,
    },
    // Makes `url` the canonical target; `originalUrl` stays the target as it was sent.
    rewriteUrl: ({ url = "" }) => canonicalTarget(url),
    trustProxy: (_address, hop) => hop < parts.trustProxy,
    clientErrorHandler: (error, socket) => malformed.take(error as NodeJS.ErrnoException, socket),
    frameworkErrors: (error, request, reply) => void answerError(error, request, reply, parts),
  });
  const paths = new KnownPaths();
  paths.watch(server);
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("*", async (request: FastifyRequest) =>
    request.routeOptions.config.streamsBody === true ? undefined : readBody(request.raw, load),
  );
  server.decorateRequest("begunAt", 0);
  server.decorateRequest("sentContentType", "");
  server.decorateRequest("isProven", false);
  for (const name of ["sender", "actor", "book", "span", "errorCode"] as const) server.decorateRequest(name, undefined);
  server.decorateReply("rate", undefined);
  server.decorateReply("proven", function proven(this: FastifyReply) {
    load.prove(this.request.raw);
    this.rate ??= unauthenticated.rate(this.request.ip);
  });
  addHooks(server, parts, paths, malformed);
  boundPipelines(server.server, load);
  malformed.watch(server.server);
  watchConnections(server.server);
  // Behind a proxy all connections come from the proxy, which has to limit them itself.
  if (parts.trustProxy === 0) boundConnections(server.server, load, parts.connectionsPerAddress);
  server.setNotFoundHandler((request, reply) => answerError(paths.faultFor(request.url), request, reply, parts));
  server.setErrorHandler((error, request, reply) => answerError(error, request, reply, parts));
  return server;
}

/** What happens to every request and every answer: request id, load shedding, rate headers, span, log line and metric. */
function addHooks(server: FastifyInstance, parts: ServerParts, paths: KnownPaths, malformed: Malformed): void {
  const { unauthenticated, load } = parts;
  server.addHook("onRequest", (request, reply, done) => {
    request.begunAt = stopwatchMs();
    // One listener does all work at the end of an answer; Fastify's own hook would add two more listeners to every answer.
    reply.raw.on("close", () => {
      load.close(request.raw);
      endSpan(request, reply);
      if (reply.raw.writableFinished) answered(request, reply, parts);
    });
    // The handlers of cacheable answers (contracts, static files, logos) replace `no-store`.
    reply.headers({ "x-request-id": request.id, "cache-control": "no-store" });
    // Probes are answered from memory, in this turn of the event loop, so that neither load nor rate limits hide the state of the process.
    if (isProbe(request.url) && !request.is404) return done();
    request.span = parts.tracing.begin(request.method, {
      kind: "server",
      sent: { traceparent: request.headers.traceparent as string | undefined, trusted: parts.trustProxy > 0 },
    });
    setAsideContentType(request);
    refuseOnArrival(request, reply, parts);
    malformed.refuseAmbiguous(request.raw);
    // Unknown paths are refused before the body is read: ROUTE_NOT_FOUND comes before PAYLOAD_TOO_LARGE (section 7.4).
    if (request.is404) throw paths.faultFor(request.url);
    if (request.routeOptions.config.boundsItself !== true) load.enter(request.raw, request.ip);
    done();
  });
  server.addHook("preHandler", (request, _reply, done) => {
    load.begin(request.raw);
    parts.tracing.within(request.span, done);
  });
  server.addHook("onSend", (request, reply, payload, done) => {
    // Successful answers to unauthenticated callers count too, except those about health. Errors have been counted already.
    if (reply.rate === undefined && !isAboutHealth(request)) unauthenticated.count(request.ip);
    reply.headers(rateHeaders(reply.rate ?? unauthenticated.rate(request.ip)));
    if (parts.readiness.leaving) reply.header("connection", "close");
    load.end(request.raw);
    parts.onAnswer?.(request, reply, payload);
    done();
  });
}

/** Refuses on arrival requests of an address that has used its window up, except health and claims of known keys. Throws RATE_LIMITED. */
function refuseOnArrival(request: FastifyRequest, reply: FastifyReply, parts: ServerParts): void {
  const { unauthenticated, clock, isKnown } = parts;
  const allowed = unauthenticated.allowed(request.ip);
  if (allowed === "all" || request.url === HEALTH) return;
  const { authorization, cookie } = request.headers;
  const bearer = /^bearer (\S+)$/i.exec(authorization ?? "")?.[1];
  if (bearer !== undefined && isKnown(bearer)) return;
  const claims = authorization !== undefined || cookie !== undefined || request.url.startsWith("/acquirers/");
  if (allowed === "claims" && claims) return;
  // The refused request is not counted, so that further requests do not postpone the end of the window.
  reply.rate = unauthenticated.rate(request.ip);
  throw tooMany(reply.rate.reset, clock);
}

/** True for health and probes, which monitoring requests continually. */
function isAboutHealth({ url }: FastifyRequest): boolean {
  return url === HEALTH || isProbe(url);
}

/** Ends the span of a request. It names the route, not the path, and only identities that reveal no person. */
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

/** Records the metric and the log line of an answer that was sent. */
function answered(request: FastifyRequest, reply: FastifyReply, { metrics, log }: ServerParts): void {
  const { url: route } = request.routeOptions;
  const ms = stopwatchMs() - request.begunAt;
  metrics.answered(request.method, route ?? "unknown", reply.statusCode, ms / 1000);
  if (!log.isLevelEnabled("info") || isAboutHealth(request)) return;
  log.info(lineOf(request, reply, route, ms), "request");
}

/** Adds an endpoint of the merchants' API to the server. */
export function openEndpoint(server: FastifyInstance, edge: Edge, endpoint: Endpoint): void {
  server.route({
    method: methodOf(endpoint),
    url: endpoint.path.replaceAll(/\{(\w+)\}/g, ":$1"),
    // The router takes `/v1/payments//cancel` for a path with an id. An unknown path is refused before the body is read.
    onRequest({ params }, _reply, next) {
      next(Object.values(params as object).includes("") ? new Fault("ROUTE_NOT_FOUND") : undefined);
    },
    handler(request, reply) {
      edge
        .handle(endpoint, request, reply)
        .then((answer) => sendReply(reply, answer))
        .catch((error: unknown) => reply.send(error));
    },
  });
}

/** Sends an answer with the headers of its kind. */
export function sendReply(reply: FastifyReply, answer: Reply): FastifyReply {
  const { status, body, replayed, contentType, file, stream, saveAs } = answer;
  if (status >= 400) reply.request.errorCode = errorCodeOf(body);
  if (replayed) reply.header("x-idempotent-replay", "true");
  if (status === 503 && !reply.hasHeader("retry-after")) reply.header("retry-after", "1");
  if (file) {
    const { bytes, sizeBytes, sending } = file;
    sending?.(reply.raw);
    reply.code(status).headers(attachmentHeaders(file));
    if (Buffer.isBuffer(bytes)) return reply.send(bytes);
    return reply.header("content-length", String(sizeBytes)).send(Readable.from(bytes, { highWaterMark: 1 }));
  }
  if (saveAs !== undefined)
    reply.headers({ "content-disposition": `attachment; filename="${saveAs}"`, "x-content-type-options": "nosniff" });
  // Fastify ends the stream with the answer, but not for HEAD, and not when the client has gone before the stream exists.
  if (stream) {
    finished(reply.raw, () => stream.destroy());
    reply.header("x-accel-buffering", "no"); // makes a proxy pass each piece on at once
  }
  return reply
    .code(status)
    .header("content-type", contentType ?? "application/json; charset=utf-8")
    .send(stream ?? body);
}

/** The code in an error body, also in a stored one. */
function errorCodeOf(body: string): string | undefined {
  return /"error":\{"code":"([A-Z_]{1,64})"/.exec(body)?.[1];
}

function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply, parts: ServerParts): FastifyReply {
  const { unauthenticated, clock, log } = parts;
  let fault = faultOf(error);
  if (reply.rate === undefined) {
    // Faults before authentication count against the address, except those of the service itself (5xx).
    if (fault.status < 500 && !unauthenticated.count(request.ip))
      fault = tooMany(unauthenticated.rate(request.ip).reset, clock);
    reply.rate = unauthenticated.rate(request.ip);
  }
  // Errors of Fastify itself come here without passing any hook, so the headers are set here too.
  reply
    .headers({ "x-request-id": request.id, "cache-control": "no-store" })
    .headers(rateHeaders(reply.rate ?? unauthenticated.rate(request.ip)));
  const { retryAfterSeconds, allow, internal } = fault.extras;
  // After 408 the rest of the request is not read. During a stop the client should connect to another process.
  if (fault.status === 408 || parts.readiness.leaving) reply.header("connection", "close");
  if (allow !== undefined) reply.header("allow", allow.join(", "));
  const seconds = retryAfterSeconds ?? (fault.status === 503 ? 1 : undefined);
  if (seconds !== undefined) reply.header("retry-after", String(seconds));
  if (fault.status >= 500) reply.header("link", `<${parts.statusUrl()}>; rel="status"`);
  if (fault.status >= 500 && !request.raw.socket.destroyed) {
    const level = fault.status === 500 ? "error" : "warn";
    log[level]({ request_id: request.id, code: fault.code, err: internal ?? error }, "request failed");
  }
  const page = request.routeOptions.config.errorPage?.(fault, request);
  if (page === undefined) return sendReply(reply, faultReply(fault, request.id));
  request.errorCode = fault.code;
  return reply.code(fault.status).headers(page.headers).send(page.body);
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
