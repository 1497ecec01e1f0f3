// Finds the IP address to which a request was sent. A pool may hold sockets to several addresses of one origin, and only undici knows
// which of them carried a request: it reports that on a diagnostics channel when it sends the headers.
import { subscribe } from "node:diagnostics_channel";

/** Bodies of watched requests, each with the address that the request was sent to. */
const sentTo = new WeakMap<object, string | undefined>();

subscribe("undici:client:sendHeaders", (message) => {
  const { request, socket } = message as { request: { body: object }; socket: { remoteAddress?: string } };
  // Other code of this process may use undici as well: only watched bodies are noted.
  if (sentTo.has(request.body)) sentTo.set(request.body, socket.remoteAddress);
});

/** Watches a request by its body, an object of its own. Gives a function that returns the address it was sent to; undefined while it was not. */
export function watchAddress(body: object): () => string | undefined {
  sentTo.set(body, undefined);
  return () => sentTo.get(body);
}
