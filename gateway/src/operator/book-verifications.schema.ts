// The JSON schemas of a replay of a book.
import { z } from "zod";
import { wholeFrom } from "../ground/whole.ts";
import { wireTime, wireTimeOrNull } from "../ground/clock.ts";
import { exampleSignature } from "../http/examples.ts";
import {
  count,
  environmentField,
  identity,
  inPath,
  listSchema,
  textOrNull,
  timestamp,
  withExample,
} from "../http/shapes.ts";
import { type Verification, verificationStatuses } from "./book-verifications.sql.ts";
import { bookParams } from "./params.ts";

export const verificationParams = {
  ...bookParams,
  verification_id: inPath("verification", "VerificationId", "`verification_id` of the replay."),
};

export const verificationSchema = withExample(
  z.strictObject({
    verification_id: identity("verification"),
    merchant_id: identity("merchant"),
    environment: environmentField,
    status: z.enum(verificationStatuses).meta({
      description:
        "`running`; `clean`: nothing is wrong; `wrong`; `stopped` by an operator; `interrupted`: its process ended, or lost the database.",
    }),
    started_by: z.string().meta({ description: "The operator.", examples: ["sari@gateway.example"] }),
    started_at: timestamp,
    ended_at: timestamp.nullable().meta({ description: "Null while it runs." }),
    stopped_by: z.string().nullable().meta({ description: "Who asked that it ends." }),
    journals: count(412_000, "Journals that were replayed so far."),
    journals_in_all: count(1_000_000, "Journals that the book had when it began."),
    journals_per_second: wholeFrom(0)
      .nullable()
      .meta({ description: "How fast journals are replayed; null before the first page.", examples: [14_500] }),
    checks: count(0, "Checks that hold rows against the journals, done so far. They come after the journals."),
    checks_in_all: count(15, "Checks in all."),
    rows: count(0, "Rows that were held against the journals so far; a row counts in each check."),
    wrong: z.string().nullable().meta({ description: "The first thing found wrong." }),
    head_hash: textOrNull(exampleSignature, "The end of the chain that was replayed, once it is."),
  }),
  { id: "BookVerification" },
  { head_hash: null },
);
export const verificationListSchema = listSchema(verificationSchema, "BookVerificationList");

export function verificationView(one: Verification): z.infer<typeof verificationSchema> {
  const { book, journals, journalsMs } = one;
  return {
    verification_id: one.id,
    merchant_id: book.merchantId,
    environment: book.environment,
    status: one.status,
    started_by: one.startedBy,
    started_at: wireTime(one.startedAt),
    ended_at: wireTimeOrNull(one.endedAt),
    stopped_by: one.stoppedBy ?? null,
    journals: Number(journals),
    journals_in_all: Number(one.journalsInAll),
    journals_per_second: journals === 0n ? null : Math.round((Number(journals) * 1_000) / Math.max(1, journalsMs)),
    checks: one.checks,
    checks_in_all: one.checksInAll,
    rows: Number(one.rows),
    wrong: one.wrong ?? null,
    head_hash: one.head ?? null,
  };
}
