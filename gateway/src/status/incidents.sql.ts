// All SQL of incidents. A few columns of an incident change; its updates and corrections are only ever added.
import { type Micros, parseSqlTime, sqlTime, sqlTimeOrNull } from "../ground/clock.ts";
import { idOf, uuidOf, uuidOrNull } from "../ground/ids.ts";
import { type Row, type Statement, optional } from "../store/database.ts";
import { type Component, isComponent } from "./components.ts";
import { type Incident, type IncidentStatus, type IncidentUpdate, OPEN_MAX, UPDATES_MAX } from "./incident.ts";
import type { Impact } from "./states.ts";

/** The columns of an incident that operators may change. */
export interface IncidentTerms {
  title: string;
  impact: Impact;
  components: readonly Component[];
  startsAt: Micros;
  endsAt: Micros | undefined;
}

export function insertIncident(
  incident: IncidentTerms & { incidentId: string; createdAt: Micros; createdBy: string },
): Statement {
  return {
    text: `insert into incidents (incident_id, title, impact, components, starts_at, ends_at, created_at, created_by)
values ($1::uuid, $2::text, $3::text, $4::text[], $5::timestamptz, $6::timestamptz, $7::timestamptz, $8::text)`,
    values: [
      uuidOf(incident.incidentId),
      incident.title,
      incident.impact,
      incident.components,
      sqlTime(incident.startsAt),
      sqlTimeOrNull(incident.endsAt),
      sqlTime(incident.createdAt),
      incident.createdBy,
    ],
  };
}

export function updateIncident(
  incidentId: string,
  terms: IncidentTerms & { resolvedAt: Micros | undefined },
): Statement {
  return {
    text: `update incidents
set title = $2::text, impact = $3::text, components = $4::text[], starts_at = $5::timestamptz, ends_at = $6::timestamptz,
  resolved_at = $7::timestamptz
where incident_id = $1::uuid`,
    values: [
      uuidOf(incidentId),
      terms.title,
      terms.impact,
      terms.components,
      sqlTime(terms.startsAt),
      sqlTimeOrNull(terms.endsAt),
      sqlTimeOrNull(terms.resolvedAt),
    ],
  };
}

export function insertUpdate(
  incidentId: string,
  update: { updateId: string; status: IncidentStatus; message: string; at: Micros; by: string; corrects?: string },
): Statement {
  return {
    text: `insert into incident_updates (update_id, incident_id, status, message, at, by, corrects)
values ($1::uuid, $2::uuid, $3::text, $4::text, $5::timestamptz, $6::text, $7::uuid)`,
    values: [
      uuidOf(update.updateId),
      uuidOf(incidentId),
      update.status,
      update.message,
      sqlTime(update.at),
      update.by,
      uuidOrNull(update.corrects),
    ],
  };
}

/** Locks an incident until the transaction ends, so that its changes run one after another. */
export function lockIncident(incidentId: string): Statement {
  return { text: "select from incidents where incident_id = $1::uuid for update", values: [uuidOf(incidentId)] };
}

/** Locks the creation of incidents, so that concurrent ones cannot exceed OPEN_MAX. */
export const takeIncidentTurn: Statement = { text: "select pg_advisory_xact_lock(hashtext('gerbang incidents'))" };

/** Counts incidents that are neither resolved nor past their planned end, up to OPEN_MAX. */
export function countOpen(now: Micros): Statement {
  return {
    text: `select count(*)::integer as open
from (
  select from incidents
  where resolved_at is null and (ends_at is null or ends_at > $1::timestamptz)
  limit ${OPEN_MAX}
) open`,
    values: [sqlTime(now)],
  };
}

/** Incidents with their corrected updates, as one JSON text each. `which` selects the incidents. */
const withUpdates = (which: string): string => `select i.*, (
    select json_agg(json_build_object('update_id', u.update_id, 'status', u.status, 'message', coalesce(c.message, u.message),
      'at', (u.at at time zone 'UTC')::text || '+00', 'by', u.by, 'corrected_at', (c.at at time zone 'UTC')::text || '+00') order by u.update_id)
    from (
      select *
      from incident_updates u
      where u.incident_id = i.incident_id and u.corrects is null
      order by u.update_id
      limit ${UPDATES_MAX}
    ) u
    left join lateral (
      select c.message, c.at
      from incident_updates c
      where c.incident_id = i.incident_id and c.corrects = u.update_id
      order by c.update_id desc
      limit 1
    ) c on true
  ) as updates
from (
  ${which}
) i
order by i.incident_id desc`;

export function selectIncident(incidentId: string): Statement {
  return {
    text: withUpdates("select * from incidents where incident_id = $1::uuid"),
    values: [uuidOf(incidentId)],
  };
}

/** At most `count` incidents before `after`, newest first; with `openAt`, only those that are not over at that time. */
export function selectIncidents(asked: {
  openAt: Micros | undefined;
  after: string | undefined;
  count: number;
}): Statement {
  return {
    text: withUpdates(`select * from incidents
  where ($1::timestamptz is null or resolved_at is null and (ends_at is null or ends_at > $1::timestamptz))
    and ($2::uuid is null or incident_id < $2::uuid)
  order by incident_id desc
  limit $3::integer`),
    values: [sqlTimeOrNull(asked.openAt), uuidOrNull(asked.after), asked.count],
  };
}

/** The incidents on the status page: those that are not over, and those that ended after `since`. */
export function selectShown(now: Micros, since: Micros): Statement {
  return {
    name: "select shown incidents",
    text: withUpdates(`(
    select * from incidents
    where resolved_at is null and (ends_at is null or ends_at > $1::timestamptz)
    order by incident_id desc
    limit ${OPEN_MAX}
  ) union all (
    select * from incidents
    where (resolved_at >= $2::timestamptz or resolved_at is null and ends_at <= $1::timestamptz and ends_at >= $2::timestamptz)
    order by incident_id desc
    limit ${OPEN_MAX}
  )`),
    values: [sqlTime(now), sqlTime(since)],
  };
}

interface UpdateJson {
  update_id: string;
  status: IncidentStatus;
  message: string;
  at: string;
  by: string;
  corrected_at: string | null;
}

export function incidentOfRow(row: Row): Incident {
  const updates = JSON.parse((row.updates as string | null) ?? "[]") as UpdateJson[];
  return {
    incidentId: idOf("incident", row.incident_id as string),
    title: row.title as string,
    impact: row.impact as Impact,
    components: (row.components as string[]).filter(isComponent),
    startsAt: row.starts_at as Micros,
    endsAt: optional<Micros>(row.ends_at),
    resolvedAt: optional<Micros>(row.resolved_at),
    createdAt: row.created_at as Micros,
    createdBy: row.created_by as string,
    updates: updates.map((one): IncidentUpdate => ({
      updateId: idOf("incidentUpdate", one.update_id),
      status: one.status,
      message: one.message,
      at: parseSqlTime(one.at),
      by: one.by,
      correctedAt: one.corrected_at === null ? undefined : parseSqlTime(one.corrected_at),
    })),
  };
}
