// Endpoints to accept an invitation: reading the invitation of a link, and joining the merchant.
import { guestEndpoint } from "../access/endpoint.ts";
import { invitationTokenSchema } from "../access/invitations.schema.ts";
import { type SessionEndpointParts, acceptEndpoint } from "../access/session.routes.ts";
import { reply } from "../ground/reply.ts";
import type { Directory } from "../merchants/directory.ts";
import { noInvitation } from "../people/invitees.ts";
import type { PortalEndpoint } from "./endpoint.ts";
import { invitationView } from "./team.routes.ts";
import { seenInvitationSchema } from "./team.schema.ts";

export function invitationEndpoints(parts: SessionEndpointParts & { directory: Directory }): PortalEndpoint[] {
  const { people, root, directory } = parts;
  return [
    guestEndpoint({
      method: "POST",
      changesNothing: true,
      path: `${root}/invitations/look`,
      operationId: "lookAtInvitation",
      summary: "Read what an invitation is for",
      tag: "Session",
      body: invitationTokenSchema,
      success: { description: "Whose it is.", schema: seenInvitationSchema },
      errors: ["OBJECT_NOT_FOUND"],
      async handle({ body }) {
        const invitation = await people.invitations.find(body.token);
        const merchant = invitation && (await directory.merchant(invitation.merchantId));
        if (!invitation || !merchant) throw noInvitation();
        const { role, email, expires_at } = invitationView(invitation);
        return reply(200, { merchant_name: merchant.name, role, email, expires_at });
      },
    }),
    acceptEndpoint(
      parts,
      {
        operationId: "acceptInvitation",
        summary: "Join the merchant that the invitation is for",
        success: "Joined and signed in, or a code is needed.",
      },
      (token, given, origin) => people.invitations.accept(token, given, origin),
    ),
  ];
}
