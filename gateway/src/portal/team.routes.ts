// Portal endpoints for a merchant's team: members, invitations, and the audit of the members' changes.
import { wireTime } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { reply } from "../ground/reply.ts";
import { cursorOf, limitOf, onePage, page } from "../http/lists.ts";
import { inPath, nothing } from "../http/shapes.ts";
import type { PeopleAudit } from "../people/audit.ts";
import type { MerchantAuditEntry } from "../people/audit.sql.ts";
import { type Mail, invitationLetter } from "../people/mail.ts";
import type { People } from "../people/people.ts";
import type { Invitation } from "../people/invitations.sql.ts";
import { type PortalEndpoint, memberEndpoint } from "./endpoint.ts";
import {
  auditListSchema,
  auditQuery,
  changeRoleSchema,
  invitationListSchema,
  inviteSchema,
  madeInvitationSchema,
  memberListSchema,
} from "./team.schema.ts";

interface TeamEndpointParts {
  people: People;
  audit: PeopleAudit;
  /** Address of the page that accepts an invitation. The endpoint appends `#` and the token. */
  invitationPage: () => string;
  /** Name of the installation in letters. */
  serviceName: string;
  /** Undefined when no mail server is configured. */
  mail: Mail | undefined;
}

const path = "/portal/v1/team";
const read = { tag: "Team", action: "team:read" } as const;
const write = { tag: "Team", action: "team:write" } as const;
const personParams = { person_id: inPath("person", "PersonId", "The member's identity.") };
const invitationParams = { invitation_id: inPath("invitation", "InvitationId", "The invitation's identity.") };
const noMember = (): Fault => new Fault("OBJECT_NOT_FOUND", { message: "No such member of this merchant." });

export function teamEndpoints(parts: TeamEndpointParts): PortalEndpoint[] {
  return [...memberEndpoints(parts), ...invitationEndpoints(parts), auditEndpoint(parts)];
}

function memberEndpoints({ people }: TeamEndpointParts): PortalEndpoint[] {
  return [
    memberEndpoint({
      method: "GET",
      path,
      operationId: "listTeam",
      summary: "List the members of the merchant",
      ...read,
      success: { description: "All of them.", schema: memberListSchema },
      async handle({ merchant }) {
        const members = await people.members(merchant.merchantId);
        return onePage(members, (member) => ({
          person_id: member.personId,
          email: member.email,
          name: member.name,
          role: member.role,
          has_second_factor: member.hasSecondFactor,
          since: wireTime(member.since),
        }));
      },
    }),
    memberEndpoint({
      method: "PATCH",
      path: `${path}/{person_id}`,
      operationId: "changeRole",
      summary: "Give a member another role",
      ...write,
      fresh: true,
      params: personParams,
      body: changeRoleSchema,
      success: { description: "It is their role from now on.", schema: nothing },
      async handle({ merchant, params, body }) {
        if (!(await people.changeRole(merchant.merchantId, params.person_id ?? "", body.role))) throw noMember();
        return { ...reply(200, {}), audited: { role: body.role } };
      },
    }),
    memberEndpoint({
      method: "DELETE",
      path: `${path}/{person_id}`,
      operationId: "removeMember",
      summary: "Take a member out of the merchant",
      ...write,
      fresh: true,
      params: personParams,
      success: { description: "They may not act for it any more.", schema: nothing },
      async handle({ merchant, params }) {
        if (!(await people.removeMember(merchant.merchantId, params.person_id ?? ""))) throw noMember();
        return reply(200, {});
      },
    }),
  ];
}

function invitationEndpoints({ people, invitationPage, serviceName, mail }: TeamEndpointParts): PortalEndpoint[] {
  return [
    memberEndpoint({
      method: "GET",
      path: `${path}/invitations`,
      operationId: "listInvitations",
      summary: "List the invitations that can still be accepted",
      ...read,
      success: { description: "All of them, newest first.", schema: invitationListSchema },
      handle: async ({ merchant }) => onePage(await people.invitations.list(merchant.merchantId), invitationView),
    }),
    memberEndpoint({
      method: "POST",
      path: `${path}/invitations`,
      operationId: "invite",
      summary: "Invite somebody",
      description: "The link is shown to you. Hand it over yourself, or let the service send it where it can.",
      ...write,
      fresh: true,
      body: inviteSchema,
      success: { status: 201, description: "The invitation and its link.", schema: madeInvitationSchema },
      async handle({ merchant, person, body }) {
        const { token, invitation } = await people.invitations.invite(merchant.merchantId, body, person.personId);
        const url = `${invitationPage()}#${token}`;
        const { email } = invitation;
        const content = { merchantName: merchant.name, serviceName, url };
        const mailed = email !== undefined && mail !== undefined && (await mail.send(invitationLetter(email, content)));
        const view = invitationView(invitation);
        return { ...reply(201, { ...view, url, mailed }), audited: { role: view.role, email: view.email } };
      },
    }),
    memberEndpoint({
      method: "DELETE",
      path: `${path}/invitations/{invitation_id}`,
      operationId: "takeInvitationBack",
      summary: "Take an invitation back",
      ...write,
      params: invitationParams,
      success: { description: "Its link is good no more.", schema: nothing },
      async handle({ merchant, params }) {
        if (!(await people.invitations.takeBack(merchant.merchantId, params.invitation_id ?? "")))
          throw new Fault("OBJECT_NOT_FOUND", { message: "No such invitation, or it is over already." });
        return reply(200, {});
      },
    }),
  ];
}

export function invitationView({ invitationId, role, email, expiresAt }: Invitation) {
  return { invitation_id: invitationId, role, email: email ?? null, expires_at: wireTime(expiresAt) };
}

function auditEndpoint({ audit }: TeamEndpointParts): PortalEndpoint {
  return memberEndpoint({
    method: "GET",
    path: "/portal/v1/audit",
    operationId: "listMerchantAudit",
    summary: "List what people changed for the merchant, refused changes too, newest first",
    tag: "Team",
    action: "audit:read",
    query: auditQuery,
    success: { description: "A page of the audit.", schema: auditListSchema },
    async handle({ merchant: { merchantId }, query }) {
      const before = await cursorOf(query, (id) => audit.has(merchantId, id));
      return page(await audit.list(merchantId, before, limitOf(query) + 1), query, auditView, ({ auditId }) => auditId);
    },
  });
}

function auditView(entry: MerchantAuditEntry) {
  const { person } = entry;
  return {
    request_id: entry.auditId,
    at: wireTime(entry.at),
    person: person ? { person_id: person.personId, name: person.name } : null,
    action: entry.action,
    environment: entry.environment ?? null,
    path: entry.path ?? null,
    status: entry.status ?? null,
    address: entry.address ?? null,
    details: entry.details ?? null,
  };
}
