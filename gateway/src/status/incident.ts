// Incidents and planned work that operators publish, with their updates and their phase at a moment. Pure.
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
  /** The text after the latest correction. */
  message: string;
  at: Micros;
  /** The operator's name, which is never published. */
  by: string;
  correctedAt: Micros | undefined;
}

export interface Incident {
  incidentId: string;
  title: string;
  impact: Impact;
  components: Component[];
  startsAt: Micros;
  /** The planned end of planned work; undefined for an incident. */
  endsAt: Micros | undefined;
  resolvedAt: Micros | undefined;
  createdAt: Micros;
  createdBy: string;
  /** Oldest first. */
  updates: IncidentUpdate[];
}

export type Phase = "planned" | "open" | "over";

/** Planned work begins and ends at its times. An incident stays open until an operator resolves it. */
export function phaseOf({ startsAt, endsAt, resolvedAt }: Incident, now: Micros): Phase {
  if (resolvedAt !== undefined && resolvedAt <= now) return "over";
  if (endsAt !== undefined && endsAt <= now) return "over";
  return endsAt !== undefined && startsAt > now ? "planned" : "open";
}

/** The status of the newest update. */
export function statusOf({ updates, endsAt }: Incident): IncidentStatus {
  return updates.at(-1)?.status ?? (endsAt === undefined ? "investigating" : "scheduled");
}

/** The end of the incident or of planned work; undefined for an unresolved incident. */
export function endOf({ endsAt, resolvedAt }: Incident): Micros | undefined {
  if (endsAt === undefined || resolvedAt === undefined) return resolvedAt ?? endsAt;
  return Math.min(endsAt, resolvedAt);
}

/** The states that open incidents set for a component. */
export function saidOf(component: Component, incidents: readonly Incident[], now: Micros): State[] {
  return incidents
    .filter((one) => one.components.includes(component) && phaseOf(one, now) === "open")
    .flatMap(({ impact }) => (impact === "none" ? [] : [stateOfImpact[impact]]));
}

export const TITLE_MAX = 120;
export const MESSAGE_MAX = 2_000;
/** Open incidents at once; more would not inform readers. */
export const OPEN_MAX = 30;
export const UPDATES_MAX = 100;
/** Ended incidents are shown for this time. */
export const SHOWN_FOR: Micros = 14 * 86_400 * SECOND;
/** Planned work is announced at most this long ahead, and lasts at most this long. */
export const PLANNED_AHEAD_MAX: Micros = 366 * 86_400 * SECOND;
export const PLANNED_LENGTH_MAX: Micros = 7 * 86_400 * SECOND;
/** An incident may have begun this long before it is published. */
export const BEGUN_BEFORE_MAX: Micros = 30 * 86_400 * SECOND;
