// Endpoints under /ops/v1/status and /ops/v1/incidents: the status page for operators, and its incidents.
import { z } from "zod";
import type { Clock } from "../ground/clock.ts";
import { Fault } from "../ground/fault.ts";
import { type Reply, reply } from "../ground/reply.ts";
import { cursorOf, limitOf, page } from "../http/lists.ts";
import { listSchema } from "../http/shapes.ts";
import type { Incident } from "../status/incident.ts";
import type { Incidents } from "../status/incidents.ts";
import { type StatusParts, readStatus } from "../status/status.routes.ts";
import { statusJson } from "../status/status.schema.ts";
import { type OperatorEndpoint, operatorEndpoint } from "./endpoint.ts";
import {
  correctionSchema,
  editIncidentSchema,
  incidentParams,
  incidentSchema,
  incidentView,
  newIncidentExamples,
  newIncidentSchema,
  newUpdateSchema,
  operatorStatusSchema,
  timeOfField,
  updateParams,
} from "./incidents.schema.ts";
import { pageFieldsOf } from "./lists.ts";

interface IncidentParts {
  incidents: Incidents;
  clock: Clock;
  status: StatusParts;
  /** The public address of the status page. */
  publicUrl: () => string;
}

const path = "/ops/v1/incidents";
const tag = "Status";

export function incidentEndpoints({ incidents, clock, status, publicUrl }: IncidentParts): OperatorEndpoint[] {
  const view = (incident: Incident) => incidentView(incident, clock.now());
  /** Answers a change once the status page shows it. */
  const published = async (code: number, incident: Incident): Promise<Reply> => {
    await status.board.refresh();
    return reply(code, view(incident));
  };
  const success = { description: "The incident as it is now.", schema: incidentSchema } as const;
  const shared = { tag, role: "support" } as const;
  return [
    operatorEndpoint({
      method: "GET",
      operationId: "getStatus",
      path: "/ops/v1/status",
      summary: "Read what everybody is told, and where",
      tag,
      role: "viewer",
      success: { description: "The status page.", schema: operatorStatusSchema },
      handle: async () =>
        reply(200, { public_url: publicUrl(), status: statusJson(await readStatus(status), status.serviceName) }),
    }),
    operatorEndpoint({
      method: "GET",
      operationId: "listIncidents",
      path,
      summary: "List incidents and planned work, newest first",
      tag,
      role: "viewer",
      query: z.strictObject({
        open: z.enum(["true"]).optional().meta({ description: "`true`: only those that are not over." }),
        ...pageFieldsOf("incident", "incident_id"),
      }),
      success: { description: "A page of them.", schema: listSchema(incidentSchema, "IncidentList") },
      async handle({ query }) {
        const after = await cursorOf(query, (id) => incidents.find(id));
        const found = await incidents.list({ open: query.open === "true", after, count: limitOf(query) + 1 });
        return page(found, query, view, ({ incidentId }) => incidentId);
      },
    }),
    operatorEndpoint({
      method: "GET",
      operationId: "getIncident",
      path: `${path}/{id}`,
      params: incidentParams,
      summary: "Read an incident",
      tag,
      role: "viewer",
      success,
      async handle({ params: { id = "" } }) {
        const incident = await incidents.find(id);
        if (!incident) throw new Fault("OBJECT_NOT_FOUND", { message: "No such incident." });
        return reply(200, view(incident));
      },
    }),
    operatorEndpoint({
      ...shared,
      method: "POST",
      operationId: "createIncident",
      path,
      summary: "Tell everybody that something happens, or that work is planned",
      description:
        "It stands on the status page at once. Texts are plain text. An incident is open until an update says `resolved`; planned work begins and ends at its times.",
      body: newIncidentSchema,
      bodyExamples: newIncidentExamples,
      success: { ...success, status: 201, description: "The new incident." },
      async handle({ body, operator: { name } }) {
        return published(201, await incidents.create(withTimes(body), name));
      },
    }),
    operatorEndpoint({
      ...shared,
      method: "PATCH",
      operationId: "editIncident",
      path: `${path}/{id}`,
      params: incidentParams,
      summary: "Change what is said about the whole of an incident",
      description: "Its title, what it affects and how much, and its times. Planned work stays planned work.",
      body: editIncidentSchema,
      success,
      async handle({ params: { id = "" }, body }) {
        return published(200, await incidents.edit(id, withTimes(body)));
      },
    }),
    operatorEndpoint({
      ...shared,
      method: "POST",
      operationId: "updateIncident",
      path: `${path}/{id}/updates`,
      params: incidentParams,
      summary: "Say what became of an incident",
      body: newUpdateSchema,
      success: { ...success, status: 201 },
      async handle({ params: { id = "" }, body, operator: { name } }) {
        return published(201, await incidents.update(id, body.status, body.message, name));
      },
    }),
    operatorEndpoint({
      ...shared,
      method: "PATCH",
      operationId: "correctIncidentUpdate",
      path: `${path}/{id}/updates/{update_id}`,
      params: updateParams,
      summary: "Correct the text of an update",
      description: "The page shows the new text and that it was corrected; the first one is kept.",
      body: correctionSchema,
      success,
      async handle({ params: { id = "", update_id = "" }, body, operator: { name } }) {
        return published(200, await incidents.correct(id, update_id, body.message, name));
      },
    }),
  ];
}

const withTimes = <Body extends { starts_at?: string | undefined; ends_at?: string | undefined }>(body: Body) => {
  const { starts_at, ends_at, ...rest } = body;
  return { ...rest, startsAt: timeOfField(starts_at), endsAt: timeOfField(ends_at) };
};
