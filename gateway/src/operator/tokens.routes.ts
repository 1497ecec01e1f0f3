// Endpoints under /ops/v1/tokens: named tokens are created, listed, rotated and revoked.
import { z } from "zod";
import { type Clock, SECOND, wireTime, wireTimeOrNull } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { reply } from "../ground/reply.ts";
import { cursorOf, limitOf, page } from "../http/lists.ts";
import { listSchema } from "../http/shapes.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import { pageFieldsOf } from "./lists.ts";
import { madeTokenSchema, newTokenSchema, rotateTokenSchema, tokenParams, tokenSchema } from "./tokens.schema.ts";
import type { NewToken, OperatorToken } from "./tokens.sql.ts";
import type { MadeToken, OperatorTokens } from "./tokens.ts";

const path = "/ops/v1/tokens";
const shared = { path, tag: "Tokens", role: "admin" } as const;

export function tokenEndpoints(tokens: OperatorTokens, clock: Clock): OperatorEndpoint[] {
  return [
    operatorEndpoint({
      ...shared,
      method: "GET",
      operationId: "listOperatorTokens",
      summary: "List tokens, newest first, those that ended too",
      query: z.strictObject(pageFieldsOf("operatorToken", "token_id")),
      success: { description: "A page of tokens.", schema: listSchema(tokenSchema, "OperatorTokenList") },
      async handle({ query }) {
        const after = await cursorOf(query, (id) => tokens.has(id));
        return page(await tokens.list(after, limitOf(query) + 1), query, tokenView, ({ tokenId }) => tokenId);
      },
    }),
    operatorEndpoint({
      ...shared,
      method: "POST",
      operationId: "createOperatorToken",
      summary: "Make a token; it is shown this once",
      description: "It has no more rights than the token that makes it, and lives no longer.",
      body: newTokenSchema,
      success: { status: 201, description: "The new token.", schema: madeTokenSchema },
      async handle({ body: { name, role = "viewer", expires_in: seconds }, operator }) {
        const expiresAt = seconds === undefined ? undefined : clock.now() + seconds * SECOND;
        return reply(201, madeView(await tokens.create({ name, role, expiresAt }, operator)));
      },
    }),
    operatorEndpoint({
      ...shared,
      method: "POST",
      operationId: "rotateOperatorToken",
      path: `${path}/{name}/rotate`,
      params: tokenParams,
      summary: "Give a token a new secret; the one before can stay good for a while",
      description:
        "Its name, its role and its end stay. A rotation that follows soon shortens the overlap of the one before it as well.",
      body: rotateTokenSchema,
      success: { description: "The token with its new secret.", schema: madeTokenSchema },
      async handle({ params: { name = "" }, body, operator }) {
        const made = await tokens.rotate(name, body.overlap_seconds ?? 0, operator);
        if (!made) throw notFound();
        return reply(200, madeView(made));
      },
    }),
    operatorEndpoint({
      ...shared,
      method: "DELETE",
      operationId: "revokeOperatorToken",
      path: `${path}/{name}`,
      params: tokenParams,
      summary: "Revoke a token, in every process within a second",
      success: {
        description: "It opens nothing any more.",
        schema: z
          .strictObject({ name: z.string(), revoked: z.literal(true) })
          .meta({ id: "RevokedOperatorToken", examples: [{ name: "sari", revoked: true }] }),
      },
      async handle({ params: { name = "" } }) {
        if (!(await tokens.revoke(name))) throw notFound();
        return reply(200, { name, revoked: true });
      },
    }),
  ];
}

function notFound(): Fault {
  return new Fault("OBJECT_NOT_FOUND", {
    message: "There is no good token of this name. Those of the environment are changed there.",
  });
}

function fieldsOf({ tokenId, name, role, createdAt, createdBy, expiresAt }: NewToken) {
  return {
    token_id: tokenId,
    name,
    role,
    created_at: wireTime(createdAt),
    created_by: createdBy,
    expires_at: wireTimeOrNull(expiresAt),
  };
}

function madeView({ token, secret }: MadeToken): z.infer<typeof madeTokenSchema> {
  return { ...fieldsOf(token), token: secret };
}

/** The view of a token in lists, here and on the command line. */
export function tokenView(token: OperatorToken): z.infer<typeof tokenSchema> {
  const { revokedAt, replacedBy, lastUse } = token;
  return {
    ...fieldsOf(token),
    revoked_at: wireTimeOrNull(revokedAt),
    replaced_by: replacedBy ?? null,
    last_used_at: wireTimeOrNull(lastUse?.at),
    last_used_from: lastUse?.address ?? null,
  };
}
