// The shapes of a merchant's team, its invitations and its audit.
import { z } from "zod";
import { exampleIds, exampleTimes } from "../http/examples.ts";
import {
  emailAddress,
  environmentField,
  exampleOf,
  identity,
  limitQuery,
  listSchema,
  startingAfter,
  timestamp,
  wholeOrNull,
  withExample,
} from "../http/shapes.ts";
import { exampleToken, roleField } from "../access/session.schema.ts";

const memberSchema = withExample(
  z.strictObject({
    person_id: identity("person"),
    email: z.string(),
    name: z.string(),
    role: roleField,
    has_second_factor: z.boolean(),
    since: timestamp,
  }),
  { id: "TeamMember" },
  { email: "sari@toko.example", name: "Sari Dewi", has_second_factor: true },
);
export const memberListSchema = listSchema(memberSchema, "TeamMemberList");

export const changeRoleSchema = z
  .strictObject({ role: roleField })
  .meta({ id: "ChangeRole", examples: [{ role: "developer" }] });

export const inviteSchema = z
  .strictObject({ role: roleField, email: emailAddress.optional() })
  .meta({ id: "Invite", examples: [{ role: "finance", email: "budi@toko.example" }] });

const invitationSchema = withExample(
  z.strictObject({
    invitation_id: identity("invitation"),
    role: roleField,
    email: z.string().nullable().meta({ description: "Where given, only this person may accept." }),
    expires_at: timestamp,
  }),
  { id: "TeamInvitation" },
  { role: "finance", email: "budi@toko.example", expires_at: exampleTimes.payout },
);
export const invitationListSchema = listSchema(invitationSchema, "TeamInvitationList");
export const madeInvitationSchema = withExample(
  invitationSchema.extend({
    url: z.string().meta({ description: "The link that lets them in. It is shown this once." }),
    mailed: z
      .boolean()
      .meta({ description: "True when the mail server has taken it. False: hand the link over yourself." }),
  }),
  { id: "MadeInvitation" },
  { ...exampleOf(invitationSchema), url: `https://pay.example/portal/invitation#${exampleToken}`, mailed: false },
);

export const seenInvitationSchema = withExample(
  z.strictObject({
    merchant_name: z.string(),
    role: roleField,
    email: z.string().nullable(),
    expires_at: timestamp,
  }),
  { id: "SeenInvitation" },
  { merchant_name: "Toko Sari", role: "finance", expires_at: exampleTimes.payout },
);
const auditEntrySchema = withExample(
  z.strictObject({
    request_id: identity("request").meta({ description: "`X-Request-Id` of the call." }),
    at: timestamp,
    person: z
      .strictObject({ person_id: identity("person"), name: z.string() })
      .meta({ id: "AuditedPerson" })
      .nullable()
      .meta({ description: "Who did it; null for the operator." }),
    action: z.string(),
    environment: environmentField.nullable(),
    path: z.string().nullable().meta({ description: "Method and address of a call; null where none was made." }),
    status: wholeOrNull(201, "Of the answer. Null of a call: it was cut short, or its outcome is not on record."),
    address: z.string().nullable(),
    details: z.unknown(),
  }),
  { id: "MerchantAuditEntry" },
  {
    person: { person_id: exampleIds.person, name: "Sari Dewi" },
    action: "create_refund",
    environment: "sandbox",
    path: "POST /portal/v1/refunds",
    address: "203.0.113.7",
  },
);
export const auditListSchema = listSchema(auditEntrySchema, "MerchantAuditEntryList");
export const auditQuery = z.strictObject({
  limit: limitQuery,
  starting_after: startingAfter("request", "is not the identity of an entry", "Only entries older than this one."),
});
