// What measurements mean: the one table of thresholds, and the state of a minute, of a day and of everything together. Pure.
import type { Component, ComponentKind } from "./components.ts";
import { kindOf } from "./components.ts";

export const states = ["operational", "degraded", "outage", "maintenance", "no_data"] as const;
export type State = (typeof states)[number];

/** How often a component did its work well, too slowly, or failed. */
export interface Counts {
  good: number;
  slow: number;
  bad: number;
}

export const nothingCounted: Counts = { good: 0, slow: 0, bad: 0 };

export interface Thresholds {
  /** Fewer failures than this in a minute are an accident, and fewer that were slow or failed. */
  badMin: number;
  slowMin: number;
  /** From this part of all on, in thousandths, failures make it degraded, and an outage. */
  degradedBad: number;
  outageBad: number;
  /** The same of what was slow or failed: degraded. */
  degradedSlow: number;
}

/**
 * Of the API a request counts that was signed rightly, and the service's own probe; of a method a call to an acquirer, and whether any acquirer
 * can be called; of webhooks and settlements a book in which something is due.
 */
export const thresholds: Readonly<Record<ComponentKind, Thresholds>> = {
  api: { badMin: 2, slowMin: 2, degradedBad: 20, outageBad: 500, degradedSlow: 250 },
  method: { badMin: 3, slowMin: 3, degradedBad: 100, outageBad: 500, degradedSlow: 500 },
  webhooks: { badMin: 1, slowMin: 1, degradedBad: 20, outageBad: 500, degradedSlow: 100 },
  settlements: { badMin: 1, slowMin: 1, degradedBad: 20, outageBad: 500, degradedSlow: 100 },
};

/** From so many minutes of a day on it is shown as this. */
export const dayThresholds = { outage: 15, degradedByOutage: 1, degraded: 5 } as const;

/** The state that counts of a minute, or of a few, tell. Nothing counted is no data, never well. */
export function stateOf(component: Component, { good, slow, bad }: Counts): State {
  const total = good + slow + bad;
  if (total === 0) return "no_data";
  const { badMin, slowMin, degradedBad, outageBad, degradedSlow } = thresholds[kindOf(component)];
  const isMany = bad >= badMin;
  if (isMany && bad * 1_000 >= outageBad * total) return "outage";
  if (isMany && bad * 1_000 >= degradedBad * total) return "degraded";
  if (slow > 0 && slow + bad >= slowMin && (slow + bad) * 1_000 >= degradedSlow * total) return "degraded";
  return "operational";
}

export function add(one: Counts, other: Counts): Counts {
  return { good: one.good + other.good, slow: one.slow + other.slow, bad: one.bad + other.bad };
}

/** The minutes of a day by what they were; those in which nothing was measured are missing. */
export interface DayMinutes {
  operational: number;
  degraded: number;
  outage: number;
  maintenance: number;
}

export function stateOfDay({ operational, degraded, outage, maintenance }: DayMinutes): State {
  if (outage >= dayThresholds.outage) return "outage";
  if (outage >= dayThresholds.degradedByOutage || degraded >= dayThresholds.degraded) return "degraded";
  if (maintenance > 0) return "maintenance";
  return operational + degraded > 0 ? "operational" : "no_data";
}

/** The part of the measured minutes without an outage, in per cent, rounded down to hundredths: an outage never rounds to 100. Planned work is left out. */
export function uptimePercent(days: readonly DayMinutes[]): number | undefined {
  const sum = (name: keyof DayMinutes): number => days.reduce((total, day) => total + day[name], 0);
  const up = sum("operational") + sum("degraded");
  const measured = up + sum("outage");
  return measured === 0 ? undefined : Math.floor((up * 10_000) / measured) / 100;
}

const severity: Readonly<Record<State, number>> = {
  no_data: 0,
  operational: 1,
  maintenance: 2,
  degraded: 3,
  outage: 4,
};

/** The worst of several states. */
export function worst(all: readonly State[]): State {
  return all.reduce((one, other) => (severity[other] > severity[one] ? other : one), "no_data" as State);
}

export const impacts = ["none", "minor", "major", "critical", "maintenance"] as const;
export type Impact = (typeof impacts)[number];

/** What an open incident says about its components, whatever was measured. */
export const stateOfImpact: Readonly<Record<Exclude<Impact, "none">, State>> = {
  minor: "degraded",
  major: "degraded",
  critical: "outage",
  maintenance: "maintenance",
};
