// Serves a contract: the same for everybody and without secrets, so unlike other answers it may be kept for a while.
import type { FastifyInstance } from "fastify";

/** For five minutes: after an upgrade tools see the new one soon. */
const KEPT = "public, max-age=300";

export function openContract(server: FastifyInstance, path: string, contract: () => string): void {
  // Encoded once: whoever asks for it over and over, and reads nothing, costs neither time nor memory for each of its hundreds of kilobytes.
  let bytes: Buffer | undefined;
  server.get(path, (_request, reply) => {
    bytes ??= Buffer.from(contract());
    return reply.headers({ "content-type": "application/json; charset=utf-8", "cache-control": KEPT }).send(bytes);
  });
}
