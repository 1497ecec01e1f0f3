// Endpoints for a person's own profile, password, authenticator and recovery codes.
import { Fault } from "../ground/fault.ts";
import { reply } from "../ground/reply.ts";
import { nothing } from "../http/shapes.ts";
import { type AccessEndpoint, personEndpoint } from "./endpoint.ts";
import type { SessionEndpointParts } from "./session.routes.ts";
import {
  authenticatorSchema,
  changePasswordSchema,
  changePersonSchema,
  confirmSchema,
  recoveryCodesSchema,
  sessionViewSchema,
} from "./session.schema.ts";

const tag = "Person";

export function personEndpoints(parts: SessionEndpointParts): AccessEndpoint[] {
  return [...profileEndpoints(parts), ...authenticatorEndpoints(parts)];
}

function profileEndpoints({ people, views, root }: SessionEndpointParts): AccessEndpoint[] {
  const path = `${root}/person`;
  return [
    personEndpoint({
      method: "PATCH",
      path,
      operationId: "changePerson",
      summary: "Change your name, language or time zone",
      tag,
      body: changePersonSchema,
      success: { description: "As it is now.", schema: sessionViewSchema },
      async handle({ person, session, body }) {
        await people.update(person.personId, body);
        return reply(200, await views.of({ person: (await people.read(person.personId)) ?? person, session }));
      },
    }),
    personEndpoint({
      method: "PUT",
      path: `${path}/password`,
      operationId: "changePassword",
      summary: "Choose a new password",
      description: "Signs you out everywhere else. Where there is no password yet, a fresh proof stands in for it.",
      tag,
      body: changePasswordSchema,
      success: { description: "It is the password from now on.", schema: nothing },
      errors: ["UNAUTHORIZED", "PROOF_REQUIRED"],
      async handle({ person, session, body, origin }) {
        const { current, next } = body;
        const rest = { keep: session.sessionId, origin };
        if (current !== null) await people.changePassword(person.personId, { current, next }, rest);
        else if (people.sessions.isFresh(session)) await people.setPassword(person.personId, next, rest);
        else throw new Fault("PROOF_REQUIRED");
        return reply(200, {});
      },
    }),
  ];
}

function authenticatorEndpoints({ people, root }: SessionEndpointParts): AccessEndpoint[] {
  const path = `${root}/person`;
  return [
    personEndpoint({
      method: "POST",
      path: `${path}/authenticator`,
      operationId: "beginAuthenticator",
      summary: "Begin with an authenticator",
      description: "It counts once a code of it is confirmed.",
      tag,
      fresh: true,
      success: { description: "Its secret.", schema: authenticatorSchema },
      handle: async ({ person }) => reply(200, await people.factors.begin(person)),
    }),
    personEndpoint({
      method: "POST",
      path: `${path}/authenticator/confirm`,
      operationId: "confirmAuthenticator",
      summary: "Confirm the authenticator by a code of it",
      tag,
      fresh: true,
      body: confirmSchema,
      success: { description: "Codes for the day it is lost.", schema: recoveryCodesSchema },
      async handle({ person, session, body, origin }) {
        const codes = await people.confirmAuthenticator(person.personId, body.code, session.sessionId, origin);
        return reply(200, { recovery_codes: codes });
      },
    }),
    personEndpoint({
      method: "DELETE",
      path: `${path}/authenticator`,
      operationId: "removeAuthenticator",
      summary: "Remove the authenticator and its recovery codes",
      tag,
      fresh: true,
      success: { description: "It is gone.", schema: nothing },
      async handle({ person, session, origin }) {
        await people.factors.remove(person.personId, session.sessionId, origin);
        return reply(200, {});
      },
    }),
    personEndpoint({
      method: "POST",
      path: `${path}/recovery-codes`,
      operationId: "replaceRecoveryCodes",
      summary: "Make new recovery codes",
      description: "Those before are good no more.",
      tag,
      fresh: true,
      success: { description: "The new ones.", schema: recoveryCodesSchema },
      async handle({ person, session, origin }) {
        return reply(200, {
          recovery_codes: await people.factors.newRecoveryCodes(person.personId, session.sessionId, origin),
        });
      },
    }),
  ];
}
