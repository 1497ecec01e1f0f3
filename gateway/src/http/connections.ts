// How many connections one address may hold, and which of them goes when there is one too many: never one that proved who it is; and what is
// left of one that was cut.
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { addressGroup } from "../ground/address-group.ts";
import { type LoadShedding, hasProved } from "./load-shedding.ts";

/**
 * Bounds the connections of each address, or /64 of IPv6. Where they are too many, the oldest that has proved nothing is cut for the next, so that
 * nobody who shares an address with a merchant can keep it out; where all have proved themselves, the new one is.
 */
export function boundConnections(server: Server, load: LoadShedding, connectionsPerAddress: number): void {
  const held = new Map<string, Set<Socket>>();
  server.on("connection", (socket: Socket) => {
    const group = addressGroup(socket.remoteAddress ?? "");
    const sockets = held.get(group) ?? new Set();
    if (sockets.size >= connectionsPerAddress && !cutOldest(sockets, load)) {
      socket.destroy();
      return;
    }
    sockets.add(socket);
    held.set(group, sockets);
    socket.once("close", () => {
      sockets.delete(socket);
      if (sockets.size === 0 && held.get(group) === sockets) held.delete(group);
    });
  });
}

function cutOldest(sockets: Set<Socket>, load: LoadShedding): boolean {
  for (const socket of sockets) {
    if (hasProved(socket)) continue;
    sockets.delete(socket);
    load.cut++;
    socket.destroy();
    return true;
  }
  return false;
}

/**
 * Handles no request of a connection that was cut. Those that it had sent before are parsed all the same, hundreds of them in one turn: handling each
 * would keep everybody else waiting.
 */
export function ignoreCut(server: Server): void {
  const handlers = server.listeners("request") as ((request: IncomingMessage, response: ServerResponse) => void)[];
  server.removeAllListeners("request");
  server.on("request", (request, response) => {
    if (request.socket.destroyed) return;
    for (const handle of handlers) handle.call(server, request, response);
  });
}
