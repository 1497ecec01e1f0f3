// Portal endpoints for API keys of a merchant's systems: members list, make, change, roll and revoke them.
import type { z } from "zod";
import { type Clock, DAY_SECONDS } from "../ground/clock.ts";
import { Fault, assert } from "../ground/fault.ts";
import { type Reply, reply } from "../ground/reply.ts";
import { cursorOf, limitOf, page } from "../http/lists.ts";
import type { Book, Environment } from "../merchants/books.ts";
import { type Credentials, LIVE_MAX, type NewCredential } from "../merchants/credentials.ts";
import type { Credential, CredentialTerms } from "../merchants/credentials.sql.ts";
import { scopes } from "../merchants/directory.ts";
import { credentialListQuery, isClientId } from "../operator/merchants.schema.ts";
import { type MemberRole, scopesBeyond } from "../people/roles.ts";
import { keyChangeListSchema, keyChangesQuery } from "../requests/key-changes.schema.ts";
import { keyChanges } from "../requests/key-changes.ts";
import type { Database } from "../store/database.ts";
import {
  changeKeySchema,
  createKeySchema,
  createdKeySchema,
  expiryOf,
  keyListSchema,
  keyParams,
  keySchema,
  keyView,
  networksOf,
  rollKeySchema,
} from "./credentials.schema.ts";
import { type PortalEndpoint, memberEndpoint } from "./endpoint.ts";

interface KeyEndpointParts {
  database: Database;
  credentials: Credentials;
  lastUses: { write(): Promise<void> };
  clock: Clock;
}

const path = "/portal/v1/credentials";
const read = { tag: "Keys", action: "credentials:read" } as const;
const write = { tag: "Keys", action: "credentials:write" } as const;
const noKey = (): Fault => new Fault("OBJECT_NOT_FOUND", { message: "No such key, or it has ended already." });

export function keyEndpoints(parts: KeyEndpointParts): PortalEndpoint[] {
  return [listEndpoint(parts), changesEndpoint(parts), ...makingEndpoints(parts), ...changingEndpoints(parts)];
}

function listEndpoint({ credentials, lastUses, clock }: KeyEndpointParts): PortalEndpoint {
  return memberEndpoint({
    method: "GET",
    path,
    operationId: "listKeys",
    summary: "List the keys of the environment, newest first, those that ended too; never their secrets",
    ...read,
    query: credentialListQuery,
    success: { description: "A page of keys.", schema: keyListSchema },
    async handle({ book, query }) {
      const after = await cursorOf(query, (id) => credentials.read(book, id));
      await lastUses.write(); // the list reads last uses from the database: flush those that this process still holds in memory
      const found = await credentials.list(book, after, limitOf(query) + 1);
      const now = clock.now();
      const view = (key: Credential): unknown => keyView(key, now);
      return page(found, query, view, ({ clientId }) => clientId);
    },
  });
}

function changesEndpoint({ database, credentials }: KeyEndpointParts): PortalEndpoint {
  return memberEndpoint({
    method: "GET",
    path: `${path}/{client_id}/changes`,
    operationId: "listKeyChanges",
    summary: "List what requests signed with a key changed, newest first, also of a key that ended",
    ...read,
    params: keyParams,
    query: keyChangesQuery,
    success: { description: "A page of changes.", schema: keyChangeListSchema },
    async handle({ book, params, query }) {
      const { clientId } = await required(credentials, book, idOf(params));
      return keyChanges(database, { merchantId: book.merchantId, clientId }, query);
    },
  });
}

function makingEndpoints({ credentials, clock }: KeyEndpointParts): PortalEndpoint[] {
  return [
    memberEndpoint({
      method: "POST",
      path,
      operationId: "createKey",
      summary: "Make a key; its secret is shown this once",
      description: `At most ${LIVE_MAX} may be live at once.`,
      ...write,
      fresh: "production",
      body: createKeySchema,
      success: { status: 201, description: "The key with its secret.", schema: createdKeySchema },
      async handle({ role, book, body }) {
        const beyond = scopesBeyond(role, book.environment, scopes);
        const asked = body.scopes ?? scopes.filter((scope) => !beyond.includes(scope));
        refuseBeyond(role, book.environment, asked);
        const made = await credentials.create(book, { ...termsOf(body, clock), scopes: asked }, LIVE_MAX);
        assert(made, "the merchant of a member is there");
        return answerOf(await required(credentials, book, made.clientId), clock, made);
      },
    }),
    memberEndpoint({
      method: "POST",
      path: `${path}/{client_id}/roll`,
      operationId: "rollKey",
      summary: "Make a new key on the same terms; the one before stays good for a while",
      description: "A key that expires gives the new one as long a life.",
      ...write,
      fresh: "production",
      params: keyParams,
      body: rollKeySchema,
      success: { status: 201, description: "The new key with its secret.", schema: createdKeySchema },
      async handle({ role, book, params, body }) {
        const made = await credentials.roll(book, idOf(params), body.overlap_seconds ?? DAY_SECONDS, (before) =>
          refuseBeyond(role, book.environment, before.scopes),
        );
        if (!made) throw noKey();
        return answerOf(await required(credentials, book, made.clientId), clock, made);
      },
    }),
  ];
}

function changingEndpoints({ credentials, clock }: KeyEndpointParts): PortalEndpoint[] {
  return [
    memberEndpoint({
      method: "PATCH",
      path: `${path}/{client_id}`,
      operationId: "changeKey",
      summary: "Change a key, in every process within a second",
      ...write,
      fresh: "production",
      params: keyParams,
      body: changeKeySchema,
      success: { description: "The key after the change.", schema: keySchema },
      async handle({ role, book, params, body }) {
        const change = termsOf(body, clock);
        const key = await credentials.change(book, idOf(params), change, (before) =>
          refuseBeyond(role, book.environment, grantedBy(change, before)),
        );
        if (!key) throw noKey();
        return answerOf(key, clock);
      },
    }),
    memberEndpoint({
      method: "DELETE",
      path: `${path}/{client_id}`,
      operationId: "revokeKey",
      summary: "Revoke a key, in every process within a second",
      ...write,
      params: keyParams,
      success: { description: "It proves nothing any more.", schema: keySchema },
      async handle({ book, params }) {
        const { clientId } = await required(credentials, book, idOf(params));
        if (!(await credentials.end(book.merchantId, clientId))) throw noKey();
        return answerOf(await required(credentials, book, clientId), clock);
      },
    }),
  ];
}

/** The answer of a change, with the secret of a new key. The audit keeps which key it is, and what may be done with it from where. */
function answerOf(key: Credential, clock: Clock, made?: NewCredential): Reply {
  const shown = keyView(key, clock.now());
  const { client_id, scopes: granted, signature, allowed_addresses, expires_at } = shown;
  const answer = made ? reply(201, { ...shown, secret: made.secret }) : reply(200, shown);
  return { ...answer, audited: { client_id, scopes: granted, signature, allowed_addresses, expires_at } };
}

/** Throws FORBIDDEN when a key would get scopes that its maker's role lacks in the environment. */
export function refuseBeyond(role: MemberRole, environment: Environment, asked: readonly string[]): void {
  const beyond = scopesBeyond(role, environment, asked);
  if (beyond.length === 0) return;
  throw new Fault("FORBIDDEN", {
    message: `Your role, ${role}, does not allow ${beyond.join(", ")} in ${environment}, so no key of yours may. Ask an owner for it.`,
    details: { role, scopes: beyond, environment },
  });
}

/** The scopes that a change grants: those that the key did not have, and all of them when it will be good for longer, from elsewhere or more easily. */
function grantedBy(change: Partial<CredentialTerms>, before: Credential): readonly string[] {
  const after = { ...before, ...change };
  const livesLonger = (after.expiresAt ?? Infinity) > (before.expiresAt ?? Infinity);
  const bound = before.allowedAddresses;
  const isFromElsewhere =
    bound.length > 0 &&
    (after.allowedAddresses.length === 0 || after.allowedAddresses.some((one) => !bound.includes(one)));
  const isEasier = before.signature !== "any" && after.signature === "any";
  if (livesLonger || isFromElsewhere || isEasier) return after.scopes;
  return after.scopes.filter((scope) => !before.scopes.includes(scope));
}

/** The terms that the caller sent. Terms that were left out are absent, so that a change leaves them as they are. */
function termsOf(sent: z.infer<typeof changeKeySchema>, clock: Clock): Partial<CredentialTerms> {
  const { name, scopes, signature, allowed_addresses: addresses, expires_at: expiry } = sent;
  return {
    ...(name === undefined ? {} : { name }),
    ...(scopes === undefined ? {} : { scopes: [...new Set(scopes)] }),
    ...(signature === undefined ? {} : { signature }),
    ...(addresses === undefined ? {} : { allowedAddresses: networksOf(addresses) }),
    ...(expiry === undefined ? {} : { expiresAt: expiryOf(expiry, clock.now()) }),
  };
}

/** The path's `client_id`. Throws OBJECT_NOT_FOUND for a text that cannot be one. */
function idOf({ client_id: clientId = "" }: Readonly<Record<string, string>>): string {
  if (!isClientId(clientId)) throw noKey();
  return clientId;
}

/** A key of the book. Throws OBJECT_NOT_FOUND. */
async function required(credentials: Credentials, book: Book, clientId: string): Promise<Credential> {
  const found = await credentials.read(book, clientId);
  if (!found) throw noKey();
  return found;
}
