// The JSON schema of /status.json, which the operators' API returns as well, with incidents as published.
import { z } from "zod";
import { wireTime, wireTimeOrNull } from "../ground/clock.ts";
import { exampleTimes } from "../http/examples.ts";
import { exampleOf, identity, timestamp, withExample } from "../http/shapes.ts";
import { components } from "./components.ts";
import { type Incident, type IncidentUpdate, incidentStatuses, statusOf } from "./incident.ts";
import { impacts, states } from "./states.ts";
import type { ComponentView, DayView, StatusView } from "./view.ts";
import { words } from "./words.ts";

const stateField = z.enum(states).meta({
  id: "ComponentState",
  description: "`no_data`: nothing was measured. That is never shown as well.",
});
export const componentField = z.enum(components).meta({
  id: "Component",
  description: "The API, a method of payment, webhooks, or settlements.",
});
export const impactField = z.enum(impacts).meta({
  id: "IncidentImpact",
  description:
    "`minor` and `major` show its components as degraded while it is open, `critical` as an outage, `maintenance` is planned work.",
});
export const incidentStatusField = z.enum(incidentStatuses).meta({
  id: "IncidentStatus",
  description: "Planned work begins as `scheduled`, everything else as `investigating`.",
});

const minutes = z.int().min(0).max(1440);
const daySchema = z
  .strictObject({
    day: z.string().meta({ description: "A day of UTC.", pattern: "^\\d{4}-\\d\\d-\\d\\d$", examples: ["2026-11-22"] }),
    state: stateField,
    minutes: z
      .strictObject({ operational: minutes, degraded: minutes, outage: minutes, maintenance: minutes })
      .nullable()
      .meta({ description: "The day's minutes by what they were; null where nothing was measured." }),
  })
  .meta({
    id: "StatusDay",
    examples: [
      {
        day: "2026-11-22",
        state: "degraded",
        minutes: { operational: 1435, degraded: 0, outage: 5, maintenance: 0 },
      },
    ],
  });

const componentSchema = withExample(
  z.strictObject({
    component: componentField,
    name: z.string().meta({ examples: ["API"] }),
    state: stateField.meta({ description: "What was measured, or what an open incident says where that is worse." }),
    measured: stateField.meta({ description: "What was measured alone." }),
    measured_at: timestamp.nullable().meta({ description: "The minute it was last measured in." }),
    uptime_percent: z
      .number()
      .nullable()
      .meta({
        description: "Of the measured minutes of these days, outside planned work, those without an outage.",
        examples: [99.98],
      }),
    days: z.array(daySchema).meta({ description: "The last ninety, the oldest first." }),
  }),
  { id: "StatusComponent" },
  { measured_at: exampleTimes.created, days: [exampleOf(daySchema)] },
);

const updateSchema = withExample(
  z.strictObject({
    status: incidentStatusField,
    message: z.string().meta({ description: "Plain text.", examples: ["Card payments fail. We are looking into it."] }),
    at: timestamp,
    corrected_at: timestamp.nullable().meta({ description: "When its text was corrected." }),
  }),
  { id: "PublicIncidentUpdate" },
  { status: "investigating" },
);

const publicIncidentSchema = withExample(
  z.strictObject({
    incident_id: identity("incident"),
    title: z.string().meta({ description: "Plain text.", examples: ["Card payments fail"] }),
    impact: impactField,
    components: z.array(componentField),
    status: incidentStatusField.meta({ description: "Of its newest update." }),
    starts_at: timestamp,
    ends_at: timestamp.nullable().meta({ description: "When planned work is to end; null for anything else." }),
    resolved_at: timestamp.nullable(),
    updates: z.array(updateSchema).meta({ description: "The newest first." }),
  }),
  { id: "PublicIncident" },
  { impact: "major", components: ["card"], status: "investigating", updates: [exampleOf(updateSchema)] },
);

export const statusSchema = withExample(
  z.strictObject({
    service: z.string().meta({ examples: ["gerbang"] }),
    state: stateField.meta({ description: "The worst of all components." }),
    checked_at: timestamp,
    from_memory: z.boolean().meta({
      description: "True while the database does not answer: this is then what one process knows by itself.",
    }),
    components: z.array(componentSchema),
    incidents: z.array(publicIncidentSchema).meta({ description: "Open ones." }),
    maintenance: z
      .array(publicIncidentSchema)
      .meta({ description: "Planned work that has not begun, the next first." }),
    past: z
      .array(publicIncidentSchema)
      .meta({ description: "What was over in the last fourteen days, the latest first." }),
  }),
  { id: "Status", description: "What works now, and the last ninety days." },
  { state: "degraded", from_memory: false, maintenance: [], past: [] },
);

export function statusJson(view: StatusView, service: string): z.infer<typeof statusSchema> {
  return {
    service,
    state: view.state,
    checked_at: wireTime(view.checkedAt),
    from_memory: view.isFromMemory,
    components: view.components.map(componentJson),
    incidents: view.incidents.open.map(publicIncidentView),
    maintenance: view.incidents.planned.map(publicIncidentView),
    past: view.incidents.over.map(publicIncidentView),
  };
}

function componentJson(one: ComponentView): z.infer<typeof componentSchema> {
  return {
    component: one.component,
    name: words.en.components[one.component],
    state: one.state,
    measured: one.measured,
    measured_at: wireTimeOrNull(one.measuredAt),
    uptime_percent: one.uptime ?? null,
    days: one.days.map(dayJson),
  };
}

function dayJson({ day, state, minutes: own }: DayView): z.infer<typeof daySchema> {
  if (!own) return { day, state, minutes: null };
  const { operational, degraded, outage, maintenance } = own;
  return { day, state, minutes: { operational, degraded, outage, maintenance } };
}

export function publicUpdateView(one: IncidentUpdate): z.infer<typeof updateSchema> {
  return {
    status: one.status,
    message: one.message,
    at: wireTime(one.at),
    corrected_at: wireTimeOrNull(one.correctedAt),
  };
}

export function publicIncidentView(one: Incident): z.infer<typeof publicIncidentSchema> {
  return {
    incident_id: one.incidentId,
    title: one.title,
    impact: one.impact,
    components: one.components,
    status: statusOf(one),
    starts_at: wireTime(one.startsAt),
    ends_at: wireTimeOrNull(one.endsAt),
    resolved_at: wireTimeOrNull(one.resolvedAt),
    updates: one.updates.map(publicUpdateView).toReversed(),
  };
}
