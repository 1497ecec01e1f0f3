// Endpoints to accept an invitation: reading the invitation of a link, and joining the merchant.
import { guestEndpoint } from "../access/endpoint.ts";
import { acceptSchema, invitationTokenSchema } from "../access/invitations.schema.ts";
import { type SessionEndpointParts, begun } from "../access/session.routes.ts";
import { signedInSchema } from "../access/session.schema.ts";
import { reply } from "../ground/reply.ts";
import type { Directory } from "../merchants/directory.ts";
import { noInvitation } from "../people/newcomers.ts";
import type { PortalEndpoint } from "./endpoint.ts";
import { invitationView } from "./team.routes.ts";
import { seenInvitationSchema } from "./team.schema.ts";

const path = "/portal/v1/invitations";
const tag = "Session";

export function invitationEndpoints({
  people,
  views,
  directory,
}: SessionEndpointParts & { directory: Directory }): PortalEndpoint[] {
  return [
    guestEndpoint({
      method: "POST",
      changesNothing: true,
      path: `${path}/look`,
      operationId: "lookAtInvitation",
      summary: "Read what an invitation is for",
      tag,
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
    guestEndpoint({
      method: "POST",
      path: `${path}/accept`,
      operationId: "acceptInvitation",
      summary: "Join the merchant that the invitation is for",
      description:
        "A new person chooses a password. Who has an account by this e-mail address already proves it by its password, and by a code where there is an authenticator.",
      tag,
      body: acceptSchema,
      success: { description: "Joined and signed in, or a code is needed.", schema: signedInSchema },
      errors: ["OBJECT_NOT_FOUND", "UNAUTHORIZED", "RATE_LIMITED"],
      async handle(call) {
        const { token, ...given } = call.body;
        const accepted = await people.invitations.accept(token, given, call.origin);
        if ("needs" in accepted) return reply(200, accepted);
        const { personId, stands } = accepted;
        return begun(views, call, { token: await people.sessions.begin(personId, call.origin, stands) });
      },
    }),
  ];
}
