// Serves a contract: the same for everybody and without secrets, so unlike other answers it may be kept for a while.
import type { FastifyInstance } from "fastify";
import { sendReply } from "./server.ts";

/** For five minutes: after an upgrade tools see the new one soon. */
const KEPT = "public, max-age=300";

export function openContract(server: FastifyInstance, path: string, contract: () => string): void {
  server.get(path, (_request, reply) => {
    reply.header("cache-control", KEPT);
    return sendReply(reply, { status: 200, body: contract() });
  });
}
