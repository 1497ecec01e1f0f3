// Bytes that are not HTTP never reach a route; their answer is written to the socket by hand, after those before it.
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

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
}

export class Malformed {
  private readonly parts: MalformedParts;
  /** The latest request of each connection. Answers go out in order, so when its answer is out all are. */
  private readonly latest = new WeakMap<Socket, Exchange>();
  private readonly refused = new WeakSet<Socket>();

  constructor(parts: MalformedParts) {
    this.parts = parts;
  }

  /** Remembers what is answered on each connection of the server, and answers what Node would answer on its own. */
  watch(server: Server): void {
    server.prependListener("request", (request, response) => {
      this.latest.set(request.socket, { request, response });
    });
    server.on("checkExpectation", (request, response) => server.emit("request", request, response));
    server.on("connect", (_request, socket: Socket) => this.refuse(socket, new Fault("ROUTE_NOT_FOUND")));
  }

  /** Whatever Node could not understand on a connection. Each connection is refused once; more bytes change nothing. */
  take(error: NodeJS.ErrnoException, socket: Socket): void {
    if (this.refused.has(socket)) return;
    this.refused.add(socket);
    if (error.code === "ECONNRESET" || !socket.writable) {
      socket.destroy();
      return;
    }
    const fault = faultOf(error.code);
    const { remoteAddress: address } = socket;
    this.parts.log.info({ status: fault.status, code: fault.code, reason: error.code, address }, "malformed request");
    const before = this.latest.get(socket);
    if (before && !before.request.complete) this.refuseBody(before, socket, fault);
    // Its answer must arrive whole, and must not be taken for this one's.
    else if (before && !before.response.writableFinished) {
      before.response.once("finish", () => this.refuse(socket, fault));
    } else this.refuse(socket, fault);
  }

  /** The bytes belong to the body of a request that is known: its own answer says so, in its turn. */
  private refuseBody({ request, response }: Exchange, socket: Socket, fault: Fault): void {
    breakOff(request, fault);
    // Where nobody reads its body it is answered without it, now or soon, and there is nothing more to say.
    if (response.writableFinished) socket.end();
    else response.once("finish", () => socket.end());
  }

  /** An answer by hand, with the envelope and the headers of every other, and the end of the connection. */
  private refuse(socket: Socket, fault: Fault): void {
    const { clock, unauthenticated, metrics } = this.parts;
    // The answer before may have ended the connection, as its client asked.
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

function faultOf(code: string | undefined): Fault {
  if (code === "HPE_HEADER_OVERFLOW") return new Fault("MALFORMED_REQUEST", { status: 431 });
  if (code !== "ERR_HTTP_REQUEST_TIMEOUT") return new Fault("MALFORMED_REQUEST");
  return lateFault();
}
