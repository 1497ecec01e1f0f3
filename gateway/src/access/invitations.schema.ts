// The shapes of accepting an invitation to a merchant or to the operators.
import { z } from "zod";
import { displayName, emailAddress } from "../http/shapes.ts";
import { codeField, exampleToken, passwordField } from "./session.schema.ts";

export const invitationTokenSchema = z.strictObject({ token: z.string().min(1).max(100) }).meta({
  id: "InvitationToken",
  description: "What stands behind the `#` of the link.",
  examples: [{ token: exampleToken }],
});
export const acceptSchema = z
  .strictObject({
    token: z.string().min(1).max(100),
    email: emailAddress,
    name: displayName(120),
    password: passwordField,
    code: codeField.optional(),
  })
  .meta({
    id: "AcceptInvitation",
    examples: [
      { token: exampleToken, email: "budi@toko.example", name: "Budi Santoso", password: "teh poci pagi hari 12" },
    ],
  });
