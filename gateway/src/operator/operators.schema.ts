// The JSON schemas of people who are operators, and of their invitations.
import { z } from "zod";
import { exampleToken, operatorRoleField } from "../access/session.schema.ts";
import { exampleTimes } from "../http/examples.ts";
import { emailAddress, exampleOf, identity, listSchema, timestamp, withExample } from "../http/shapes.ts";

const createdBy = z
  .string()
  .meta({ description: "Who let them in: a token's name, an operator's address, or `command-line`." });

export const operatorSchema = withExample(
  z.strictObject({
    person_id: identity("person"),
    email: z.string(),
    name: z.string(),
    role: operatorRoleField,
    has_second_factor: z.boolean(),
    since: timestamp,
    created_by: createdBy,
  }),
  { id: "OperatorPerson" },
  {
    email: "sari@gateway.example",
    name: "Sari Dewi",
    role: "admin",
    has_second_factor: true,
    created_by: "command-line",
  },
);
export const operatorListSchema = listSchema(operatorSchema, "OperatorPersonList");

export const changeOperatorSchema = z
  .strictObject({ role: operatorRoleField })
  .meta({ id: "ChangeOperator", examples: [{ role: "support" }] });

export const inviteOperatorSchema = z
  .strictObject({ role: operatorRoleField, email: emailAddress.optional() })
  .meta({ id: "InviteOperator", examples: [{ role: "support", email: "budi@gateway.example" }] });

const operatorInvitationSchema = withExample(
  z.strictObject({
    invitation_id: identity("invitation"),
    role: operatorRoleField,
    email: z.string().nullable().meta({ description: "Where given, only this person may accept." }),
    expires_at: timestamp,
    created_by: createdBy,
  }),
  { id: "OperatorInvitation" },
  {
    role: "support",
    email: "budi@gateway.example",
    expires_at: exampleTimes.payout,
    created_by: "sari@gateway.example",
  },
);
export const operatorInvitationListSchema = listSchema(operatorInvitationSchema, "OperatorInvitationList");
export const madeOperatorInvitationSchema = withExample(
  operatorInvitationSchema.extend({
    url: z.string().meta({ description: "The link that lets them in. It is shown this once." }),
  }),
  { id: "MadeOperatorInvitation" },
  { ...exampleOf(operatorInvitationSchema), url: `https://console.example/console/invitation#${exampleToken}` },
);

export const seenOperatorInvitationSchema = withExample(
  z.strictObject({
    service_name: z.string(),
    role: operatorRoleField,
    email: z.string().nullable(),
    expires_at: timestamp,
  }),
  { id: "SeenOperatorInvitation" },
  { service_name: "gerbang", role: "support", expires_at: exampleTimes.payout },
);
