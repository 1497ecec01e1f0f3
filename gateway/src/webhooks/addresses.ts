// Where a request really went. A pool may hold sockets to several addresses of one origin, and only the client knows which of
// them carried what: it says so on a channel of the process, at the moment when the headers are sent.
import { subscribe } from "node:diagnostics_channel";

/** Bodies of requests, and the address that each was sent to. */
const sentTo = new WeakMap<object, string | undefined>();

subscribe("undici:client:sendHeaders", (message) => {
  const { request, socket } = message as { request: { body?: unknown }; socket: { remoteAddress?: string } };
  // Others in this process use such clients as well: only bodies that were asked about are looked at.
  if (isObject(request.body) && sentTo.has(request.body)) sentTo.set(request.body, socket.remoteAddress);
});

/**
 * Watches a request by its body, which must be an object of its own. What it gives tells the address that the request was
 * sent to, or undefined while it has been sent nowhere.
 */
export function watchAddress(body: object): () => string | undefined {
  sentTo.set(body, undefined);
  return () => sentTo.get(body);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
