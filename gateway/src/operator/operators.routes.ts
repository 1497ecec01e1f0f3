// Endpoints under /ops/v1/operators: people who are operators, their roles and invitations; and accepting an invitation.
import { type AccessEndpoint, guestEndpoint } from "../access/endpoint.ts";
import { invitationTokenSchema } from "../access/invitations.schema.ts";
import { type SessionEndpointParts, acceptEndpoint } from "../access/session.routes.ts";
import { wireTime } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { isId } from "../ground/ids.ts";
import { reply } from "../ground/reply.ts";
import { onePage } from "../http/lists.ts";
import { inPath, nothing } from "../http/shapes.ts";
import { mayAct } from "../people/operator-roles.ts";
import { noInvitation } from "../people/invitees.ts";
import type { Operators } from "../people/operators.ts";
import type { OperatorInvitation, OperatorPerson } from "../people/operators.sql.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import type { Operator } from "./known-tokens.ts";
import {
  changeOperatorSchema,
  inviteOperatorSchema,
  madeOperatorInvitationSchema,
  operatorInvitationListSchema,
  operatorListSchema,
  operatorSchema,
  seenOperatorInvitationSchema,
} from "./operators.schema.ts";

interface OperatorPeopleParts {
  operators: Operators;
  /** The page on which an invitation is accepted; the token is appended after `#`. Undefined where there is no console. */
  invitationPage: () => string | undefined;
}

const path = "/ops/v1/operators";
const tag = "Operators";
const personParams = { person_id: inPath("person", "PersonId", "The operator's identity.") };
const ofPerson = { path: `${path}/{person_id}`, params: personParams, tag } as const;
const invitationParams = { invitation_id: inPath("invitation", "InvitationId", "The invitation's identity.") };
const noOperator = (): Fault => new Fault("OBJECT_NOT_FOUND", { message: "There is no such operator." });

export function operatorPeopleEndpoints(parts: OperatorPeopleParts): OperatorEndpoint[] {
  return [...peopleEndpoints(parts), ...invitationEndpoints(parts)];
}

function peopleEndpoints({ operators }: OperatorPeopleParts): OperatorEndpoint[] {
  return [
    operatorEndpoint({
      method: "GET",
      operationId: "listOperators",
      path,
      summary: "List the operators, the longest first",
      tag,
      role: "viewer",
      success: { description: "All of them.", schema: operatorListSchema },
      handle: async () => onePage(await operators.list(), operatorView),
    }),
    operatorEndpoint({
      ...ofPerson,
      method: "PATCH",
      operationId: "changeOperator",
      summary: "Give an operator another role, from their next request on",
      role: "admin",
      body: changeOperatorSchema,
      success: { description: "As they are now.", schema: operatorSchema },
      async handle({ params: { person_id: personId = "" }, body, operator }) {
        const before = isId("person", personId) ? await operators.read(personId) : undefined;
        if (before && !mayAct(before.role, body.role)) refuseEnding(operator);
        if (!(await operators.changeRole(personId, body.role))) throw noOperator();
        const changed = await operators.read(personId);
        if (!changed) throw noOperator();
        return reply(200, operatorView(changed));
      },
    }),
    operatorEndpoint({
      ...ofPerson,
      method: "DELETE",
      operationId: "removeOperator",
      summary: "Take an operator out, and sign them out of the console everywhere",
      role: "admin",
      success: { description: "They may do nothing here any more.", schema: nothing },
      async handle({ params }) {
        if (!(await operators.remove(params.person_id ?? ""))) throw noOperator();
        return reply(200, {});
      },
    }),
  ];
}

function invitationEndpoints({ operators, invitationPage }: OperatorPeopleParts): OperatorEndpoint[] {
  return [
    operatorEndpoint({
      method: "GET",
      operationId: "listOperatorInvitations",
      path: `${path}/invitations`,
      summary: "List the invitations that can still be accepted",
      tag,
      role: "admin",
      success: { description: "All of them, newest first.", schema: operatorInvitationListSchema },
      handle: async () => onePage(await operators.invitations(), invitationView),
    }),
    operatorEndpoint({
      method: "POST",
      operationId: "inviteOperator",
      path: `${path}/invitations`,
      summary: "Invite somebody to become an operator",
      description: "The link is shown this once, and is good once, for three days. Hand it over yourself.",
      tag,
      role: "admin",
      body: inviteOperatorSchema,
      success: { status: 201, description: "The invitation and its link.", schema: madeOperatorInvitationSchema },
      errors: ["SERVICE_UNAVAILABLE"],
      async handle({ body, operator }) {
        refuseEnding(operator);
        const page = invitationPage();
        if (page === undefined)
          throw new Fault("SERVICE_UNAVAILABLE", {
            message: "There is no console to sign in to: set CONSOLE_URL to its address, and start the service again.",
          });
        const { token, invitation } = await operators.invite(body, operator.name);
        return reply(201, { ...invitationView(invitation), url: `${page}#${token}` });
      },
    }),
    operatorEndpoint({
      method: "DELETE",
      operationId: "takeOperatorInvitationBack",
      path: `${path}/invitations/{invitation_id}`,
      params: invitationParams,
      summary: "Take an invitation back",
      tag,
      role: "admin",
      success: { description: "Its link is good no more.", schema: nothing },
      async handle({ params }) {
        if (!(await operators.takeBack(params.invitation_id ?? "")))
          throw new Fault("OBJECT_NOT_FOUND", { message: "No such invitation, or it is over already." });
        return reply(200, {});
      },
    }),
  ];
}

/** Throws FORBIDDEN for a token that ends. The role of a person does not: whoever had such a token for an hour would keep its rights. */
function refuseEnding({ expiresAt }: Operator): void {
  if (expiresAt !== undefined)
    throw new Fault("FORBIDDEN", {
      message: "Your token ends, and a person's role does not: give it from the console, or by a token without an end.",
    });
}

/** Endpoints for the holder of an invitation link, who is not signed in. */
export function operatorInvitationAccess(parts: SessionEndpointParts & { serviceName: string }): AccessEndpoint[] {
  const { people, root, serviceName } = parts;
  return [
    guestEndpoint({
      method: "POST",
      changesNothing: true,
      path: `${root}/invitations/look`,
      operationId: "lookAtOperatorInvitation",
      summary: "Read what an invitation is for",
      tag: "Session",
      body: invitationTokenSchema,
      success: { description: "What it is for.", schema: seenOperatorInvitationSchema },
      errors: ["OBJECT_NOT_FOUND"],
      async handle({ body }) {
        const invitation = await people.operators.invitationOf(body.token);
        if (!invitation) throw noInvitation();
        const { role, email, expires_at } = invitationView(invitation);
        return reply(200, { service_name: serviceName, role, email, expires_at });
      },
    }),
    acceptEndpoint(
      parts,
      {
        operationId: "acceptOperatorInvitation",
        summary: "Become an operator",
        success: "Signed in, or a code is needed.",
      },
      (token, given, origin) => people.operators.accept(token, given, origin),
    ),
  ];
}

/** The view of an operator in lists, here and on the command line. */
export function operatorView({ personId, email, name, role, hasSecondFactor, since, by }: OperatorPerson) {
  return {
    person_id: personId,
    email,
    name,
    role,
    has_second_factor: hasSecondFactor,
    since: wireTime(since),
    created_by: by,
  };
}

function invitationView({ invitationId, role, email, by, expiresAt }: OperatorInvitation) {
  return {
    invitation_id: invitationId,
    role,
    email: email ?? null,
    expires_at: wireTime(expiresAt),
    created_by: by,
  };
}
