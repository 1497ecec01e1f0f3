// Serves /ops/v1: authenticates tokens and sessions, checks roles, records changes in the audit, and dispatches a request to its endpoint.
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { PersonalRequests, tooMany } from "../auth/rate.ts";
import type { Clock } from "../ground/clock.ts";
import { sha256 } from "../ground/crypto.ts";
import { Fault, assert } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import type { Reply } from "../ground/reply.ts";
import { checkKey } from "../idempotency/idempotency.ts";
import { type SentBody, judgeInput, sentBody, sentBytes } from "../http/input.ts";
import { sendReply } from "../http/server.ts";
import { isChange } from "../access/endpoint.ts";
import { betweenRows } from "../people/audit.ts";
import type { LastUses } from "../store/last-uses.ts";
import type { Approvals } from "./approvals.ts";
import type { AuditedCall } from "./audit.sql.ts";
import type { Audit } from "./audit.ts";
import type { ConsoleDoor } from "./console-door.ts";
import type { KeyedRequest, OperatorCall, OperatorEndpoint } from "./endpoint.ts";
import type { KnownTokens, Operator } from "./known-tokens.ts";
import type { Refusals } from "./refusals.ts";
import { type OperatorRole, mayAct } from "../people/operator-roles.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The authenticated operator; undefined before authentication. */
    operator: Operator | undefined;
  }
}

interface OperatorParts {
  /** Undefined where there is no console; sessions are then not accepted. */
  door: ConsoleDoor | undefined;
  tokens: Pick<KnownTokens, "find">;
  uses: Pick<LastUses<{ tokenId: string }>, "note">;
  refusals: Pick<Refusals, "note">;
  audit: Audit;
  approvals: Pick<Approvals, "judge">;
  clock: Clock;
}

/** Changes beyond its role that an operator may request in a minute: each adds two rows to the audit. */
const REFUSED_CHANGES_PER_MINUTE = 60;

/** Adds the routes of the endpoints, for callers with a token or a console session. */
export function openOperatorApi(
  server: FastifyInstance,
  parts: OperatorParts,
  endpoints: readonly OperatorEndpoint[],
): void {
  const refusedChanges = new PersonalRequests(REFUSED_CHANGES_PER_MINUTE, parts.clock);
  server.decorateRequest("operator", undefined);
  for (const endpoint of endpoints) {
    server.route({
      method: endpoint.method,
      url: endpoint.path.replaceAll(/\{(\w+)\}/g, ":$1"),
      // Authentication runs before the body is read, so that unauthenticated callers cannot occupy memory with bodies.
      onRequest: async (request, response) => {
        const operator = (await signedIn(request, response, endpoint, parts)) ?? (await authenticate(request, parts));
        request.operator = operator;
        request.actor = operator.name;
        response.proven();
      },
      handler: async (request, response) => {
        const { operator: arrived, body } = request;
        assert(arrived, "a handler runs for nobody");
        // A body may take half a minute to arrive, in which the access may have ended or the role may have changed.
        const role = body === undefined ? arrived.role : await roleNow(request, parts);
        if (role === undefined) {
          parts.refusals.note("ended", request.ip, arrived.name);
          throw new Fault("UNAUTHORIZED", { message: "Your access ended while the request was arriving." });
        }
        const operator = { ...arrived, role };
        if (!mayAct(operator.role, endpoint.role)) {
          // A refused change goes on to the audit, but for too many of them.
          const refused = isChange(endpoint) ? refusedChanges.count(operator.name) : undefined;
          if (refused?.isWithin !== true) {
            parts.refusals.note("role", request.ip, operator.name);
            throw refused === undefined ? belowRole(operator, endpoint) : tooMany(refused.rate.reset, parts.clock);
          }
        }
        const sent = sentBody(request, endpoint.body);
        const mayStill = () => stillMay(request, endpoint, parts);
        const perform = () => answer(endpoint, request, { operator, mayStill }, sent, parts.approvals);
        return sendReply(
          response,
          isChange(endpoint)
            ? await audited(parts.audit, auditedCall(endpoint, request, operator), recorded(endpoint, sent), perform)
            : await perform(),
        );
      },
    });
  }
}

/** The operator of the request's session. Undefined without a session, and when the request has an Authorization header, which takes precedence. */
async function signedIn(
  request: FastifyRequest,
  reply: FastifyReply,
  endpoint: OperatorEndpoint,
  { door }: OperatorParts,
): Promise<Operator | undefined> {
  if (request.headers.authorization !== undefined || door?.token(request) === undefined) return undefined;
  return door.operator(request, reply, endpoint);
}

/** The operator of the request's bearer token. Throws UNAUTHORIZED, and SERVICE_UNAVAILABLE when the token cannot be looked up. */
async function authenticate({ headers, ip }: FastifyRequest, parts: OperatorParts): Promise<Operator> {
  const sent = bearerOf(headers);
  const found = sent === undefined ? undefined : await parts.tokens.find(sent);
  if (found && "operator" in found) {
    const { operator } = found;
    if (operator.kind === "token") parts.uses.note(operator.id, { tokenId: operator.id }, ip);
    return operator;
  }
  if (found) parts.refusals.note("ended", ip, found.ended);
  else parts.refusals.note(sent === undefined ? "missing" : "wrong", ip);
  throw new Fault("UNAUTHORIZED", { message: "Send `Authorization: Bearer <operator token>`, one that is good." });
}

const bearerOf = ({ authorization = "" }: FastifyRequest["headers"]): string | undefined =>
  /^bearer (\S+)$/i.exec(authorization)?.[1];

/** True when the token or session of the request still gives access to the endpoint. */
async function stillMay(request: FastifyRequest, endpoint: OperatorEndpoint, parts: OperatorParts): Promise<boolean> {
  const role = await roleNow(request, parts);
  return role !== undefined && mayAct(role, endpoint.role);
}

/** The role that the token or session of an authenticated request has by now; undefined once it has ended. */
async function roleNow(request: FastifyRequest, { tokens, door }: OperatorParts): Promise<OperatorRole | undefined> {
  const sent = bearerOf(request.headers);
  if (sent === undefined) return door?.roleOf(request);
  const found = await tokens.find(sent);
  return found && "operator" in found ? found.operator.role : undefined;
}

function belowRole({ role }: Operator, endpoint: OperatorEndpoint): Fault {
  return new Fault("FORBIDDEN", { message: `This takes the role ${endpoint.role}; yours is ${role}.` });
}

/** The body for the audit, which removes what is secret. */
const recorded = ({ namesPayer }: OperatorEndpoint, { object }: SentBody): unknown =>
  namesPayer === true ? { payer: "(personal)" } : object;

/** Runs a change between two rows of the audit. The second names the merchant that the answer is about. */
function audited(audit: Audit, call: AuditedCall, body: unknown, perform: () => Promise<Reply>): Promise<Reply> {
  const asked = (): Promise<void> => audit.asked(call, body);
  const answered = (status: number, reply?: Reply): Promise<void> =>
    audit.answered({ ...call, merchantId: call.merchantId ?? (reply && merchantOf(reply)) }, status);
  return betweenRows({ asked, answered }, perform);
}

function auditedCall(endpoint: OperatorEndpoint, request: FastifyRequest, { name, role }: Operator): AuditedCall {
  const { id } = request.params as Record<string, string>;
  const named = endpoint.path.startsWith("/ops/v1/merchants/{id}") && id !== undefined && isId("merchant", id);
  return {
    requestId: request.id,
    actor: name,
    address: request.ip,
    role,
    method: endpoint.method,
    path: pathOf(request),
    merchantId: named ? id : undefined,
  };
}

/** The merchant that an answer is about, if it names one: a new merchant, or the owner of an object. */
function merchantOf({ body }: Reply): string | undefined {
  const { merchant_id: own, approval } = JSON.parse(body) as {
    merchant_id?: unknown;
    approval?: { merchant_id?: unknown };
  };
  const id = own ?? approval?.merchant_id;
  return typeof id === "string" && isId("merchant", id) ? id : undefined;
}

async function answer(
  endpoint: OperatorEndpoint,
  request: FastifyRequest,
  { operator, mayStill }: Pick<OperatorCall, "operator" | "mayStill">,
  sent: SentBody,
  approvals: OperatorParts["approvals"],
): Promise<Reply> {
  if (!mayAct(operator.role, endpoint.role)) throw belowRole(operator, endpoint);
  const keyed = endpoint.keyed ? keyedRequest(request) : undefined;
  const { body, query } = judgeInput(endpoint, sent, request.query);
  const params = request.params as Record<string, string>;
  const call: OperatorCall = { params, body, query, requestId: request.id, operator, mayStill, keyed };
  const kept = { method: endpoint.method, path: pathOf(request), body: sentBytes(request), key: keyed?.key };
  const judged = await approvals.judge(endpoint, call, kept);
  if ("answer" in judged) return judged.answer;
  return endpoint.handle({ ...call, freeUpToMinor: judged.freeUpToMinor });
}

/** The path as sent, without the query. */
function pathOf({ url }: FastifyRequest): string {
  return url.split("?")[0] ?? "";
}

/** Throws IDEMPOTENCY_KEY_REQUIRED, IDEMPOTENCY_KEY_INVALID. */
function keyedRequest(request: FastifyRequest): KeyedRequest {
  return {
    key: checkKey(request.raw.headersDistinct["idempotency-key"]),
    endpoint: `${request.method} ${pathOf(request)}`,
    bodyDigest: sha256(sentBytes(request)),
  };
}
