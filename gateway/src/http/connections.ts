// Limits the connections of each address and the unanswered requests of each connection, and ignores requests of those that it cut.
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
    if (sockets.size >= connectionsPerAddress && !cutOldest(sockets, load)) return void socket.destroy();
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
 * Cuts a connection that sends too many requests before it has read an answer, and skips those of a cut one. Node parses thousands of them in
 * one turn, and to handle, or only to make and to drop, each would delay all other callers: what is unknown or limited takes time as well.
 */
export function boundPipelines(server: Server, load: LoadShedding): void {
  const handlers = server.listeners("request") as ((request: IncomingMessage, response: ServerResponse) => void)[];
  server.removeAllListeners("request");
  server.on("request", (request, response) => {
    const { socket }: { socket: Socket & { parser?: { onIncoming: () => number } } } = request;
    if (!socket.destroyed && load.arrive(response))
      for (const handle of handlers) handle.call(server, request, response);
    // The parser takes 2 as "no HTTP from here on", and leaves the rest alone. Node has no public way to say so.
    if (socket.destroyed && socket.parser) socket.parser.onIncoming = () => 2;
  });
}
