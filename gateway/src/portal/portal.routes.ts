// The way from a page's request to an endpoint: the merchants' own endpoints under /portal/v1, and those that only pages need.
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import type { Reply } from "../ground/reply.ts";
import type { Edge } from "../http/edge.ts";
import { type Endpoint, methodOf } from "../http/endpoint.ts";
import { judgeInput, sentBody } from "../http/input.ts";
import { type SentFile, sentFile } from "../http/sent-file.ts";
import { sendReply } from "../http/server.ts";
import type { AuditedCall } from "../people/audit.sql.ts";
import type { PeopleAudit } from "../people/audit.ts";
import { setCookie } from "./cookie.ts";
import { type Door, type Member, headerOf, refuseUnlessAllowed } from "./door.ts";
import { type GuestCall, type PortalEndpoint, isChange } from "./endpoint.ts";
import { mountedPath, needsFreshProof } from "./mounted.ts";
import type { PortalSurface } from "./openapi.ts";

export interface PortalParts {
  door: Door;
  edge: Edge;
  audit: PeopleAudit;
  clock: Clock;
  /** True where all is https: of the cookie. */
  secure: boolean;
}

/** Opens everything under /portal/v1. */
export function openPortalApi(server: FastifyInstance, parts: PortalParts, { mounted, own }: PortalSurface): void {
  for (const endpoint of mounted) {
    route(server, methodOf(endpoint), mountedPath(endpoint), (request, reply) =>
      answerMounted(endpoint, request, reply, parts),
    );
  }
  for (const endpoint of own) {
    const config = { streamsBody: endpoint.for === "member" && endpoint.upload !== undefined };
    route(
      server,
      endpoint.method,
      endpoint.path,
      (request, reply) => answerOwn(endpoint, request, reply, parts),
      config,
    );
  }
}

function route(
  server: FastifyInstance,
  method: string,
  path: string,
  answer: (request: FastifyRequest, reply: FastifyReply) => Promise<Reply>,
  config: FastifyContextConfig = {},
): void {
  server.route({
    method,
    config,
    url: path.replaceAll(/\{(\w+)\}/g, ":$1"),
    handler: async (request, reply) => sendReply(reply, await answer(request, reply)),
  });
}

/** One of the merchants' own endpoints, asked by a person: the same handler behind another door. */
async function answerMounted(
  endpoint: Endpoint,
  request: FastifyRequest,
  reply: FastifyReply,
  { door, edge, audit }: PortalParts,
): Promise<Reply> {
  const changes = endpoint.kind === "write";
  if (changes) door.refuseForeign(request);
  const member = await door.member(request);
  const { principal, role } = member;
  const perform = (): Promise<Reply> => edge.handleAs(principal, endpoint, request, reply);
  // Said here in a person's words, and again by the edge for whoever comes.
  if (!principal.scopes.has(endpoint.scope)) await edge.enterAs(principal, reply);
  refuseUnlessAllowed(principal, role, endpoint.scope);
  if (needsFreshProof(endpoint, member.environment)) door.refuseUnlessFresh(member);
  return changes ? audit.around(auditedCall(endpoint.operationId, request, member), perform) : perform();
}

async function answerOwn(
  endpoint: PortalEndpoint,
  request: FastifyRequest,
  reply: FastifyReply,
  parts: PortalParts,
): Promise<Reply> {
  const { door, audit, clock, secure } = parts;
  if (endpoint.method !== "GET") door.refuseForeign(request);
  const guest = (): GuestCall => ({
    requestId: request.id,
    params: request.params as Record<string, string>,
    ...judgeInput(endpoint, sentBody(request, endpoint.body), request.query),
    origin: { address: request.ip, userAgent: request.headers["user-agent"] ?? "" },
    header: (name) => headerOf(request, name),
    now: clock.now(),
    setSession: (token) => void reply.header("set-cookie", setCookie(token, secure)),
  });
  if (endpoint.for === "guest") return endpoint.handle(guest());
  const member = endpoint.for === "member" ? await door.member(request) : undefined;
  const signedIn = member ?? (await door.person(request));
  if (member && endpoint.for === "member") await door.enter(member, endpoint.action, reply);
  else door.enterAlone(signedIn, reply);
  if (member && endpoint.for === "member" && endpoint.sandboxOnly && member.environment !== "sandbox")
    throw new Fault("ENVIRONMENT_MISMATCH", { message: "This is for the sandbox alone." });
  if (endpoint.fresh === true || (endpoint.fresh === "production" && member?.environment === "production"))
    door.refuseUnlessFresh(signedIn);
  const { person, session } = signedIn;
  const perform = async (): Promise<Reply> => {
    const call = { ...guest(), person, session };
    if (endpoint.for === "person") return endpoint.handle(call);
    const { role, merchant, principal } = member as Member;
    const stillAllowed = (): Promise<void> => door.refuseUnlessStill(member as Member, endpoint.action);
    return endpoint.handle({
      ...call,
      role,
      merchant,
      principal,
      book: principal.book,
      stillAllowed,
      file: () => sentWhileAllowed(request, stillAllowed),
    });
  };
  if (!isChange(endpoint)) return perform();
  return audit.around(auditedCall(endpoint.operationId, request, { ...signedIn, ...member }), perform);
}

/** The file of a member who may still send it when all of it is here: that takes minutes, in which they may have lost the right. */
function sentWhileAllowed(request: FastifyRequest, stillAllowed: () => Promise<void>): SentFile {
  const file = sentFile(request);
  async function* body(): AsyncGenerator<Buffer> {
    yield* file.body;
    await stillAllowed();
  }
  return { ...file, body: body() };
}

function auditedCall(
  operationId: string,
  request: FastifyRequest,
  { person, merchant, environment }: Pick<Member, "person"> & Partial<Pick<Member, "merchant" | "environment">>,
): AuditedCall {
  return {
    requestId: request.id,
    personId: person.personId,
    action: operationId.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).slice(0, 40),
    path: `${request.method} ${request.url.split("?")[0]}`,
    merchantId: merchant?.merchantId,
    environment,
    address: request.ip,
  };
}
