// The scorecard of the receiver test, as it is stored and answered.
import { z } from "zod";
import { wholeBetween, wholeFrom } from "../ground/whole.ts";
import { headersSchema } from "../http/shapes.ts";
import { checkNames } from "./receiver-checks.ts";

const exampleCheck = {
  name: "accepts_genuine" as const,
  passed: true,
  sent: { headers: { "content-type": "application/json" }, body: "{}" },
  received: { status: 200, duration_ms: 12, reason: null, headers: { "content-length": "0" }, body: "" },
  guide: "Answer a genuine delivery with 2xx.",
};

const sentSchema = z
  .strictObject({ headers: headersSchema, body: z.string() })
  .meta({ id: "SentDelivery", description: "The delivery that decided, as it was sent." });

const receivedSchema = z
  .strictObject({
    status: z.nullable(wholeBetween(100, 999)).meta({ description: "Null when no answer came.", examples: [200] }),
    duration_ms: wholeFrom(0).meta({ examples: [12] }),
    reason: z.string().nullable().meta({ description: "In plain words; null when the check was passed." }),
    headers: headersSchema
      .nullable()
      .meta({ description: "Of the answer: the first 20, each value up to 150 characters." }),
    body: z.string().nullable().meta({ description: "The first 500 bytes of the answer's body, as text." }),
  })
  .meta({ id: "ReceivedAnswer", description: "What your receiver answered." });

const checkSchema = z
  .strictObject({
    name: z.enum(checkNames).meta({ id: "ReceiverCheckName" }),
    passed: z.boolean(),
    sent: sentSchema,
    received: receivedSchema,
    guide: z.string().meta({ description: "How to do it right, and where the guide says so." }),
  })
  .meta({ id: "ReceiverCheck" });

export const scorecardSchema = z
  .strictObject({
    passed: z.boolean().meta({ description: "Every check was passed." }),
    checks: z.array(checkSchema),
  })
  .meta({ id: "Scorecard", examples: [{ passed: true, checks: [exampleCheck] }] });

export type CheckResult = z.infer<typeof checkSchema>;
export type Scorecard = z.infer<typeof scorecardSchema>;
