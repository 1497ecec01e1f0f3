// A service that answers by the scripts of sdk/vectors/retries.json, with the faults of a network too. For tests of clients in any language.
import { once } from "node:events";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";

export type ScriptedAnswer =
  | { status: number; headers: Record<string, string>; body: unknown; isAnnounced?: true }
  /** What is written to the connection, which stays open. */
  | { raw: string }
  | { fault: "reset" | "timeout" | "half_body" | "html" | "empty" | "redirect" | "too_large"; status?: number };

/** A received request. */
export interface Seen {
  method: string;
  /** The request target, without the number of the script. */
  target: string;
  /** The complete address that was called. */
  url: string;
  headers: NodeJS.Dict<string[]>;
  body: Buffer;
}

interface ScriptedService {
  /** The base address of a script; the text INDEX stands for the script's number. */
  baseUrl: string;
  /** The requests to each script, in order. */
  seen: Seen[][];
  /** Number of connections so far. */
  connections(): number;
  close(): Promise<void>;
}

const REQUEST_ID = "req_01kan3t5pzh6c2nb8w4fy7gmsd";

/** Starts a service with one script per vector, each under its own address. Requests beyond the end of a script get 418. */
export async function startScripted(
  scripts: readonly (readonly ScriptedAnswer[])[],
  tls?: { key: string; cert: string },
): Promise<ScriptedService> {
  const seen: Seen[][] = scripts.map(() => []);
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const [, index = "", target = ""] = /^\/(\d+)(\/.*)$/.exec(request.url ?? "") ?? [];
      const came = seen[Number(index)] ?? [];
      const { method = "", headersDistinct: headers } = request;
      const url = `http://${request.headers.host}${request.url}`;
      const answer = scripts[Number(index)]?.[came.length];
      came.push({ method, target, url, headers, body: Buffer.concat(parts) });
      response.sendDate = false;
      response.setHeader("x-request-id", REQUEST_ID);
      play(answer ?? { status: 418, headers: {}, body: {} }, request, response);
    });
  };
  const server = tls ? createTlsServer(tls, listener) : createServer(listener);
  let connections = 0;
  server.on(tls ? "secureConnection" : "connection", () => connections++);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    baseUrl: `${tls ? "https://localhost" : "http://127.0.0.1"}:${(server.address() as AddressInfo).port}/INDEX/v1`,
    seen,
    connections: () => connections,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function play(answer: ScriptedAnswer, request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request;
  if ("raw" in answer) {
    socket.write(answer.raw);
    return;
  }
  if (!("fault" in answer)) {
    if (answer.isAnnounced) announce(response);
    response.writeHead(answer.status, { "content-type": "application/json", ...answer.headers });
    response.end(JSON.stringify(answer.body));
    return;
  }
  switch (answer.fault) {
    case "reset":
      socket.resetAndDestroy();
      return;
    case "timeout":
      return; // the connection stays open until the server closes
    case "half_body":
      response.writeHead(201, { "content-type": "application/json", "content-length": "1000" });
      response.write('{"reference":"pay_', () => socket.destroy());
      return;
    case "html":
      response.writeHead(answer.status ?? 200, { "content-type": "text/html" });
      response.end("<html><body>A page of a proxy</body></html>");
      return;
    case "empty":
      response.writeHead(201, { "content-length": "0" }).end();
      return;
    case "redirect":
      response.writeHead(answer.status ?? 302, { location: `http://${request.headers.host}${request.url}` }).end();
      return;
    case "too_large":
      response.writeHead(200, { "content-type": "application/json" });
      pour(response, 12);
      return;
  }
}

/** Sends the interim answers that a proxy may send before the answer. */
function announce(response: ServerResponse): void {
  response.writeContinue();
  response.writeProcessing();
  response.writeEarlyHints({ link: "</style.css>; rel=preload" });
}

/** Sends this many megabytes of one JSON text, unless the client hangs up. */
function pour(response: ServerResponse, megabytes: number): void {
  if (response.destroyed) return;
  if (megabytes === 0) response.end('"}');
  else response.write(megabytes === 12 ? '{"a":"' : "x".repeat(1_000_000), () => pour(response, megabytes - 1));
}
