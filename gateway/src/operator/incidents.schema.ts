// The JSON schemas of incidents for operators.
import { z } from "zod";
import { parseWireTime, wireTime } from "../ground/clock.ts";
import { exampleOf, identity, inPath, timestamp, withExample } from "../http/shapes.ts";
import { type Incident, MESSAGE_MAX, TITLE_MAX, phaseOf, updateStatuses } from "../status/incident.ts";
import {
  componentField,
  impactField,
  incidentStatusField,
  publicIncidentView,
  publicUpdateView,
  statusSchema,
} from "../status/status.schema.ts";

export const incidentParams = { id: inPath("incident", "IncidentId", "`incident_id` of the incident.") };
export const updateParams = {
  ...incidentParams,
  update_id: inPath("incidentUpdate", "IncidentUpdateId", "`update_id` of the update."),
};

/** Plain text for the public page. Invisible characters and those that change how others are displayed are rejected; XML (the RSS feed) does not allow them. */
const plainText = (maximum: number, pattern: RegExp, forbidden: string) =>
  z
    .string()
    .refine((value) => [...value].length <= maximum && value.trim() !== "", `must have 1 to ${maximum} characters`)
    .refine((value) => value.isWellFormed() && pattern.test(value), `must be plain text without ${forbidden}`)
    .meta({ minLength: 1, maxLength: maximum });

const title = plainText(
  TITLE_MAX,
  /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}\uFFFE\uFFFF]*$/u,
  "line breaks or control characters",
).meta({
  description: "One line of plain text.",
  examples: ["Card payments fail"],
});
const message = plainText(
  MESSAGE_MAX,
  /^(?:\n|[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}\uFFFE\uFFFF])*$/u,
  "control characters other than line breaks",
).meta({
  description: "Plain text, shown to everybody; line breaks stay.",
  examples: ["Card payments fail. We are looking into it."],
});
const componentList = z
  .array(componentField)
  .max(20)
  .refine((list) => new Set(list).size === list.length, "must name each component once")
  .meta({ uniqueItems: true, description: "What it affects of what is measured; may be empty.", examples: [["card"]] });
const moment = timestamp.refine((value) => parseWireTime(value) !== undefined, "must be a time of 1970 to 2199");
const startsAt = moment.meta({ description: "When it began; of planned work when it is to begin. Now when absent." });
const endsAt = moment.meta({ description: "When planned work is to be over; for nothing else." });

export const newIncidentSchema = z
  .strictObject({
    title,
    impact: impactField,
    components: componentList,
    message,
    starts_at: startsAt.optional(),
    ends_at: endsAt.optional(),
  })
  .meta({
    id: "NewIncident",
    examples: [
      {
        title: "Card payments fail",
        impact: "major",
        components: ["card"],
        message: "Card payments fail. We are looking into it.",
      },
    ],
  });
export const newIncidentExamples = {
  incident: { summary: "Something happens", value: exampleOf(newIncidentSchema) },
  maintenance: {
    summary: "Planned work",
    value: {
      title: "New database server",
      impact: "maintenance",
      components: ["api", "webhooks", "settlements"],
      message: "For a few minutes requests are answered with 503. Send them again with the same key.",
      starts_at: "2026-11-28T18:00:00Z",
      ends_at: "2026-11-28T19:00:00Z",
    },
  },
};

export const editIncidentSchema = z
  .strictObject({
    title: title.optional(),
    impact: impactField.optional(),
    components: componentList.optional(),
    starts_at: startsAt.optional(),
    ends_at: endsAt.optional(),
  })
  .meta({ id: "EditIncident", examples: [{ title: "Some card payments fail", impact: "minor" }] });

export const newUpdateSchema = z
  .strictObject({
    status: z.enum(updateStatuses).meta({
      id: "IncidentUpdateStatus",
      description: "`resolved` ends it; after that any other opens it again.",
    }),
    message,
  })
  .meta({
    id: "NewIncidentUpdate",
    examples: [{ status: "identified", message: "One acquirer does not answer. We send cards to another one." }],
  });

export const correctionSchema = z
  .strictObject({ message })
  .meta({ id: "IncidentCorrection", examples: [{ message: "Some card payments fail. We are looking into it." }] });

const by = z.string().meta({ description: "Which operator; shown to operators alone.", examples: ["sari"] });

const updateSchema = withExample(
  z.strictObject({
    update_id: identity("incidentUpdate"),
    status: incidentStatusField,
    message: z.string().meta({ examples: ["Card payments fail. We are looking into it."] }),
    at: timestamp,
    by,
    corrected_at: timestamp.nullable(),
  }),
  { id: "IncidentUpdate" },
  { status: "investigating" },
);

export const incidentSchema = withExample(
  z.strictObject({
    incident_id: identity("incident"),
    title: z.string().meta({ examples: ["Card payments fail"] }),
    impact: impactField,
    components: z.array(componentField),
    status: incidentStatusField.meta({ description: "Of its newest update." }),
    phase: z.enum(["planned", "open", "over"]).meta({
      id: "IncidentPhase",
      description: "Planned work begins and ends by itself at its times; anything else is open until it is resolved.",
    }),
    starts_at: timestamp,
    ends_at: timestamp.nullable(),
    resolved_at: timestamp.nullable(),
    created_at: timestamp,
    created_by: by,
    updates: z.array(updateSchema).meta({ description: "The oldest first, with their texts as last corrected." }),
  }),
  { id: "Incident", description: "What operators tell everybody on the status page." },
  { impact: "major", components: ["card"], status: "investigating", phase: "open" },
);

export const operatorStatusSchema = withExample(
  z.strictObject({
    public_url: z.string().meta({ examples: ["https://pay.example.com/status"] }),
    status: statusSchema,
  }),
  { id: "OperatorStatus", description: "What everybody is told now, and where." },
);

export function incidentView(one: Incident, now: number): z.infer<typeof incidentSchema> {
  return {
    ...publicIncidentView(one),
    phase: phaseOf(one, now),
    created_at: wireTime(one.createdAt),
    created_by: one.createdBy,
    updates: one.updates.map((update) => ({ update_id: update.updateId, ...publicUpdateView(update), by: update.by })),
  };
}

/** The time of a valid field, in microseconds. */
export const timeOfField = (value: string | undefined): number | undefined =>
  value === undefined ? undefined : parseWireTime(value)?.at;
