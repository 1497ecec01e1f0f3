// Probes for orchestrators and load balancers: /livez says that the process lives, /readyz that it may be sent requests. Probes query no
// database, take no capacity, count against no address and write no log line.
import type { FastifyInstance } from "fastify";
import { Fault } from "../ground/fault.ts";
import { type Reply, errorOf, reply } from "../ground/reply.ts";
import type { Readiness, Unready } from "./readiness.ts";
import { sendReply } from "./server.ts";

/** Adds /livez and /readyz to the server. Their query parameters are ignored. */
export function openProbes(server: FastifyInstance, readiness: Readiness): void {
  server.get("/livez", (_request, answer) => sendReply(answer, reply(200, { status: "ok" })));
  server.get("/readyz", (request, answer) => sendReply(answer, readyReply(readiness.reasons(), request.id)));
}

function readyReply(reasons: readonly Unready[], requestId: string): Reply {
  if (reasons.length === 0) return reply(200, { status: "ok" });
  return reply(503, { status: "unavailable", reasons, error: errorOf(new Fault("SERVICE_UNAVAILABLE"), requestId) });
}
