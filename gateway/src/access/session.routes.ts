// Endpoints for signing in and out, accepting an invitation, proving one's identity again, and listing and ending one's sessions.
import { wireTime } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { type Reply, reply } from "../ground/reply.ts";
import { onePage } from "../http/lists.ts";
import { inPath, nothing } from "../http/shapes.ts";
import type { Admitted, NewPerson } from "../people/invitees.ts";
import type { People } from "../people/people.ts";
import type { Needs } from "../people/proofs.ts";
import type { Origin } from "../people/sessions.ts";
import { type GuestCall, type AccessEndpoint, guestEndpoint, personEndpoint } from "./endpoint.ts";
import { acceptSchema } from "./invitations.schema.ts";
import type { SessionViews } from "./session-view.ts";
import {
  linkSchema,
  proofSchema,
  sessionListSchema,
  sessionViewSchema,
  signInSchema,
  signedInSchema,
} from "./session.schema.ts";

export interface SessionEndpointParts {
  people: People;
  views: SessionViews;
  /** Start of all paths: `/portal/v1`, or `/ops/v1` in the console. */
  root: string;
}

const tag = "Session";
const sessionParams = { session_id: inPath("session", "SessionId", "The session's identity.") };

/** Sets the session cookie and answers with the session after a successful proof, or answers with the factor that is still needed. */
export async function begun(views: SessionViews, call: GuestCall, proved: { token: string } | Needs): Promise<Reply> {
  if ("needs" in proved) return reply(200, proved);
  call.setSession(proved.token);
  return reply(200, await views.ofToken(proved.token));
}

/** The endpoint that accepts an invitation by `accept` and signs the person in. */
export function acceptEndpoint(
  { people, views, root }: SessionEndpointParts,
  words: { operationId: string; summary: string; success: string },
  accept: (token: string, given: NewPerson, origin: Origin) => Promise<Admitted | Needs>,
): AccessEndpoint {
  return guestEndpoint({
    method: "POST",
    path: `${root}/invitations/accept`,
    operationId: words.operationId,
    summary: words.summary,
    description:
      "A new person chooses a password. Who has an account by this e-mail address already proves it by its password, and by a code where there is an authenticator.",
    tag,
    body: acceptSchema,
    success: { description: words.success, schema: signedInSchema },
    errors: ["OBJECT_NOT_FOUND", "UNAUTHORIZED", "RATE_LIMITED"],
    async handle(call) {
      const { token, ...given } = call.body;
      const accepted = await accept(token, given, call.origin);
      if ("needs" in accepted) return reply(200, accepted);
      const { personId, stands } = accepted;
      return begun(views, call, { token: await people.sessions.begin(personId, call.origin, stands) });
    },
  });
}

export function sessionEndpoints(parts: SessionEndpointParts): AccessEndpoint[] {
  return [...signingEndpoints(parts), ...listEndpoints(parts)];
}

function signingEndpoints({ people, views, root }: SessionEndpointParts): AccessEndpoint[] {
  const path = `${root}/session`;
  return [
    guestEndpoint({
      method: "POST",
      path,
      operationId: "signIn",
      summary: "Sign in by password",
      description:
        "Where the person has an authenticator the answer to the right password alone is `needs: code`. Unknown and wrong are answered alike.",
      tag,
      body: signInSchema,
      success: { description: "Signed in, or a code is needed.", schema: signedInSchema },
      errors: ["UNAUTHORIZED", "RATE_LIMITED"],
      handle: async (call) => begun(views, call, await people.signIn(call.body, call.origin)),
    }),
    guestEndpoint({
      method: "POST",
      path: `${path}/link`,
      operationId: "signInByLink",
      summary: "Sign in by a link",
      description:
        "A link is good once. One that resets takes away password, authenticator, recovery codes and passkeys, and ends every other session: choose a password next.",
      tag,
      body: linkSchema,
      success: { description: "Signed in.", schema: sessionViewSchema },
      errors: ["UNAUTHORIZED"],
      handle: async (call) => begun(views, call, { token: await people.links.use(call.body.token, call.origin) }),
    }),
    personEndpoint({
      method: "GET",
      path,
      operationId: "getSession",
      summary: "Read who is signed in",
      tag,
      success: { description: "Who it is.", schema: sessionViewSchema },
      handle: async ({ person, session }) => reply(200, await views.of({ person, session })),
    }),
    personEndpoint({
      method: "POST",
      path: `${path}/proof`,
      operationId: "proveAgain",
      summary: "Prove again who you are",
      description: "The session gets another token, and what asks for a proof does not for ten minutes.",
      tag,
      body: proofSchema,
      success: { description: "Proved, or a code is needed.", schema: signedInSchema },
      errors: ["UNAUTHORIZED", "RATE_LIMITED"],
      handle: async (call) =>
        begun(views, call, await people.prove(call.person.personId, call.body, call.session, call.origin)),
    }),
    personEndpoint({
      method: "DELETE",
      path,
      operationId: "signOut",
      summary: "Sign out",
      tag,
      success: { description: "Signed out.", schema: nothing },
      async handle(call) {
        await people.sessions.end(call.person.personId, call.session.sessionId);
        call.setSession(undefined);
        return reply(200, {});
      },
    }),
  ];
}

function listEndpoints({ people, root }: SessionEndpointParts): AccessEndpoint[] {
  const path = `${root}/sessions`;
  return [
    personEndpoint({
      method: "GET",
      path,
      operationId: "listSessions",
      summary: "List where you are signed in, newest first",
      tag,
      success: { description: "All of them.", schema: sessionListSchema },
      async handle({ person, session: current }) {
        const sessions = await people.sessions.list(person.personId);
        return onePage(sessions, (session) => ({
          session_id: session.sessionId,
          created_at: wireTime(session.createdAt),
          seen_at: wireTime(session.seenAt),
          address: session.address,
          user_agent: session.userAgent,
          surface: session.surface,
          current: session.sessionId === current.sessionId,
        }));
      },
    }),
    personEndpoint({
      method: "DELETE",
      path: `${path}/{session_id}`,
      operationId: "endSession",
      summary: "Sign out of one session",
      tag,
      params: sessionParams,
      success: { description: "It is over.", schema: nothing },
      async handle({ person, params }) {
        if (!(await people.sessions.end(person.personId, params.session_id ?? "")))
          throw new Fault("OBJECT_NOT_FOUND", { message: "No such session of yours, or it is over already." });
        return reply(200, {});
      },
    }),
    personEndpoint({
      method: "DELETE",
      path,
      operationId: "endOtherSessions",
      summary: "Sign out everywhere else",
      tag,
      success: { description: "Only this session is left.", schema: nothing },
      async handle({ person, session }) {
        await people.sessions.endOthers(person.personId, session.sessionId);
        return reply(200, {});
      },
    }),
  ];
}
