// Derives states from measurements: the table of thresholds, and the state of a minute, of a day and of all components together. Pure.
import type { Component, ComponentKind } from "./components.ts";
import { kindOf } from "./components.ts";

export const states = ["operational", "degraded", "outage", "maintenance", "no_data"] as const;
export type State = (typeof states)[number];

/** Results of a component: good, too slow, or failed. */
export interface Counts {
  good: number;
  slow: number;
  bad: number;
}

export const nothingCounted: Counts = { good: 0, slow: 0, bad: 0 };

interface Thresholds {
  /** Fewer failures than `badMin` in a minute, or fewer slow and failed results than `slowMin`, do not change the state. */
  badMin: number;
  slowMin: number;
  /** Shares of failures, in thousandths of all results, from which a component is degraded or has an outage. */
  degradedBad: number;
  outageBad: number;
  /** The share of slow and failed results, in thousandths, from which a component is degraded. */
  degradedSlow: number;
}

/**
 * What counts as one result. API: a request with a valid signature, and the service's own probe. Method: a call to an acquirer, and a check whether some
 * acquirer can be called. Webhooks and settlements: a book with something due.
 */
export const thresholds: Readonly<Record<ComponentKind, Thresholds>> = {
  api: { badMin: 2, slowMin: 2, degradedBad: 20, outageBad: 500, degradedSlow: 250 },
  method: { badMin: 3, slowMin: 3, degradedBad: 100, outageBad: 500, degradedSlow: 500 },
  webhooks: { badMin: 1, slowMin: 1, degradedBad: 20, outageBad: 500, degradedSlow: 100 },
  settlements: { badMin: 1, slowMin: 1, degradedBad: 20, outageBad: 500, degradedSlow: 100 },
};

/** Minutes of outage or degradation from which a day is shown in that state. */
const dayThresholds = { outage: 15, degradedByOutage: 1, degraded: 5 } as const;

/** The state of the counts of one or a few minutes. Without any count it is `no_data`, never `operational`. */
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

/** The minutes of a day by state. Minutes without measurements are left out. */
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

/** Percentage of measured minutes without an outage, planned work left out. It is rounded down to hundredths, so that any outage gives less than 100. */
export function uptimePercent(days: readonly DayMinutes[]): number | undefined {
  const sum = (name: keyof DayMinutes): number => days.reduce((total, day) => total + day[name], 0);
  const up = sum("operational") + sum("degraded");
  const measured = up + sum("outage");
  return measured === 0 ? undefined : Math.floor((up * 10_000) / measured) / 100;
}

const severity: Record<State, number> = { no_data: 0, operational: 1, maintenance: 2, degraded: 3, outage: 4 };

/** The worst of several states; `no_data` for none. */
export function worst(all: readonly State[]): State {
  return all.reduce((one, other) => (severity[other] > severity[one] ? other : one), "no_data" as State);
}

export const impacts = ["none", "minor", "major", "critical", "maintenance"] as const;
export type Impact = (typeof impacts)[number];

/** The state that an open incident sets for its components, whatever was measured. */
export const stateOfImpact: Readonly<Record<Exclude<Impact, "none">, State>> = {
  minor: "degraded",
  major: "degraded",
  critical: "outage",
  maintenance: "maintenance",
};
