// Limits the connections of each address, cuts none that has carried an authenticated request, and ignores requests of those that it cut.
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { addressGroup } from "../ground/address-group.ts";
import { type LoadShedding, hasProved } from "./load-shedding.ts";

/**
 * Limits the connections of each address, or /64 of IPv6. Beyond the limit, the oldest connection that has carried no authenticated request
 * is cut for the new one, so that other callers at a merchant's address cannot keep the merchant out. If all have, the new one is cut.
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

/** Skips the requests of a cut connection: Node still parses hundreds of them in one turn, and handling each would delay all others. */
export function ignoreCut(server: Server): void {
  const handlers = server.listeners("request") as ((request: IncomingMessage, response: ServerResponse) => void)[];
  server.removeAllListeners("request");
  server.on("request", (request, response) => {
    if (request.socket.destroyed) return;
    for (const handle of handlers) handle.call(server, request, response);
  });
}
