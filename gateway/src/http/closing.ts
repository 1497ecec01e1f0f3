// Closing a server so that no request is lost between its client and us. What is under way is answered; silent connections are let go.
import type { Server } from "node:http";
import { Server as Listener, type Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { stopwatchMs } from "../ground/clock.ts";
import type { LoadShedding } from "./load-shedding.ts";

/** In a turn of the event loop this short next to nothing arrived. */
const QUIET_TURN_MS = 0.3;
/** Under a load without quiet turns the listener is closed after so long all the same. */
const QUIET_WITHIN_MS = 1_000;
const LOOK_MS = 25;
/** A connection that was never used was opened for a request that may still be on its way. None comes after so long. */
const UNUSED_MS = 1_000;

const connectionsOf = new WeakMap<Server, Set<Socket>>();

/** Remembers the connections of a server, for its end. */
export function watchConnections(server: Server): void {
  const open = new Set<Socket>();
  connectionsOf.set(server, open);
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
}

/**
 * Stops listening and resolves when the last connection has ended. One whose request is under way ends after the answer, one that is kept
 * for another request at once, and one that was just made has a moment to send what it was made for: Node's own close ends that one, too.
 */
export async function closeServer(server: FastifyInstance, load: LoadShedding, unusedMs = UNUSED_MS): Promise<void> {
  if (server.server.listening) {
    await quietTurn();
    // From here to the system's own close nothing may be awaited: what arrives meanwhile would be reset by it.
    Listener.prototype.close.call(server.server);
    await connectionsEnd(connectionsOf.get(server.server) ?? new Set(), load, unusedMs);
  }
  await server.close();
}

/** Resolves right after the system was asked for news and had next to none: connections that wait to be accepted are reset by a close. */
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

function connectionsEnd(open: ReadonlySet<Socket>, load: LoadShedding, unusedMs: number): Promise<void> {
  const closedAt = stopwatchMs();
  /** What each had received when it was looked at last. */
  const received = new Map<Socket, number>();
  const look = (): void => {
    const unusedMay = stopwatchMs() - closedAt < unusedMs;
    for (const socket of open) {
      const before = received.get(socket) ?? socket.bytesRead;
      received.set(socket, socket.bytesRead);
      const isUnderWay = load.isWaiting(socket) || socket.writableLength > 0 || socket.bytesRead > before;
      if (!isUnderWay && !(unusedMay && socket.bytesWritten === 0)) socket.destroy();
    }
  };
  return new Promise((resolve) => {
    const turn = (): void => {
      look();
      if (open.size === 0) resolve();
      // After the system was asked for news: what has arrived is read before its connection is judged.
      else setTimeout(() => setImmediate(turn), LOOK_MS);
    };
    turn();
  });
}
