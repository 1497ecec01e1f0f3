// What everybody is told, put together from what was measured and what operators say. Pure.
import { type Micros, SECOND, wireTime } from "../ground/clock.ts";
import type { Known, MinuteCounts } from "./board.ts";
import { type Component, components, isMethod } from "./components.ts";
import { type Incident, type Phase, endOf, phaseOf, exchangeText } from "./incident.ts";
import { MINUTE, minuteOf } from "./minutes.ts";
import {
  type DayMinutes,
  type State,
  add,
  nothingCounted,
  stateOf,
  stateOfDay,
  uptimePercent,
  worst,
} from "./states.ts";
import { DAYS_SHOWN, RECENT } from "./status.sql.ts";

const DAY: Micros = 86_400 * SECOND;

export interface DayView {
  /** YYYY-MM-DD, of UTC. */
  day: string;
  state: State;
  /** Undefined where nothing was measured. */
  minutes: DayMinutes | undefined;
}

export interface ComponentView {
  component: Component;
  /** What is shown: planned work, else the worse of what was measured and what an open incident says. */
  state: State;
  /** What was measured alone, and the minute it was last measured in. */
  measured: State;
  measuredAt: Micros | undefined;
  /** Per cent of the measured minutes of the days without an outage; undefined where nothing was measured. */
  uptime: number | undefined;
  /** Ninety of them, the oldest first, today last. */
  days: DayView[];
}

export interface StatusView {
  state: State;
  checkedAt: Micros;
  /** True while the database does not answer: then this is what one process knows by itself. */
  isFromMemory: boolean;
  components: ComponentView[];
  incidents: Record<Phase, Incident[]>;
}

/** `offered`: methods that an acquirer takes at all; the others are left out. */
export function statusView({ now, snapshot, isFromMemory, own }: Known, offered: ReadonlySet<string>): StatusView {
  const incidents = snapshot?.incidents ?? [];
  const shown = components.filter((component) => !isMethod(component) || offered.has(component));
  const views = shown.map((component): ComponentView => {
    const read = isFromMemory ? undefined : latestOf(snapshot?.recent.get(component) ?? [], now);
    const latest = read?.minute === undefined ? latestOf(own.get(component) ?? [], now) : read;
    // A merchant's request cannot be answered without the database, whatever was counted a moment ago.
    const isDown = component === "api" && isFromMemory;
    const measured = isDown ? "outage" : stateOf(component, latest.counts);
    const said = exchangeText(component, incidents, now);
    const days = daysOf(snapshot?.days.get(component), now);
    return {
      component,
      state: said.includes("maintenance") ? "maintenance" : worst([measured, ...said]),
      measured,
      measuredAt: isDown ? now : latest.minute,
      uptime: uptimePercent(days.flatMap(({ minutes }) => minutes ?? [])),
      days,
    };
  });
  const phases = Map.groupBy(incidents, (one) => phaseOf(one, now));
  const over = phases.get("over") ?? [];
  return {
    state: worst(views.map(({ state }) => state)),
    checkedAt: now,
    isFromMemory,
    components: views,
    incidents: {
      open: phases.get("open") ?? [],
      planned: (phases.get("planned") ?? []).toSorted((a, b) => a.startsAt - b.startsAt),
      over: over.toSorted((a, b) => (endOf(b) ?? 0) - (endOf(a) ?? 0)),
    },
  };
}

/** What the minute that runs and the one before it tell; where they tell nothing, the newest of the last five that does. */
export function latestOf(
  minutes: readonly MinuteCounts[],
  now: Micros,
): { minute: Micros | undefined; counts: MinuteCounts["counts"] } {
  const told = minutes.filter(
    ({ minute, counts }) => minute >= minuteOf(now) - RECENT && counts.good + counts.slow + counts.bad > 0,
  );
  const newest = told.at(-1);
  if (newest === undefined) return { minute: undefined, counts: nothingCounted };
  const last = told.filter(({ minute }) => minute >= minuteOf(now) - MINUTE);
  return {
    minute: newest.minute,
    counts: last.length === 0 ? newest.counts : last.map(({ counts }) => counts).reduce(add),
  };
}

function daysOf(counted: ReadonlyMap<string, DayMinutes> | undefined, now: Micros): DayView[] {
  return Array.from({ length: DAYS_SHOWN }, (_, at): DayView => {
    const day = wireTime(now - (DAYS_SHOWN - 1 - at) * DAY).slice(0, "2026-01-01".length);
    const minutes = counted?.get(day);
    return { day, state: minutes === undefined ? "no_data" : stateOfDay(minutes), minutes };
  });
}
