// Endpoints for a person's passkeys, and for signing in or proving one's identity again by a passkey.
import { wireTime, wireTimeOrNull } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { reply } from "../ground/reply.ts";
import { onePage } from "../http/lists.ts";
import { inPath, nothing } from "../http/shapes.ts";
import type { Passkey } from "../people/passkeys.sql.ts";
import { type AccessEndpoint, guestEndpoint, personEndpoint } from "./endpoint.ts";
import {
  addPasskeySchema,
  assertionOf,
  passkeyListSchema,
  passkeyOptionsSchema,
  passkeySchema,
  registrationOf,
  signedByPasskeySchema,
} from "./passkeys.schema.ts";
import { type SessionEndpointParts, begun } from "./session.routes.ts";
import { sessionViewSchema } from "./session.schema.ts";

const tag = "Passkeys";
const passkeyParams = { passkey_id: inPath("passkey", "PasskeyId", "The passkey's identity.") };

function viewOf(passkey: Passkey) {
  return {
    passkey_id: passkey.passkeyId,
    name: passkey.name,
    created_at: wireTime(passkey.createdAt),
    used_at: wireTimeOrNull(passkey.usedAt),
    synced: passkey.backedUp,
  };
}

export function passkeyEndpoints(parts: SessionEndpointParts): AccessEndpoint[] {
  return [...ownEndpoints(parts), ...signingEndpoints(parts)];
}

function ownEndpoints({ people: { passkeys }, root }: SessionEndpointParts): AccessEndpoint[] {
  const own = `${root}/person/passkeys`;
  return [
    personEndpoint({
      method: "GET",
      path: own,
      operationId: "listPasskeys",
      summary: "List your passkeys, the oldest first",
      tag,
      success: { description: "All of them.", schema: passkeyListSchema },
      handle: async ({ person }) => onePage(await passkeys.list(person.personId), viewOf),
    }),
    personEndpoint({
      method: "POST",
      path: `${own}/options`,
      operationId: "beginPasskey",
      summary: "Ask what a browser needs to make a passkey",
      description: "Good for five minutes, for one passkey.",
      tag,
      fresh: true,
      success: { description: "For the browser.", schema: passkeyOptionsSchema },
      errors: ["SERVICE_UNAVAILABLE"],
      handle: async ({ person }) => reply(200, await passkeys.registrationOptions(person)),
    }),
    personEndpoint({
      method: "POST",
      path: own,
      operationId: "addPasskey",
      summary: "Add the passkey that the browser made",
      description: "From then on it signs you in by itself, and stands in for the authenticator beside a password.",
      tag,
      fresh: true,
      body: addPasskeySchema,
      success: { status: 201, description: "Added.", schema: passkeySchema },
      errors: ["SERVICE_UNAVAILABLE"],
      async handle({ person, session, body, origin }) {
        const sent = { name: body.name, response: registrationOf(body) };
        return reply(201, viewOf(await passkeys.register(person, sent, session.sessionId, origin)));
      },
    }),
    personEndpoint({
      method: "DELETE",
      path: `${own}/{passkey_id}`,
      operationId: "removePasskey",
      summary: "Remove a passkey",
      tag,
      params: passkeyParams,
      fresh: true,
      success: { description: "It signs nobody in any more.", schema: nothing },
      async handle({ person, session: { sessionId }, params, origin }) {
        if (!(await passkeys.remove(person.personId, params.passkey_id ?? "", sessionId, origin)))
          throw new Fault("OBJECT_NOT_FOUND", { message: "No such passkey of yours, or it is gone already." });
        return reply(200, {});
      },
    }),
  ];
}

function signingEndpoints({ people: { passkeys }, views, root }: SessionEndpointParts): AccessEndpoint[] {
  const session = `${root}/session`;
  return [
    guestEndpoint({
      method: "POST",
      path: `${session}/passkey/options`,
      operationId: "beginPasskeySignIn",
      summary: "Ask what a browser needs to sign in by a passkey",
      tag,
      success: { description: "For the browser.", schema: passkeyOptionsSchema },
      errors: ["SERVICE_UNAVAILABLE"],
      handle: async ({ origin }) => reply(200, await passkeys.signInOptions(origin)),
    }),
    guestEndpoint({
      method: "POST",
      path: `${session}/passkey`,
      operationId: "signInByPasskey",
      summary: "Sign in by a passkey",
      description: "The device says who it is, and has verified them: no password and no code is asked for.",
      tag,
      body: signedByPasskeySchema,
      success: { description: "Signed in.", schema: sessionViewSchema },
      errors: ["UNAUTHORIZED", "SERVICE_UNAVAILABLE"],
      handle: async (call) => begun(views, call, { token: await passkeys.signIn(assertionOf(call.body), call.origin) }),
    }),
    personEndpoint({
      method: "POST",
      path: `${session}/proof/passkey/options`,
      operationId: "beginPasskeyProof",
      summary: "Ask what a browser needs to prove again who you are by a passkey",
      tag,
      success: { description: "For the browser.", schema: passkeyOptionsSchema },
      errors: ["SERVICE_UNAVAILABLE"],
      handle: async ({ person }) => reply(200, await passkeys.proofOptions(person.personId)),
    }),
    personEndpoint({
      method: "POST",
      path: `${session}/proof/passkey`,
      operationId: "proveByPasskey",
      summary: "Prove again who you are by a passkey",
      tag,
      body: signedByPasskeySchema,
      success: { description: "Proved.", schema: sessionViewSchema },
      errors: ["UNAUTHORIZED", "SERVICE_UNAVAILABLE"],
      async handle(call) {
        const { person, session: before, body, origin } = call;
        const token = await passkeys.prove(person.personId, assertionOf(body), before, origin);
        return begun(views, call, { token });
      },
    }),
  ];
}
