// An acquirer to try failures with: a server that speaks Gerbang's protocol, stores its operations, and misbehaves on demand.
import { once } from "node:events";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { BODY_MAX_BYTES } from "../../acquirers/remote-protocol.ts";
import { systemClock } from "../../ground/clock.ts";
import { SigningKey } from "../../ground/signing-key.ts";
import { Fault } from "../../ground/fault.ts";
import type { BehaviourChange, PayOrder, ConcludeOrder } from "./controls.ts";
import { Desk } from "./desk.ts";
import { rowOf } from "./operation.ts";
import { Operations, type Reply, failure } from "./operations.ts";
import { control, protocolCall } from "./requests.ts";

interface SimulatorOptions {
  /** 0 takes any free port. */
  port: number;
  host: string;
  secret: string;
  /** File for the operations; without it they are lost when the simulator stops. */
  stateFile?: string;
  /** Number of operations that are kept; beyond it the oldest finished ones are forgotten. */
  maximum?: number;
  log?: (line: string) => void;
}

export interface Simulator {
  url: string;
  behave(change: BehaviourChange): void;
  /** The payer pays, or fails to. Throws when there is no such payment. */
  pay(operationKey: string, order?: PayOrder): Promise<void>;
  /** Decides a refund. Throws when there is no such refund. */
  conclude(operationKey: string, order?: ConcludeOrder): Promise<void>;
  /** The newest operations, newest first, in the format of `GET /operations`. */
  operations(count?: number): Record<string, unknown>[];
  stop(): Promise<void>;
}

/** Starts the simulator, and resolves when it answers requests. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const { port, host, secret, stateFile, maximum = 100_000, log = () => undefined } = options;
  const ready = Promise.withResolvers<Desk>();
  const server = createServer({ maxHeaderSize: 16_384, headersTimeout: 10_000, requestTimeout: 20_000 });
  server.maxConnections = 1024;
  server.on("request", (request, response) => {
    void ready.promise.then((desk) => serve(desk, request, response, log));
  });
  server.listen(port, host);
  await once(server, "listening");
  // Only one process can listen at the address, so only one gets to the file.
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  let desk: Desk;
  try {
    desk = new Desk(new Operations(systemClock, maximum, stateFile), systemClock, new SigningKey(secret), log);
    await desk.start();
  } catch (error) {
    close();
    throw error;
  }
  ready.resolve(desk);
  const did = async ({ status, body }: Reply): Promise<void> => {
    if (status !== 200) throw new Error(JSON.stringify(body));
    await desk.operations.durable();
  };
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${bound}`,
    behave: (change) => desk.behaviour.change(change),
    pay: (key, order = {}) => did(desk.pay(key, order)),
    conclude: (key, order = {}) => did(desk.conclude(key, order)),
    operations: (count = 100) => desk.operations.newest(count).map(rowOf),
    async stop() {
      close();
      await desk.stop();
    },
  };
}

async function serve(
  desk: Desk,
  request: IncomingMessage,
  response: ServerResponse,
  log: (line: string) => void,
): Promise<void> {
  response.on("error", () => response.destroy());
  let said = `${request.method} ${request.url}`;
  const answer = ({ status, body }: Reply): void => {
    log(`${said}: ${status}`);
    if (response.headersSent || response.destroyed) return;
    response.writeHead(status, { "content-type": "application/json; charset=utf-8" }).end(JSON.stringify(body));
  };
  try {
    const body = await read(request);
    if (body === undefined) return answer(failure(413, "too_large", `At most ${BODY_MAX_BYTES} bytes.`, true));
    const controlled = control(desk, request, body);
    if (controlled) {
      await desk.operations.durable();
      return answer(controlled);
    }
    const call = protocolCall(desk, request, body);
    const mode = desk.behaviour.take();
    if (mode !== "ok") said += ` (${mode})`;
    if (mode === "timeout_before") return log(said);
    if (mode === "error") return answer(failure(500, "broken", "Something went wrong."));
    const reply = mode === "refuse" ? call.refuse() : call.work();
    await desk.operations.durable();
    if (mode === "slow") await delay(desk.behaviour.slowMs, undefined, { signal: desk.stopped });
    if (mode !== "timeout" && mode !== "reset" && mode !== "garbage") return answer(reply);
    log(said);
    if (mode === "reset") request.socket.resetAndDestroy();
    if (mode === "garbage") response.writeHead(200, { "content-type": "text/html" }).end("<html>It works!</html>");
  } catch (error) {
    if (!request.complete) return; // the client hung up in the middle of the body
    if (error instanceof Fault) return answer(failure(error.status, error.code.toLowerCase(), error.message, true));
    log((error as Error).message);
    answer(failure(500, "internal", "Something went wrong."));
  }
}

/** The body; undefined when it is too long. The rest of a long body is read and discarded. */
async function read(request: IncomingMessage): Promise<Buffer | undefined> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > BODY_MAX_BYTES) {
      request.resume();
      return undefined;
    }
    parts.push(part);
  }
  return Buffer.concat(parts);
}
