// What operators tell everybody: incidents and planned work, their updates, and how they stand at a moment. Pure.
import { type Micros, SECOND } from "../ground/clock.ts";
import type { Component } from "./components.ts";
import { type Impact, type State, stateOfImpact } from "./states.ts";

export const updateStatuses = ["investigating", "identified", "monitoring", "resolved"] as const;
/** Planned work begins as `scheduled`. */
export const incidentStatuses = ["scheduled", ...updateStatuses] as const;
export type UpdateStatus = (typeof updateStatuses)[number];
export type IncidentStatus = (typeof incidentStatuses)[number];

export interface IncidentUpdate {
  updateId: string;
  status: IncidentStatus;
  /** As it was last corrected. */
  message: string;
  at: Micros;
  /** The operator; nobody outside is told. */
  by: string;
  correctedAt: Micros | undefined;
}

export interface Incident {
  incidentId: string;
  title: string;
  impact: Impact;
  components: Component[];
  startsAt: Micros;
  /** When planned work is to end. */
  endsAt: Micros | undefined;
  resolvedAt: Micros | undefined;
  createdAt: Micros;
  createdBy: string;
  /** Oldest first. */
  updates: IncidentUpdate[];
}

export type Phase = "planned" | "open" | "over";

/** Planned work begins and ends by itself at its times; an incident is open until somebody says that it is resolved. */
export function phaseOf({ startsAt, endsAt, resolvedAt }: Incident, now: Micros): Phase {
  if (resolvedAt !== undefined && resolvedAt <= now) return "over";
  if (endsAt !== undefined && endsAt <= now) return "over";
  return endsAt !== undefined && startsAt > now ? "planned" : "open";
}

/** Of its newest update. */
export function statusOf({ updates, endsAt }: Incident): IncidentStatus {
  return updates.at(-1)?.status ?? (endsAt === undefined ? "investigating" : "scheduled");
}

/** When it was over, where it is. */
export function endOf({ endsAt, resolvedAt }: Incident): Micros | undefined {
  if (endsAt === undefined || resolvedAt === undefined) return resolvedAt ?? endsAt;
  return Math.min(endsAt, resolvedAt);
}

/** What open incidents say about a component. Planned work takes its place while it runs; else the worst of them counts. */
export function statesSaid(component: Component, incidents: readonly Incident[], now: Micros): State[] {
  return incidents
    .filter((one) => one.components.includes(component) && phaseOf(one, now) === "open")
    .flatMap(({ impact }) => (impact === "none" ? [] : [stateOfImpact[impact]]));
}

export const TITLE_MAX = 120;
export const MESSAGE_MAX = 2_000;
/** More at once tells nobody anything. */
export const OPEN_MAX = 30;
export const UPDATES_MAX = 100;
/** What is over is shown for so long. */
export const SHOWN_FOR: Micros = 14 * 86_400 * SECOND;
/** Planned work is told no earlier, and lasts no longer. */
export const PLANNED_AHEAD_MAX: Micros = 366 * 86_400 * SECOND;
export const PLANNED_LENGTH_MAX: Micros = 7 * 86_400 * SECOND;
/** An incident may be told afterwards. */
export const BEGUN_BEFORE_MAX: Micros = 30 * 86_400 * SECOND;
