// The shapes of sessions, sign-ins and proofs, and of a person's own profile and factors.
import { z } from "zod";
import { exampleIds, exampleTimes } from "../http/examples.ts";
import { displayName, emailAddress, identity, listSchema, timestamp, withExample } from "../http/shapes.ts";
import { operatorRoles } from "../people/operator-roles.ts";
import { actions, memberRoles } from "../people/roles.ts";

export const exampleToken = "3q2x8Zf0vJt5cB1nY7mKdW4hR6sL9pGaEuTi-_oXQkM";

/** Only bounds the length: the current password may be any text, and `passwords.ts` holds the rules for new ones. */
export const passwordField = z.string().min(1).max(1024).meta({ format: "password" });
export const codeField = z
  .string()
  .min(6)
  .max(40)
  .meta({ description: "A code of the authenticator, or a recovery code.", examples: ["492816"] });

export const roleField = z.enum(memberRoles).meta({ id: "MemberRole", description: "What a member may do." });

export const operatorRoleField = z.enum(operatorRoles).meta({
  id: "OperatorRole",
  description: "A viewer reads, support decides what moves no money, an admin does everything.",
});

const actionsField = z.array(z.enum(actions).meta({ id: "Action", description: "What a person may do." }));

const personSchema = z
  .strictObject({
    person_id: identity("person"),
    email: z.string(),
    name: z.string(),
    language: z.enum(["id", "en"]).nullable().meta({ description: "Null: that of the browser." }),
    time_zone: z.string().nullable().meta({ description: "IANA name. Null: that of the browser." }),
    has_password: z.boolean(),
    has_authenticator: z.boolean(),
    passkeys: z.int().min(0).meta({ description: "How many there are." }),
    recovery_codes_left: z.int().min(0),
  })
  .meta({ id: "Person" });

const membershipSchema = z
  .strictObject({
    merchant_id: identity("merchant"),
    merchant_name: z.string(),
    role: roleField,
    language: z
      .enum(["id", "en"])
      .nullable()
      .meta({ description: "The merchant's, where the person has chosen none." }),
    time_zone: z.string().nullable().meta({ description: "The merchant's, where the person has chosen none." }),
    statement_time_zone: z.string().meta({ description: "Of the merchant's days: also while it has chosen none." }),
    actions: z
      .strictObject({ sandbox: actionsField, production: actionsField })
      .meta({ id: "AllowedActions", description: "By environment." }),
  })
  .meta({ id: "Membership" });

const serviceSchema = z
  .strictObject({
    name: z.string(),
    base_url: z.string().meta({ description: "Of the merchants' API; ends in /v1." }),
    webhook_header_prefix: z.string(),
    production_open: z.boolean().meta({ description: "False while no payments are taken in production." }),
    second_factor_required: z.boolean().meta({ description: "True where owners and operators must have one." }),
  })
  .meta({ id: "Installation" });

export const sessionViewSchema = z
  .strictObject({
    person: personSchema,
    session: z
      .strictObject({
        session_id: identity("session"),
        created_at: timestamp,
        fresh_until: timestamp.meta({ description: "Until then nothing asks again who you are." }),
      })
      .meta({ id: "CurrentSession" }),
    memberships: z.array(membershipSchema).meta({ description: "Empty in the console." }),
    operator: z
      .strictObject({ role: operatorRoleField, since: timestamp })
      .nullable()
      .meta({ description: "What the person is in the console; null in the portal." }),
    service: serviceSchema,
  })
  .meta({
    id: "SessionView",
    description: "Who is signed in, and what they may do for which merchant.",
    examples: [
      {
        person: {
          person_id: exampleIds.person,
          email: "sari@toko.example",
          name: "Sari Dewi",
          language: null,
          time_zone: "Asia/Jakarta",
          has_password: true,
          has_authenticator: true,
          passkeys: 1,
          recovery_codes_left: 10,
        },
        session: {
          session_id: exampleIds.session,
          created_at: exampleTimes.created,
          fresh_until: exampleTimes.paid,
        },
        memberships: [
          {
            merchant_id: exampleIds.merchant,
            merchant_name: "Toko Sari",
            role: "viewer",
            language: "id",
            time_zone: "Asia/Jakarta",
            statement_time_zone: "Asia/Jakarta",
            actions: { sandbox: ["payments:read"], production: ["payments:read"] },
          },
        ],
        operator: null,
        service: {
          name: "gerbang",
          base_url: "https://pay.example/v1",
          webhook_header_prefix: "X-SVC-",
          production_open: true,
          second_factor_required: true,
        },
      },
    ],
  });
export type SessionView = z.infer<typeof sessionViewSchema>;

const needsCodeSchema = z.strictObject({ needs: z.enum(["code", "passkey"]) }).meta({
  id: "NeedsCode",
  description:
    "The password is right. Send the same again with a `code`; with `passkey` a passkey or a recovery code is asked for.",
  examples: [{ needs: "code" as "code" | "passkey" }],
});

export const signedInSchema = z.union([sessionViewSchema, needsCodeSchema]).meta({
  id: "SignedIn",
  description: "Who is signed in now, or that a code is still to be sent.",
  examples: [{ needs: "code" as "code" | "passkey" }],
});

export const signInSchema = z
  .strictObject({ email: emailAddress, password: passwordField, code: codeField.optional() })
  .meta({ id: "SignIn", examples: [{ email: "sari@toko.example", password: "kopi tubruk senja 7" }] });

export const linkSchema = z.strictObject({ token: z.string().min(1).max(100) }).meta({
  id: "LinkToken",
  description: "What stands behind the `#` of a link.",
  examples: [{ token: exampleToken }],
});

export const proofSchema = z
  .strictObject({ password: passwordField, code: codeField.optional() })
  .meta({ id: "Proof", examples: [{ password: "kopi tubruk senja 7", code: "492816" }] });

const sessionSchema = withExample(
  z.strictObject({
    session_id: identity("session"),
    created_at: timestamp,
    seen_at: timestamp.meta({ description: "To a minute." }),
    address: z.string(),
    user_agent: z.string(),
    surface: z.enum(["portal", "console"]),
    current: z.boolean().meta({ description: "True of the one that asks." }),
  }),
  { id: "Session" },
  { seen_at: exampleTimes.paid, address: "203.0.113.7", user_agent: "Mozilla/5.0", current: true },
);
export const sessionListSchema = listSchema(sessionSchema, "SessionList");

export const changePersonSchema = z
  .strictObject({
    name: displayName(120).optional(),
    language: z.enum(["id", "en"]).nullable().optional(),
    time_zone: z.string().min(1).max(60).nullable().optional(),
  })
  .meta({ id: "ChangePerson", examples: [{ time_zone: "Asia/Jakarta" }] });

export const changePasswordSchema = z
  .strictObject({
    current: passwordField.nullable().meta({ description: "Null where there is none yet." }),
    next: passwordField,
  })
  .meta({
    id: "ChangePassword",
    examples: [{ current: "kopi tubruk senja 7", next: "teh poci pagi hari 12" }],
  });

export const authenticatorSchema = z
  .strictObject({
    secret: z.string().meta({ description: "For typing, in base32. Shown this once." }),
    uri: z.string().meta({ description: "For a QR code that authenticators read." }),
  })
  .meta({
    id: "Authenticator",
    examples: [
      {
        secret: "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ",
        uri: "otpauth://totp/gerbang:sari%40toko.example?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=gerbang",
      },
    ],
  });

export const confirmSchema = withExample(z.strictObject({ code: codeField }), { id: "ConfirmAuthenticator" });

export const recoveryCodesSchema = z
  .strictObject({ recovery_codes: z.array(z.string()).meta({ description: "Shown this once; each is good once." }) })
  .meta({ id: "RecoveryCodes", examples: [{ recovery_codes: ["4k9ws-0hbt7-qzx2m"] }] });
