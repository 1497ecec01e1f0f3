// Routes of endpoints for guests and signed-in persons. Each request passes authorization and audit here.
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../ground/clock.ts";
import type { Reply } from "../ground/reply.ts";
import { actionOf } from "../http/endpoint.ts";
import { refuseLarge } from "../http/body.ts";
import { judgeInput, sentBody } from "../http/input.ts";
import { sendReply } from "../http/server.ts";
import type { AuditedCall } from "../people/audit.sql.ts";
import type { PeopleAudit } from "../people/audit.ts";
import type { SignedIn } from "../people/sessions.ts";
import { setCookie } from "./cookie.ts";
import { type PersonDoor, headerOf } from "./door.ts";
import { type AccessEndpoint, type GuestCall, type Shaped, isChange } from "./endpoint.ts";

const GUEST_BODY_MAX_BYTES = 16_384;

export interface AccessParts {
  door: PersonDoor;
  audit: PeopleAudit;
  clock: Clock;
}

export function openAccess(server: FastifyInstance, parts: AccessParts, endpoints: readonly AccessEndpoint[]): void {
  for (const endpoint of endpoints)
    openRoute(server, endpoint, (request, reply) => answerAccess(endpoint, request, reply, parts));
}

/** Opens a route at a path with `{name}` for each parameter, and sends the answers. */
export function openRoute(
  server: FastifyInstance,
  { method, path }: { method: string; path: string },
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

/** Authorizes a request and runs its endpoint. Throws FORBIDDEN, UNAUTHORIZED, RATE_LIMITED, PROOF_REQUIRED, and what the endpoint throws. */
export async function answerAccess(
  endpoint: AccessEndpoint,
  request: FastifyRequest,
  reply: FastifyReply,
  parts: AccessParts,
): Promise<Reply> {
  const { door, audit } = parts;
  const fromProgram = endpoint.for === "guest" && endpoint.forPrograms === true && !door.isFromPage(request);
  if (endpoint.method !== "GET" && !fromProgram) door.refuseForeign(request);
  const guest = (): GuestCall => guestCall(endpoint, request, reply, parts);
  if (endpoint.for === "guest") {
    refuseLarge(request.body, GUEST_BODY_MAX_BYTES);
    return endpoint.handle(guest());
  }
  const signedIn = await door.person(request);
  door.enterAlone(signedIn, reply);
  if (endpoint.fresh === true) door.refuseUnlessFresh(signedIn);
  const { person, session } = signedIn;
  const perform = async (): Promise<Reply> => endpoint.handle({ ...guest(), person, session });
  return isChange(endpoint) ? audit.around(auditedCall(endpoint.operationId, request, signedIn), perform) : perform();
}

/** The part of a call that every endpoint gets. Throws the `Fault` of the endpoint's rules for query and body. */
export function guestCall(
  endpoint: Pick<Shaped<unknown, unknown>, "body" | "query">,
  request: FastifyRequest,
  reply: FastifyReply,
  { door, clock }: Pick<AccessParts, "door" | "clock">,
): GuestCall {
  return {
    params: request.params as Record<string, string>,
    ...judgeInput(endpoint, sentBody(request, endpoint.body), request.query),
    origin: { address: request.ip, userAgent: request.headers["user-agent"] ?? "" },
    header: (name) => headerOf(request, name),
    now: clock.now(),
    setSession: (token) => void reply.header("set-cookie", setCookie(token, door.cookie)),
  };
}

/** The audit entry of a person's call, without a merchant. */
export function auditedCall(operationId: string, request: FastifyRequest, { person }: SignedIn): AuditedCall {
  return {
    requestId: request.id,
    personId: person.personId,
    action: actionOf(operationId),
    path: `${request.method} ${request.url.split("?")[0]}`,
    merchantId: undefined,
    environment: undefined,
    address: request.ip,
  };
}
