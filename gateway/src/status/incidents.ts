// Creates, updates, corrects and resolves incidents and planned work. Earlier texts stay stored.
import { type Clock, type Micros, wireTime } from "../ground/clock.ts";
import { Fault, validationFault } from "../ground/fault.ts";
import { isId, newId } from "../ground/ids.ts";
import type { Database, Query } from "../store/database.ts";
import {
  BEGUN_BEFORE_MAX,
  type Incident,
  type IncidentStatus,
  OPEN_MAX,
  PLANNED_AHEAD_MAX,
  PLANNED_LENGTH_MAX,
  UPDATES_MAX,
  type UpdateStatus,
} from "./incident.ts";
import {
  type IncidentTerms,
  countOpen,
  incidentOfRow,
  insertIncident,
  insertUpdate,
  lockIncident,
  selectIncident,
  selectIncidents,
  takeIncidentTurn,
  updateIncident,
} from "./incidents.sql.ts";

interface NewIncident extends Omit<IncidentTerms, "startsAt"> {
  message: string;
  /** The current time when left out. */
  startsAt: Micros | undefined;
}

type IncidentChange = { [Term in keyof IncidentTerms]?: IncidentTerms[Term] | undefined };

export class Incidents {
  private readonly database: Database;
  private readonly clock: Clock;

  constructor(database: Database, clock: Clock) {
    this.database = database;
    this.clock = clock;
  }

  /** Publishes an incident or planned work. Throws VALIDATION_ERROR for impossible times, and when too many are open. */
  async create({ message, ...asked }: NewIncident, by: string): Promise<Incident> {
    return this.database.transaction(async (query) => {
      await query(takeIncidentTurn);
      const now = this.clock.now();
      const terms = checked({ ...asked, startsAt: asked.startsAt ?? now }, now);
      const [row] = await query<{ open: number }>(countOpen(now));
      if ((row?.open ?? 0) >= OPEN_MAX)
        throw validationFault("title", terms.title, `At most ${OPEN_MAX} may be open at once. Resolve one first.`);
      const incidentId = newId("incident", now);
      const status: IncidentStatus = terms.impact === "maintenance" ? "scheduled" : "investigating";
      await query(insertIncident({ ...terms, incidentId, createdAt: now, createdBy: by }));
      await query(insertUpdate(incidentId, { updateId: newId("incidentUpdate", now), status, message, at: now, by }));
      return found(query, incidentId);
    });
  }

  /** Adds an update. After `resolved`, any other status reopens the incident. Throws OBJECT_NOT_FOUND, VALIDATION_ERROR. */
  async update(incidentId: string, status: UpdateStatus, message: string, by: string): Promise<Incident> {
    return this.change(incidentId, async (query, incident, now) => {
      if (incident.updates.length >= UPDATES_MAX)
        throw validationFault("message", message, `There are ${UPDATES_MAX} updates. Begin another incident.`);
      await query(insertUpdate(incidentId, { updateId: newId("incidentUpdate", now), status, message, at: now, by }));
      const resolvedAt = status === "resolved" ? (incident.resolvedAt ?? now) : undefined;
      await query(updateIncident(incidentId, { ...incident, resolvedAt }));
    });
  }

  /** Changes the incident itself. Planned work stays planned work, and an incident stays an incident. Throws OBJECT_NOT_FOUND, VALIDATION_ERROR. */
  async edit(incidentId: string, change: IncidentChange): Promise<Incident> {
    return this.change(incidentId, async (query, incident, now) => {
      const { impact = incident.impact } = change;
      if ((impact === "maintenance") !== (incident.impact === "maintenance"))
        throw validationFault("impact", impact, "Planned work stays planned work, and an incident an incident.");
      const endsAt = change.endsAt ?? incident.endsAt;
      // Unchanged times are checked against the creation time, since they were valid then.
      const validAt = change.startsAt === undefined ? incident.createdAt : now;
      const terms = checked(
        {
          title: change.title ?? incident.title,
          impact,
          components: change.components ?? incident.components,
          startsAt: change.startsAt ?? incident.startsAt,
          endsAt,
        },
        validAt,
        // Of work that is over the end may be put right.
        endsAt === incident.endsAt || (incident.endsAt ?? now) < now ? validAt : now,
      );
      await query(updateIncident(incidentId, { ...terms, resolvedAt: incident.resolvedAt }));
    });
  }

  /** Replaces the displayed text of an update. The first text stays stored. Throws OBJECT_NOT_FOUND. */
  async correct(incidentId: string, updateId: string, message: string, by: string): Promise<Incident> {
    return this.change(incidentId, async (query, incident, now) => {
      const update = incident.updates.find((one) => one.updateId === updateId);
      if (!update) throw new Fault("OBJECT_NOT_FOUND", { message: "No such update of this incident." });
      const { status } = update;
      const own = { updateId: newId("incidentUpdate", now), status, message, at: now, by, corrects: updateId };
      await query(insertUpdate(incidentId, own));
    });
  }

  async find(incidentId: string): Promise<Incident | undefined> {
    if (!isId("incident", incidentId)) return undefined;
    return this.database.first(selectIncident(incidentId), incidentOfRow);
  }

  /** A page of incidents, newest first; with `open`, only those that are not over. */
  async list(asked: { open: boolean; after: string | undefined; count: number }): Promise<Incident[]> {
    const openAt = asked.open ? this.clock.now() : undefined;
    return (await this.database.query(selectIncidents({ ...asked, openAt }))).map(incidentOfRow);
  }

  private async change(
    incidentId: string,
    work: (query: Query, incident: Incident, now: Micros) => Promise<void>,
  ): Promise<Incident> {
    if (!isId("incident", incidentId)) throw noIncident();
    return this.database.transaction(async (query) => {
      if ((await query(lockIncident(incidentId))).length === 0) throw noIncident();
      await work(query, await found(query, incidentId), this.clock.now());
      return found(query, incidentId);
    });
  }
}

function noIncident(): Fault {
  return new Fault("OBJECT_NOT_FOUND", { message: "No such incident." });
}

async function found(query: Query, incidentId: string): Promise<Incident> {
  const [row] = await query(selectIncident(incidentId));
  if (!row) throw noIncident();
  return incidentOfRow(row);
}

/** Gives the terms if their times are possible at `now`, and the end comes after `endsAfter`. Throws VALIDATION_ERROR. */
function checked(terms: IncidentTerms, now: Micros, endsAfter: Micros = now): IncidentTerms {
  const { impact, startsAt, endsAt } = terms;
  if (startsAt < now - BEGUN_BEFORE_MAX)
    throw validationFault("starts_at", wireTime(startsAt), "It may have begun 30 days ago at most.");
  if (impact !== "maintenance") {
    if (endsAt !== undefined)
      throw validationFault(
        "ends_at",
        wireTime(endsAt),
        "Only planned work has an end beforehand; resolve an incident.",
      );
    if (startsAt > now)
      throw validationFault("starts_at", wireTime(startsAt), "An incident has begun; plan maintenance.");
    return terms;
  }
  if (endsAt === undefined)
    throw validationFault("ends_at", undefined, "Planned work needs `ends_at`: when it is to be over.");
  if (startsAt > now + PLANNED_AHEAD_MAX)
    throw validationFault("starts_at", wireTime(startsAt), "It may begin a year from now at most.");
  if (endsAt <= startsAt || endsAt > startsAt + PLANNED_LENGTH_MAX)
    throw validationFault("ends_at", wireTime(endsAt), "It must end after it starts, within seven days.");
  if (endsAt <= endsAfter) throw validationFault("ends_at", wireTime(endsAt), "It must end in the future.");
  return terms;
}
