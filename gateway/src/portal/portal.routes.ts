// Routes of /portal/v1: the merchants' endpoints, which it offers too, and the portal's own. Each request passes authorization and audit here.
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type AccessParts, answerAccess, auditedCall, guestCall, openRoute } from "../access/access.routes.ts";
import { isChange } from "../access/endpoint.ts";
import type { Reply } from "../ground/reply.ts";
import type { Edge } from "../http/edge.ts";
import { type Endpoint, methodOf } from "../http/endpoint.ts";
import { type SentFile, sentFile } from "../http/sent-file.ts";
import type { AuditedCall } from "../people/audit.sql.ts";
import type { Door, Member } from "./door.ts";
import type { PortalEndpoint } from "./endpoint.ts";
import { mountedPath, needsFreshProof } from "./mounted.ts";
import type { PortalSurface } from "./openapi.ts";

interface PortalParts extends AccessParts {
  door: Door;
  edge: Edge;
}

export function openPortalApi(server: FastifyInstance, parts: PortalParts, { mounted, own }: PortalSurface): void {
  for (const endpoint of mounted) {
    const route = { method: methodOf(endpoint), path: mountedPath(endpoint) };
    openRoute(server, route, (request, reply) => answerMounted(endpoint, request, reply, parts));
  }
  for (const endpoint of own) {
    const config = { streamsBody: endpoint.for === "member" && endpoint.upload !== undefined };
    openRoute(server, endpoint, (request, reply) => answerOwn(endpoint, request, reply, parts), config);
  }
}

/** Answers a person's request to an endpoint of the merchants' API: the same handler, with a session instead of a signature. */
async function answerMounted(
  endpoint: Endpoint,
  request: FastifyRequest,
  reply: FastifyReply,
  { door, edge, audit }: PortalParts,
): Promise<Reply> {
  const changes = endpoint.kind === "write";
  if (changes) door.refuseForeign(request);
  const member = await door.member(request);
  const admitted = await door.enter(member, reply);
  const perform = async (): Promise<Reply> => {
    // `edge.handleAs` checks the scope too, but its message is for programs.
    door.refuseUnlessAllowed(member, endpoint.scope);
    return edge.handleAs(member.principal, admitted, endpoint, request, reply);
  };
  const { book, scopes } = member.principal;
  if (scopes.has(endpoint.scope) && needsFreshProof(endpoint, book.environment)) door.refuseUnlessFresh(member);
  return changes ? audit.around(memberCall(endpoint.operationId, request, member), perform) : perform();
}

async function answerOwn(
  endpoint: PortalEndpoint,
  request: FastifyRequest,
  reply: FastifyReply,
  parts: PortalParts,
): Promise<Reply> {
  if (endpoint.for !== "member") return answerAccess(endpoint, request, reply, parts);
  const { door, audit } = parts;
  if (endpoint.method !== "GET") door.refuseForeign(request);
  const member = await door.member(request);
  await door.enter(member, reply);
  const { book, scopes } = member.principal;
  const needsFresh = endpoint.fresh === true || (endpoint.fresh === "production" && book.environment === "production");
  if (scopes.has(endpoint.action) && needsFresh) door.refuseUnlessFresh(member);
  const stillAllowed = (): Promise<void> => door.refuseUnlessStill(member, endpoint.action);
  const perform = async (): Promise<Reply> => {
    door.refuseUnlessAllowed(member, endpoint.action);
    return endpoint.handle({
      ...guestCall(endpoint, request, reply, parts),
      ...member,
      book,
      stillAllowed,
      file: () => sentWhileAllowed(request, stillAllowed),
    });
  };
  return isChange(endpoint) ? audit.around(memberCall(endpoint.operationId, request, member), perform) : perform();
}

/** The file of a request. Once all of it has arrived, which may take minutes, the member's rights are checked again before it is used. */
function sentWhileAllowed(request: FastifyRequest, stillAllowed: () => Promise<void>): SentFile {
  const file = sentFile(request);
  async function* body(): AsyncGenerator<Buffer> {
    yield* file.body;
    await stillAllowed();
  }
  return { ...file, body: body() };
}

/** The audit entry of a member's call. */
function memberCall(operationId: string, request: FastifyRequest, member: Member): AuditedCall {
  return { ...auditedCall(operationId, request, member), ...member.principal.book };
}
