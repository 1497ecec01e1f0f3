// Closes a server without losing requests: requests under way are answered, and idle connections are closed.
import type { Server } from "node:http";
import { Server as Listener, type Socket } from "node:net";
import { setImmediate as immediate, setTimeout as pause } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { stopwatchMs } from "../ground/clock.ts";
import type { LoadShedding } from "./load-shedding.ts";

/** A turn of the event loop shorter than this handled almost no new connections or data. */
const QUIET_TURN_MS = 0.3;
/** Time after which the listener is closed even when no turn was quiet. */
const QUIET_WITHIN_MS = 1_000;
const CHECK_MS = 25;
/** How long an unused connection stays open after the listener closed, for a first request that may be on its way. */
const UNUSED_MS = 1_000;

const connectionsOf = new WeakMap<Server, Set<Socket>>();

/** Remembers the open connections of a server for `closeServer`. */
export function watchConnections(server: Server): void {
  const open = new Set<Socket>();
  connectionsOf.set(server, open);
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
}

/**
 * Stops listening and resolves when the last connection has ended. A connection with a request under way ends after the answer, an idle one
 * at once, and a new one after `unusedMs` without a request. Node's own close would end new connections at once.
 */
export async function closeServer(server: FastifyInstance, load: LoadShedding, unusedMs = UNUSED_MS): Promise<void> {
  if (server.server.listening) {
    await quietTurn();
    // Nothing may be awaited between `quietTurn` and this close, which resets connections that arrive in between.
    Listener.prototype.close.call(server.server);
    await connectionsEnd(connectionsOf.get(server.server) ?? new Set(), load, unusedMs);
  }
  await server.close();
}

/** Resolves right after a poll for events that found almost none, because a close resets connections that wait to be accepted. */
function quietTurn(): Promise<void> {
  const begunAt = stopwatchMs();
  return new Promise((resolve) => {
    const turn = (): void => {
      const turnedAt = stopwatchMs();
      setImmediate(() => {
        const now = stopwatchMs();
        if (now - turnedAt < QUIET_TURN_MS || now - begunAt > QUIET_WITHIN_MS) resolve();
        else turn();
      });
    };
    setImmediate(turn);
  });
}

async function connectionsEnd(open: ReadonlySet<Socket>, load: LoadShedding, unusedMs: number): Promise<void> {
  const closedAt = stopwatchMs();
  /** Bytes that each connection had received at the last check. */
  const received = new Map<Socket, number>();
  for (;;) {
    const unusedMay = stopwatchMs() - closedAt < unusedMs;
    for (const socket of open) {
      const before = received.get(socket) ?? socket.bytesRead;
      received.set(socket, socket.bytesRead);
      const isUnderWay = load.isWaiting(socket) || socket.writableLength > 0 || socket.bytesRead > before;
      if (!isUnderWay && !(unusedMay && socket.bytesWritten === 0)) socket.destroy();
    }
    if (open.size === 0) return;
    await pause(CHECK_MS);
    await immediate(); // comes after a poll for events, so that arrived bytes are read before their connection is checked
  }
}
