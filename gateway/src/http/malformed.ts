// Answers bytes that are not HTTP. They never reach a route, so the answer is written to the socket directly, after the answers before it.
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { newId } from "../ground/ids.ts";
import type { Log } from "../ground/log.ts";
import type { Metrics } from "../ground/metrics.ts";
import { breakOff, lateFault } from "./body.ts";
import { faultReply } from "../ground/reply.ts";
import { type UnauthenticatedCallers, rateHeaders } from "../auth/rate.ts";

export interface MalformedParts {
  clock: Clock;
  log: Log;
  metrics: Metrics;
  unauthenticated: UnauthenticatedCallers;
}

export class Malformed {
  private readonly parts: MalformedParts;
  /** The answer to the latest request of each connection. Answers are sent in order, so once it is sent, all are. */
  private readonly latest = new WeakMap<Socket, ServerResponse>();
  private readonly refused = new WeakSet<Socket>();

  constructor(parts: MalformedParts) {
    this.parts = parts;
  }

  /** Remembers the latest request of each connection, and handles Expect and CONNECT requests, which Node would answer itself. */
  watch(server: Server): void {
    server.prependListener("request", (request, response) => {
      this.latest.set(request.socket, response);
      if (isAmbiguous(request)) this.refused.add(request.socket);
      // Whatever answers it, be it a probe or Fastify itself, nothing behind it is answered.
      if (this.refused.has(request.socket)) response.shouldKeepAlive = false;
    });
    server.on("checkExpectation", (request, response) => server.emit("request", request, response));
    server.on("connect", (_request, socket: Socket) => this.refuse(socket, new Fault("ROUTE_NOT_FOUND")));
  }

  /** Refuses an ambiguous request, and all behind it on its connection. Throws MALFORMED_REQUEST. */
  refuseAmbiguous({ socket }: IncomingMessage): void {
    if (!this.refused.has(socket)) return;
    throw new Fault("MALFORMED_REQUEST", {
      message: "Send one Host line, and a body with Content-Length or in HTTP/1.1 with Transfer-Encoding: chunked.",
    });
  }

  /** Handles an error of Node's HTTP parser. Each connection is refused once; later bytes are ignored. */
  take(error: NodeJS.ErrnoException, socket: Socket): void {
    if (this.refused.has(socket)) return;
    this.refused.add(socket);
    if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
    const fault = faultOf(error.code);
    const { remoteAddress: address } = socket;
    this.parts.log.info({ status: fault.status, code: fault.code, reason: error.code, address }, "malformed request");
    const before = this.latest.get(socket);
    if (before && !before.req.complete) this.refuseBody(before, socket, fault);
    // The answer before must arrive whole, and the refusal must not be taken for it.
    else if (before && !before.writableFinished) before.once("finish", () => this.refuse(socket, fault));
    else this.refuse(socket, fault);
  }

  /** Refuses bytes in the body of a request that was accepted: the answer to that request reports the error. */
  private refuseBody(response: ServerResponse, socket: Socket, fault: Fault): void {
    breakOff(response.req, fault);
    // A request whose body is not being read is answered without it.
    if (response.writableFinished) socket.end();
    else response.once("finish", () => socket.end());
  }

  /** Writes an answer to the socket, with the usual envelope and headers, and ends the connection. */
  private refuse(socket: Socket, fault: Fault): void {
    const { clock, unauthenticated, metrics } = this.parts;
    // The answer before may have ended the connection, because its client asked for that.
    if (!socket.writable) return;
    const requestId = newId("request", clock.now());
    const address = socket.remoteAddress ?? "unknown";
    unauthenticated.count(address);
    const { status, body } = faultReply(fault, requestId);
    const headers = {
      "content-type": "application/json; charset=utf-8",
      "content-length": String(Buffer.byteLength(body)),
      "cache-control": "no-store",
      "x-request-id": requestId,
      ...rateHeaders(unauthenticated.rate(address)),
      connection: "close",
    };
    const head = Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join("");
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n${body}`);
    metrics.answered("unknown", "malformed", status);
  }
}

/** True for a request that a proxy may read otherwise (RFC 9112, sections 3.2 and 6.1): not one Host line, or a coding other than HTTP/1.1's `chunked`. */
function isAmbiguous({ headers, httpVersion }: IncomingMessage): boolean {
  const { host, "transfer-encoding": coding } = headers;
  const isCoded = coding !== undefined && (httpVersion !== "1.1" || coding.toLowerCase() !== "chunked");
  return isCoded || (host?.includes(",") ?? httpVersion === "1.1");
}

function faultOf(code: string | undefined): Fault {
  const message = "The request's target and headers may have at most 16 KiB together.";
  if (code === "HPE_HEADER_OVERFLOW") return new Fault("MALFORMED_REQUEST", { status: 431, message });
  return code === "ERR_HTTP_REQUEST_TIMEOUT" ? lateFault() : new Fault("MALFORMED_REQUEST");
}
