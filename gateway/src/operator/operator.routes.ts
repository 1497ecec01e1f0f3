// The door of /ops/v1: bearer tokens of two roles, the audit, and the way from a request to an endpoint's answer.
import type { FastifyInstance, FastifyRequest } from "fastify";
import { sameText, sha256 } from "../ground/crypto.ts";
import { Fault } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import type { Reply } from "../ground/reply.ts";
import { checkKey } from "../idempotency/idempotency.ts";
import { type SentBody, judgeInput, sentBody } from "../http/input.ts";
import { sendReply } from "../http/server.ts";
import { isOutOfService } from "../store/database.ts";
import type { AuditedCall } from "./audit.sql.ts";
import type { Audit } from "./audit.ts";
import { type KeyedRequest, type OperatorEndpoint, type OperatorRole, isChange } from "./endpoint.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The role of the token that the request came with, once that is known. */
    operatorRole: OperatorRole | undefined;
  }
}

export interface OperatorParts {
  /** The role of a token, of which undefined is none. */
  roleOf: (token: string) => OperatorRole | undefined;
  audit: Audit;
}

/** Opens the endpoints to whoever holds a token. */
export function openOperatorApi(
  server: FastifyInstance,
  parts: OperatorParts,
  endpoints: readonly OperatorEndpoint[],
): void {
  server.decorateRequest("operatorRole", undefined);
  for (const endpoint of endpoints) {
    server.route({
      method: endpoint.method,
      url: endpoint.path.replaceAll(/\{(\w+)\}/g, ":$1"),
      // Before the body is read: nobody without a token has the service hold one.
      onRequest: async (request, response) => {
        request.operatorRole = roleOf(request, parts);
        response.proven();
      },
      handler: async (request, response) => {
        const role = request.operatorRole ?? "viewer";
        const sent = sentBody(request, endpoint.body);
        const perform = () => answer(endpoint, request, role, sent);
        return sendReply(
          response,
          isChange(endpoint)
            ? await audited(parts.audit, auditedCall(endpoint, request, role), sent, perform)
            : await perform(),
        );
      },
    });
  }
}

function roleOf({ headers }: FastifyRequest, parts: OperatorParts): OperatorRole {
  const sent = /^bearer (\S+)$/i.exec(headers.authorization ?? "")?.[1];
  const role = sent === undefined ? undefined : parts.roleOf(sent);
  if (role === undefined)
    throw new Fault("UNAUTHORIZED", { message: "Send `Authorization: Bearer <operator token>`." });
  return role;
}

/** Tells the roles of an admin's token and of a viewer's, where there is one. */
export function rolesOfTokens(token: string, viewerToken: string | undefined): OperatorParts["roleOf"] {
  // Digests have one length, so the comparison tells nothing of the tokens'. Both are always compared.
  const digestOf = (text: string): string => sha256(text).toString("hex");
  const admin = digestOf(token);
  const viewer = viewerToken === undefined ? undefined : digestOf(viewerToken);
  return (sent) => {
    const digest = digestOf(sent);
    const isAdmin = sameText(digest, admin);
    const isViewer = viewer !== undefined && sameText(digest, viewer);
    return isAdmin ? "admin" : isViewer ? "viewer" : undefined;
  };
}

/**
 * Runs a change between two rows of the audit. The first is written before anything happens: when that fails, nothing was
 * changed and the answer is 503. The second is written before the answer is sent: when that fails, the change stands, its
 * outcome is missing from the audit, and the answer is 503 too, so that nobody is told of a success that is not on record.
 */
async function audited(audit: Audit, call: AuditedCall, sent: SentBody, perform: () => Promise<Reply>): Promise<Reply> {
  await recorded(
    audit.asked(call, sent.object),
    "This call could not be recorded, so nothing was changed. Retry shortly.",
  );
  const unrecorded =
    "The outcome of this call could not be recorded. Read the object before you repeat it: it may have been changed.";
  let done: Reply;
  try {
    done = await perform();
  } catch (error) {
    const status = error instanceof Fault ? error.status : isOutOfService(error) ? 503 : 500;
    await recorded(audit.answered(call, status), unrecorded);
    throw error;
  }
  const merchantId = call.merchantId ?? merchantOf(done);
  await recorded(audit.answered({ ...call, merchantId }, done.status), unrecorded);
  return done;
}

async function recorded(write: Promise<void>, message: string): Promise<void> {
  try {
    await write;
  } catch (error) {
    throw new Fault("SERVICE_UNAVAILABLE", { message, internal: error });
  }
}

function auditedCall(endpoint: OperatorEndpoint, request: FastifyRequest, role: OperatorRole): AuditedCall {
  const { id } = request.params as Record<string, string>;
  const named = endpoint.path.startsWith("/ops/v1/merchants/{id}") && id !== undefined && isId("merchant", id);
  return {
    requestId: request.id,
    role,
    method: endpoint.method,
    path: request.url.split("?")[0] ?? "",
    merchantId: named ? id : undefined,
  };
}

/** Whom an answer is about, when it says so: a merchant that was just made, the owner of an object. */
function merchantOf({ body }: Reply): string | undefined {
  const { merchant_id: id } = JSON.parse(body) as { merchant_id?: unknown };
  return typeof id === "string" && isId("merchant", id) ? id : undefined;
}

async function answer(
  endpoint: OperatorEndpoint,
  request: FastifyRequest,
  role: OperatorRole,
  sent: SentBody,
): Promise<Reply> {
  if (endpoint.role === "admin" && role !== "admin") {
    throw new Fault("FORBIDDEN", { message: "This token may only read. Use the operator's own." });
  }
  const keyed = endpoint.keyed ? keyedRequest(request) : unkeyed;
  const { body, query } = judgeInput(endpoint, sent, request.query);
  const params = request.params as Record<string, string>;
  return endpoint.handle({ params, body, query, requestId: request.id, role, keyed });
}

const unkeyed: KeyedRequest = { key: "", endpoint: "", bodyDigest: Buffer.alloc(0) };

/** Throws IDEMPOTENCY_KEY_REQUIRED, IDEMPOTENCY_KEY_INVALID. */
function keyedRequest(request: FastifyRequest): KeyedRequest {
  return {
    key: checkKey(request.raw.headersDistinct["idempotency-key"]),
    endpoint: `${request.method} ${request.url.split("?")[0] ?? ""}`,
    bodyDigest: sha256(Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)),
  };
}
