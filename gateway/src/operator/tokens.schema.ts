// The JSON schemas of operators' tokens.
import { z } from "zod";
import { DAY_SECONDS } from "../ground/clock.ts";
import { wholeBetween } from "../ground/whole.ts";
import { operatorRoleField } from "../access/session.schema.ts";
import { identity, textOrNull, timestamp, withExample } from "../http/shapes.ts";
import { word } from "./params.ts";
import { TOKEN_NAME } from "./tokens.ts";

export const OVERLAP_MAX_SECONDS = 30 * DAY_SECONDS;
export const EXPIRES_MIN_SECONDS = 60;
export const EXPIRES_MAX_SECONDS = 3_650 * DAY_SECONDS;

const tokenName = z
  .string()
  .max(40)
  .meta({ pattern: TOKEN_NAME.source, examples: ["sari"] });

export const tokenParams = { name: word("TokenName", "`name` of the token.", TOKEN_NAME.source, "sari") };

const tokenFields = {
  token_id: identity("operatorToken"),
  name: tokenName,
  role: operatorRoleField,
  created_at: timestamp,
  created_by: z.string().meta({
    description: "Name of the token it was made with; `environment`, or `command-line`.",
    examples: ["environment"],
  }),
  expires_at: timestamp.nullable().meta({ description: "Null: it ends only when it is revoked." }),
};

export const tokenSchema = withExample(
  z.strictObject({
    ...tokenFields,
    revoked_at: timestamp.nullable(),
    replaced_by: identity("operatorToken")
      .nullable()
      .meta({ description: "What it was rotated to; it may be good beside it until `expires_at`." }),
    last_used_at: timestamp.nullable().meta({ description: "Within a minute; null before its first use." }),
    last_used_from: textOrNull("192.0.2.17", "Address of that use."),
  }),
  {
    id: "OperatorToken",
    description: "A named token, or one that was. The two of the environment are in no list.",
  },
  { role: "support", last_used_from: null },
);

export const madeTokenSchema = withExample(
  z.strictObject({ ...tokenFields, token: z.string().meta({ description: "Shown this once." }) }),
  { id: "MadeOperatorToken", description: "A new token." },
  { role: "support", token: "op_4f8k2m7q1x9v5c3b6n0zt2w8h5rd7yje" },
);

export const newTokenSchema = z
  .strictObject({
    name: z
      .string()
      .regex(TOKEN_NAME)
      .meta({
        description: "Lower-case letters, digits, dots, dashes, underscores. One good token has it.",
        examples: ["sari"],
      }),
    role: operatorRoleField.optional().meta({ description: "`viewer` when absent; at most your own." }),
    expires_in: wholeBetween(EXPIRES_MIN_SECONDS, EXPIRES_MAX_SECONDS)
      .optional()
      .meta({ description: "Seconds it is good for; at most as long as yours. Absent: until it is revoked." }),
  })
  .meta({ id: "NewOperatorToken", examples: [{ name: "sari", role: "support", expires_in: 90 * DAY_SECONDS }] });

export const rotateTokenSchema = z
  .strictObject({
    overlap_seconds: wholeBetween(0, OVERLAP_MAX_SECONDS)
      .optional()
      .meta({ description: "How long the token before is good as well; not at all when absent." }),
  })
  .meta({ id: "RotateOperatorToken", examples: [{ overlap_seconds: 3_600 }] });
