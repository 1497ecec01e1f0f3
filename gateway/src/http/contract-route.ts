// Serves an OpenAPI document. It is the same for all callers and has no secrets, so unlike other answers it may be cached.
import type { FastifyInstance } from "fastify";

/** Cached for five minutes, so that tools see the new document soon after an upgrade. */
const KEPT = "public, max-age=300";

/** Gives the document's text, which `make` makes at its first use, so that the start need not wait for it. */
export function openContract(server: FastifyInstance, path: string, make: () => string): () => string {
  let made: string | undefined;
  const contract = (): string => (made ??= make());
  // Encoded once, because the document has hundreds of kilobytes: repeated requests cost neither time nor memory for another copy.
  let bytes: Buffer | undefined;
  server.get(path, (_request, reply) => {
    bytes ??= Buffer.from(contract());
    return reply.headers({ "content-type": "application/json; charset=utf-8", "cache-control": KEPT }).send(bytes);
  });
  return contract;
}
